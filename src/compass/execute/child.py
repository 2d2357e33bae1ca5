"""Child processes: how they are started, talked to, given up and ended.

Both sides send frames: one byte that says what kind of frame it is, the length, the content. What
the content is depends on how far the child is trusted:

* a model that somebody brought (`model/files`) runs in a child that nobody trusts: JSON and raw
  arrays, checked before they are used, never a pickle; every frame has a deadline and a largest
  length;
* a worker of the server (`server/worker`) runs our own code on people's files: JSON. The server
  waits for many of them at once, so it reads their frames with asyncio (`next_frame`);
* a worker of the executor `processes` is sent functions, so it gets pickles that we made ourselves
  (`execute/pickles`). It is started by `multiprocessing`, not here: only that makes the functions
  of a person's own script known to the child.

Programs that read something, print something and end (Slurm's commands, a compiler, the library of
Darshan) need no protocol: they are run with a time limit where they are needed.

A child of this module writes its frames to what was its standard output. What libraries print goes
nowhere (`own_streams`), so that it cannot get between the frames.
"""

import ctypes
import os
import select
import signal
import struct
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

if TYPE_CHECKING:
    from asyncio import StreamReader

_HEAD = struct.Struct(">cQ")
_PIECE = 2**20  # bytes that are read or written at once, between two looks at the clock
_PR_SET_PDEATHSIG = 1
_WRITING = threading.Lock()


class Ended(Exception):
    """The process cannot be talked to any more."""


class Garbled(Exception):
    """What came is no message of the protocol."""


class Frame(NamedTuple):
    """One message."""

    kind: bytes  # one byte
    content: bytes


def header(kind: bytes, length: int) -> bytes:
    """What stands before the content of a frame."""
    return _HEAD.pack(kind, length)


def _length(head: bytes, longest: int) -> tuple[bytes, int]:
    kind, length = _HEAD.unpack(head)
    if length > longest:
        raise Garbled("a message is too long")
    return kind, length


def exit_cause(code: int) -> str:
    """How a process ended, for a message: `exit code 1`, or `signal 9, SIGKILL`."""
    return f"exit code {code}" if code >= 0 else f"signal {-code}, {signal_name(-code)}"


def signal_name(number: int) -> str:
    """The name of a signal: 9 is SIGKILL."""
    return signal.Signals(number).name if number in set(signal.Signals) else "unknown"


class Child:
    """A process that runs a module, with a deadline for everything that is sent or received.

    It is killed when nobody refers to it any more, and at the end of the program; a forked copy of
    the program leaves it alone.
    """

    def __init__(self, module: str, environment: Mapping[str, str]) -> None:
        """Start `python -I -m module` in the root folder, in a session of its own.

        Raises OSError where no process can be started.
        """
        self.process = subprocess.Popen(  # noqa: S603  (no shell, our own module)
            [sys.executable, "-I", "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(environment),
            cwd="/",
            start_new_session=True,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._in, self._out = self.process.stdin.fileno(), self.process.stdout.fileno()
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)
        self._owner = os.getpid()
        self.kill: Callable[[], object] = weakref.finalize(self, _kill, self.process, self._owner)

    @property
    def usable(self) -> bool:
        """Whether it runs, and belongs to this process and not to the one we were forked from."""
        return self._owner == os.getpid() and self.process.poll() is None

    def send(self, kind: bytes, pieces: Sequence[bytes], deadline: float) -> None:
        """Send a frame; TimeoutError at the deadline (of `time.monotonic`), Ended if it died."""
        for piece in (header(kind, sum(map(len, pieces))), *pieces):
            self._write(piece, deadline)

    def receive(self, longest: int, deadline: float) -> Frame:
        """The next frame; TimeoutError at the deadline, Ended if it died, Garbled if too long."""
        kind, length = _length(self._read(_HEAD.size, deadline), longest)
        return Frame(kind, self._read(length, deadline))

    def exit_code(self, seconds: float = 1.0) -> int | None:
        """The exit code of a process that is about to end; None if it does not."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)
        return self.process.returncode

    def _write(self, data: bytes, deadline: float) -> None:
        left = memoryview(data)
        while left:
            _wait(self._in, select.POLLOUT, deadline)
            try:
                done = os.write(self._in, left[:_PIECE])
            except BlockingIOError:
                continue
            except OSError:
                raise Ended from None
            left = left[done:]

    def _read(self, size: int, deadline: float) -> bytes:
        found = bytearray()
        while len(found) < size:
            _wait(self._out, select.POLLIN, deadline)
            try:
                piece = os.read(self._out, min(size - len(found), _PIECE))
            except BlockingIOError:
                continue
            if not piece:
                raise Ended
            found += piece
        return bytes(found)


def _wait(handle: int, event: int, deadline: float) -> None:
    watch = select.poll()
    watch.register(handle, event)
    left = deadline - time.monotonic()
    if left <= 0 or not watch.poll(1000 * left):
        raise TimeoutError


def _kill(process: "subprocess.Popen[bytes]", owner: int) -> None:
    if os.getpid() != owner:  # a forked copy: the process belongs to the original
        return
    with suppress(OSError):
        process.kill()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    with suppress(subprocess.TimeoutExpired):
        process.wait(5.0)


async def next_frame(stream: "StreamReader", longest: int) -> Frame:
    """The next frame of a process of asyncio; EOFError if it died, Garbled if it is too long."""
    kind, length = _length(await stream.readexactly(_HEAD.size), longest)
    return Frame(kind, await stream.readexactly(length))


def own_streams() -> tuple[BinaryIO, BinaryIO]:
    """In a child: the two ends to talk through; what libraries print goes nowhere from now on."""
    source, out = os.dup(0), os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for handle in (0, 1, 2):
        os.dup2(nowhere, handle)
    return os.fdopen(source, "rb"), os.fdopen(out, "wb")


def read_frame(source: BinaryIO, longest: int) -> Frame:
    """In a child: the next frame; EOFError when there are no more."""
    kind, length = _length(_exactly(source, _HEAD.size), longest)
    return Frame(kind, _exactly(source, length))


def write_frame(out: BinaryIO, kind: bytes, *pieces: bytes) -> None:
    """In a child: send a frame; several threads may do so."""
    with _WRITING:
        out.write(header(kind, sum(map(len, pieces))))
        for piece in pieces:
            out.write(piece)
        out.flush()


def _exactly(source: BinaryIO, size: int) -> bytes:
    found = source.read(size)
    if len(found) < size:
        raise EOFError
    return found


def end_with_parent(parent: int) -> None:
    """In a child: be killed when the process that started it ends, which is `parent`.

    For a parent whose main thread starts it: Linux means the thread, not the process.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it was gone before the signal was asked for
        sys.exit(1)
