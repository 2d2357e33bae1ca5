"""Distances between configurations."""

import numpy as np
import pytest
from hypothesis import strategies as st
from trust_reference import mixed_rows, mixed_space

from compass.domain.errors import BadInput, DataProblem
from compass.domain.space import Category, Number, Space
from compass.trust.distance import Scale, distances

space = mixed_space()
none = space["cap"].none_code
seeds = st.integers(0, 2**31)


def test_what_one_means_in_each_kind_of_column() -> None:
    X = np.array([[1.0, 0.0, 10.0, 0.0], [3.0, 10.0, none, 1.0], [5.0, 5.0, 14.0, 2.0]])
    scale = Scale.learn(X, space)
    rows = scale.place(X[:1])

    def apart(**changes: float) -> float:
        new = X[0].copy()
        for name, value in changes.items():
            new[space.names.index(name)] = value
        return float(distances(scale.kind, rows, scale.place(new[np.newaxis])[:, 0])[0])

    assert apart() == 0
    assert apart(nodes=1 + X[:, 0].std()) == pytest.approx(1)
    assert apart(app=2) == 1
    assert apart(cap=none) == 1
    assert apart(cap=14) == pytest.approx(2)  # the deviation of 10 and 14 is 2
    assert apart(cap=none, app=1, nodes=1 + X[:, 0].std()) == pytest.approx(np.sqrt(3))


def test_another_value_of_a_number_that_never_varied_counts_as_a_new_label() -> None:
    X = np.array([[2.0, 1.0, none, 0.0], [2.0, 2.0, 15.0, 0.0], [2.0, 3.0, 15.0, 0.0]])
    scale = Scale.learn(X, space)
    rows = scale.place(X)

    def apart(row: np.ndarray) -> float:
        return float(distances(scale.kind, rows, scale.place(row[np.newaxis])[:, 0])[1])

    assert apart(X[1]) == 0
    assert apart(X[1] + np.array([5, 0, 0, 0])) == 1
    assert apart(X[1] + np.array([5, 0, 4, 0])) == pytest.approx(np.sqrt(2))
    assert apart(np.array([2.0, 2.0, none, 0.0])) == 1


def test_weights_enter_the_deviation() -> None:
    plain = Space(parameters=(Number(name="a", low=0, high=9),))
    values, weight = np.array([1.0, 2.0, 7.0]), np.array([3.0, 1.0, 2.0])
    weighted = Scale.learn(values[:, np.newaxis], plain, weight)
    repeated = Scale.learn(np.repeat(values, weight.astype(int))[:, np.newaxis], plain)
    assert weighted.spread == pytest.approx(repeated.spread)


def test_large_offsets_do_not_drown_small_differences() -> None:
    plain = Space(parameters=(Number(name="time", low=0, high=2e9),))
    X = 1.7e9 + np.array([[0.0], [1.0], [2.0], [3.0]])
    scale = Scale.learn(X, plain)
    apart = distances(scale.kind, scale.place(X), scale.place(X[:1])[:, 0])
    assert apart == pytest.approx(np.arange(4) / np.std(np.arange(4)), rel=1e-12)


def test_rows_that_do_not_fit_are_refused() -> None:
    X = mixed_rows(1, 10)
    with pytest.raises(BadInput, match="4 columns"):
        Scale.learn(X[:, :3], space)
    with pytest.raises(DataProblem, match="no training runs"):
        Scale.learn(X[:0], space)
    scale = Scale.learn(X, space)
    with pytest.raises(BadInput, match="columns"):
        scale.place(X[:, :3])
    X[0, 0] = np.nan
    with pytest.raises(BadInput, match="lacks a value"):
        scale.place(X)


def test_a_label_that_training_never_saw_differs_from_all() -> None:
    labels = Space(parameters=(Category(name="a", values=("x", "y", "z")),))
    X = np.array([[0.0], [1.0]])
    scale = Scale.learn(X, labels)
    assert distances(scale.kind, scale.place(X), np.array([2.0])).tolist() == [1.0, 1.0]
