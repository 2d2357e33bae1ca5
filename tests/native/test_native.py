"""The door between Python and the kernels in C."""

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from compass.native import build, kernel

squares = kernel("squares")  # kind i8, rows f8_2d, point f8 -> total f8
KIND = np.zeros(2, dtype=np.int64)
ROWS = np.arange(6.0).reshape(2, 3)
POINT = np.array([1.0, 1.0])


def test_a_kernel_writes_into_the_array_that_it_is_given() -> None:
    total = np.zeros(3)
    assert squares(KIND, ROWS, POINT, total) is None
    assert total.tolist() == ((ROWS - POINT[:, None]) ** 2).sum(axis=0).tolist()


def test_arrays_that_are_only_read_may_be_read_only() -> None:
    rows, total = ROWS.copy(), np.zeros(3)
    rows.flags.writeable = False
    squares(KIND, rows, POINT, total)
    assert total.any()


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ((KIND, ROWS, POINT), "squares takes other arguments than 3"),
        ((KIND, ROWS, POINT, np.zeros(3), 1), "squares takes other arguments than 5"),
        ((KIND.astype(np.int32), ROWS, POINT, np.zeros(3)), "is no i8"),
        ((KIND.astype(np.float64), ROWS, POINT, np.zeros(3)), "is no i8"),
        ((KIND.astype(np.uint64), ROWS, POINT, np.zeros(3)), "is no i8"),
        ((KIND, ROWS.astype(np.float32), POINT, np.zeros(3)), "is no f8_2d"),
        ((KIND, ROWS.astype(">f8"), POINT, np.zeros(3)), "is no f8_2d"),
        ((KIND, ROWS[0], POINT, np.zeros(3)), "1 dimensions"),
        ((KIND, ROWS, None, np.zeros(3)), "bytes-like object"),
        ((KIND, ROWS, POINT, [0.0] * 3), "bytes-like object"),
    ],
)
def test_other_arguments_are_refused(given: tuple[object, ...], match: str) -> None:
    with pytest.raises(TypeError, match=match):
        squares(*given)


def test_other_layouts_are_refused() -> None:
    with pytest.raises(ValueError, match="not C-contiguous"):
        squares(KIND, np.asfortranarray(ROWS), POINT, np.zeros(3))
    kept = np.zeros(3)
    kept.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        squares(KIND, ROWS, POINT, kept)


def test_nothing_is_held_after_a_call_that_was_refused() -> None:
    rows = ROWS.copy()
    before = sys.getrefcount(rows)
    for _ in range(100):
        with pytest.raises(TypeError):
            squares(KIND, rows, None, np.zeros(3))
        squares(KIND, rows, POINT, np.zeros(3))
    assert sys.getrefcount(rows) == before


def test_single_numbers_are_checked() -> None:
    shift = kernel("shift")  # integer, f8, number, number -> f8
    values, apart = np.array([0.0, 3.0]), np.zeros(2)
    shift(np.int64(0), values, np.float64(0.0), 1, apart)
    assert apart.tolist() == [1.0, -5.0]
    with pytest.raises(TypeError):
        shift(0.5, values, 0.0, 1.0, apart)
    with pytest.raises(TypeError):
        shift(0, values, "0", 1.0, apart)


def test_a_kernel_that_there_is_not_is_refused() -> None:
    with pytest.raises(LookupError, match="no kernel 'shft'"):
        kernel("shft")


def test_other_threads_run_while_a_kernel_does() -> None:
    # A thread that has the lock keeps it here: another one runs only where a kernel gives it up.
    rows, total = np.zeros((2, 200_000)), np.zeros(200_000)
    started, answered = threading.Event(), threading.Event()

    def calls_until_answered() -> int:
        started.set()
        for call in range(2000):
            if answered.is_set():
                return call
            squares(KIND, rows, POINT, total)
        return -1

    usual = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        with ThreadPoolExecutor(1) as pool:
            working = pool.submit(calls_until_answered)
            started.wait()
            answered.set()
            assert working.result() >= 0
    finally:
        sys.setswitchinterval(usual)


def test_arrays_that_are_not_aligned_are_refused() -> None:
    point = np.frombuffer(bytes(17), dtype=np.float64, offset=1)
    with pytest.raises(TypeError, match="not aligned"):
        squares(KIND, ROWS, point, np.zeros(3))


def _python(code: str, library: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "COMPASS_KERNELS": str(library)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_library_that_is_missing_or_old_says_how_to_compile_it(tmp_path: Path) -> None:
    code = "from compass.native import kernel; kernel('squares')"
    missing = _python(code, tmp_path / "kernels.so")
    assert "is not there" in missing.stderr
    assert "hint: `make native`" in missing.stderr
    old = tmp_path / "old.so"
    made = build.LIBRARY.read_bytes()
    old.write_bytes(made.replace(build.digest().encode(), b"0" * len(build.digest())))
    assert "older than its sources" in _python(code, old).stderr
    assert _python(code, build.LIBRARY).returncode == 0
    broken = tmp_path / "broken.so"
    broken.write_bytes(b"no library")
    told = _python(code, broken).stderr
    assert "does not load" in told
    assert "hint: it was built for another system" in told
