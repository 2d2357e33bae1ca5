"""Sharing rows among threads."""

import threading

import numpy as np
import pytest

from compass.execute.rows import over_rows


@pytest.mark.parametrize("rows", [0, 1, 2, 7, 100])
@pytest.mark.parametrize("threads", [None, 1, 2, 3, 16])
def test_every_row_is_visited_once(rows: int, threads: int | None) -> None:
    visits = np.zeros(rows, dtype=int)

    def run(start: int, stop: int) -> None:
        visits[start:stop] += 1

    over_rows(run, rows, enough=2, threads=threads)
    assert (visits == 1).all()


def test_small_work_stays_in_this_thread() -> None:
    seen = set()
    over_rows(lambda a, b: seen.add(threading.get_ident()), 10, enough=6, threads=8)
    assert seen == {threading.get_ident()}


def test_large_work_leaves_this_thread() -> None:
    seen = set()
    over_rows(lambda a, b: seen.add(threading.get_ident()), 10, enough=5, threads=8)
    assert seen
    assert threading.get_ident() not in seen


def test_errors_of_threads_are_not_lost() -> None:
    def run(start: int, stop: int) -> None:
        raise OverflowError(f"{start}")

    with pytest.raises(OverflowError):
        over_rows(run, 10, enough=1, threads=2)
