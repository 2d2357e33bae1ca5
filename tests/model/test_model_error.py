"""Errors of models."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score, mean_absolute_percentage_error

from compass.model.error import macro_f1, mape, small
from property_examples import examples


def test_mape_far_from_zero_is_the_usual_one() -> None:
    rng = np.random.default_rng(0)
    y, p = rng.uniform(1, 2, 50), rng.uniform(1, 2, 50)
    assert mape(y, p) == pytest.approx(mean_absolute_percentage_error(y, p))


def test_mape_near_zero_divides_by_a_hundredth_of_the_spread() -> None:
    y = np.array([0.0, 100.0])  # standard deviation 50
    assert small(y) == 0.5
    assert mape(y, np.array([1.0, 100.0])) == pytest.approx((1 / 0.5 + 0) / 2)
    assert mape(y, np.array([1.0, 100.0]), scale=4.0) == pytest.approx((1 / 4 + 0) / 2)


def test_mape_of_an_outcome_that_is_always_zero_is_the_absolute_error() -> None:
    assert mape(np.zeros(4), np.full(4, 0.25)) == 0.25


def test_mape_counts_a_row_of_weight_three_three_times() -> None:
    y, p = np.array([1.0, 2.0]), np.array([1.5, 2.0])
    assert mape(y, p, scale=0.0, weight=np.array([3.0, 1.0])) == pytest.approx(0.375)


@examples(30)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=40))
def test_macro_f1_is_that_of_sklearn(pairs: list[tuple[int, int]]) -> None:
    y, p = np.array(pairs, dtype=float).T
    weight = np.linspace(1, 2, y.size)
    assert macro_f1(y, p) == pytest.approx(f1_score(y, p, average="macro"))
    expected = f1_score(y, p, average="macro", sample_weight=weight)
    assert macro_f1(y, p, weight=weight) == pytest.approx(expected)
