"""Darshan logs: one row per log, with the job and the totals of its reading and writing."""

import json
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa

from compass import registry
from compass.domain.errors import EnvironmentProblem
from compass.readers.files import cannot_open
from compass.readers.profiles.base import damaged
from compass.readers.profiles.flatten import columns_of, run_names

_CHILD = Path(__file__).with_name("darshan_log.py")
_PATIENCE = 120.0  # seconds for one log; the largest take a few
_WHAT = "a Darshan log"
_MODULES = ("posix", "mpiio", "stdio")


@registry.add("reader", "darshan")
class Darshan:
    """Darshan logs: the job, and the bytes, calls and seconds of its POSIX, MPI-IO and STDIO."""

    name = "darshan"
    suffixes = (".darshan",)

    def sniff(self, path: Path, head: bytes) -> bool:
        """A log that starts with its version, as Darshan writes it."""
        del path
        return len(head) > 8 and head[:1].isdigit() and head[1:2] == b"." and b"\0" in head[:8]

    def read(self, path: Path) -> pa.Table:
        """The log as a table of one row."""
        return self.read_together([path])[0]

    def read_together(self, paths: Sequence[Path]) -> list[pa.Table]:
        """One row per log; a module that a job did not use has missing cells."""
        if find_spec("darshan") is None:
            raise EnvironmentProblem(
                "Darshan logs need the package darshan", hint="pip install 'compass-hpc[darshan]'"
            )
        logs = _logs(paths)
        named = zip(run_names(paths), logs, strict=True)
        rows = [{"run": name, **_row(log)} for name, log in named]
        names = sorted(dict.fromkeys(name for row in rows for name in row), key=_order)
        units = {name: unit for name in names if (unit := _unit(name))}
        table = columns_of({name: [row.get(name) for row in rows] for name in names}, units)
        return [table.slice(n, 1) for n in range(len(rows))]


def _logs(paths: Sequence[Path]) -> list[dict[str, Any]]:
    """What the logs hold, read by another process: the C library may not survive a damaged log."""
    for path in paths:
        if not path.is_file():
            raise cannot_open(path, FileNotFoundError())
    try:
        done = subprocess.run(  # noqa: S603  our own file, and paths as data
            [sys.executable, "-I", str(_CHILD)],
            input=json.dumps([str(path.absolute()) for path in paths]),
            capture_output=True,
            text=True,
            timeout=_PATIENCE * len(paths),
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        text = late.stdout.decode() if isinstance(late.stdout, bytes) else late.stdout or ""
        raise damaged(paths[text.count("\n")], _WHAT, "it takes too long") from late
    lines = done.stdout.splitlines()
    found = [json.loads(line) for line in lines]
    for path, log in zip(paths, found, strict=False):
        if "problem" in log:
            raise damaged(path, _WHAT, log["problem"])
    if len(found) < len(paths):
        lines = done.stderr.strip().splitlines()
        why = lines[-1] if lines and done.returncode > 0 else "the log is damaged"
        raise damaged(paths[len(found)], _WHAT, why)
    return found


def _row(log: dict[str, Any]) -> dict[str, Any]:
    job = log["job"]
    start = job["start_time_sec"]
    return {
        "program": Path(log["exe"].split(" ", 1)[0]).name or None,
        "job": job["jobid"],
        "start": datetime.fromtimestamp(start, UTC) if 0 <= start < 1 << 36 else None,
        "run_time": float(job["run_time"]),
        "nprocs": job["nprocs"],
        "partial": log["partial"],  # Darshan ran out of memory and kept a part of the files
        **{
            f"{module}.{name}": value
            for module, totals in log["modules"].items()
            for name, value in totals.items()
        },
    }


def _order(name: str) -> int:
    """The job first, then the modules, whichever log had them first."""
    module = name.partition(".")[0]
    return _MODULES.index(module) + 1 if module in _MODULES else 0


def _unit(name: str) -> str | None:
    if name == "run_time" or name.endswith("_seconds"):
        return "s"
    return "B" if "bytes_" in name else None
