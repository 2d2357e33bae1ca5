"""Watches one run: a program of its own, which needs nothing but Python.

    python -I -S supervise.py FOLDER [LOCK]

It reads `launch.json` in the folder of the run, waits for a place on the machine where one is asked
for, executes the command, keeps what it prints, ends it at its time limit, and leaves `result.json`
in one step. LOCK is a handle of the file `lock`, locked by the process that started this one: while
it is locked, the run is being made. Whoever submitted the run may die meanwhile.
"""

import collections
import contextlib
import ctypes
import errno
import fcntl
import json
import os
import select
import signal
import subprocess
import sys
import time
from typing import Any

LAUNCH, LOCK, STARTED, RESULT = "launch.json", "lock", "started.json", "result.json"
CANCEL = "cancel"  # a file of this name: somebody wants the run to end
LOG = "supervisor.log"  # what this program itself prints: nothing, unless it fails
OUTPUTS = ("output", "output.end")  # the beginning and the end of what a command printed
FOLDER = "COMPASS_FOLDER"  # a variable of the command and of all that it starts

FIRST, LATER = 32 * 2**20, 16 * 2**20  # bytes that are kept: of the beginning, of the end
_RESERVED = 4096  # bytes for the result, taken before the command runs: the disk may be full then
_GRACE = 3.0  # seconds between SIGTERM and SIGKILL
_LOOKS = 300  # at what is left of a command, at least, before it is given up
_OWN_END = 1.0  # seconds; Slurm kills two seconds or more after it has asked to end
# As Python tells a signal, and as a shell does.
_ENDED_FROM_OUTSIDE = (-signal.SIGTERM, -signal.SIGKILL, 128 + signal.SIGTERM, 128 + signal.SIGKILL)
_PIECE = 2**18
_PR_SET_CHILD_SUBREAPER = 36


class Cancelled(Exception):
    """Somebody wants the run to end, and it has not begun."""


class Output:
    """Keeps the beginning and the end of what a command prints."""

    def __init__(self, folder: str) -> None:
        self.end_path = os.path.join(folder, OUTPUTS[1])
        path = os.path.join(folder, OUTPUTS[0])
        self.file = open(path, "wb", buffering=0)  # noqa: SIM115  (closed by close)
        self.left = FIRST
        self.size = 0
        self.end: collections.deque[bytes] = collections.deque()  # what came after the beginning
        self.end_size = 0
        self.problem = ""

    def add(self, piece: bytes) -> None:
        """Keep a piece; where that is not possible, remember why and go on."""
        self.size += len(piece)
        while piece and self.left and not self.problem:
            try:
                done = self.file.write(piece[: self.left])
            except OSError as error:
                self._failed(error)
                return
            self.left -= done
            piece = piece[done:]
        if piece and not self.problem:
            self.end.append(piece)
            self.end_size += len(piece)
            while self.end_size - len(self.end[0]) >= LATER:
                self.end_size -= len(self.end.popleft())

    def close(self) -> None:
        """Return when what was kept has reached the disk."""
        try:
            if self.end:
                with open(self.end_path, "wb") as file:
                    file.writelines(self.end)
                    file.flush()
                    os.fsync(file.fileno())
            os.fsync(self.file.fileno())
            self.file.close()
        except OSError as error:
            self._failed(error)

    def _failed(self, error: OSError) -> None:
        self.problem = self.problem or f"its output cannot be kept: {error.strerror}"


def main(folder: str, lock: int | None) -> int:
    """Make the run of a folder, unless it has a result or somebody else makes it."""
    lock = _locked(folder) if lock is None else lock
    if lock is None or os.path.exists(os.path.join(folder, RESULT)):
        return 0
    _note_process(lock)
    _adopt_orphans()
    with open(os.path.join(folder, LAUNCH), encoding="utf-8") as file:
        launch = json.load(file)
    reserve_result(folder)
    signal.signal(signal.SIGTERM, _cancel)
    try:
        held, cores = _place(launch.get("slots"))
        if os.path.exists(os.path.join(folder, CANCEL)):
            raise Cancelled
    except Cancelled:
        write_result(folder, {"cause": "cancel"})
        return 1
    result = _made(folder, launch, held, cores)
    if result.get("cause") == "cancel" and not os.path.exists(os.path.join(folder, CANCEL)):
        return 128 + signal.SIGTERM  # ended by a scheduler, which may start it again
    write_result(folder, result)
    return 0 if result.get("code") == 0 and not result["problem"] else 1


