"""The command line as a program: start-up, Ctrl-C, pipes and terminals."""

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from cli_case import QUICK, RECOMMEND, process, write_csv

import compass as cp
from compass.engine.store import save
from conftest import ROLES, cluster_columns

HEAVY = ("numpy", "scipy", "sklearn", "pyarrow", "pandas", "lark", "yaml")


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_csv(tmp_path_factory.mktemp("data") / "jobs.csv", cluster_columns(200))


@pytest.fixture(scope="module")
def saved(jobs: Path) -> Path:
    return save(cp.Compass(cp.read(jobs).roles(**ROLES), settings=QUICK).fit(), jobs.parent / "e")


@pytest.mark.parametrize("words", [(), ("--help",), ("ask", "--help"), ("columns", "--help")])
def test_help_needs_no_heavy_library(words: tuple[str, ...]) -> None:
    program = (
        "import sys; from compass.cli.main import run\n"
        "try: run()\n"
        f"finally: sys.stderr.write(','.join(m for m in {HEAVY} if m in sys.modules))"
    )
    result = process(*words, code=program)
    assert result.code == 0
    assert "Usage" in result.out
    assert result.err == ""


def test_the_commands_are_known_without_pydantic() -> None:
    program = "import sys, compass.cli.main; sys.stdout.write(str('pydantic' in sys.modules))"
    assert process(code=program).out == "False"


def test_a_wrong_flag_needs_no_heavy_library_either() -> None:
    program = (
        "import sys; from compass.cli.main import run\n"
        "try: run()\n"
        f"finally: sys.stderr.write('heavy:' + ','.join(m for m in {HEAVY} if m in sys.modules))"
    )
    result = process("ask", "x.csv", "q", "--count", "0", code=program)
    assert result.code == 2
    assert result.err.endswith("heavy:")


def test_ctrl_c_leaves_quietly() -> None:
    program = (
        "import time\n"
        "from compass.cli import main, sources\n"
        "def engine(*_, **__):\n"
        "    print('working', flush=True)\n"
        "    time.sleep(100)\n"
        "sources.engine = engine\n"
        "main.run()\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", program, "ask", "data.csv", "question"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "working\n"
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    assert child.returncode == 130
    assert out == ""
    assert "Traceback" not in err


def test_a_reader_that_has_seen_enough_is_no_problem(jobs: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    # More than is written at once, and less: then it is noticed only at the end.
    for words in (("datasets",), ("datasets", "--json"), ("read", str(jobs), "--json")):
        child = subprocess.run(
            [sys.executable, "-m", "compass.cli.main", *words],
            stdout=writing,
            stderr=subprocess.PIPE,
            env=os.environ | {"PYTHONUNBUFFERED": ""},
            text=True,
            timeout=120,
            check=False,
        )
        assert (child.returncode, child.stderr) == (0, "")
    os.close(writing)


def test_progress_is_drawn_on_a_terminal_and_never_on_standard_output(jobs: Path) -> None:
    ours, theirs = pty.openpty()
    flags = ("--role", "state=ignored", "--role", "power=ignored", "--role", "runtime=outcome")
    flags += ("--surrogate", "linear")
    with subprocess.Popen(
        [sys.executable, "-m", "compass.cli.main", "ask", str(jobs), RECOMMEND, *flags],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=os.environ | {"TERM": "xterm"},
        text=True,
    ) as child:
        os.close(theirs)
        drawn = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # Linux tells the end of a terminal so
                break
            if not piece:
                break
            drawn += piece
        assert child.stdout is not None
        printed = child.stdout.read()
    os.close(ours)
    assert child.returncode == 0
    assert b"learning runtime" in drawn
    assert "learning" not in printed
    assert printed.startswith("Recommend")
    assert "\x1b" not in printed


def test_a_terminal_without_unicode_still_gets_its_answer(saved: Path) -> None:
    latin = {"PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"}
    program = (
        "import sys; from compass.cli.main import run\n"
        "for flags in [], ['--json']:\n"
        "    sys.argv[4:] = flags\n"
        "    try: run()\n"
        "    except SystemExit as leaving: print(f'\\f{leaving.code}\\f')\n"
    )
    result = process("ask", saved, RECOMMEND, code=program, **latin)
    assert (result.code, result.err) == (0, "")
    text, first, as_json, second, _ = result.out.split("\f")
    assert first == second == "0"
    assert "? trusted" in text
    cp.Answer.model_validate_json(as_json)
