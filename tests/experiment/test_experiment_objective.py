"""What an experiment minimises: the order of runs follows the goals."""

from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.experiment.law_case import plan

from compass.domain.errors import StudyProblem
from compass.domain.experiment import ExperimentRun, RunState
from compass.experiment.objective import Objective

NOW = datetime.now(UTC)
POSITIVE = st.floats(1e-3, 1e6)
untimed = settings(deadline=None)


def run(ended: RunState = RunState.DONE, /, **outcomes: object) -> ExperimentRun:
    return ExperimentRun(
        config={}, number=1, key="", state=ended, outcomes=outcomes, suggested_at=NOW, event=1
    )


@untimed
@given(st.lists(POSITIVE, min_size=1, max_size=20), st.sampled_from(["minimize", "maximize"]))
def test_one_outcome_is_ordered_as_it_is_and_comes_back_from_its_loss(values, direction):
    objective = Objective(plan(goals={"speed": direction}))
    losses = objective.losses([run(speed=value) for value in values])
    order = np.argsort(losses.loss, kind="stable")
    wanted = np.argsort(np.array(values) * (1 if direction == "minimize" else -1), kind="stable")
    assert np.array(values)[order] == pytest.approx(np.array(values)[wanted])
    back = [objective.value_of(one, positive=losses.positive) for one in losses.loss]
    assert back == pytest.approx(values)
    assert losses.positive


def test_values_below_zero_are_no_factors():
    losses = Objective(plan(goals={"balance": "maximize"})).losses(
        [run(balance=-3.0), run(balance=2.0)]
    )
    assert not losses.positive
    assert losses.loss.tolist() == [3.0, -2.0]


@untimed
@given(st.lists(st.tuples(POSITIVE, POSITIVE), min_size=2, max_size=12), st.floats(0.1, 10))
def test_weights_say_how_many_percent_are_worth_one(pairs, weight):
    objective = Objective(
        plan(goals={"time": "minimize", "rate": "maximize"}, weights={"rate": weight})
    )
    losses = objective.losses([run(time=t, rate=r) for t, r in pairs])
    assert losses.loss == pytest.approx([t * r**-weight for t, r in pairs])


@untimed
@given(st.lists(st.tuples(POSITIVE, st.floats(0, 400)), min_size=2, max_size=20))
def test_a_run_that_misses_a_bound_is_worse_than_all_that_meet_it(pairs):
    objective = Objective(plan(goals={"time": "minimize", "power": "<= 200"}))
    losses = objective.losses([run(time=t, power=p) for t, p in pairs])
    power = np.array([p for _, p in pairs])
    assert (losses.meets == (power <= 200)).all()
    if losses.meets.any() and not losses.meets.all():
        assert losses.loss[losses.meets].max() < losses.loss[~losses.meets].min()


def test_bounds_alone_are_met_or_missed_by_a_share():
    losses = Objective(plan(goals={"time": "[10, 20]"})).losses(
        [run(time=15.0), run(time=30.0), run(time=5.0)]
    )
    assert losses.loss.tolist() == [0.0, 0.5, 0.5]


def test_failed_runs_absent_outcomes_and_other_classes_give_no_result():
    objective = Objective(plan(goals={"time": "minimize", "check": "valid"}))
    losses = objective.losses(
        [
            run(time=1.0, check="valid"),
            run(time=1.0, check="invalid"),
            run(check="valid"),
            run(RunState.FAILED, time=1.0, check="valid"),
        ]
    )
    assert losses.failed.tolist() == [False, True, True, True]
    assert np.isnan(losses.loss[1:]).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"goals": {"time": "reduce by 10%"}}, "baseline"),
        ({"goals": {"time": "same"}}, "baseline"),
        ({"goals": {"time": "<= 3"}, "weights": {"time": 2}}, "neither minimised nor maximised"),
        ({"goals": {"time": "minimize"}, "weights": {"time": -1}}, "not above 0"),
        ({"goals": {"time": "minimize"}, "weights": {"time": 101}}, "at most 100"),
        ({"goals": {"time": "minimize"}, "weights": {"time": 2}}, "nothing else is minimised"),
    ],
)
def test_goals_that_an_experiment_cannot_have(changes, message):
    with pytest.raises(StudyProblem, match=message):
        Objective(plan(**changes))


def test_no_runs_are_no_losses():
    losses = Objective(plan()).losses([])
    assert losses.loss.shape == losses.failed.shape == (0,)


@untimed
@given(
    st.lists(
        st.tuples(st.floats(1e-300, 1e300), st.floats(1e-300, 1e300), st.floats(0, 1e9)),
        min_size=1,
        max_size=12,
    ),
    st.floats(1e-3, 100),
)
def test_no_loss_is_infinite_or_nothing_however_heavy_the_weights(runs, weight):
    goals = {"time": "minimize", "rate": "maximize", "power": "<= 200"}
    objective = Objective(plan(goals=goals, weights={"rate": weight}))
    losses = objective.losses([run(time=t, rate=r, power=p) for t, r, p in runs])
    assert np.isfinite(losses.loss).all()
    assert (losses.loss > 0).all()
    least = min(range(len(runs)), key=lambda n: np.log(runs[n][0]) - weight * np.log(runs[n][1]))
    if losses.meets.all():
        assert losses.loss[least] == pytest.approx(losses.loss.min())


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_the_smallest_and_largest_numbers_are_losses(direction):
    objective = Objective(plan(goals={"time": direction, "power": "<= 1"}))
    losses = objective.losses([run(time=5e-324, power=0.0), run(time=1.7e308, power=1e300)])
    assert np.isfinite(losses.loss).all()
    assert (losses.loss > 0).all()


def test_the_number_of_several_goals_has_a_name_of_its_own():
    assert Objective(plan(goals={"power": "<= 200", "time": "minimize"})).title == "time"
    both = Objective(plan(goals={"time": "minimize", "rate": "maximize"}))
    assert both.title == "hypervolume"
    goals = {"time": "minimize", "rate": "maximize"}
    assert Objective(plan(goals=goals, weights={"rate": 1})).title == "all goals together"


def test_a_run_of_another_class_says_which():
    objective = Objective(plan(goals={"time": "minimize", "check": "valid"}))
    assert objective.other_class({"check": "valid"}) is None
    assert objective.other_class({"check": "invalid"}) == "check is 'invalid', not 'valid'"
