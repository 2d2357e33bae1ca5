"""Talking to a child process: frames, deadlines, deaths, and who may end it."""

import asyncio
import gc
import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compass.execute import child
from compass.execute.child import Child, Ended, Frame, Garbled

Start = Callable[[str], Child]


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Start:
    """A child that is a shell script: one that follows no protocol, unless it wants to."""

    def start(script: str) -> Child:
        program = tmp_path / "program"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        monkeypatch.setattr(child.sys, "executable", str(program))
        return Child("module", {"PATH": os.environ["PATH"]})

    return start


def soon(seconds: float = 20.0) -> float:
    return time.monotonic() + seconds


@given(st.binary(min_size=1, max_size=1), st.lists(st.binary(max_size=50), max_size=4))
def test_a_frame_is_read_as_it_was_written(kind: bytes, pieces: list[bytes]) -> None:
    out = io.BytesIO()
    child.write_frame(out, kind, *pieces)
    child.write_frame(out, b"x")
    out.seek(0)
    assert child.read_frame(out, 200) == Frame(kind, b"".join(pieces))
    assert child.read_frame(out, 0) == (b"x", b"")
    with pytest.raises(EOFError):
        child.read_frame(out, 200)


def test_a_frame_that_is_cut_short_or_too_long_is_refused() -> None:
    out = io.BytesIO()
    child.write_frame(out, b"k", b"12345")
    whole = out.getvalue()
    for length in range(len(whole)):
        with pytest.raises(EOFError):
            child.read_frame(io.BytesIO(whole[:length]), 5)
    with pytest.raises(Garbled):
        child.read_frame(io.BytesIO(whole), 4)


def test_frames_of_asyncio_are_the_same() -> None:
    async def received(data: bytes, longest: int) -> Frame:
        stream = asyncio.StreamReader()
        stream.feed_data(data)
        stream.feed_eof()
        return await child.next_frame(stream, longest)

    whole = child.header(b"k", 3) + b"abc"
    assert asyncio.run(received(whole, 3)) == (b"k", b"abc")
    with pytest.raises(Garbled):
        asyncio.run(received(whole, 2))
    with pytest.raises(EOFError):
        asyncio.run(received(whole[:-1], 3))


def test_what_is_sent_comes_back(started: Start) -> None:
    one = started("exec cat")
    content = os.urandom(3_000_000)  # more than a pipe holds
    with pytest.raises(TimeoutError):  # it writes before anybody reads
        one.send(b"a", [content], soon(0.5))
    one = started("exec cat")
    one.send(b"a", [b"12", b"", b"345"], soon())
    assert one.receive(5, soon()) == (b"a", b"12345")
    assert one.usable
    one.kill()


def test_nothing_is_waited_for_longer_than_allowed(started: Start) -> None:
    one = started("exec sleep 60")
    begun = time.monotonic()
    with pytest.raises(TimeoutError):
        one.receive(10, soon(0.3))
    with pytest.raises(TimeoutError):
        one.receive(10, begun - 1)
    assert time.monotonic() - begun < 10
    one.kill()
    assert one.process.returncode == -signal.SIGKILL


def test_a_frame_that_never_ends_is_not_waited_for(started: Start) -> None:
    one = started("printf 'k\\000\\000\\000\\000\\000\\000\\000\\011half'; exec sleep 60")
    with pytest.raises(TimeoutError):
        one.receive(10, soon(0.5))
    one.kill()


def test_a_length_beyond_the_limit_is_refused_before_it_is_read(started: Start) -> None:
    one = started("printf 'k\\177\\377\\377\\377\\377\\377\\377\\377'; exec sleep 60")
    with pytest.raises(Garbled):
        one.receive(2**29, soon())
    one.kill()


@pytest.mark.parametrize(
    ("script", "code"), [("exit 3", 3), ("kill -SEGV $$", -signal.SIGSEGV), ("exit 0", 0)]
)
def test_a_death_is_told_with_its_cause(started: Start, script: str, code: int) -> None:
    one = started(script)
    with pytest.raises(Ended):
        one.receive(10, soon())
    assert one.exit_code() == code
    with pytest.raises(Ended):
        one.send(b"k", [b"anybody there?"], soon())
    assert not one.usable
    assert one.kill() is None


def test_the_cause_of_an_end_in_words() -> None:
    assert child.exit_cause(3) == "exit code 3"
    assert child.exit_cause(-9) == "signal 9, SIGKILL"
    assert child.exit_cause(-1000) == "signal 1000, unknown"


def test_a_process_that_goes_on_has_no_exit_code(started: Start) -> None:
    one = started("exec sleep 60")
    assert one.exit_code(0.05) is None
    one.kill()


def test_it_ends_with_the_last_who_knows_it(started: Start) -> None:
    one = started("exec sleep 60")
    process = one.process
    del one
    gc.collect()
    assert process.poll() == -signal.SIGKILL


def test_a_forked_copy_neither_uses_nor_ends_it(
    started: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = started("exec sleep 60")
    real = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: real + 1)
    assert not one.usable
    one.kill()
    monkeypatch.undo()
    assert one.process.poll() is None
    child._kill(one.process, real)
    assert one.process.poll() is not None


def test_no_process_to_be_had_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child.sys, "executable", "/nonexistent/python")
    with pytest.raises(OSError, match="No such file"):
        Child("module", {})


def test_what_libraries_print_does_not_get_between_the_frames() -> None:
    program = """
import os
from compass.execute.child import own_streams, read_frame, write_frame
print("before")
import sys; sys.stdout.flush()
source, out = own_streams()
print("noise", flush=True)
os.system("echo more noise; echo and more >&2")
write_frame(out, b"k", read_frame(source, 10).content)
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=child.header(b"q", 2) + b"ab",
        capture_output=True,
        check=True,
    )
    assert done.stdout == b"before\n" + child.header(b"k", 2) + b"ab"
    assert done.stderr == b""


def test_a_child_whose_parent_is_gone_ends_at_once() -> None:
    program = "from compass.execute.child import end_with_parent; end_with_parent({}); print('on')"
    for parent, code in ((os.getpid(), 0), (1, 1)):
        done = subprocess.run([sys.executable, "-c", program.format(parent)], check=False)
        assert done.returncode == code
