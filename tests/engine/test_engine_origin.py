"""Rows that say how they came to be: synthetic ones are learnt from and never cited."""

from typing import Any

import numpy as np
import pytest

import compass as cp
from compass.domain.answer import Answer
from compass.domain.errors import StudyProblem

ROWS = 160
STUDY = {
    "columns": {
        "nodes": {"role": "knob"},
        "tile": {"role": "knob"},
        "app": {"role": "context", "kind": "category"},
        "time": {"role": "outcome", "unit": "s"},
    }
}


def table(origin: dict[int, str] | None = None) -> dict[str, Any]:
    """Runs of two programs; what is synthetic is faster than anything that was measured."""
    rng = np.random.default_rng(3)
    nodes, tile = rng.choice([1, 2, 4, 8, 16], ROWS), rng.choice([8, 16, 32], ROWS)
    app = rng.choice(["cg", "ft"], ROWS)
    time = 100 / nodes + tile / 4 + np.where(app == "cg", 5, 20) + rng.normal(0, 0.2, ROWS)
    made = ["measured"] * ROWS
    for row, kind in (origin or {}).items():
        made[row] = kind
        time[row] /= 10 if kind == "synthetic" else 1
    found: dict[str, Any] = {"nodes": nodes, "tile": tile, "app": app, "time": time}
    return found | ({} if origin is None else {"made": made})


def engine(data: dict[str, Any], **study: Any) -> cp.Compass:
    return cp.Compass(cp.read(data, study=STUDY | study), surrogate="forest").fit()


def cited(answer: Answer) -> set[int]:
    """Every row of the data that an answer names."""
    found = {run.row for one in answer for run in one.trust.evidence}
    for one in answer:
        for effect in one.trust.effects:
            found |= {row for pair in effect.examples for row in (pair.old, pair.new)}
    return found


def test_synthetic_rows_are_learnt_from_but_never_cited() -> None:
    synthetic = dict.fromkeys(range(100, ROWS), "synthetic")
    marked = engine(table(synthetic), origin="made")
    assert "made" not in marked.space
    view = marked.store.view_of(("nodes", "tile", "app"))
    assert {*view.train} & {*synthetic}
    assert not {*view.valid} & {*synthetic}
    assert not {*view.supporting} & {*synthetic}
    assert not {*view.distinct} & {*synthetic}
    assert not {*view.runs.row} & {*synthetic}
    asked = marked.recommend(["nodes", "tile"], {"time": cp.minimize}, where=["app == 'cg'"])
    moved = marked.reconfigure(3, ["nodes"], {"time": cp.less(0.1)})
    for answer in (asked, moved):
        assert cited(answer)
        assert not cited(answer) & {*synthetic}
    notes = " ".join(asked.notes)
    assert "best measured" in notes.lower()
    assert not any(f"row {row} " in notes for row in synthetic)
    assert all(one.trust.support <= 100 for one in asked)
    many = marked.what_if(None, change={"nodes": cp.times(2)}, outcomes=["time"])
    assert many.population is not None
    assert many.population.runs <= 100


def test_nothing_was_measured_at_a_synthetic_row() -> None:
    marked = engine(table({7: "synthetic"}), origin="made")
    answer = marked.reconfigure(7, ["nodes"], {"time": cp.less(0.1)})
    assert answer[0].outcome("time").observed is None
    assert marked.reconfigure(8, ["nodes"], {"time": cp.less(0.1)})[0].outcome("time").observed


def test_a_run_that_failed_is_left_out_and_named() -> None:
    marked = engine(table({5: "failed", 9: "Failed "}), origin="made")
    assert not {5, 9} & {*marked.data.prepared.row_id}
    assert "2 rows dropped: the run failed" in marked.data.prepared.report.notes


def test_where_every_row_was_measured_nothing_changes() -> None:
    question = {"ask": ["nodes", "tile"], "goals": {"time": cp.at_most(30)}}
    plain, marked = engine(table()), engine(table({3: ""}), origin="made")
    one, other = (found.recommend(**question) for found in (plain, marked))
    assert one.suggestions == other.suggestions
    assert one.notes == other.notes


def test_an_origin_that_nobody_knows_is_refused() -> None:
    with pytest.raises(StudyProblem, match="cannot be 'guessed'") as refused:
        engine(table({5: "guessed"}), origin="made")
    assert "measured, synthetic, failed" in refused.value.hint


def test_synthetic_rows_that_are_told_are_no_runs() -> None:
    data = table(dict.fromkeys(range(100, 140), "synthetic"))
    first = {name: values[:100] for name, values in data.items()}
    later = {name: values[100:140] for name, values in data.items()}
    known = engine(first, origin="made")
    report = known.tell({**later, "time": np.full(40, 999.0)})
    assert report.used == 40
    assert (report.arrivals, report.coverage, report.labels) == ((), (), ())
    assert all(one.drift is None for one in report.learnt)
    assert report.learnt[0].how != ""
    assert {*known.store.view_of(("nodes", "tile", "app")).train} & {*range(100, 140)}


def test_no_error_is_measured_on_synthetic_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    from compass.learn import store

    seen = []
    selected = store.select_recipe
    monkeypatch.setattr(
        store, "select_recipe", lambda folds, **more: seen.append(folds) or selected(folds, **more)
    )
    synthetic = dict.fromkeys(range(100, ROWS), "synthetic")
    marked = engine(table(synthetic), origin="made")
    view = marked.store.view_of(("nodes", "tile", "app"))
    assert len(seen[0].data.y) == len(view.supporting) < len(view.train)


def test_runs_are_proposed_where_runs_were_made() -> None:
    data = table(dict.fromkeys(range(60, ROWS), "synthetic"))
    data["app"] = np.where(np.arange(ROWS) < 60, data["app"], "imagined")
    proposed = engine(data, origin="made").run_next(6)
    assert proposed
    assert all(one.config["app"] != "imagined" for one in proposed)


def test_synthetic_rows_break_no_rule_and_are_no_past_runs_to_compare_with() -> None:
    synthetic = dict.fromkeys(range(100, ROWS), "synthetic")
    data = table(synthetic)
    data["tile"] = np.where(np.arange(ROWS) < 100, data["tile"], 64)
    marked = cp.Compass(
        cp.read(data, study=STUDY | {"origin": "made"}), rules=["tile <= 32"], surrogate="forest"
    )
    assert marked.broken_by() == {"tile <= 32": 0}
    curve = marked.fit().dependence("time", "tile")
    assert all(point.share in (0.0, None) for point in curve.points if point.value == 64)
