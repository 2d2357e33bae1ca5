"""Progress on a terminal: of a proof, which has only a limit, the time that it takes."""

import io
import sys

import pytest

from compass.cli.progress import progress


class Terminal(io.StringIO):
    """What is written to a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_proof_is_shown_while_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    with progress() as tell:
        tell("learning", 1, 2)
        tell("proving", 0, 60)
    assert "proving" in shown.getvalue()
    assert shown.getvalue().index("learning") < shown.getvalue().index("proving")


def test_a_pipe_gets_no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    monkeypatch.setattr(sys, "stderr", shown)
    with progress() as tell:
        tell("proving", 0, 60)
    assert shown.getvalue() == ""
