"""Compiled loops whose positions are checked: a wrong one is told, and text leads to none."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.fuzz_files import checking

BEYOND = """
import numpy as np
from compass.native import kernel
text, end = np.zeros(40, dtype=np.uint8), np.array([41])
kernel("copy_lines")(text, np.array([0]), end, np.zeros(41, dtype=np.uint8))
"""


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    found = checking(tmp_path_factory.mktemp("checked"))
    if not found:
        pytest.skip("there is no gcc with AddressSanitizer")
    return found


def run(checked: dict[str, str], *program: str) -> subprocess.CompletedProcess[str]:
    surroundings = {**os.environ, **checked, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, *program]
    return subprocess.run(command, env=surroundings, capture_output=True, text=True, check=False)


def test_a_position_outside_of_an_array_ends_the_process(checked: dict[str, str]) -> None:
    done = run(checked, "-c", BEYOND)
    assert done.returncode
    (report,) = Path(checked["COMPASS_KERNELS"]).parent.glob("positions.*")
    assert "heap-buffer-overflow" in report.read_text()
    assert "copy_lines" in report.read_text()


def test_altered_text_is_not_read_beyond_its_end(checked: dict[str, str]) -> None:
    done = run(checked, str(Path(__file__).with_name("altered_text_program.py")))
    assert done.returncode == 0, done.stderr
    assert 200 < int(done.stdout) < 1800  # some are plain, some are not
