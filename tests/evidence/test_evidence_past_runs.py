"""Past runs beside the model: on tables whose every configuration follows a known law."""

from itertools import product

import numpy as np
import pyarrow as pa
import pytest

import compass as cp
from compass.engine import plan
from compass.settings import ForestSettings, Settings, TrustSettings

A, B, C = range(1, 13), (1, 2, 4, 8, 16), range(4)
KNOBS = ("a", "b", "c")
# Small forests: what counts here is what is made of their predictions.
QUICK = Settings(surrogate="forest", forest=ForestSettings(trees=20), trust=TrustSettings(trees=4))
NO_PROOF = QUICK.model_copy(update={"prove": 0.0})


def time_of(a: int, b: int, c: int) -> float:
    """Smooth and skewed, with one narrow dip that no model of few runs can see around."""
    smooth = 20 + (a - 8) ** 2 * b + 30 * abs(c - 2)
    return 4.0 if (a, b, c) == (3, 16, 0) else float(smooth)


EVERY = [(a, b, c, time_of(a, b, c)) for a, b, c in product(A, B, C)]


def table(rows: list[tuple[float, ...]], **more: list[object]) -> cp.Dataset:
    a, b, c, y = zip(*rows, strict=True)
    arrow = pa.table({"a": a, "b": b, "c": c, "time": y, **more})
    study = cp.Study.model_validate(
        {
            "columns": {
                "a": {"role": "knob", "allowed": list(A)},
                "b": {"role": "knob", "allowed": list(B)},
                "c": {"role": "knob", "allowed": list(C)},
                "time": {"role": "outcome", "kind": "number", "unit": "ms"},
                **{name: {"role": "outcome", "kind": "category"} for name in more},
            }
        }
    )
    return cp.read(arrow, study=study)


def sample(seed: int, dip: bool = True) -> list[tuple[float, ...]]:
    """A quarter of all configurations, the dip among them or not."""
    rng = np.random.default_rng(seed)
    rows = [EVERY[i] for i in rng.permutation(len(EVERY))[:60] if EVERY[i][3] != 4.0]
    return [*rows, (3, 16, 0, 4.0)] if dip else rows


def engine(rows: list[tuple[float, ...]], settings: Settings = NO_PROOF) -> cp.Compass:
    return cp.Compass(table(rows), settings=settings)


def truth(one: cp.Suggestion) -> float:
    return time_of(*(one.config[name] for name in KNOBS))  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(3))
