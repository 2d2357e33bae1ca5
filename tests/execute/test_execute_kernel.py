"""Compiling kernels and sharing rows among threads."""

import threading
from concurrent.futures import ThreadPoolExecutor
from types import FunctionType

import numpy as np
import pytest

from compass.execute import kernel


@pytest.mark.parametrize("rows", [0, 1, 2, 7, 100])
@pytest.mark.parametrize("threads", [None, 1, 2, 3, 16])
def test_every_row_is_visited_once(rows: int, threads: int | None) -> None:
    visits = np.zeros(rows, dtype=int)

    def run(start: int, stop: int) -> None:
        visits[start:stop] += 1

    kernel.over_rows(run, rows, enough=2, threads=threads)
    assert (visits == 1).all()


def test_small_work_stays_in_this_thread() -> None:
    seen = set()
    kernel.over_rows(lambda a, b: seen.add(threading.get_ident()), 10, enough=6, threads=8)
    assert seen == {threading.get_ident()}


def test_large_work_leaves_this_thread() -> None:
    seen = set()
    kernel.over_rows(lambda a, b: seen.add(threading.get_ident()), 10, enough=5, threads=8)
    assert seen
    assert threading.get_ident() not in seen


def test_errors_of_threads_are_not_lost() -> None:
    def run(start: int, stop: int) -> None:
        raise OverflowError(f"{start}")

    with pytest.raises(OverflowError):
        kernel.over_rows(run, 10, enough=1, threads=2)


def double(x, out):
    for i in range(x.size):
        out[i] = 2 * x[i]


def test_a_kernel_compiles_where_nothing_can_be_cached() -> None:
    # numba refuses to cache a function whose file does not exist.
    homeless = FunctionType(double.__code__.replace(co_filename="/nowhere/at/all.py"), globals())
    compiled = kernel.kernel(kernel.f8, kernel.to_f8)(homeless)
    out = np.empty(3)
    compiled(np.array([1.0, 2.0, 3.0]), out)
    assert out.tolist() == [2.0, 4.0, 6.0]


def test_read_only_arrays_need_no_second_compilation() -> None:
    compiled = kernel.kernel(kernel.f8, kernel.to_f8)(double)
    x = np.array([1.0, 2.0, 3.0])
    x.flags.writeable = False
    out = np.empty(3)
    compiled(x, out)
    assert out.tolist() == [2.0, 4.0, 6.0]
    assert len(compiled.signatures) == 1


def test_a_kernel_that_cannot_be_compiled_says_so() -> None:
    def wrong(x, out):
        out[0] = x.no_such_thing

    made = kernel.kernel(kernel.f8, kernel.to_f8)(wrong)
    with pytest.raises(Exception, match="no_such_thing"):
        made(np.zeros(1), np.zeros(1))


def test_a_kernel_is_compiled_when_it_is_first_called_and_by_one_thread_only() -> None:
    made = kernel.kernel(kernel.f8, kernel.to_f8)(double)
    assert made.signatures == []
    x = np.array([1.0, 2.0, 3.0])

    def run(_: int) -> list[float]:
        out = np.empty(3)
        made(x, out)
        return out.tolist()

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(run, range(8))) == [[2.0, 4.0, 6.0]] * 8
    assert len(made.signatures) == 1


def test_a_kernel_can_call_another_one() -> None:
    inner = kernel.kernel(kernel.f8, kernel.to_f8)(double)

    def twice(x, out):
        inner(x, out)
        for i in range(x.size):
            out[i] = out[i] + 1

    out = np.empty(2)
    kernel.kernel(kernel.f8, kernel.to_f8)(twice)(np.array([1.0, 2.0]), out)
    assert out.tolist() == [3.0, 5.0]
