"""The folder of a run: what is in it, and what it tells.

launch.json      what is executed
lock             locked while somebody makes the run; who that is
started.json     when the command began
output           what it printed; of very much the beginning, and the end in output.end
result.json      how it ended; written last, in one step
"""

import contextlib
import fcntl
import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, Field, ValidationError

from compass import files
from compass.domain.errors import EnvironmentProblem
from compass.domain.experiment import RunState
from compass.execute.child import exit_cause
from compass.experiment.printed import Text, shown
from compass.experiment.runners import supervise
from compass.experiment.runners.base import JobStatus, Launch

_LONGEST = 64 * 1024  # bytes of a result
_MOST_SECONDS = 1e9


class _Result(BaseModel):
    """What a supervisor leaves; the command itself could have written anything there."""

    code: int | None = None
    signal: int | None = Field(None, ge=1, le=255)
    seconds: float | None = Field(None, ge=0, le=_MOST_SECONDS)
    started: float | None = Field(None, ge=0, le=1e11)
    ended: float | None = Field(None, ge=0, le=1e11)
    cause: str = ""
    problem: str = ""


class _Started(BaseModel):
    started: float = Field(ge=0, le=1e11)


def output_files(folder: Path) -> list[Path]:
    """The files that hold what a run printed, in their order."""
    return [path for path in (folder / name for name in supervise.OUTPUTS) if path.exists()]


def supervisor_words(folder: Path) -> list[str]:
    """The command that makes the run of a folder, on any machine that sees it."""
    # By its path, without the packages of this Python: nothing else has to be imported.
    return [sys.executable, "-I", "-S", str(Path(supervise.__file__).resolve()), str(folder)]


def write_launch(launch: Launch, slots: dict[str, object] | None = None) -> None:
    """Make the folder of a launch and write what the supervisor needs into it."""
    content = {
        "words": launch.words,
        "environment": launch.environment,
        "directory": str(launch.directory),
        "time_limit": launch.time_limit,
        "slots": slots,
    }
    try:
        launch.folder.mkdir(parents=True, exist_ok=True)
        files.write_text(launch.folder / supervise.LAUNCH, json.dumps(content))
    except OSError as problem:
        raise folder_problem(launch.folder, problem) from None


def folder_problem(folder: Path, problem: OSError) -> EnvironmentProblem:
    """The error for a folder of a run that cannot be written."""
    return EnvironmentProblem(
        f"{folder} cannot be written: {problem.strerror or problem}",
        hint="choose another folder for the runs, or make room there; nothing is lost",
    )


def result_of(folder: Path) -> JobStatus | None:
    """How the run of a folder ended; None: there is no result yet."""
    try:
        with (folder / supervise.RESULT).open("rb") as file:
            content = file.read(_LONGEST)
    except OSError:
        return None
    try:
        result = _Result.model_validate_json(content)
    except ValidationError:
        return JobStatus(state=RunState.FAILED, reason="its result.json is damaged", lost=True)
    state, reason, lost = _meaning(result, folder)
    return JobStatus(
        state=state,
        reason=reason,
        lost=lost,
        seconds=result.seconds,
        started_at=_moment(result.started),
        ended_at=_moment(result.ended),
    )


def _meaning(result: _Result, folder: Path) -> tuple[RunState, str, bool]:
    if result.cause == "cancel":
        return RunState.CANCELLED, "cancelled", False
    if result.cause in ("lost", "ended"):
        return RunState.FAILED, result.problem, result.cause == "lost"
    if result.cause == "time":
        return RunState.FAILED, f"ended at its time limit, after {result.seconds:.4g} s", False
    if result.signal is not None:
        memory = " (out of memory?)" if result.signal == 9 else ""
        return RunState.FAILED, exit_cause(-result.signal) + memory + _last_words(folder), False
    if result.code:
        return RunState.FAILED, exit_cause(result.code) + _last_words(folder), False
    if result.problem:
        return RunState.FAILED, result.problem, result.code == 0
    return RunState.DONE, "", False


def _last_words(folder: Path) -> str:
    last = shown(Text(output_files(folder), "the output").last_line())
    return f": {last}" if last else ""


def started_at(folder: Path) -> datetime | None:
    """When the command of a run began; None: it has not."""
    try:
        content = (folder / supervise.STARTED).read_bytes()[:_LONGEST]
        return _moment(_Started.model_validate_json(content).started)
    except (OSError, ValidationError):
        return None


def _moment(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def lock_of(folder: Path) -> int | None:
    """The lock of a run, now ours; None: somebody makes it. Close it."""
    try:
        path = folder / supervise.LOCK
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as problem:
        raise folder_problem(folder, problem) from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return None
    except OSError as problem:
        os.close(handle)
        raise EnvironmentProblem(
            f"files in {folder} cannot be locked: {problem.strerror}",
            hint="choose a folder on another file system for the runs",
        ) from None
    return handle


def maker(folder: Path) -> tuple[str, str]:
    """The process and the job of a scheduler that have, or had, the lock of a run; may be empty."""
    with contextlib.suppress(OSError):
        lines = (folder / supervise.LOCK).read_bytes()[:_LONGEST].decode(errors="replace")
        process, _, rest = lines.partition("\n")
        return process, rest.partition("\n")[0]
    return "", ""


def write_end(folder: Path, reason: str, *, lost: bool) -> JobStatus:
    """Leave the result of a run that nobody makes any more; what it says from now on.

    A disk that is full keeps nothing: the next one who looks comes to the same conclusion.
    """
    cancelled = (folder / supervise.CANCEL).exists()
    cause = "cancel" if cancelled else "lost" if lost else "ended"
    with contextlib.suppress(OSError):
        supervise.reserve_result(str(folder))
        supervise.write_result(str(folder), {"cause": cause, "problem": reason})
    if cancelled:
        return JobStatus(state=RunState.CANCELLED, reason="cancelled")
    return JobStatus(state=RunState.FAILED, reason=reason, lost=lost)
