"""Threads: a window of items, and a prompt end."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from execute_work import double, marked

from compass.execute import opened
from compass.execute.threads import Threads
from compass.testing import check, check_executor


@pytest.fixture
def threads() -> Iterator[Threads]:
    made = Threads("2")
    yield made
    made.close()


def test_promises_are_kept(threads: Threads) -> None:
    check_executor(threads)
    check("executor", "threads", text="3")


def test_only_a_few_items_are_ahead_of_what_was_taken(threads: Threads) -> None:
    begun = []
    iterator = threads.map(begun.append, range(100))
    for taken in range(1, 11):
        next(iterator)
        assert len(begun) <= taken + 2 * threads.workers
    iterator.close()
    assert len(begun) <= 10 + 2 * threads.workers


def test_nothing_begins_after_an_error(threads: Threads, tmp_path: Path) -> None:
    items = [(str(tmp_path), n, 0.0) if n != 3 else None for n in range(500)]
    with pytest.raises(TypeError):
        list(threads.map(marked, items))  # type: ignore[arg-type]
    count = len(list(tmp_path.iterdir()))
    assert count <= 4 + 2 * threads.workers
    assert dict(threads.map(double, [1, 2])) == {0: 2, 1: 4}
    assert len(list(tmp_path.iterdir())) == count


def test_two_maps_at_once_do_not_mix(threads: Threads) -> None:
    one, other = threads.map(double, range(50)), threads.map(str, range(50))
    both = list(zip(one, other, strict=True))
    assert sorted(a for a, _ in both) == [(n, 2 * n) for n in range(50)]
    assert sorted((b for _, b in both)) == [(n, str(n)) for n in range(50)]


def test_closing_drops_what_has_not_begun() -> None:
    gate = threading.Event()
    with opened("threads:1") as executor:
        iterator = executor.map(gate.wait, [0, 30, 30, 30])
        next(iterator)
        gate.set()
        began = time.monotonic()
        iterator.close()
    assert time.monotonic() - began < 25


def test_an_interrupt_drops_what_has_not_begun(tmp_path: Path) -> None:
    script = (
        "from compass.execute import opened\n"
        "from execute_work import marked\n"
        f"with opened('threads:2') as e:\n"
        f"    for _ in e.map(marked, [({str(tmp_path)!r}, n, 0.2) for n in range(5000)]):\n"
        "        pass\n"
    )
    here = Path(__file__).parent
    child = subprocess.Popen(
        [sys.executable, "-c", script],
        env=os.environ | {"PYTHONPATH": str(here)},
        stderr=subprocess.PIPE,
    )
    while not list(tmp_path.iterdir()):
        time.sleep(0.02)
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=60)
    assert b"KeyboardInterrupt" in said
    assert len(list(tmp_path.iterdir())) < 100
