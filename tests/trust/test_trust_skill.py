"""Skill: what a model saves of the error of the simplest prediction, against counting."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compass.trust.skill import errors_of, last_before, skill, usual


@given(st.data())
def test_the_last_run_before_is_the_one_that_looking_back_finds(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 30))
    group = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), dtype="u8")
    held = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    mixed = np.array(data.draw(st.permutations(range(n))))
    train, valid = mixed[~held[mixed]], mixed[held[mixed]]
    found = last_before(group, train, valid)
    for row, last in zip(valid, found, strict=True):
        before = [i for i in range(row) if not held[i] and group[i] == group[row]]
        assert last == (before[-1] if before else -1)


def test_half_of_the_error_is_saved() -> None:
    simple = np.array([1.0, 2.0, 3.0, 4.0])
    found = skill(simple / 2, simple, np.ones(4))
    assert found.score == pytest.approx(0.5)
    assert found.clear


def test_runs_count_by_their_weight() -> None:
    found = skill(np.array([0.0, 1.0]), np.array([1.0, 1.0]), np.array([3.0, 1.0]))
    assert found.score == pytest.approx(0.75)


def test_an_outcome_that_never_varies_takes_no_skill() -> None:
    right, wrong = np.zeros(9), np.ones(9)
    assert skill(right, np.zeros(9), np.ones(9)).clear
    assert skill(right, np.zeros(9), np.ones(9)).score is None
    assert not skill(wrong, np.zeros(9), np.ones(9)).clear


@given(st.lists(st.tuples(st.floats(0, 5), st.floats(0.01, 5)), min_size=2, max_size=30))
def test_units_of_the_outcome_do_not_matter(pairs: list[tuple[float, float]]) -> None:
    own, simple = np.array(pairs).T
    one, thousand = (skill(own * by, simple * by, np.ones(len(own))) for by in (1.0, 1024.0))
    assert one.score == pytest.approx(thousand.score)
    assert one.clear == thousand.clear


def clear_share(saved: float, *, n: int, draws: int = 500) -> float:
    """How often a model is clearly skilled whose errors are this share smaller, on n runs."""
    rng = np.random.default_rng(0)
    clear = 0
    for _ in range(draws):
        simple = np.abs(rng.normal(0, 1, n))
        errors = (1 - saved) * np.abs(rng.normal(0, 1, n))
        clear += skill(errors, simple, np.ones(n)).clear
    return clear / draws


def test_a_trifle_is_hardly_ever_called_clear_and_much_always_is() -> None:
    for n in (10, 40, 200):
        # 10 % is the trifle: at most about 5 % of such models pass, and fewer that save less.
        assert clear_share(0.1, n=n) < 0.1
        assert clear_share(0.0, n=n) < 0.05
    assert clear_share(0.7, n=40) > 0.99


def test_errors_of_times_are_factors() -> None:
    y, said = np.array([1.0, 10.0, 100.0]), np.array([2.0, 20.0, 50.0])
    np.testing.assert_allclose(errors_of(y, said, classes=False), [math.log(2)] * 3)
    assert np.isfinite(errors_of(y, np.array([-1.0, 0.0, 1.0]), classes=False)).all()


def test_errors_of_what_may_be_negative_are_differences() -> None:
    y, said = np.array([-1.0, 0.0, 3.0]), np.array([1.0, 1.0, 1.0])
    assert errors_of(y, said, classes=False).tolist() == [2.0, 1.0, 2.0]


def test_a_class_is_right_or_wrong() -> None:
    y, said = np.array([0.0, 1.0, 2.0]), np.array([0.0, 2.0, 2.0])
    assert errors_of(y, said, classes=True).tolist() == [0.0, 1.0, 0.0]


def test_the_usual_outcome_is_the_median_or_the_most_frequent_class() -> None:
    assert usual(np.array([1.0, 2.0, 50.0]), np.ones(3), classes=False) == 2.0
    labels = np.array([0.0, 0.0, 2.0])
    assert usual(labels, np.ones(3), classes=True) == 0.0
    assert usual(labels, np.array([1.0, 1.0, 5.0]), classes=True) == 2.0


@given(st.lists(st.integers(0, 4), min_size=1, max_size=30))
def test_no_single_class_is_right_more_often_than_the_usual_one(labels: list[int]) -> None:
    y = np.array(labels, dtype=np.float64)
    said = usual(y, np.ones(len(y)), classes=True)
    assert (y == said).sum() == max(labels.count(label) for label in labels)
