"""Runs as Slurm jobs: on a real one-node cluster, and what is made of rare answers of Slurm."""

import os
import shutil
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from compass.domain.base import Config
from compass.domain.errors import BadInput, EnvironmentProblem
from compass.domain.experiment import RunState
from compass.experiment.runners import slurm as module
from compass.experiment.runners.base import Job, JobStatus, Launch
from compass.experiment.runners.claims import claim_of
from compass.experiment.runners.folder import write_launch
from compass.experiment.runners.slurm import Slurm
from compass.testing import check

TEXT = "partition=lab,mem=50M"


@pytest.fixture
def lab(slurm: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The commands of Slurm find the cluster of the tests."""
    monkeypatch.setenv("SLURM_CONF", str(slurm.conf))
    return slurm


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str, str], None]:
    """Puts a shell script in the place of a command of Slurm."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")

    def put(name: str, script: str) -> None:
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)

    return put


def launch(base: Path, script: str, number: int = 1, **fields: Any) -> Launch:
    return Launch(
        number=number,
        folder=base / f"run-{number}",
        words=("/bin/sh", "-c", script),
        directory=base,
        **fields,
    )


def ended(runner: Slurm, jobs: Sequence[Job], seconds: float = 240) -> list[JobStatus]:
    until = time.monotonic() + seconds
    while True:
        found = runner.poll(jobs)
        if all(status.state.ended for status in found):
            return found
        assert time.monotonic() < until, found
        time.sleep(runner.pause)


def test_promises_are_kept(lab: Any, tmp_path: Path) -> None:
    check("runner", "slurm", text=TEXT, folder=tmp_path)


def test_a_batch_is_an_array_for_each_set_of_resources(lab: Any, tmp_path: Path) -> None:
    header = tmp_path / "site.sh"
    header.write_text(
        "#SBATCH --mem-per-cpu=7000\n#SBATCH --comment=site\nSITE=here; export SITE\n"
    )
    runner = Slurm(f"{TEXT},header={header}")
    configs: list[Config] = [{"threads": 1}, {"threads": 2}, {"threads": 1}, {"threads": 2}]
    script = "echo $SITE $SLURM_CPUS_PER_TASK $SLURM_MEM_PER_NODE $SLURM_ARRAY_TASK_ID"
    made = [launch(tmp_path, script, n, config=config) for n, config in enumerate(configs)]
    jobs = runner.submit(made)
    numbers = [job.id.partition("_") for job in jobs]
    assert [task for *_, task in numbers] == ["0", "0", "1", "1"]
    assert numbers[0][0] == numbers[2][0] != numbers[1][0] == numbers[3][0]
    assert {status.state for status in ended(runner, jobs)} == {RunState.DONE}
    assert "comment=site" in lab.run("scontrol", "show", "job", jobs[0].id).lower()
    printed = [(one.folder / "output").read_text() for one in made]
    assert printed == ["here 1 50 0\n", "here 2 50 0\n", "here 1 50 1\n", "here 2 50 1\n"]


