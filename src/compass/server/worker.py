"""A working process: everything that touches people's files or models happens in one of these.

The server starts it as `python -m compass.server.worker`, sends one piece of work at a time as JSON
and gets frames back: progress, then a result or a problem. It may be killed at any moment: nothing
that it holds is not also on disk. It dies with the server, and its memory is limited.
"""

import errno
import json
import os
import resource
import signal
import sqlite3
import sys
import time
from collections.abc import Iterator
from typing import Any, BinaryIO

from compass.execute.child import end_with_parent, own_streams, read_frame, write_frame
from compass.execute.processors import at_most
from compass.server import logs

PROGRESS, RESULT, PROBLEM = b"P", b"R", b"E"
TASK = b"T"
_LONGEST_TASK = 1 << 40  # bytes: the server is trusted
_PAUSE = 0.1  # seconds between two reports of progress
CONTINUABLE = 64  # answers whose search (some 3 MB) a process remembers, to go on with it
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)  # on the disk, or of the quota of whoever runs the server
_PLACES = ("path", "engine", "output", "store", "synthesizer")  # where the server keeps things
LONGEST = 64 << 20  # bytes of a result: the server holds it in memory to send it


def main() -> None:
    """Serve pieces of work until there are no more."""
    limit, parent, threads = map(int, sys.argv[1:4])
    end_with_parent(parent)
    # Private writable memory: unlike the address space, it counts what is really asked for.
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    at_most(threads)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server decides what Ctrl-C means
    logs.configure(os.fdopen(os.dup(2), "w"))
    # After the log has its own stream: people's data must not get into it by what libraries print.
    source, out = own_streams()
    try:
        serve(source, out)
    except Exception as error:
        logs.trouble("fault", error)  # of ours: the process ends, and is replaced
        sys.exit(1)


def serve(source: BinaryIO, out: BinaryIO) -> None:
    """Read pieces of work from one stream and write frames to the other."""
    from compass.server.tasks import TaskHandlers

    handlers = TaskHandlers()
    while True:
        try:
            given = json.loads(read_frame(source, _LONGEST_TASK).content)
        except EOFError:
            return
        kind, content = _done(handlers, given, out)
        write_frame(out, kind, content)
        handlers.tidy()


def _done(handlers: Any, given: dict[str, Any], out: BinaryIO) -> tuple[bytes, bytes]:
    from compass.domain.errors import CompassError
    from compass.server.problems import Refused, disk_problem, fault, problem_of, too_large

    reported, last = "", 0.0

    def report(stage: str, done: int, total: int) -> None:
        nonlocal reported, last
        # The last step of a stage is reported too, or a bar would stop short of its end.
        if time.monotonic() - last < _PAUSE and done < total and stage == reported:
            return
        reported, last = stage, time.monotonic()
        shown = {"stage": stage, "done": int(done), "total": int(total)}
        write_frame(out, PROGRESS, json.dumps(shown).encode())

    try:
        result = handlers.do(given["task"], given["given"], report)
        if len(result) > LONGEST:
            raise too_large(
                f"the result is longer than {LONGEST >> 20} MiB",
                "ask for fewer rows, columns or suggestions",
            )
        return RESULT, result
    except Exception as error:
        if _starved(error):
            handlers.forget()
            error = too_large(
                "this needs more memory than the server allows",
                "give it less data, or ask the operator for more memory",
            )
        elif (full := _full(error)) is not None:
            error = disk_problem(full)
        if not isinstance(error, CompassError):
            # Of the error only its kind and places are logged: its text may quote people's data.
            # Whoever reads this ends the process: nobody knows in which state it is.
            error = fault(logs.note_fault(error, task=given["task"]))
        status, problem = problem_of(error)
        again = error.retry_after if isinstance(error, Refused) else None
    refusal = {
        "status": status,
        "problem": problem.model_dump(mode="json"),
        "retry_after": again,
    }
    return PROBLEM, _without_paths(json.dumps(refusal), given["given"]).encode()


def _starved(error: BaseException) -> bool:
    """Whether there was not enough memory, which some libraries tell in errors of their own."""
    return any(
        isinstance(one, MemoryError) or "bad_alloc" in str(one) or "malloc" in str(one)
        for one in _causes(error)
    )


def _full(error: BaseException) -> OSError | None:
    """The error of a disk that takes no more, if this came of it; also where SQLite said so."""
    for one in _causes(error):
        if isinstance(one, OSError) and one.errno in _NO_ROOM:
            return one
        if isinstance(one, sqlite3.Error) and _code(one) == sqlite3.SQLITE_FULL:
            return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    return None


def _code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error and those that led to it: a reader took one of them for a damaged file, say."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _without_paths(text: str, given: Any) -> str:
    """The same without the places where the server keeps things, which are nobody's business."""
    parts = given.items() if isinstance(given, dict) else ()
    for name, path in parts:
        if name in _PLACES and isinstance(path, str) and path.startswith("/"):
            text = text.replace(json.dumps(path)[1:-1], "the file")
        elif isinstance(path, dict):
            text = _without_paths(text, path)
    return text


if __name__ == "__main__":
    main()
