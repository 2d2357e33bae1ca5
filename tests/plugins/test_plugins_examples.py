"""Every worked example keeps the promises of its joint, and `compass plugins` lists it."""

import json
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from plugins_examples import EXAMPLES, FOLDER, example, registered
from typer.testing import CliRunner

from compass import registry
from compass.cli.main import app
from compass.domain.experiment import RunState
from compass.experiment.runners.base import Launch
from compass.experiment.runners.folder import write_launch
from compass.readers import Table
from compass.testing import (
    check,
    check_acquisition,
    check_embedding,
    check_executor,
    check_exporter,
    check_front_acquisition,
    check_generator,
    check_reader,
    check_reducer,
    check_rule,
    check_runner,
    check_step,
    check_surrogate,
    check_synthesizer,
)
from slurm_lab import SlurmLab

LOG = b"""nodes=4 app=lammps runtime=12.5
nodes=8 app="new wrf" runtime=7

nodes=16 runtime=4.25
"""
LOGGED = {
    "nodes": [4, 8, 16],
    "app": ["lammps", "new wrf", None],
    "runtime": [12.5, 7.0, 4.25],
}
STEPS = Table.of(
    pa.table(
        {
            "iteration": [0, 1, 2, 0, 1, None],
            "nodes": [1, 1, 1, 2, 2, 4],
            "cores": [8, 16, 32, 16, 64, None],
            "runtime": [9.0, 5.0, 3.0, 6.0, 2.0, 1.0],
        }
    )
)


def in_bash(text: str) -> None:
    """What cannot be sourced, or prints or leaves anything, is not a list of settings."""
    done = subprocess.run(
        ["bash", "-eu"], input=text.encode(), capture_output=True, cwd="/", check=True
    )
    assert not done.stdout
    assert not done.stderr


def check_steps(module: Any) -> None:
    for step in (module.WarmUp, module.CoresPerNode):
        check_step(step, table=STEPS, idempotent=True)


def check_pbs(module: Any) -> None:
    module.OFTEN = module.Pbs.pause = 0.3
    check_runner(module.Pbs)


CHECKS: dict[str, Callable[[Any], None]] = {
    "embedding_principal": lambda m: check_embedding(m.Principal),
    "executor_patient": lambda m: check_executor(m.Patient),
    "exporter_shell": lambda m: check_exporter(m.Shell, read_back=in_bash),
    "acquisition_uncertain": lambda m: check_acquisition(m.MostUncertain),
    "front_acquisition_farthest": lambda m: check_front_acquisition(m.Farthest),
    "generator_random": lambda m: check_generator(m.RandomSearch),
    "reader_keyvalue": lambda m: check_reader(m.KeyValue, sample=LOG, expected=LOGGED),
    "reducer_per_kind": lambda m: check_reducer(m.PerKind),
    "rule_memory": lambda m: check_rule(m.fits_in_memory, samples={"size": [1.0, 64.0, 500.0]}),
    "runner_pbs": check_pbs,
    "runner_polite": lambda m: check_runner(m.Polite),
    "step_warm_up": check_steps,
    "surrogate_neighbours": lambda m: check_surrogate(m.NeighboursFamily),
    "synthesizer_independent": lambda m: check_synthesizer(m.Independent),
}


@pytest.fixture
def pbs(slurm: SlurmLab) -> SlurmLab:
    """The commands of PBS, in front of a real Slurm."""
    if shutil.which("qsub") is None:
        pytest.skip("no qsub: apt-get install slurm-wlm-torque")
    return slurm


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_example_keeps_its_promises(name: str, request: pytest.FixtureRequest) -> None:
    if name == "runner_pbs":
        request.getfixturevalue("pbs")
    with example(name) as module:
        CHECKS[name](module)


def test_there_is_an_example_of_each_joint() -> None:
    joints = {joint for joint in registry.joints() for name in EXAMPLES if name.startswith(joint)}
    assert joints == set(registry.joints())


@pytest.mark.parametrize("name", EXAMPLES)
def test_compass_plugins_lists_it(name: str) -> None:
    before = registered()
    with example(name):
        new = registered() - before
        assert new
        listed = json.loads(CliRunner().invoke(app, ["plugins", "--json"]).stdout)
        found = {(p["joint"], p["name"]): p for p in listed}
        assert set(found) == registered()
        for key in new:
            assert found[key]["from"] == name
            assert found[key]["what"].endswith(".")
        table = CliRunner().invoke(app, ["plugins"], env={"COLUMNS": "200"}).stdout
        assert all(plugin in table for _, plugin in new)
    assert registered() == before


def test_a_registered_example_is_checked_by_its_name() -> None:
    with example("reducer_per_kind"):
        check("reducer", "per-kind")


def test_examples_are_small() -> None:
    most = {"runner_pbs": 180}  # it is there to be used as it is, too
    for name in EXAMPLES:
        assert len((FOLDER / f"{name}.py").read_text().splitlines()) <= most.get(name, 100)


def test_a_job_of_pbs_whose_submitter_was_killed_is_found_by_its_name(
    pbs: SlurmLab, tmp_path: Path
) -> None:
    with example("runner_pbs") as module:
        runner = module.Pbs("walltime=00:01:00")
        going, never, gone = (
            Launch(number=n, folder=tmp_path / str(n), words=("sleep", "600"), directory=tmp_path)
            for n in (1, 2, 3)
        )
        (job,) = runner.submit([going])
        (going.folder / module.ID).unlink()  # as if qsub had been the last thing that happened
        write_launch(never)
        (never.folder / module.NAME).write_text("cnever")  # as if it had not been called
        folders = {one.number: one.folder for one in (going, never, gone)}
        assert module.Pbs().attach(folders) == {1: job}
        pbs.run("scancel", job.id)
        module.PATIENCE = 0.0
        until = time.monotonic() + 120
        while not (status := runner.poll([job])[0]).state.ended:
            assert time.monotonic() < until
            runner.asked = 0.0
            time.sleep(0.1)
        # Nobody of ours has ended it: that says nothing about its configuration.
        assert (status.state, status.lost) == (RunState.FAILED, True)


def test_what_qstat_tells_is_read() -> None:
    with example("runner_pbs") as module:
        text = (
            "Job Id: 42.head\n    Job_Name = c0123456789\n    job_state = R\n"
            "    Variable_List = PBS_O_HOME=/home/me,\n\tjob_state = X\n\n"
            "Job Id: 43.head\n    Job_Name = other\n    job_state = Q\n"
        )
        assert module.states(text) == {"42.head": "R", "43.head": "Q"}
        assert module.names(text) == {"c0123456789": "42.head", "other": "43.head"}
        assert module.states("") == {}
