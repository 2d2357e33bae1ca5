"""Objectives are a vector of values, and one place says which vector is preferred."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compass.domain.target import Target
from compass.generate.base import Candidates
from compass.generate.objectives import (
    as_good_as,
    objective_values,
    objectives,
    preference,
    preference_deviation,
    sign,
)

TARGETS = (
    Target(name="time", direction="minimize", scale=2.0),
    Target(name="power", high=9.0, scale=3.0),
    Target(name="rate", direction="maximize", scale=0.5),
)
numbers = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=8)


def test_every_directed_target_is_an_objective_in_the_order_of_the_question() -> None:
    assert [target.name for target in objectives(TARGETS)] == ["time", "rate"]
    assert [sign(target) for target in TARGETS] == [1.0, 0.0, -1.0]


@given(numbers)
def test_values_are_in_standard_deviations_and_small_is_good(y: list[float]) -> None:
    column = np.array(y)
    values = objective_values(TARGETS, {"time": column, "rate": column}, column.shape)
    assert values.shape == (len(y), 2)
    assert values[:, 0].tolist() == (column / 2.0).tolist()
    assert values[:, 1].tolist() == (-column / 0.5).tolist()
    # The order of adding is part of the promise: answers must be the same to the last bit.
    assert preference(values).tolist() == [0.0 + a + b for a, b in values.tolist()]


def test_no_objective_has_no_preference() -> None:
    values = objective_values((TARGETS[1],), {}, (3,))
    assert values.shape == (3, 0)
    assert preference(values).tolist() == [0.0, 0.0, 0.0]


def test_draws_of_outcomes_keep_their_shape() -> None:
    draws = np.arange(6.0).reshape(2, 3)
    values = objective_values(TARGETS, {"time": draws, "rate": draws}, draws.shape)
    assert values.shape == (2, 3, 2)
    assert preference(values).tolist() == (draws / 2.0 - draws / 0.5).tolist()


def test_deviations_of_independent_objectives_add_as_squares() -> None:
    assert preference_deviation(np.array([[9.0, 16.0]])).tolist() == [5.0]


@pytest.mark.parametrize("best", [-4.0, 0.0, 5.0])
def test_a_tolerance_is_a_share_of_the_best_preference(best: float) -> None:
    assert as_good_as(best, 0.01) == pytest.approx(best + 0.01 * abs(best))
    assert as_good_as(best, 0.0) == best


def test_candidates_are_taken_and_put_first_with_all_that_is_known_of_them() -> None:
    found = Candidates(
        X=np.arange(6.0).reshape(3, 2),
        values=np.arange(3.0)[:, None],
        meets=np.array([True, True, False]),
        proximity=np.array([0.5, 0.7, 0.9]),
        exhaustive=True,
        evaluated=9,
    )
    last = found.take(np.array([2]))
    assert len(last) == 1
    assert (last.values[0, 0], bool(last.meets[0]), last.proximity[0]) == (2.0, False, 0.9)
    again = found.take(np.array([0, 1])).after(last)
    assert again.values[:, 0].tolist() == [2.0, 0.0, 1.0]
    assert again.X[0].tolist() == [4.0, 5.0]
    assert again.exhaustive
    assert again.evaluated == 9
