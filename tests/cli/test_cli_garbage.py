"""How often commands look for garbage: short ones seldom, long ones as Python does."""

import gc
import io
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_case import FLAGS, RECOMMEND, compass, write_csv

import compass as cp
from conftest import cluster_columns


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


def test_short_commands_look_seldom() -> None:
    compass("cache", "path")
    assert gc.get_threshold()[0] == 200_000


# How each of them ends does not matter; what it looked for until then does.
@pytest.mark.parametrize(
    "words",
    [
        ("serve", "--limit", "nonsense=1"),
        ("fit", "missing.csv", "-o", "x.compass"),
        ("tell", "missing.compass", "missing.csv"),
        ("reduce", "missing.csv", "-o", "x.parquet", "--keep", "0.5"),
    ],
)
def test_long_commands_look_as_usual(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert compass(*words).code == 2
    assert gc.get_threshold()[0] < 200_000


def test_a_conversation_looks_as_usual(
    engine: cp.Compass, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("exit\n"))
    assert compass("chat", engine.save(tmp_path / "jobs.compass")).code == 0
    assert gc.get_threshold()[0] < 200_000


def test_a_question_looks_as_usual_when_it_learns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPASS_CACHE", str(tmp_path / "cache"))
    jobs = write_csv(tmp_path / "jobs.csv", cluster_columns(60))
    ask = ("ask", jobs, RECOMMEND, "--no-prove", "--surrogate", "linear", *FLAGS)
    found = []
    for _ in range(2):
        assert compass(*ask).code == 0
        found.append(gc.get_threshold()[0])
    assert found[0] < found[1] == 200_000
