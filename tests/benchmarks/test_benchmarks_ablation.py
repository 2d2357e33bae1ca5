"""The ablation on a small generated table: its rows, its questions and what it counts."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import compass as cp
from benchmarks import ablation, tables
from benchmarks.legal import Checker
from benchmarks.masked import KINDS, HeldOut
from benchmarks.roles import PLAIN, Source
from compass.domain.query import Kind
from compass.settings import ForestSettings, LossWeights, TrustSettings
from conftest import ROLES, cluster_columns

RULE = "gpus <= 4 * nodes"


@pytest.fixture(autouse=True)
def _small_forests(monkeypatch: pytest.MonkeyPatch) -> None:
    """These tests are about what is counted, not about how well is learnt."""
    few = {"forest": ForestSettings(trees=20), "trust": TrustSettings(trees=4)}
    monkeypatch.setattr(tables, "PLAIN", PLAIN.model_copy(update=few))


def _source(folder: Path) -> Source:
    pa.csv.write_csv(pa.table(cluster_columns(400)), folder / "runs.csv")
    roles = {"knob": ROLES["knobs"], "context": ROLES["context"], "outcome": ["runtime", "power"]}
    columns = {name: {"role": role} for role, names in roles.items() for name in names}
    return Source(
        name="cluster",
        about="generated",
        path="runs.csv",
        study=cp.Study(columns=columns, drop=("state",)),
        ask=("nodes", "gpus"),
        goals=("runtime", "power"),
    )


@pytest.fixture
def asked(tmp_path: Path) -> tuple[ablation.Ablation, HeldOut]:
    source = _source(tmp_path)
    data = source.read(tmp_path)
    engine, held_out, *_ = next(tables.partitions(source, data, tmp_path, tables.Plan(1, 2, 1)))
    checker = Checker({RULE: lambda c: c["gpus"] <= 4 * c["nodes"]}, {})
    return ablation.Ablation(engine, source, checker), held_out


def test_the_rows_are_those_of_the_paper_and_two_more() -> None:
    rows = ablation.rows()
    assert len(rows) == 10
    assert next(iter(rows)) == "valid"
    assert rows["valid + proximity + constraint + diversity"] == LossWeights()
    assert rows["proximity + constraint + diversity"] == LossWeights(valid=0)
    assert rows[ablation.DEFAULT] is None
    weighed = [one for one in rows.values() if one is not None]
    assert len({(w.proximity, w.diversity, w.constraint) for w in weighed if w.valid}) == 8


def test_the_questions_hide_what_they_ask_for(asked: tuple[ablation.Ablation, HeldOut]) -> None:
    trial, held_out = asked
    questions = list(trial.questions(held_out, seed=3))
    assert [one.kind for one in questions] == [*KINDS] * 2
    for question in questions:
        query = question.query
        assert query.kind is Kind(question.kind)
        if query.kind is Kind.WHAT_IF:
            assert query.ask == ("gpus",)
            assert "nodes" in query.change
            assert set(question.want) == {"runtime", "power"}
        else:
            assert query.ask == ("nodes", "gpus")
            assert not {*query.change} & {"nodes", "gpus"}
            assert set(question.want) == {"nodes", "gpus"}
    run = next(iter(held_out))[1]
    assert questions[0].want == {"nodes": run["nodes"], "gpus": run["gpus"]}


def test_every_row_is_scored_on_every_question(asked: tuple[ablation.Ablation, HeldOut]) -> None:
    trial, held_out = asked
    found = trial.scores(held_out, seed=3)
    assert set(found) == {(kind, terms) for kind in KINDS for terms in ablation.rows()}
    for scores in found.values():
        assert len(scores.errors) == 2
        assert len(scores.broken) == len(scores.ood) == len(scores.uq) == 2 - scores.empty
        assert all(0 <= share <= 1 for share in (*scores.broken, *scores.ood, *scores.uq))


def test_what_breaks_a_rule_counts_and_costs(asked: tuple[ablation.Ablation, HeldOut]) -> None:
    trial, held_out = asked
    question = next(trial.questions(held_out, seed=3))
    task, assessor = trial.bound(question.query)
    nodes, gpus = (task.space.names.index(name) for name in ("nodes", "gpus"))
    X = np.repeat(task.start[None, :], 4, axis=0)
    X[:, nodes], X[:, gpus] = 1.0, (0.0, 4.0, 5.0, 6.0)
    fine, broken = ablation.Scores(), ablation.Scores()
    trial._judge(fine, question, task, assessor, X)
    trial._judge(broken, question, task, assessor, X[::-1])
    assert fine.broken == broken.broken == [0.5]
    trial.checker = Checker({}, {})
    free = ablation.Scores()
    trial._judge(free, question, task, assessor, X[::-1])
    assert broken.errors[0] == pytest.approx(free.errors[0] + 1.0)
    nothing = ablation.Scores()
    trial._judge(nothing, question, task, assessor, X[:0])
    assert (nothing.errors, nothing.broken, nothing.empty) == ([1.0], [], 1)


def test_the_command_prints_a_table_and_writes_every_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source = _source(tmp_path)
    monkeypatch.setenv("COMPASS_DATA", str(tmp_path))
    monkeypatch.setattr(ablation, "sources", lambda: {"cluster": source})
    monkeypatch.setattr(ablation, "Plan", lambda *_: tables.Plan(2, 1, 1))
    assert ablation.main(["--only", "cluster", "--json", str(tmp_path / "x.json")]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("cluster, 2 of each")
    assert ablation.DEFAULT in printed
    rows = json.loads((tmp_path / "x.json").read_text())["rows"]
    assert len(rows) == 3 * len(ablation.rows())
    assert all(len(one["partitions"]) == 2 for one in rows)
    assert all(len(part["errors"]) == 1 for one in rows for part in one["partitions"])


def test_absent_tables_are_skipped_with_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COMPASS_DATA", str(tmp_path))
    assert ablation.main([]) == 0
    said = capsys.readouterr().err
    assert said.count(": skipped, ") == len(ablation.TABLES)
    assert "nothing was measured" in said