def test_other_hands_cancel_and_requeue(lab: Any, tmp_path: Path) -> None:
    """A person or a scheduler ends jobs: one for ever, one is begun again."""
    runner = Slurm(TEXT)
    script = f"echo >> {tmp_path}/begun; if [ $(wc -l < {tmp_path}/begun) = 1 ]; then sleep 600; fi"
    gone, again = launch(tmp_path, "sleep 600", 1), launch(tmp_path, script, 2)
    jobs = runner.submit([gone, again])
    until = time.monotonic() + 180
    while not (tmp_path / "begun").exists():
        assert time.monotonic() < until
        time.sleep(0.1)
    lab.run("scancel", jobs[0].id)
    lab.run("scontrol", "requeue", jobs[1].id)
    # Slurm lets a requeued job wait for two minutes.
    until = time.monotonic() + 180
    while runner.poll([jobs[1]])[0].state is not RunState.SUBMITTED:
        assert time.monotonic() < until
        time.sleep(0.2)
    while "PENDING" not in lab.run("squeue", "-h", "-r", "-o", "%i %T", "-j", jobs[1].id):
        assert time.monotonic() < until
        time.sleep(0.2)
    lab.run("scontrol", "update", f"jobid={jobs[1].id}", "starttime=now")
    assert [status.state for status in ended(runner, jobs)] == [RunState.CANCELLED, RunState.DONE]
    assert len((tmp_path / "begun").read_text()) == 2


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_driver_that_is_killed_while_it_submits_loses_and_repeats_nothing(
    moment: str, lab: Any, tmp_path: Path, programs: Callable[[str, str], None]
) -> None:
    """Before: sbatch goes on alone and submits; after: nobody has noted the number of the job."""
    real = shutil.which("sbatch")
    before, after = {"before": ("kill -9 $PPID; sleep 1", ""), "after": ("", "kill -9 $PPID")}[
        moment
    ]
    programs("sbatch", f'{before}\n{real} "$@"\n{after}')
    made = [launch(tmp_path, f"echo >> {tmp_path}/begun-{n}", n) for n in range(3)]
    driver = os.fork()
    if not driver:
        Slurm(TEXT).submit(made)
        os._exit(0)
    assert os.waitpid(driver, 0)[1] == signal.SIGKILL
    programs("sbatch", f'exec {real} "$@"')
    runner = Slurm(TEXT)
    found = runner.attach({one.number: one.folder for one in made})
    assert set(found) == {0, 1, 2}
    assert runner.submit(made) == list(found.values())
    assert {status.state for status in ended(runner, list(found.values()))} == {RunState.DONE}
    assert [(tmp_path / f"begun-{n}").read_text() for n in range(3)] == ["\n"] * 3
    assert Slurm(TEXT).attach({0: made[0].folder}) == {0: found[0]}


def test_what_slurm_refuses_was_not_submitted(lab: Any, tmp_path: Path) -> None:
    runner = Slurm("partition=nowhere")
    made = launch(tmp_path, "true")
    with pytest.raises(EnvironmentProblem, match=r"(?i)does not take the job: .*partition"):
        runner.check(made)
    with pytest.raises(EnvironmentProblem, match=r"(?i)does not take the job: .*partition"):
        runner.submit([made])
    assert runner.attach({1: made.folder}) == {}


