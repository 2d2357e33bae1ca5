"""Slurm: jobs of a real one-node cluster, and none left in the queue."""

import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from execute_work import process

import compass as cp
from benchmarks.scale.jobs import write
from compass.domain.errors import EnvironmentProblem
from compass.execute import Executor, opened
from compass.testing import check_executor

_JOB = "cores=1,memory=800MB,time=00:05:00"


@pytest.fixture
def lab(slurm: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """The commands of Slurm find the cluster of the tests."""
    monkeypatch.setenv("SLURM_CONF", str(slurm.conf))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))  # jobs inherit it
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return slurm


def queue(lab: Any) -> list[str]:
    """The jobs of Compass that wait or run."""
    return [line for line in lab.run("squeue", "-h", "-n", "compass").splitlines() if line]


def same_rows(folder: Path, executor: Executor) -> None:
    """A sample that jobs of Slurm draw is the one that is drawn here."""
    files = write(folder / "runs", 6000, "parquet", 2000)
    for name, where in (("here", "threads"), ("there", executor)):
        cp.reduce(files, folder / f"{name}.parquet", keep=0.1, executor=where)
    here, there = (pq.read_table(folder / f"{name}.parquet") for name in ("here", "there"))
    assert here.equals(there)


def test_promises_are_kept_and_the_jobs_end(lab: Any, tmp_path: Path) -> None:
    with opened(f"slurm:jobs=2,{_JOB},partition=lab") as executor:
        assert executor.workers == 2
        check_executor(executor, many=50)
        pids = {pid for _, pid in executor.map(process, range(30))}
        assert pids
        assert queue(lab)
        assert list((tmp_path / "compass").iterdir())
        same_rows(tmp_path, executor)
    assert not list((tmp_path / "compass").iterdir())
    until = time.monotonic() + 30
    while queue(lab):
        assert time.monotonic() < until, queue(lab)
        time.sleep(0.1)


def test_a_partition_that_is_not_there_is_told(lab: Any) -> None:
    with (
        pytest.raises(EnvironmentProblem, match=r"(?i)invalid partition") as problem,
        opened(f"slurm:{_JOB},partition=nowhere"),
    ):
        pass
    assert "sinfo" in problem.value.hint
    assert not queue(lab)


def test_a_queue_that_is_busy_is_told(lab: Any, tmp_path: Path) -> None:
    lab.run("scontrol", "update", "PartitionName=lab", "State=DOWN")
    try:
        with (
            pytest.raises(EnvironmentProblem, match=r"within 1 s \(PENDING, PartitionDown"),
            opened(f"slurm:{_JOB},wait=1,folder={tmp_path / 'mine'}"),
        ):
            pass
    finally:
        lab.run("scontrol", "update", "PartitionName=lab", "State=UP")
    assert not queue(lab)
