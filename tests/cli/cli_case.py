"""Ways to run the command line in tests, and a small table to run it on."""

import csv
import io
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import compass as cp
from compass.cli.main import run
from compass.settings import ForestSettings, TrustSettings

# Small forests: these tests are about what is printed, not about how well it is learnt.
QUICK = cp.Settings(
    surrogate="forest", forest=ForestSettings(trees=10), trust=TrustSettings(trees=4)
)
FLAGS = tuple(
    word
    for name, role in {
        **dict.fromkeys(("nodes", "cores", "gpus"), "knob"),
        **dict.fromkeys(("app", "size"), "context"),
        **dict.fromkeys(("runtime", "power", "state"), "outcome"),
    }.items()
    for word in ("--role", f"{name}={role}")
)
RECOMMEND = "Recommend X = {gpus: ?} to achieve Y = {runtime: minimize} where C = {app: wrf}"
RECONFIGURE = "Reconfigure X = {gpus: ?} to achieve Y = {runtime: reduce by 10%}"


@dataclass(frozen=True)
class Result:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


def compass(*words: object) -> Result:
    """Run the command line in this process, exactly as its entry point does."""
    out, err = io.StringIO(), io.StringIO()
    code: object = 0
    with (
        patch.object(sys, "argv", ["compass", *map(str, words)]),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            run()
        except SystemExit as leaving:
            code = leaving.code
    assert isinstance(code, int)
    return Result(code, out.getvalue(), err.getvalue())


def process(*words: object, code: str | None = None, **environment: str) -> Result:
    """Run the command line (or a program) in a process of its own."""
    program = ["-m", "compass.cli.main"] if code is None else ["-c", code]
    done = subprocess.run(
        [sys.executable, *program, *map(str, words)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        env=os.environ | environment,
        check=False,
    )
    return Result(done.returncode, done.stdout, done.stderr)


def refused(result: Result, *parts: str) -> None:
    """What a person gave cannot be used: both lines on standard error, nothing else anywhere."""
    assert result.code == 2, result
    assert result.out == ""
    lines = result.err.splitlines()
    assert lines[0].startswith("error: ")
    assert lines[-1].startswith("hint: ")
    assert len(lines[-1]) > len("hint: ")
    assert "Traceback" not in result.err
    for part in parts:
        assert part in result.err, result.err


def write_csv(path: Path, columns: Mapping[str, Sequence[object]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path
