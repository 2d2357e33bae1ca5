"""Processes: killed ones are replaced, and none is left behind."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from execute_work import deadly, double, marked, odd, process, unpackable

from compass.domain.errors import EnvironmentProblem
from compass.execute import WorkerLost
from compass.execute.processes import Processes
from compass.testing import check_executor


@pytest.fixture(scope="module")
def processes() -> Iterator[Processes]:
    made = Processes("2")
    yield made
    made.close()


def test_promises_are_kept(processes: Processes) -> None:
    check_executor(processes)


def test_the_work_is_done_elsewhere(processes: Processes) -> None:
    found = {pid for _, pid in processes.map(process, range(20))}
    assert len(found) == 2
    assert os.getpid() not in found


@pytest.mark.parametrize("times", [1, 2])
def test_an_item_whose_worker_died_is_done_by_another(
    processes: Processes, times: int, tmp_path: Path
) -> None:
    items = [(str(tmp_path), n, times if n == 5 else 0) for n in range(12)]
    assert sorted(processes.map(deadly, items)) == [(n, n) for n in range(12)]
    assert len(list(tmp_path.glob("died-5-*"))) == times
    assert len(list(tmp_path.glob("done-*"))) == 12


def test_an_item_that_always_kills_is_named_and_the_others_are_done(
    processes: Processes, tmp_path: Path
) -> None:
    items = [(str(tmp_path), n, 99 if n == 5 else 0) for n in range(12)]
    got = []
    with pytest.raises(WorkerLost, match="SIGKILL") as problem:
        got.extend(processes.map(deadly, items))
    assert problem.value.position == 5
    assert problem.value.hint
    assert len(list(tmp_path.glob("died-5-*"))) == 3
    # It is tried for the last time when all others are done.
    assert len(list(tmp_path.glob("done-*"))) == 11


def test_an_idle_worker_that_was_killed_is_replaced(processes: Processes) -> None:
    pids = {pid for _, pid in processes.map(process, range(20))}
    os.kill(min(pids), signal.SIGKILL)
    assert dict(processes.map(double, range(20))) == {n: 2 * n for n in range(20)}


def test_what_cannot_travel_is_told(processes: Processes) -> None:
    with pytest.raises(AttributeError, match="pickle"):
        list(processes.map(unpackable, range(3)))
    with pytest.raises(RuntimeError, match="Odd: this and that") as problem:
        list(processes.map(odd, range(3)))
    assert "execute_work.py" in "".join(problem.value.__notes__)


def test_one_item_per_worker_is_ahead_of_what_was_taken(
    processes: Processes, tmp_path: Path
) -> None:
    iterator = processes.map(marked, [(str(tmp_path), n, 0.0) for n in range(100)])
    for taken in range(1, 6):
        next(iterator)
        assert len(list(tmp_path.iterdir())) <= taken + 2 * processes.workers
    iterator.close()
    count = len(list(tmp_path.iterdir()))
    assert dict(processes.map(double, [1])) == {0: 2}
    assert len(list(tmp_path.iterdir())) == count


def run(script: str, folder: Path, *, at: str = "") -> "subprocess.Popen[bytes]":
    file = folder / "script.py"
    file.write_text(script)
    place = str(Path(__file__).parent)
    return subprocess.Popen(
        [sys.executable, str(file)],
        env=os.environ | {"PYTHONPATH": place},
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


_BUSY = """
from compass.execute import opened
from execute_work import marked
if __name__ == "__main__":
    with opened("processes:2") as executor:
        list(executor.map(marked, [({folder!r}, n, 60.0) for n in range(100)]))
"""


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL])
def test_no_process_outlives_the_program(ending: signal.Signals, tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()
    child = run(_BUSY.format(folder=str(marks)), tmp_path)
    while len(list(marks.iterdir())) < 2:
        assert child.poll() is None
        time.sleep(0.02)
    if ending is signal.SIGINT:
        os.killpg(child.pid, ending)  # as a terminal does it: to the workers as well
    else:
        child.kill()
    child.communicate(timeout=30)
    until = time.monotonic() + 30
    while members(child.pid):
        assert time.monotonic() < until, f"left behind: {members(child.pid)}"
        time.sleep(0.02)
    assert len(list(marks.iterdir())) == 2


def members(group: int) -> list[str]:
    """The processes of a process group that are not dead."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, _, pgrp = (folder / "stat").read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(pgrp) == group and state != "Z":
            found.append(folder.name)
    return found


def test_a_script_without_a_guard_is_told_so(tmp_path: Path) -> None:
    script = (
        "from compass.execute import opened\n"
        "from execute_work import double\n"
        "with opened('processes:1') as executor:\n"
        "    list(executor.map(double, [1]))\n"
    )
    _, said = run(script, tmp_path).communicate(timeout=60)
    assert EnvironmentProblem.__name__.encode() in said
    assert b"__main__" in said.splitlines()[-1]
