"""Runs that failed are told with a reason; what comes next keeps away from them."""

from functools import cache

import numpy as np
import pytest

import compass as cp
from compass.domain.answer import Label
from compass.domain.doubt import DoubtCode
from compass.domain.errors import DataProblem
from conftest import QUICK

QUESTION = "Recommend X = {a: ?, b: ?, c: ?} to achieve Y = {time: minimize}"
KNOBS = ("a", "b", "c")


def columns(n: int = 150) -> dict[str, list[float]]:
    rng = np.random.default_rng(0)
    a, b, c = (rng.integers(1, 11, n).astype(float) for _ in range(3))
    time = 100 / (1 + a) + 100 / (1 + b) + c + rng.normal(0, 0.1, n)
    return {"a": a.tolist(), "b": b.tolist(), "c": c.tolist(), "time": time.tolist()}


@cache
def table() -> cp.Dataset:
    return cp.read(columns()).roles(knobs=list(KNOBS), outcomes=["time"])


def engine() -> cp.Compass:
    return cp.Compass(table(), settings=QUICK).fit()


def around(config: dict[str, float], words: list[object]) -> dict[str, list[object]]:
    """The configuration itself and two that differ from it by one step."""
    rows = [dict(config), {**config, "a": config["a"] - 1}, {**config, "b": config["b"] - 1}]
    return {**{name: [row[name] for row in rows] for name in KNOBS}, "time": words}


def far(one: dict[str, float], other: dict[str, float]) -> float:
    return sum(abs(one[name] - other[name]) for name in KNOBS)


def test_proposals_and_suggestions_stay_away_from_three_failures() -> None:
    made = engine()
    proposals = made.run_next(4, QUESTION)
    new = [
        p.config
        for p in proposals
        if not made.store.view_of(KNOBS).all_runs.rows(
            np.array([p.config[n] for n in KNOBS], dtype=float)
        )
    ]
    first = new[0]
    assert any(far(p.config, first) <= 1 for p in proposals)
    report = made.tell(around(first, ["failed: out of memory", "timeout", "OOM"]))
    assert (report.rows, report.used) == (3, 0)
    (note,) = [note for note in report.notes if "failed" in note]
    assert "out of memory" in note
    assert "timeout" in note
    assert not any("cannot be used" in note for note in report.notes)
    fresh = made.run_next(4, QUESTION)
    assert fresh
    assert all(far(p.config, first) > 1 for p in fresh)
    answer = made.ask(QUESTION, count=5)
    assert all(far(s.config, first) > 0 for s in answer)
    assert any(note.startswith("3 past runs failed") for note in answer.notes)


def test_what_is_likely_to_fail_says_which_runs_did() -> None:
    made = engine()
    corner = {"a": 10.0, "b": 10.0, "c": 1.0}
    made.tell(around(corner, ["out of memory", "out of memory", "segfault"]))
    answer = made.ask(
        "What if we change X = {a: 10, b: 10, c: 1}, how would that affect Y = {time}",
        run={"a": 5, "b": 5, "c": 5},
    )
    (doubt,) = [d for d in answer[0].trust.doubts if d.code is DoubtCode.SIMILAR_FAILED]
    assert doubt.value > 0.5
    assert doubt.runs[0] == "row 150: failure: out of memory"
    assert answer[0].trust.label is Label.UNSUPPORTED
    assert "row 150: failure: out of memory" in answer[0].trust.reason


def test_reasons_are_kept_when_an_engine_is_saved(tmp_path) -> None:
    made = engine()
    made.tell({"a": [1], "b": [2], "c": [3], "time": ["failed: disk full"]})
    made.tell({"a": [4], "b": [2], "c": [3], "time": [61.0]})
    loaded = cp.load(made.save(tmp_path / "runs.compass"))
    for one in (made, loaded):
        failures = one.data.prepared.failures
        assert failures.reasons == ("failure: failed: disk full",)
        assert failures.row_id.tolist() == [150]
        assert one.data.prepared.rows == 151  # the failed run is nothing to learn times from
        assert "failure" not in one.space
    assert loaded.ask(QUESTION).suggestions == made.ask(QUESTION).suggestions


def test_a_column_of_its_own_tells_it_too() -> None:
    made = engine()
    runs = {"a": [1, 2], "b": [2, 2], "c": [3, 3], "time": [None, 70.0]}
    report = made.tell({**runs, "failure": ["out of memory", None]})
    assert (report.rows, report.used) == (2, 1)
    assert made.data.prepared.failures.reasons == ("failure: out of memory",)


def test_numbers_of_a_failed_run_are_not_learnt() -> None:
    made = engine()
    made.tell({"a": [1], "b": [2], "c": [3], "time": [0.001], "failure": ["wrong result"]})
    assert np.nanmin(made.data.prepared.outcome("time")) > 1


def test_failed_and_measured_runs_in_one_file(tmp_path) -> None:
    path = tmp_path / "more.csv"
    path.write_text("a,b,c,time\n1,2,3,failed: out of memory\n2,2,3,67.5\n3,2,3,TIMEOUT\n")
    made = engine()
    report = made.tell(str(path))
    assert (report.rows, report.used) == (3, 1)
    assert len(made.data.prepared.failures) == 2
    assert made.data.prepared.outcome("time")[-1] == 67.5


def test_words_that_say_nothing_are_refused_as_before() -> None:
    made = engine()
    with pytest.raises(DataProblem, match="time"):
        made.tell({"a": [1, 2], "b": [2, 2], "c": [3, 3], "time": ["soon", "5"]})
    with pytest.raises(DataProblem, match="nothing can be learnt") as problem:
        made.tell({"a": [1], "b": [2], "c": [3], "time": [None]})
    assert "failed: REASON" in str(problem.value.hint)


def test_failed_runs_of_the_first_table_are_avoided_from_the_beginning() -> None:
    runs = columns()
    corner = [a >= 9 and b >= 9 for a, b in zip(runs["a"], runs["b"], strict=True)]
    assert sum(corner) >= 3
    runs["time"] = [
        "timeout" if bad else str(t) for bad, t in zip(corner, runs["time"], strict=True)
    ]
    data = cp.read(runs).roles(knobs=list(KNOBS), outcomes=["time"])
    made = cp.Compass(data, settings=QUICK).fit()
    assert len(made.data.prepared.failures) == sum(corner)
    answer = made.ask(QUESTION, count=5)
    assert answer.suggestions
    assert not any(s.config["a"] >= 9 and s.config["b"] >= 9 for s in answer)
