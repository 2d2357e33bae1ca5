"""How likely conditions on outcomes hold, against counting."""

import numpy as np
import pytest

import compass as cp
from compass.engine.scope import scope_of
from compass.evidence.assessor import Assessor
from compass.evidence.classes import class_scores
from compass.evidence.conditions import Predicted, held, predicted_of

QUESTION = "Recommend X = {nodes: ?} to achieve Y = {power: minimize}"


def asked(engine: cp.Compass, *where: str) -> tuple[Predicted, Assessor, list, tuple[str, ...]]:  # type: ignore[type-arg]
    scope = scope_of(engine.query(QUESTION, where=where), engine.store, ())
    trained = engine.store.train(scope.view.names, scope.outcomes)
    assessor = Assessor(engine.store, scope.view, trained)
    return predicted_of(assessor, scope.view.X), assessor, list(scope.conditions), scope.outcomes


def test_of_a_class_it_is_the_probability_of_the_labels_that_fit(engine: cp.Compass) -> None:
    texts = ("state == 'COMPLETED'", "state != 'COMPLETED'", "state in {COMPLETED, TIMEOUT}")
    at, assessor, rules, outcomes = asked(engine, *texts)
    space = engine.space["state"]
    scores = at.scores["state"]
    place = space.values.index("COMPLETED")  # type: ignore[union-attr]
    chances = [held(rule, outcomes, at, assessor)[1] for rule in rules]
    assert chances[0] == pytest.approx(scores[:, place])
    assert chances[1] == pytest.approx(1 - scores[:, place])
    assert chances[2] == pytest.approx(np.ones(len(scores)))
    assert class_scores(space, scores[0])["COMPLETED"] == pytest.approx(scores[0, place])


def test_a_class_condition_with_a_column_depends_on_it(engine: cp.Compass) -> None:
    at, assessor, (rule,), outcomes = asked(engine, "gpus == 0 -> state == 'COMPLETED'")
    chance = held(rule, outcomes, at, assessor)[1]
    assert chance is not None
    gpus = at.X[:, assessor.view.names.index("gpus")]
    assert chance[gpus > 0] == pytest.approx(1)
    assert chance[gpus == 0].min() < 0.5


@pytest.mark.parametrize("text", ["runtime <= 40", "runtime * 2 <= 80", "40 >= runtime"])
def test_of_a_number_it_is_calibrated(engine: cp.Compass, text: str) -> None:
    at, assessor, (rule,), outcomes = asked(engine, text)
    holds, chance = held(rule, outcomes, at, assessor)
    assert chance is not None
    measured = assessor.store.prepared.outcome("runtime") <= 40
    assert chance.mean() == pytest.approx(measured.mean(), abs=0.05)
    assert chance[holds].mean() > 0.9
    assert chance[~holds].mean() < 0.1


def test_both_sides_make_one(engine: cp.Compass) -> None:
    at, assessor, (below, above), outcomes = asked(engine, "runtime <= 40", "runtime > 40")
    one, other = (held(rule, outcomes, at, assessor)[1] for rule in (below, above))
    assert one is not None
    assert other is not None
    assert (one + other <= 1 + 1e-9).all()
    assert np.median(one + other) > 0.9


def test_a_bound_that_differs_from_run_to_run(engine: cp.Compass) -> None:
    at, assessor, (rule,), outcomes = asked(engine, "runtime <= size")
    holds, chance = held(rule, outcomes, at, assessor)
    assert chance is not None
    assert chance[holds].mean() > 0.9


def test_two_outcomes_have_no_chance_that_can_be_told(engine: cp.Compass) -> None:
    at, assessor, (rule,), outcomes = asked(engine, "runtime <= power")
    holds, chance = held(rule, outcomes, at, assessor)
    assert chance is None
    assert holds.any()