def test_a_header_that_fails_is_said(
    lab: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_PATIENCE", 1.0)
    header = tmp_path / "site.sh"
    header.write_text("#!/bin/bash\nload_no_such_module || exit 4\n")
    runner = Slurm(f"{TEXT},header={header}")
    jobs = runner.submit([launch(tmp_path, "true")])
    found = ended(runner, jobs)[0]
    assert (found.state, found.lost) == (RunState.FAILED, True)
    assert found.reason.startswith("Slurm says FAILED, and the run left no result: ")
    assert found.reason.endswith("load_no_such_module: command not found")
    assert Slurm(TEXT).poll(jobs) == [found]


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """A job that has a folder, and has left nothing in it."""
    made = launch(tmp_path, "true")
    write_launch(made)
    return Job(number=1, id="77_3", folder=made.folder)


ANSWERS = [
    ("77_3|PENDING|Resources|x", "", RunState.SUBMITTED, False, "Slurm: PENDING"),
    ("77_3|REQUEUED|x|x", "77_3|PREEMPTED|0:0", RunState.SUBMITTED, False, "REQUEUED"),
    ("77_3|RUNNING|None|x", "", RunState.SUBMITTED, False, "RUNNING"),
    ("77_3|TIMEOUT|TimeLimit|x", "", RunState.FAILED, False, "time limit (TIMEOUT)"),
    ("77_3|OUT_OF_MEMORY|x|x", "", RunState.FAILED, False, "OUT_OF_MEMORY"),
    (
        "77_4|RUNNING|x|x",
        "77_3|TIMEOUT|0:0\n77_3.batch|CANCELLED|0:15",
        RunState.FAILED,
        False,
        "TIMEOUT",
    ),
    (
        "",
        "77_3|FAILED|1:0\n77_3.batch|OUT_OF_MEMORY|0:125",
        RunState.FAILED,
        False,
        "OUT_OF_MEMORY",
    ),
    ("", "77_3|PREEMPTED|0:0\n77_3|PENDING|0:0", RunState.SUBMITTED, False, "PENDING"),
    ("", "77_[3-9]|PENDING|0:0", RunState.SUBMITTED, False, "PENDING"),
    ("", "77_3|NODE_FAIL|1:0\n77_3.batch|CANCELLED|0:9", RunState.FAILED, True, "its node failed"),
    ("", "77_3|PREEMPTED|0:0", RunState.FAILED, True, "another job took its place"),
    ("", "77_3|COMPLETED|0:0", RunState.FAILED, True, "COMPLETED, and the run left no result"),
    ("", "77_3|CANCELLED by 1000|0:0", RunState.CANCELLED, False, "cancelled in Slurm"),
    ("77|CANCELLED|None|x", "", RunState.CANCELLED, False, "cancelled in Slurm"),
    ("", "", RunState.FAILED, True, "job 77_3 vanished: neither squeue nor sacct know it"),
    ("", "77_4|RUNNING|0:0", RunState.FAILED, True, "vanished"),
]


@pytest.mark.parametrize(("queue", "accounting", "state", "lost", "reason"), ANSWERS)
def test_answers_of_slurm(
    queue: str,
    accounting: str,
    state: RunState,
    lost: bool,
    reason: str,
    job: Job,
    programs: Callable[[str, str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_PATIENCE", 0.0)
    programs("squeue", f"cat << 'END'\n{queue}\nEND")
    programs("sacct", f"cat << 'END'\n{accounting}\nEND")
    found = Slurm().poll([job])[0]
    assert (found.state, found.lost) == (state, lost)
    assert reason in found.reason


def test_what_lags_is_waited_for(job: Job, programs: Callable[[str, str], None]) -> None:
    """Accounting is written late, results are seen late: nothing is concluded at once."""
    for answer in ("", "77_3|COMPLETED|0:0", "77_3|PREEMPTED|0:0"):
        programs("squeue", "true")
        programs("sacct", f"echo '{answer}'")
        assert not Slurm().poll([job])[0].state.ended


def test_slurm_is_asked_seldom(
    job: Job, programs: Callable[[str, str], None], tmp_path: Path
) -> None:
    programs("squeue", f"echo >> {tmp_path}/asked; echo '77_3|RUNNING|None|x'")
    runner = Slurm()
    for _ in range(50):
        runner.poll([job])
    assert len((tmp_path / "asked").read_text()) == 1
    assert 0 < runner.pause <= 5


def test_a_slurm_without_accounting_can_be_used(
    job: Job, programs: Callable[[str, str], None]
) -> None:
    programs("squeue", "true")
    programs("sacct", "echo 'Slurm accounting storage is disabled' >&2; exit 1")
    assert not Slurm().poll([job])[0].state.ended


@pytest.mark.parametrize("command", ["squeue", "sacct"])
def test_a_slurm_that_is_down_concludes_nothing(
    command: str, job: Job, programs: Callable[[str, str], None]
) -> None:
    programs("squeue", "true")
    programs(command, f"echo '{command}: error: Unable to contact slurm controller' >&2; exit 1")
    with pytest.raises(EnvironmentProblem) as error:
        Slurm().poll([job])
    assert "sinfo" in error.value.hint


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("slots=0", "number of workers for the runner slurm"),
        ("times=3", "no option of the runner slurm named 'times'"),
        ("time=ten", "no time limit of Slurm"),
        ("partition=a b", "cannot be 'a b'"),
        ("mem=1G,mem-per-cpu=1G", "mem or mem-per-cpu, not both"),
        ("header=/no/such/file", "the header /no/such/file cannot be read: No such file"),
    ],
)
def test_a_text_that_cannot_be_meant_is_refused(text: str, problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        Slurm(text)


def test_memory_of_a_configuration_comes_before_that_of_the_runner(tmp_path: Path) -> None:
    made = launch(tmp_path, "true", config={"mem_per_cpu": 2.0}, units={"mem_per_cpu": "GiB"})
    made = made.model_copy(update={"time_limit": 90.0})
    assert Slurm("mem=50M")._resources(made) == ["--mem-per-cpu=2G", "--time=3"]
    assert Slurm("time=10")._resources(launch(tmp_path, "true")) == ["--time=10"]


def test_a_claim_that_is_damaged_is_none(tmp_path: Path) -> None:
    for text in ("", "{", '{"name": "../../etc", "task": 1}', '{"name": "compass-000000000000"}'):
        (tmp_path / "claim.json").write_text(text)
        assert claim_of(tmp_path) is None
