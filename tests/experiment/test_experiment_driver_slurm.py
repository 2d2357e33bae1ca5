"""An experiment on a real one-node Slurm: submitted, left alone, collected by another driver."""

from pathlib import Path
from typing import Any

import pytest
from tests.experiment.law_case import PLAN, law
from tests.experiment.test_experiment_driver import PROGRAM, Seen

from compass.domain.experiment import RunState
from compass.experiment.driver import drive
from compass.experiment.experiment import Experiment
from compass.experiment.plan_file import plan_of


def test_jobs_go_on_without_the_driver_and_are_collected_by_the_next(
    slurm: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_CONF", str(slurm.conf))
    monkeypatch.setenv("LOG", str(tmp_path / "log"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "law.sh").write_text(PROGRAM)
    (tmp_path / "law.sh").chmod(0o755)
    plan = plan_of(
        {
            **PLAN,
            "columns": {**PLAN["columns"], "threads": {"allowed": [1, 2]}},
            "command": "./law.sh {threads} {tile} {flags}",
            "read": {"runtime": r"/time: (\S+)/"},
            "budget": 9,
            "runner": "slurm:partition=lab,mem=50M,time=5,slots=4",
        }
    )
    with Experiment.start(plan, "tune.experiment") as experiment:
        left = Seen()
        drive(experiment, left, detach=True)
        assert "4 runs submitted" in left.notes[-1]
        assert all(run.job for run in experiment.runs())
    with Experiment.open("tune.experiment") as experiment:
        drive(experiment, Seen())
        runs = experiment.runs()
        assert [run.state for run in runs] == [RunState.DONE] * 9
        for run in runs:
            assert run.outcomes["runtime"] == pytest.approx(law(run.config), abs=1e-5)
        made = sorted(map(int, Path("log").read_text().split()))
        assert made == [run.number for run in runs]