def _cancel(*_: Any) -> None:
    raise Cancelled


def _locked(folder: str) -> int | None:
    """The lock of the run; None: somebody else has it."""
    handle = os.open(os.path.join(folder, LOCK), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno == errno.EWOULDBLOCK:
            return None
        # A file system without locks: the scheduler that started this one runs it once.
    return handle


def _note_process(lock: int) -> None:
    """Write into the lock who has it; also the job of a scheduler, if there is one."""
    text = process_name() + "\n" + _scheduler_job() + "\n"
    os.ftruncate(lock, 0)
    os.pwrite(lock, text.encode(), 0)


def process_name() -> str:
    """This process as others may call it: machine and number."""
    return f"{os.uname().nodename}:{os.getpid()}"


def _scheduler_job() -> str:
    array, task = os.environ.get("SLURM_ARRAY_JOB_ID"), os.environ.get("SLURM_ARRAY_TASK_ID")
    return f"{array}_{task}" if array and task else os.environ.get("SLURM_JOB_ID", "")


def _place(slots: dict[str, Any] | None) -> tuple[list[int], list[int] | None]:
    """A place on the machine: handles of its locks, and the cores that belong to it.

    Exclusive runs lock the machine; others share it and lock one place each. Who waits longest
    holds the queue, so that nobody waits for ever. The command inherits the handles: the place is
    free when nothing of it is left, even if this process is killed.
    """
    if slots is None:
        return [], None
    count, base = slots["count"], slots["folder"]

    def opened(name: str) -> int:
        return os.open(os.path.join(base, name), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    queue, machine = opened("queue"), opened("machine")
    fcntl.flock(queue, fcntl.LOCK_EX)
    fcntl.flock(machine, fcntl.LOCK_EX if count == 1 else fcntl.LOCK_SH)
    if count == 1:
        os.close(queue)
        return [machine], None
    while True:
        for number in range(count):
            place = opened(f"{number}-of-{count}")
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.close(queue)
                return [machine, place], _cores(number, count)
            os.close(place)
        time.sleep(0.05)


def _cores(number: int, count: int) -> list[int] | None:
    """The cores of one place of several; None: there are not enough to divide them."""
    if not hasattr(os, "sched_getaffinity"):
        return None
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < count:
        return None
    return cores[number * len(cores) // count : (number + 1) * len(cores) // count]


def _made(
    folder: str, launch: dict[str, Any], held: list[int], cores: list[int] | None
) -> dict[str, Any]:
    """Execute the command; what becomes of it."""
    output = Output(folder)
    woken, waker = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(waker)
    ends: list[str] = []  # why the run has to end
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGTERM, lambda *_: ends.append("cancel"))
    started = time.time()
    _write(os.path.join(folder, STARTED), {"started": started, "process": process_name()})
    everything = os.sched_getaffinity(0) if cores else None
    if cores:
        os.sched_setaffinity(0, cores)
    began = time.monotonic()
    try:
        child = subprocess.Popen(  # noqa: S603  (the command of the person)
            launch["words"],
            cwd=launch["directory"],
            env={**os.environ, **launch["environment"], FOLDER: folder},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=held,
            bufsize=0,
        )
    except (OSError, ValueError) as error:
        return {"problem": _not_started(error, launch), "started": started}
    if everything:
        os.sched_setaffinity(0, everything)
    limit = launch.get("time_limit")
    ended = _watch(child, output, began + limit if limit else None, woken, ends)
    if child.returncode in _ENDED_FROM_OUTSIDE and not ends and _scheduler_job():
        _await_own_end(ends)
    _end_descendants()  # what the command left behind would disturb the next one
    assert child.stdout is not None
    _drain(child.stdout.fileno(), output)
    output.close()
    return {
        "code": child.returncode if child.returncode >= 0 else None,
        "signal": -child.returncode if child.returncode < 0 else None,
        "seconds": ended - began,
        "started": started,
        "ended": started + ended - began,
        "cause": ends[0] if ends else "",
        "problem": output.problem,
        "output": output.size,
    }


def _await_own_end(ends: list[str]) -> None:
    """Wait a moment for the signal to this process: schedulers end those of a job in any order."""
    until = time.monotonic() + _OWN_END
    while not ends and time.monotonic() < until:
        time.sleep(0.02)


def _not_started(error: Exception, launch: dict[str, Any]) -> str:
    why = error.strerror if isinstance(error, OSError) else str(error)
    where = launch["directory"] if not os.path.isdir(launch["directory"]) else launch["words"][0]
    return f"it cannot be started: {where}: {why}"


def _watch(
    child: "subprocess.Popen[bytes]",
    output: Output,
    deadline: float | None,
    woken: int,
    ends: list[str],
) -> float:
    """Keep the output until the command has ended or has been ended; the time when it did."""
    assert child.stdout is not None
    pipe = child.stdout.fileno()
    listened = [woken, pipe]
    killed: float | None = None
    while True:
        until = deadline if killed is None else killed
        now = time.monotonic()
        wait = None if until is None else max(0.0, until - now)
        ready = select.select(listened, [], [], wait)[0]
        if woken in ready:
            os.read(woken, 4096)
        if child.poll() is not None:
            return time.monotonic()
        if pipe in ready:
            piece = os.read(pipe, _PIECE)
            output.add(piece)
            listened = listened if piece else [woken]
        now = time.monotonic()
        if killed is None and deadline is not None and now >= deadline:
            ends.append("time")
        if killed is None and ends:
            _signal_group(child.pid, signal.SIGTERM)
            killed = now + _GRACE
        elif killed is not None and now >= killed:
            _signal_group(child.pid, signal.SIGKILL)
            killed = now + _GRACE


def _signal_group(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _drain(pipe: int, output: Output) -> None:
    """Keep what is in the pipe still."""
    os.set_blocking(pipe, False)
    with contextlib.suppress(BlockingIOError):
        while piece := os.read(pipe, _PIECE):
            output.add(piece)


def _adopt_orphans() -> None:
    """Become the parent of processes below this one whose own parent ends: none can get away."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _end_descendants() -> None:
    """Kill all processes below this one until none is left; tell the log what cannot be ended.

    A machine may stand still for longer than the time of grace: giving up takes many looks, too.
    """
    until = time.monotonic() + _GRACE
    looks = 0
    while looks < _LOOKS or time.monotonic() < until:
        looks += 1
        for number in _descendants():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(number, signal.SIGKILL)
        try:
            ended, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not ended:
            time.sleep(0.005)
    print("processes that cannot be ended:", *sorted(_descendants()), file=sys.stderr, flush=True)


def _descendants() -> set[int]:
    """The processes below this one; those of an ended parent are children of this one by now."""
    children: dict[int, list[int]] = {}
    for name in _processes():
        with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
            state, parent = file.read().rpartition(b")")[2].split()[:2]
            if state != b"Z":
                children.setdefault(int(parent), []).append(int(name))
    found: set[int] = set()
    todo = [os.getpid()]
    while todo:
        below = children.get(todo.pop(), [])
        found.update(below)
        todo += below
    return found


def _processes() -> list[str]:
    try:
        return [name for name in os.listdir("/proc") if name.isdigit()]
    except OSError:  # no Linux
        return []


def end_marked(folder: str) -> None:
    """Kill all processes of this machine that belong to the run of a folder.

    For runs whose supervisor is gone: while it lives, it knows them as its descendants.
    """
    mark = f"{FOLDER}={folder}".encode()
    for name in _processes():
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                marked = mark in file.read().split(b"\0")
        except OSError:  # it has ended, or belongs to somebody else
            continue
        if marked and int(name) != os.getpid():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(int(name), signal.SIGKILL)


def _write(path: str, content: dict[str, Any]) -> None:
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(content, file)
    os.replace(path + ".new", path)


def reserve_result(folder: str) -> None:
    """Take the disk space of the result."""
    with open(os.path.join(folder, RESULT + ".new"), "wb") as file:
        os.posix_fallocate(file.fileno(), 0, _RESERVED)


def write_result(folder: str, result: dict[str, Any]) -> None:
    """Write the result of a run into the space that is reserved, in one step."""
    path = os.path.join(folder, RESULT)
    whole: dict[str, Any] = {"code": None, "signal": None, "cause": "", "problem": "", **result}
    whole["problem"] = whole["problem"][:500]
    with open(path + ".new", "r+b") as file:
        file.write(json.dumps(whole).encode())
        file.truncate()
        file.flush()
        os.fsync(file.fileno())
    os.replace(path + ".new", path)
    handle = os.open(folder, os.O_RDONLY)
    with contextlib.suppress(OSError):  # some file systems cannot sync folders
        os.fsync(handle)
    os.close(handle)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else None))