def test_what_was_measured_beats_what_is_only_predicted(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = engine(sample(seed))
    goals = {"time": cp.minimize}
    answer = made.recommend(ask=KNOBS, goals=goals, count=5)
    assert truth(answer[0]) == 4.0
    assert answer[0].outcome("time").observed == 4.0
    assert answer[0].outcome("time").value > 4.0  # the prediction is shown as it is
    monkeypatch.setattr(plan, "past_runs_of", lambda *_: None)
    naive = made.recommend(ask=KNOBS, goals=goals, count=5)
    assert truth(naive[0]) > 4.0


def test_the_answer_says_that_nothing_is_expected_to_be_better() -> None:
    rows = sample(0)
    made = engine(rows)
    answer = made.recommend(ask=KNOBS, goals={"time": cp.minimize}, count=3)
    note = (
        f"Nothing is expected to beat the best measured run, row {len(rows) - 1} (time 4 ms): "
        "the first suggestion is that configuration; the others might."
    )
    assert note in answer.notes
    alone = made.recommend(ask=KNOBS, goals={"time": cp.minimize}, count=1)
    assert any(told.endswith("the first suggestion is that configuration.") for told in alone.notes)


def test_nobody_is_told_that_what_is_surely_worse_might_be_better() -> None:
    poor = {(1, 16, 0), (12, 16, 0)}  # all else was run
    rows = [row for row in EVERY if row[3] != 4.0 and row[:3] not in poor]
    rows.append((3, 16, 0, 480.0))
    answer = engine(rows).recommend(ask=KNOBS, goals={"time": cp.minimize}, count=3)
    assert truth(answer[0]) == 20.0
    assert any(
        told.endswith("the first suggestion is that configuration.") for told in answer.notes
    )


def test_the_others_are_untried_and_the_best_of_them_is_no_worse_than_the_log() -> None:
    rows = sample(1, dip=False)
    tried = {row[:3] for row in rows}
    answer = engine(rows).recommend(ask=KNOBS, goals={"time": cp.minimize}, count=5)
    assert min(truth(one) for one in answer) <= min(row[3] for row in rows)
    others = [tuple(one.config[name] for name in KNOBS) for one in answer][1:]
    assert not tried & set(others)
    assert len(set(others)) == 4


def test_a_clear_gain_is_expected_and_said_so() -> None:
    rows = [(a, b, c, 120.0 / a) for a, b, c in product(A, B, C) if b > 1]
    rows.append((1, 1, 0, 120.0))  # the only run where b is 1; elsewhere a larger a was faster
    made = engine(rows)
    answer = made.recommend(ask=["a"], goals={"time": cp.minimize}, where=["b == 1", "c == 0"])
    assert answer[0].config["a"] > 6
    beaten = f"the best measured run, row {len(rows) - 1} (time 120 ms)."
    assert f"The first suggestion is expected to beat {beaten}" in answer.notes
    assert any(one.config["a"] == 1 for one in answer)  # what is known to work is a choice


def test_the_most_is_found_like_the_least() -> None:
    rows = [(a, b, c, 1e3 / y) for a, b, c, y in sample(0)]
    answer = engine(rows).recommend(ask=KNOBS, goals={"time": cp.maximize}, count=5)
    assert truth(answer[0]) == 4.0
    assert any("Nothing is expected to beat" in note for note in answer.notes)


def test_values_below_zero_are_weighed_as_well() -> None:
    rows = [(a, b, c, y - 500) for a, b, c, y in sample(0)]
    answer = engine(rows).recommend(ask=KNOBS, goals={"time": cp.minimize}, count=5)
    assert truth(answer[0]) == 4.0


def test_several_outcomes_are_weighed_together() -> None:
    rows = sample(0)
    made = cp.Compass(_with_energy(rows), settings=NO_PROOF)
    goals = {"time": cp.minimize, "energy": cp.minimize}
    answer = made.recommend(ask=KNOBS, goals=goals, count=3)
    assert truth(answer[0]) == 4.0
    assert answer[0].outcome("energy").observed == 40.0


def _with_energy(rows: list[tuple[float, ...]]) -> cp.Dataset:
    data = table(rows)
    energy = pa.array([10.0 * row[3] for row in rows])
    study = data.study.model_copy(
        update={"columns": data.study.columns | {"energy": data.study.columns["time"]}}
    )
    return cp.read(data.table.arrow.append_column("energy", energy), study=study)


def test_a_lucky_run_of_a_noisy_configuration_is_not_believed() -> None:
    rng = np.random.default_rng(0)
    rows = []
    for a, b, c, _ in EVERY[::3]:
        noise = rng.lognormal(0, 0.5, 6)
        rows += [(a, b, c, float((10 + a) * n)) for n in noise]
    lucky = (12, 16, 3)
    rows = [row for row in rows if row[:3] != lucky]
    rows += [(*lucky, y) for y in (1.0, 22.0, 22.0, 22.0, 22.0, 22.0)]
    answer = engine(rows).recommend(ask=KNOBS, goals={"time": cp.minimize}, count=3)
    assert answer[0].config["a"] < 6
    best = next(note for note in answer.notes if "beat" in note)
    assert "6 runs like row" in best or "expected to beat" in best
    assert answer.best_measured is not None
    assert answer.best_measured.runs == 6  # not the lucky one: a mean of all its runs counts


def test_a_configuration_that_is_known_to_fail_is_not_suggested() -> None:
    rows = sample(2, dip=False)
    best = min(range(len(rows)), key=lambda i: rows[i][3])
    state = ["failed" if i == best else "done" for i in range(len(rows))]
    made = cp.Compass(table(rows, state=state), settings=NO_PROOF)
    goals = {"time": cp.minimize, "state": cp.is_class("done")}
    answer = made.recommend(ask=KNOBS, goals=goals, count=5)
    failing = rows[best][:3]
    assert all(tuple(one.config[n] for n in KNOBS) != failing for one in answer)


def test_ranges_and_several_contexts_are_answered_by_the_model_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = engine(sample(0))
    asked = [
        {"ask": KNOBS, "goals": {"time": cp.within(30, 40)}},
        {"ask": ["a"], "goals": {"time": cp.minimize}},  # over all past b and c
    ]
    with_past = [made.recommend(**one) for one in asked]
    monkeypatch.setattr(plan, "past_runs_of", lambda *_: None)
    for one, answer in zip(asked, with_past, strict=True):
        assert [s.config for s in made.recommend(**one)] == [s.config for s in answer]
        assert not any("expected to beat" in note for note in answer.notes)


def test_the_same_question_has_the_same_answer() -> None:
    asked = {"ask": KNOBS, "goals": {"time": cp.minimize}, "count": 5}
    first, second = (engine(sample(0)).recommend(**asked) for _ in range(2))
    assert [s.config for s in first] == [s.config for s in second]
    assert first.notes == second.notes


def test_a_proof_does_not_put_a_prediction_before_a_measurement() -> None:
    made = engine(sample(0), QUICK)
    for count in (1, 3):
        answer = made.recommend(ask=KNOBS, goals={"time": cp.minimize}, count=count)
        assert truth(answer[0]) == 4.0
        assert answer.certificate is not None
        assert "Past runs count with what was measured;" in answer.certificate.reason
        assert answer.certificate.reason.endswith("within the model's error counts as none.")


def test_reconfigure_goes_where_a_run_was_measured() -> None:
    rows = sample(0)
    start = next(i for i, row in enumerate(rows) if row[1] == 16 and row[3] != 4.0)
    answer = engine(rows).reconfigure(start, ask=KNOBS, goals={"time": cp.minimize}, count=2)
    assert truth(answer[0]) == 4.0
    assert answer[0].outcome("time").observed == rows[start][3]  # what the baseline took
    assert any("Nothing is expected to beat" in note for note in answer.notes)
