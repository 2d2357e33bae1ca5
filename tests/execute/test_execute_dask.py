"""Dask: a cluster of its own, one that runs already, and what can be wrong with them."""

from collections.abc import Iterator
from functools import partial
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from execute_scheduler import started
from execute_work import deadly, double, marked, process, slow, total

from compass.domain.errors import EnvironmentProblem
from compass.execute import WorkerLost, opened
from compass.execute.cluster import check_versions
from compass.execute.dask import Dask
from compass.testing import check_executor


@pytest.fixture(scope="module")
def local_dask() -> Iterator[Dask]:
    """A Dask cluster of two processes that Compass started."""
    made = Dask("2")
    yield made
    made.close()


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """HOST:PORT of a cluster that runs already."""
    with started(tmp_path_factory.mktemp("scheduler") / "log") as address:
        yield address


def test_promises_are_kept(local_dask: Dask) -> None:
    check_executor(local_dask, many=100)


def test_a_cluster_that_runs_already_keeps_them_too(scheduler: str) -> None:
    with opened(f"dask://{scheduler}") as executor:
        assert (executor.name, executor.workers) == ("dask", 2)
        check_executor(executor, many=100)
    with opened(f"tcp://{scheduler}") as executor:  # it was not stopped
        assert dict(executor.map(double, range(5))) == {n: 2 * n for n in range(5)}


def test_the_work_is_done_elsewhere(local_dask: Dask) -> None:
    assert len({pid for _, pid in local_dask.map(process, range(20))}) == 2


def test_a_killed_worker_is_replaced_and_its_items_are_done(
    local_dask: Dask, tmp_path: Path
) -> None:
    items = [(str(tmp_path), n, 1 if n == 5 else 0) for n in range(12)]
    assert sorted(local_dask.map(deadly, items)) == [(n, n) for n in range(12)]
    assert len(list(tmp_path.glob("died-5-*"))) == 1


def test_an_item_that_always_kills_is_named(local_dask: Dask, tmp_path: Path) -> None:
    items = [(str(tmp_path), n, 99 if n == 5 else 0) for n in range(12)]
    got: list[Any] = []
    with pytest.raises(WorkerLost) as problem:
        got.extend(local_dask.map(deadly, items))
    assert problem.value.position == 5
    assert not list(tmp_path.glob("done-5-*"))


def test_a_function_with_much_data_travels(local_dask: Dask) -> None:
    data = np.arange(500_000, dtype=np.float64)
    got = dict(local_dask.map(partial(total, data), [1.0, 2.0, 3.0]))
    assert got == {0: data.sum(), 1: 2 * data.sum(), 2: 3 * data.sum()}


def test_only_a_few_items_are_ahead_of_what_was_taken(local_dask: Dask, tmp_path: Path) -> None:
    iterator = local_dask.map(marked, [(str(tmp_path), n, 0.0) for n in range(100)])
    next(iterator)
    iterator.close()
    assert len(list(tmp_path.iterdir())) <= 1 + 6 * local_dask.workers


def test_no_scheduler_at_the_address_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("compass.execute.dask._ARRIVAL", 0.5)
    with (
        pytest.raises(EnvironmentProblem, match="no Dask scheduler at tcp://127") as problem,
        opened("dask://127.0.0.1:9"),
    ):
        pass
    assert "dask scheduler" in problem.value.hint


class Client:
    """What workers say about their versions."""

    def __init__(self, compass: Any, python: Any) -> None:
        self.said = [compass, python]

    def run(self, function: Any, *arguments: str, on_error: str) -> dict[str, Any]:
        return {"tcp://node7:1234": self.said.pop(0)}


@pytest.mark.parametrize(
    ("compass", "python", "told"),
    [
        (PackageNotFoundError("compass-hpc"), "3.11.2", "has no Compass"),
        ("0.0.1", "3.11.2", "node7:1234 has Compass 0.0.1, this program has"),
        ("same", "3.9.1", "has Python 3.9.1, this program has"),
        ("same", OSError("lost"), "does not answer: lost"),
    ],
)
def test_workers_of_another_version_are_told(
    compass: Any, python: Any, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("compass.execute.cluster.version", lambda name: "same")
    with pytest.raises(EnvironmentProblem, match=told):
        check_versions(Client(compass, python))


def test_a_cluster_without_workers_is_told_after_a_while(
    monkeypatch: pytest.MonkeyPatch, scheduler: str
) -> None:
    from compass.execute import cluster

    monkeypatch.setattr(cluster, "_LOOK", 0.05)
    monkeypatch.setattr(cluster, "threads_of", lambda client: 0)
    with opened(f"dask://{scheduler}") as executor:
        monkeypatch.setattr(executor, "_patience", 0.2)
        items = [1.0]
        with pytest.raises(EnvironmentProblem, match="has had no worker"):
            list(executor.map(slow, items))
