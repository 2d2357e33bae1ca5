"""The runner `local`: processes of this machine, one at a time unless more are asked for.

Each run has a supervisor of its own (`supervise.py`), which outlives the program that submitted it.
The lock of the run's folder is taken before the supervisor is started and handed on to it, so there
is no moment at which a run could be taken for one that nobody makes.
"""

import contextlib
import fcntl
import os
import signal
import stat
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from compass import registry
from compass.domain.errors import EnvironmentProblem
from compass.domain.experiment import RunState
from compass.execute.options import count_of, options_of
from compass.experiment.command import find_program
from compass.experiment.runners import supervise
from compass.experiment.runners.base import Job, JobStatus, Launch
from compass.experiment.runners.folder import (
    folder_problem,
    lock_of,
    maker,
    result_of,
    started_at,
    supervisor_words,
    write_end,
    write_launch,
)

_LOCK_HANDLE = 3  # in the supervisor
_FREE = 10  # handles from here on are not needed in the supervisor
_SHORTEST, _LONGEST = 0.02, 1.0  # seconds between two polls
_PATIENCE = 30.0  # seconds for a supervisor to say who it is
_LOST = "the process that watched it was ended (the machine was restarted, or it was killed)"
# A program of Python ignores or handles these; those that it starts should not.
_SIGNALS = (signal.SIGPIPE, signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGXFSZ)


@registry.add("runner", "local")
class Local:
    """Processes of this machine, one at a time; `local:slots=2`: two, each on cores of its own."""

    name = "local"

    def __init__(self, text: str = "") -> None:
        options = options_of(self.name, text, {"slots": "1"}, kind="runner")
        self.slots = count_of(self.name, options["slots"], kind="runner")
        self.pause = _SHORTEST
        self._children: set[int] = set()
        self._changed = time.monotonic()
        self._last: list[RunState] = []

    def check(self, launch: Launch) -> None:
        """Raises EnvironmentProblem if the program or its directory is not there."""
        if not launch.directory.is_dir():
            raise EnvironmentProblem(
                f"there is no folder {launch.directory}", hint="the command is to run there"
            )
        find_program(launch.words[0], launch.directory)

    def submit(self, launches: Sequence[Launch]) -> list[Job]:
        """Start a supervisor for each launch that has none and no result."""
        places = {"folder": str(_lock_folder()), "count": self.slots}
        self._changed = time.monotonic()
        return [self._submit(launch, places) for launch in launches]

    def _submit(self, launch: Launch, places: dict[str, object]) -> Job:
        try:
            launch.folder.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise folder_problem(launch.folder, problem) from None
        lock = lock_of(launch.folder)
        if lock is None:
            return _job(launch.number, launch.folder)
        try:
            if (launch.folder / supervise.RESULT).exists():
                return _job(launch.number, launch.folder)
            write_launch(launch, places)
            process = _spawn(launch.folder, lock)
        finally:
            os.close(lock)
        self._children.add(process)
        return Job(
            number=launch.number, id=f"{os.uname().nodename}:{process}", folder=launch.folder
        )

    def attach(self, folders: Mapping[int, Path]) -> dict[int, Job]:
        """The runs that have a result, are being made, or were being made."""
        return {
            number: _job(number, folder)
            for number, folder in folders.items()
            if _was_submitted(folder)
        }

    def poll(self, jobs: Sequence[Job]) -> list[JobStatus]:
        """How each job is now, told by what is in its folder."""
        self._reap()
        found = [_status(job) for job in jobs]
        states = [status.state for status in found]
        if states != self._last:
            self._last, self._changed = states, time.monotonic()
        # A short run is noticed at once, a long one is not disturbed.
        waited = time.monotonic() - self._changed
        self.pause = min(max(0.05 * waited, _SHORTEST), _LONGEST)
        return found

    def cancel(self, jobs: Sequence[Job]) -> None:
        """Tell the supervisors to end their runs."""
        for job in jobs:
            if (job.folder / supervise.RESULT).exists():
                continue
            try:
                (job.folder / supervise.CANCEL).touch()
            except OSError as problem:
                raise folder_problem(job.folder, problem) from None
            process = _supervisor(job)
            if process is not None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGTERM)

    def close(self) -> None:
        """Jobs go on."""
        self._reap()

    def _reap(self) -> None:
        for process in list(self._children):
            with contextlib.suppress(ChildProcessError):
                if os.waitpid(process, os.WNOHANG)[0] == 0:
                    continue
            self._children.discard(process)


