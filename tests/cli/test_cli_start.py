"""What commands import on the way to their answer: counted, as time depends on the machine."""

import json
from pathlib import Path

import pytest
from cli_case import RECOMMEND, process

import compass as cp

PROGRAM = """
import json, sys
from compass.cli.main import run
try:
    run()
except SystemExit as leaving:
    assert not leaving.code, leaving.code
sys.stderr.write(json.dumps(sorted(sys.modules)))
"""
# What learns, proves, serves and talks to other machines; each takes a tenth of a second or more.
HEAVY = {
    *("scipy", "sklearn", "lightgbm", "xgboost", "optuna", "torch", "pandas", "ortools"),
    *("fastapi", "uvicorn", "httpx", "requests", "pooch", "sqlalchemy", "matplotlib"),
}
LEARNING = {
    *("compass.learn.store", "compass.engine.compass", "compass.engine.store", "compass.model"),
    *("compass.generate", "compass.prove", "compass.acquire"),
}


def imported(*words: object) -> set[str]:
    """The modules that a command has imported when it ends."""
    done = process(*words, code=PROGRAM)
    assert done.code == 0, done
    return set(json.loads(done.err))


def packages(modules: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in modules}


@pytest.fixture(scope="module")
def saved(engine: cp.Compass, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return engine.save(tmp_path_factory.mktemp("start") / "jobs.compass")


def test_help_imports_no_data_library() -> None:
    found = imported("--help")
    assert not packages(found) & (HEAVY | {"numpy", "pyarrow", "lark", "pydantic"})
    assert len(found) < 430


def test_columns_import_nothing_that_learns() -> None:
    found = imported("columns", "embedded")
    assert not packages(found) & HEAVY
    assert not found & LEARNING
    assert len(found) < 765


def test_a_question_to_a_saved_engine_imports_nothing_that_trains(saved: Path) -> None:
    found = imported("ask", saved, RECOMMEND, "--no-prove", "--json")
    assert not packages(found) & HEAVY
    server_side = {name for name in found if name.startswith(("compass.server", "compass.chat"))}
    assert not server_side
    assert len(found) < 925
