"""What is said of a front against its definition, point by point."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compass.pareto.front import (
    Floats,
    alike,
    extent,
    knees,
    nondominated,
    reference_of,
    representatives,
    spread,
)
from compass.pareto.hypervolume import hypervolume
from property_examples import examples


def dominates(a: Floats, b: Floats) -> bool:
    return bool((a <= b).all() and (a < b).any())


@examples(80)
@given(
    k=st.integers(1, 4), n=st.integers(0, 40), values=st.integers(2, 9), seed=st.integers(0, 9999)
)
def test_nothing_dominates_a_point_of_the_front(k: int, n: int, values: int, seed: int) -> None:
    points = np.random.default_rng(seed).integers(0, values, (n, k)).astype(float)
    by_hand = [[dominates(b, a) for b in points] for a in points]
    assert nondominated(points).tolist() == [not any(row) for row in by_hand]


def test_equal_points_stay_together() -> None:
    points = np.array([[1.0, 2.0], [1.0, 2.0], [2.0, 1.0], [1.0, 3.0], [2.0, 1.0]])
    assert nondominated(points).tolist() == [True, True, True, False, True]


def test_sums_that_rounding_makes_equal_do_not_hide_what_dominates() -> None:
    points = np.array([[1e16, 1.0, 0.0], [1e16, 0.0, 0.0]])
    assert nondominated(points).tolist() == [False, True]


def test_the_reference_lies_a_tenth_behind_the_front() -> None:
    front = np.array([[0.0, 10.0], [5.0, 0.0]])
    assert reference_of(front, front).tolist() == [5.5, 11.0]


def test_a_single_point_takes_the_range_of_all_runs() -> None:
    one = np.array([[2.0, 3.0]])
    assert reference_of(one, np.array([[2.0, 3.0], [12.0, 3.0]])).tolist() == [3.0, 3.3]
    assert reference_of(np.zeros((1, 2)), np.zeros((1, 2))).tolist() == [0.1, 0.1]


def test_even_gaps_have_no_spread() -> None:
    line = np.column_stack([np.arange(5.0), 4 - np.arange(5.0)])
    ideal, reference = np.zeros(2), np.full(2, 4.0)
    assert spread(line, ideal, reference) == pytest.approx(0.0, abs=1e-12)
    assert extent(line, ideal, reference).tolist() == [1.0, 1.0]
    # A corner of it is as even: why the extent is told as well.
    assert spread(line[:3], ideal, reference) == pytest.approx(0.0, abs=1e-12)
    assert extent(line[:3], ideal, reference).tolist() == [0.5, 0.5]


def test_uneven_gaps_have_a_spread() -> None:
    line = np.array([[0.0, 4.0], [0.1, 3.9], [4.0, 0.0]])
    gaps = np.sqrt(2) * np.array([0.1, 0.1, 3.9]) / 4
    expected = np.abs(gaps - gaps.mean()).mean() / gaps.mean()
    assert spread(line, np.zeros(2), np.full(2, 4.0)) == pytest.approx(expected)


def test_the_knee_is_where_the_front_turns() -> None:
    front = np.array([[0.0, 10.0], [1.0, 2.0], [2.0, 1.5], [10.0, 0.0]])
    assert knees(front).tolist() == [1]


def test_a_straight_front_has_no_knee() -> None:
    line = np.column_stack([np.arange(9.0), 8 - np.arange(9.0)])
    assert knees(line).tolist() == []
    assert knees(line[:2]).tolist() == []


def test_each_side_of_a_knee_may_have_its_own() -> None:
    front = np.array(
        [[0.0, 10.0], [0.2, 7.0], [3.0, 6.6], [3.2, 2.0], [3.5, 1.8], [9.0, 1.5], [10.0, 0.0]]
    )
    assert set(knees(front).tolist()) == {3, 1}


def test_of_three_outcomes_the_knee_has_the_smallest_sum() -> None:
    front = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0], [0.3, 0.3, 0.3]])
    assert knees(front).tolist() == [3]


def test_points_are_alike_whose_intervals_meet_in_everything() -> None:
    low = np.array([[1.0, 1.0], [1.5, 1.5], [5.0, 1.0], [-np.inf, -np.inf]])
    high = np.array([[2.0, 2.0], [2.5, 2.5], [6.0, 2.0], [np.inf, np.inf]])
    assert alike(low, high).tolist() == [
        [True, True, False, True],
        [True, True, False, True],
        [False, False, True, True],
        [True, True, True, True],
    ]


def test_representatives_hold_the_ends_and_most_of_the_volume() -> None:
    angle = np.linspace(0, np.pi / 2, 200)
    front = np.column_stack([1 - np.sin(angle), 1 - np.cos(angle)])
    reference = np.full(2, 1.1)
    chosen = representatives(front, reference, 12)
    assert len(chosen) == 12
    assert {0, 199} <= set(chosen.tolist())
    whole = hypervolume(front, reference).value
    assert hypervolume(front[chosen], reference).value > 0.95 * whole
    assert representatives(front[:5], reference, 12).tolist() == [0, 1, 2, 3, 4]


def test_points_that_add_nothing_are_left_out() -> None:
    front = np.array([[0.0, 1.0], [1.0, 0.0]] + [[0.5, 0.5]] * 20)
    assert len(representatives(front, np.full(2, 1.1), 10)) == 3
