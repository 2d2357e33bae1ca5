"""MPI: one program of several ranks, started by a real mpiexec."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

_HERE = Path(__file__).parent
_MPIEXEC = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")

pytestmark = pytest.mark.skipif(_MPIEXEC is None, reason="there is no mpiexec")


def ranks(*command: str, count: int = 3) -> "subprocess.CompletedProcess[str]":
    """What a program says that runs on so many ranks; it must not hang."""
    return subprocess.run(
        [str(_MPIEXEC), "-n", str(count), *command],
        capture_output=True,
        text=True,
        timeout=90,
        env=os.environ | {"PYTHONPATH": str(_HERE)},
        check=False,
    )


def program(case: str) -> "subprocess.CompletedProcess[str]":
    return ranks(sys.executable, str(_HERE / "mpi_program.py"), case)


def test_promises_are_kept_and_only_the_first_rank_speaks() -> None:
    done = program("promises")
    assert done.stdout.splitlines() == ["2 workers, 2 processes", "[(0, 3)]"], done.stderr
    assert done.returncode == 3


def test_bad_input_releases_the_other_ranks() -> None:
    done = program("refused")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "")


def test_a_defect_releases_the_other_ranks() -> None:
    done = program("broken")
    assert done.returncode == 1
    assert done.stderr.count("RuntimeError: a defect") == 1


def test_a_script_that_every_rank_runs_is_told_how_to_start() -> None:
    done = program("everywhere")
    # Ranks may write into each other's lines.
    assert done.stdout.count("start it with mpiexec -n 4 python -m mpi4py.futures script.py") == 3


def test_the_way_of_mpi4py_works_too() -> None:
    done = ranks(sys.executable, "-m", "mpi4py.futures", str(_HERE / "mpi_program.py"), "served")
    assert done.stdout.strip() == "2 workers, 2 processes", done.stderr


def test_the_command_line_runs_on_the_first_rank_only() -> None:
    compass = [sys.executable, "-m", "compass.cli.main"]
    done = ranks(*compass, "fit", "/no/such/file", "-o", "/no/such/engine", "--executor=mpi")
    assert done.returncode == 2
    assert done.stderr.count("error: ") == 1, done.stderr
    assert not done.stdout


def test_one_rank_alone_is_told() -> None:
    alone = ranks(sys.executable, str(_HERE / "mpi_program.py"), "everywhere", count=1)
    assert alone.stdout.startswith("start it with mpiexec -n 4 (of the MPI that")
