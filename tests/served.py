"""A real server in a process of its own, for tests of those who talk to it."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_PATIENCE = 120.0


@dataclass
class Served:
    """A running server that can be started again where it was."""

    source: Path
    state: Path
    port: int
    words: tuple[str, ...]
    process: "subprocess.Popen[str]"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        """Tell it to stop (or kill it), and wait until it has."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        self.process.wait(timeout=_PATIENCE)
        assert self.process.stdout is not None
        self.process.stdout.close()

    def again(self, how: signal.Signals = signal.SIGTERM) -> None:
        """End it and start it again on what it kept."""
        self.end(how)
        self.process = _started(self.source, self.state, self.port, self.words)


@contextmanager
def served(source: Path, state: Path, *words: str) -> Iterator[Served]:
    """A server that offers this, until the end of the test."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    running = Served(source, state, port, words, _started(source, state, port, words))
    try:
        yield running
    finally:
        running.end()


def _started(
    source: Path, state: Path, port: int, words: tuple[str, ...]
) -> "subprocess.Popen[str]":
    log = (state.parent / f"{state.name}.log").open("a")
    named = ["--port", str(port), "--state", str(state), "--limit", "ask_workers=1", *words]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("COMPASS_")}
    with log:
        process = subprocess.Popen(
            [sys.executable, "-m", "compass.cli.main", "serve", str(source), *named],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env=clean,
        )
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("stop with"):
            return process
    raise AssertionError(Path(log.name).read_text())
