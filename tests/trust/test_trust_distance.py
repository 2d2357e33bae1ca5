"""Distances between configurations."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import cKDTree
from trust_reference import deviations, distance, mixed_rows, mixed_space

from compass.domain.errors import BadInput, DataProblem
from compass.domain.space import Category, Number, Space
from compass.trust import distance as module
from compass.trust.distance import Scale, around, distances, nearest

space = mixed_space()
none = space["cap"].none_code
seeds = st.integers(0, 2**31)


@settings(max_examples=30, deadline=None)
@given(seeds, st.integers(1, 60), st.integers(1, 25))
def test_nearest_is_brute_force_with_repetitions_and_ties(seed: int, n: int, k: int) -> None:
    X, Q = mixed_rows(seed, n), mixed_rows(seed + 1, 15)
    spread = deviations(X, space)
    scale = Scale.learn(X, space)
    found = nearest(scale.kind, scale.place(X), scale.place(Q), k)
    for q, mean in zip(Q, found, strict=True):
        every = [distance(q, row, space, spread) for row in X]
        assert mean == pytest.approx(np.mean(sorted(every)[:k]), rel=1e-12)
        point = scale.place(q[np.newaxis])[:, 0]
        assert distances(scale.kind, scale.place(X), point) == pytest.approx(every, rel=1e-12)


def test_nearest_tells_close_neighbours_apart() -> None:
    rng = np.random.default_rng(1)
    plain = Space(parameters=tuple(Number(name=name, low=-9, high=9) for name in "ab"))
    X, Q = rng.normal(size=(3000, 2)), rng.normal(size=(2000, 2))
    scale = Scale.learn(X, plain)
    found = nearest(scale.kind, scale.place(X), scale.place(Q), 20)
    tree = cKDTree(X / X.std(axis=0))
    assert found == pytest.approx(tree.query(Q / X.std(axis=0), 20)[0].mean(axis=1), rel=1e-12)


def test_a_row_is_no_distance_away_from_its_repetitions() -> None:
    X = np.repeat(mixed_rows(1, 10), 30, axis=0)
    scale = Scale.learn(X, space)
    assert (nearest(scale.kind, scale.place(X), scale.place(X), 20) == 0).all()


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


def test_results_do_not_depend_on_threads(monkeypatch) -> None:
    monkeypatch.setattr(module, "_PAIRS", 1)
    X, Q = mixed_rows(1, 3000), mixed_rows(2, 300)
    scale = Scale.learn(X, space)
    rows, points = scale.place(X), scale.place(Q)
    alone = nearest(scale.kind, rows, points, 20, threads=1)
    assert np.array_equal(alone, nearest(scale.kind, rows, points, 20, threads=3))
    single = [nearest(scale.kind, rows, points[:, [i]], 20)[0] for i in range(20)]
    assert np.array_equal(alone[:20], single)


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


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 90), st.floats(0, 4))
def test_one_pass_gives_the_nearest_and_all_within_reach(seed: int, n: int, reach: float) -> None:
    X, new = mixed_rows(seed, n), mixed_rows(seed + 1, 40)  # more than are compared together
    scale = Scale.learn(X, space)
    rows, points = scale.place(X), scale.place(new)
    mean, close = around(scale.kind, rows, points, 7, reach)
    assert np.array_equal(mean, nearest(scale.kind, rows, points, 7))
    for q, (position, apart) in enumerate(close):
        slow = distances(scale.kind, rows, points[:, q])
        inside = np.flatnonzero(slow * slow <= reach * reach * (1 + 1e-12))
        order = np.lexsort((inside, slow[inside].round(9)))
        if np.array_equal(np.sort(position), inside):  # not so where rounding decides
            assert sorted(apart) == pytest.approx(sorted(slow[inside]))
            assert np.array_equal(slow[position].round(9), slow[inside][order].round(9))
        else:
            odd = np.setxor1d(position, inside)
            assert slow[odd] == pytest.approx(reach)