def _lock_folder() -> Path:
    """Where the places of this machine are locked: a folder of this person, not on the network."""
    folder = Path(os.environ.get("TMPDIR") or "/tmp") / f"compass-{os.getuid()}"  # noqa: S108
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError as problem:
        raise folder_problem(folder, problem) from None
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise EnvironmentProblem(
            f"{folder} belongs to somebody else", hint="set TMPDIR to a folder of your own"
        )
    return folder


def _spawn(folder: Path, lock: int) -> int:
    """Start the supervisor of a run and hand the lock on to it; its process."""
    free = fcntl.fcntl(lock, fcntl.F_DUPFD_CLOEXEC, _FREE)
    words = [*supervisor_words(folder), str(_LOCK_HANDLE)]
    log, flags = str(folder / supervise.LOG), os.O_WRONLY | os.O_CREAT | os.O_APPEND
    try:
        return os.posix_spawn(
            words[0],
            words,
            os.environ,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, log, flags, 0o600),
                (os.POSIX_SPAWN_DUP2, 1, 2),
                (os.POSIX_SPAWN_DUP2, free, _LOCK_HANDLE),
            ],
            setsid=True,
            setsigmask=(),
            setsigdef=_SIGNALS,
        )
    except OSError as problem:
        raise EnvironmentProblem(
            f"no process can be started in {folder}: {problem.strerror}",
            hint="is the disk full, or are there too many processes?",
        ) from None
    finally:
        os.close(free)


def _was_submitted(folder: Path) -> bool:
    if (folder / supervise.RESULT).exists() or (folder / supervise.STARTED).exists():
        return True
    if not (folder / supervise.LOCK).exists():
        return False
    lock = lock_of(folder)
    if lock is None:
        return True
    os.close(lock)
    # It may have ended between the first look and the second one.
    return (folder / supervise.RESULT).exists() or (folder / supervise.STARTED).exists()


def _job(number: int, folder: Path) -> Job:
    """The job of a run that somebody makes or made."""
    until = time.monotonic() + _PATIENCE
    while not (process := maker(folder)[0]):
        lock = lock_of(folder)
        if lock is not None:  # whoever had it was killed before it could say who it is
            os.close(lock)
            process = "unknown"
            break
        if time.monotonic() > until:
            raise EnvironmentProblem(
                f"the process that makes the run of {folder} does not answer",
                hint="is the machine very busy? try again",
            )
        time.sleep(0.02)
    return Job(number=number, id=process, folder=folder)


def _supervisor(job: Job) -> int | None:
    """The process that makes a job now, on this machine."""
    lock = lock_of(job.folder)
    if lock is not None:
        os.close(lock)
        return None
    host, _, process = maker(job.folder)[0].partition(":")
    return int(process) if host == os.uname().nodename and process.isdecimal() else None


def _status(job: Job) -> JobStatus:
    found = result_of(job.folder)
    if found is not None:
        return found
    if not job.folder.is_dir():
        return JobStatus(state=RunState.FAILED, reason=f"{job.folder} is gone", lost=True)
    lock = lock_of(job.folder)
    if lock is None:
        return _going_on(job)
    try:
        found = result_of(job.folder)  # it may have been written between the two looks
        if found is not None:
            return found
        if not job.id.startswith(f"{os.uname().nodename}:"):
            return _going_on(job)  # its locks may not reach this machine
        supervise.end_marked(str(job.folder))
        return write_end(job.folder, _LOST, lost=True)
    finally:
        os.close(lock)


def _going_on(job: Job) -> JobStatus:
    began = started_at(job.folder)
    if began is None:
        return JobStatus(state=RunState.SUBMITTED, reason="waits for its place on the machine")
    return JobStatus(state=RunState.RUNNING, started_at=began)
