"""Names and labels of a stranger's table never reach a terminal as commands to it."""

import os
import pty
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

sys.path += [str(Path(__file__).parents[1] / one) for one in ("cli", "server")]

from cli_case import compass
from server_case import csv_of

from conftest import cluster_columns

TITLE = "\x1b]0;owned\x07"  # sets the title of the window
CLEAR = "\x1b[2J"
C1 = "\x9b31m"  # the same as ESC [ for terminals of eight bits
MARKUP = "[/nothing][bold]"  # what a library that draws on terminals would take for its own
KNOB, OUTCOME = f"no{CLEAR}des{MARKUP}", f"run{TITLE}time{MARKUP}"
RECOMMEND = f"Recommend X = {{`{KNOB}`: ?}} to achieve Y = {{`{OUTCOME}`: minimize}}"
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    columns = cluster_columns(60)
    table = {
        KNOB: columns["nodes"],
        "app": [f"{app}{C1}{MARKUP}" for app in columns["app"]],
        "gpus": columns["gpus"],
        OUTCOME: columns["runtime"],
    }
    path = tmp_path_factory.mktemp("terminal") / f"runs{CLEAR}.csv"
    path.write_bytes(csv_of(table))
    return path


ROLES = ["--role", f"{KNOB}=knob", "--role", f"{OUTCOME}=outcome", "--role", "app=context"]
COMMANDS: dict[str, tuple[list[str], int]] = {
    "columns": (["columns", "RUNS"], 0),
    "a question": (["ask", "RUNS", RECOMMEND, *ROLES, "--surrogate", "linear"], 0),
    "what matters": (["explain", "RUNS", "--row", "0", *ROLES, "--surrogate", "linear"], 0),
    "no such column": (["ask", "RUNS", "Recommend X = {n: ?} to achieve Y = {gpus: minimize}"], 2),
    "no such role": (["columns", "RUNS", "--role", f"{KNOB}=x"], 2),
    "no such file": (["columns", f"RUNS{TITLE}"], 2),
    "no such flag": (["columns", f"--{CLEAR}"], 2),
    "nothing to advise": (["advise", "RUNS"], 2),
    "no such rule": (["ask", "RUNS", RECOMMEND, *ROLES, "--rule", f"`{OUTCOME}` < 'a{C1}'"], 2),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_what_is_printed_commands_nothing(name: str, runs: Path) -> None:
    words, code = COMMANDS[name]
    done = compass(*(word.replace("RUNS", str(runs)) for word in words))
    assert done.code == code, done.err
    assert done.out or done.err
    for text in (done.out, done.err):
        assert _CONTROL.findall(text) == []


def test_a_bar_of_progress_shows_names_as_they_are(runs: Path) -> None:
    """On a real terminal, where a bar is drawn: only the bar moves the cursor."""
    two = ["--role", "gpus=outcome", "--surrogate", "linear"]
    words = ["fit", str(runs), *ROLES, *two, "-o", str(runs.with_name("made.compass"))]
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "compass.cli.main", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "200", "XDG_CACHE_HOME": str(runs.parent)},
    ) as process:
        os.close(theirs)
        said = b""
        with suppress(OSError):  # the other side is closed
            while part := os.read(ours, 65536):
                said += part
        os.close(ours)
    assert process.returncode == 0, said.decode()
    text = said.decode()
    assert f"time{MARKUP}" in text  # the outcome was told while it was learnt
    assert TITLE not in text
    assert CLEAR not in text
