"""A Dask scheduler and a worker that somebody else started."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_HERE = str(Path(__file__).parent)


@contextmanager
def started(log: Path) -> Iterator[str]:
    """HOST:PORT of a scheduler with one worker; both end with the block."""
    dask = [sys.executable, "-m", "dask"]
    where = ["--host", "127.0.0.1"]
    quiet = ["--no-dashboard"]
    with log.open("wb") as out:
        first = _start([*dask, "scheduler", *where, "--port", "0", *quiet], out)
    try:
        address = _said(log, first, r"Scheduler at:\s+tcp://(\S+)")
        worker = [*dask, "worker", f"tcp://{address}", *where, "--nthreads", "2", *quiet]
        with log.open("ab") as out:
            second = _start(worker, out)
        try:
            yield address
        finally:
            _end(second)
    finally:
        _end(first)


def _start(command: list[str], out: object) -> "subprocess.Popen[bytes]":
    environment = os.environ | {"PYTHONPATH": _HERE, "PYTHONWARNINGS": ""}
    return subprocess.Popen(command, stdout=out, stderr=out, env=environment)  # type: ignore[call-overload]


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _said(log: Path, process: "subprocess.Popen[bytes]", pattern: str) -> str:
    until = time.monotonic() + 60
    while (found := re.search(pattern, log.read_text())) is None:
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < until, log.read_text()
        time.sleep(0.05)
    return found[1]
