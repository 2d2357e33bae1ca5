"""The Python that repeats an answer."""

import ast
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import compass as cp
from compass.domain.study import Study
from compass.exporters.repeat import repeating

QUESTION = "Recommend X = {nodes: ?, gpus: ?} to achieve Y = {runtime: minimize} prove 0"


def test_the_program_gives_the_same_suggestions(tmp_path: Path, cluster: cp.Dataset) -> None:
    runs = tmp_path / 'it\'s "mine".csv'
    cluster.table.arrow.slice(0, 300).to_pandas().to_csv(runs, index=False)
    study = cluster.study
    options = {"surrogate": "linear", "seed": 5, "rules": ["cores <= 32 * nodes"]}
    answer = cp.Compass(cp.read(runs, study=study), **options).fit().ask(QUESTION)  # type: ignore[arg-type]
    program = tmp_path / "repeat.py"
    program.write_text(repeating(answer, str(runs), study, options))
    done = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    expected = [f"{one.settings} {one.trust.label.value}" for one in answer]
    assert done.stdout.splitlines()[: len(expected)] == expected

    runs.write_text(runs.read_text() + runs.read_text().splitlines()[-1] + "\n")
    with pytest.raises(SystemExit, match="not the data"):
        runpy.run_path(str(program))


def test_without_a_suggestion_the_program_fails_and_says_why(
    tmp_path: Path, cluster: cp.Dataset
) -> None:
    runs = tmp_path / "runs.csv"
    cluster.table.arrow.slice(0, 300).to_pandas().to_csv(runs, index=False)
    question = "Recommend X = {gpus: ?} to achieve Y = {runtime: <= 0.001} prove 0"
    data = cp.read(runs, study=cluster.study)
    answer = cp.Compass(data, surrogate="linear").fit().ask(question)
    assert not answer.suggestions
    assert answer.ideas
    program = tmp_path / "repeat.py"
    program.write_text(repeating(answer, str(runs), cluster.study, {"surrogate": "linear"}))
    done = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 1
    assert answer.no_answer in done.stderr
    assert all(line.startswith("not suggested:") for line in done.stdout.splitlines())
    assert len(done.stdout.splitlines()) == len(answer.ideas)


def test_what_people_write_stays_text(engine: cp.Compass) -> None:
    answer = engine.ask(QUESTION)
    nasty = 'a\');import os;os.abort()#\n"""\''
    study = Study(rules=(nasty,), drop=(nasty,))
    tree = ast.parse(repeating(answer, nasty, study, {"surrogate": nasty}))
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    names = {node.attr if isinstance(node, ast.Attribute) else node.id for node in calls}  # type: ignore[union-attr]
    assert names == {"read", "Compass", "ask", "print", "SystemExit"}
    imported = [n.names[0].name for n in ast.walk(tree) if isinstance(n, ast.Import)]
    assert imported == ["compass"]
