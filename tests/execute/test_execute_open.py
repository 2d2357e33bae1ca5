"""From a name to an executor: what is accepted, and what is said about the rest."""

import builtins
from typing import Any

import pytest

from compass.domain.errors import BadInput, EnvironmentProblem, UnknownName
from compass.execute import cores, opened
from compass.execute.threads import Threads


def test_without_a_name_the_threads_of_all_usable_processors_work() -> None:
    for text in (None, "", "threads"):
        with opened(text) as executor:
            assert (executor.name, executor.workers) == ("threads", cores())


def test_the_number_of_workers_stands_behind_the_name() -> None:
    with opened("threads:3") as executor:
        assert executor.workers == 3
    with opened(" processes: 2 ") as executor:
        assert (executor.name, executor.workers) == ("processes", 2)


def test_an_executor_that_is_given_stays_open() -> None:
    mine = Threads("2")
    with opened(mine) as executor:
        assert executor is mine
    assert dict(mine.map(abs, [-1])) == {0: 1}
    mine.close()
    with pytest.raises(RuntimeError):
        list(mine.map(abs, [-1]))


def test_one_that_was_opened_is_closed() -> None:
    with opened("threads:1") as executor:
        pass
    with pytest.raises(RuntimeError):
        list(executor.map(abs, [-1]))


def test_an_unknown_name_offers_the_nearest() -> None:
    with pytest.raises(UnknownName, match="did you mean threads"), opened("thread:2"):
        pass


@pytest.mark.parametrize(
    "text",
    [
        "threads:0",
        "threads:-1",
        "threads:many",
        "threads:99999",
        "processes:1.5",
        "processes:²",
        "dask:none",
        "dask://host",
        "dask://host:0",
        "dask://host:99999",
        "dask://a b:8786",
        "dask:/host:8786",
        "tls://host",
        "mpi:4",
        "slurm:4",
        "slurm:jobs=",
        "slurm:jobs=none",
        "slurm:jobs=0",
        "slurm:job=4",
        "slurm:memory=much",
        "slurm:partition=a b",
        "slurm:partition=$(reboot)",
    ],
)
def test_a_text_that_cannot_be_used_is_told(text: str) -> None:
    with pytest.raises(BadInput) as problem, opened(text):
        pass
    assert problem.value.hint or "option" in problem.value.message


@pytest.mark.parametrize(
    ("text", "package", "extra"),
    [
        ("dask", "distributed", "dask"),
        ("dask://127.0.0.1:9", "distributed", "dask"),
        ("mpi", "mpi4py", "mpi"),
        ("slurm", "dask_jobqueue.slurm", "dask"),
    ],
)
def test_a_missing_package_is_told_with_its_extra(
    text: str, package: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name == package:
            raise ImportError(f"No module named '{name}'")
        return original(name, *rest, **more)

    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(EnvironmentProblem) as problem, opened(text):
        pass
    assert f"compass-hpc[{extra}]" in problem.value.hint


def test_slurm_needs_its_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(EnvironmentProblem, match="sbatch"), opened("slurm"):
        pass
