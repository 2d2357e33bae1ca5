"""Intervals of changes: pairs of runs that nobody has seen, and errors that cancel."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestRegressor
from tests.model.sklearn_forests import flattened

from compass.domain.space import Category, Number, Role, Space
from compass.trust.change import (
    by_tree,
    calibrate_change,
    deviation,
    disagreement,
    ends_of_change,
    pairs,
    spread_of_change,
)
from compass.trust.interval import calibrate
from property_examples import examples

SPACE = Space(
    parameters=(
        Category(name="app", values=("a", "b", "c"), role=Role.CONTEXT),
        Number(name="size", low=0, high=9, role=Role.CONTEXT),
        Number(name="nodes", low=0, high=9),
        Category(name="mode", values=("x", "y")),
    )
)
ROWS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 9), st.integers(0, 9), st.integers(0, 1)),
    max_size=60,
)


def matrix(rows: list[tuple[int, ...]]) -> np.ndarray:
    return np.array(rows, dtype=np.float64).reshape(-1, 4)


@given(rows=ROWS)
def test_pairs_are_disjoint_and_of_different_configurations(rows: list[tuple[int, ...]]) -> None:
    X = matrix(rows)
    found = pairs(X, SPACE)
    assert found.shape == (len(found), 2)
    assert len(set(found.ravel().tolist())) == found.size
    for one, other in found:
        assert rows[one] != rows[other]
    kinds = len(set(rows))
    assert found.size >= kinds - 2  # at most one is left over in each half
    assert len({rows[i] for i in found.ravel()}) == found.size  # of each configuration one run


@given(rows=ROWS, seed=st.integers(0, 99))
def test_with_groups_both_runs_are_of_one(rows: list[tuple[int, ...]], seed: int) -> None:
    group = np.random.default_rng(seed).integers(0, 4, len(rows))
    for one, other in pairs(matrix(rows), SPACE, group):
        assert group[one] == group[other]
        assert rows[one] != rows[other]


@given(rows=st.lists(st.tuples(*[st.integers(0, 2)] * 3, st.just(0)), unique=True, max_size=27))
@examples(30)
def test_which_rows_are_paired_does_not_depend_on_their_order(rows: list[tuple[int, ...]]) -> None:
    mixed = rows[::-1]
    one = {frozenset((rows[a], rows[b])) for a, b in pairs(matrix(rows), SPACE)}
    two = {frozenset((mixed[a], mixed[b])) for a, b in pairs(matrix(mixed), SPACE)}
    assert one == two


def test_pairs_are_alike_where_they_can_be() -> None:
    rng = np.random.default_rng(1)
    X = np.column_stack(
        [rng.integers(0, 3, 800), rng.random(800), rng.random(800), rng.integers(0, 2, 800)]
    ).astype(float)
    found = pairs(X, SPACE)
    one, other = X[found[:, 0]], X[found[:, 1]]
    assert (one[:, 0] == other[:, 0]).mean() > 0.98  # the context of nearly all
    size, nodes = np.abs(one[:, 1] - other[:, 1]), np.abs(one[:, 2] - other[:, 2])
    assert np.median(size) < 0.05  # two random numbers are 0.29 apart
    half = len(found) // 2
    near, far = nodes[:half], nodes[half:]
    assert np.median(near) < 0.1
    assert np.median(far) > 0.2  # knobs of the other half are as they come
    assert (one[:half, 3] == other[:half, 3]).mean() > 0.95


@pytest.fixture(scope="module")
def grown() -> tuple[RandomForestRegressor, np.ndarray]:
    rng = np.random.default_rng(2)
    X = rng.random((300, 4))
    y = np.exp(X @ [1.0, 2.0, 0.0, -1.0] + rng.normal(0, 0.1, 300))
    return RandomForestRegressor(20, random_state=3).fit(X, y), rng.random((40, 4))


@pytest.mark.parametrize("log", [False, True])
def test_disagreement_is_the_deviation_of_the_trees_differences(
    grown: tuple[RandomForestRegressor, np.ndarray], log: bool
) -> None:
    forest, X = grown
    trees = flattened(forest)
    said = np.array([tree.predict(X) for tree in forest.estimators_])
    said = np.log(said) if log else said
    expected = (said[:, 20:] - said[:, :20]).std(axis=0)
    np.testing.assert_allclose(disagreement(trees, X[:20], X[20:], log=log), expected)
    np.testing.assert_allclose(deviation(by_tree(trees, X, log=log)), said.std(axis=0))
    own = np.full(20, 3.0), np.full(20, 4.0)
    both = spread_of_change(trees, X[:20], X[20:], own, log=log)
    np.testing.assert_allclose(both, expected + 5.0)


def test_a_change_is_judged_the_same_alone_and_among_others(
    grown: tuple[RandomForestRegressor, np.ndarray],
) -> None:
    trees, X = flattened(grown[0]), grown[1]
    together = disagreement(trees, X[:1], X[1:], log=True)
    alone = [disagreement(trees, X[:1], X[[i]], log=True)[0] for i in range(1, len(X))]
    assert np.array_equal(together, alone)


def world(rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    """Outcomes and predictions [n, 2] of pairs: most of a model's error is that of the context."""
    error = rng.normal(0, 1, n)[:, None] + rng.normal(0, 0.2, (n, 2))
    predicted = rng.normal(0, 3, (n, 2))
    doubt = rng.lognormal(0, 0.5, n)
    return predicted + doubt[:, None] * error, predicted, doubt


@pytest.mark.parametrize("log", [False, True])
def test_changes_of_new_pairs_are_covered_and_narrower_than_both_ends_summed(log: bool) -> None:
    rng = np.random.default_rng(4)
    covered, widths, naive = [], [], []
    for _ in range(400):
        y, predicted, doubt = world(rng, 120)
        if log:
            y, predicted = np.exp(y), np.exp(predicted)
        known, new = slice(0, 80), slice(80, None)
        flat_ = np.ones((80, 2))
        change = calibrate_change(
            y[known], predicted[known], doubt[known], flat_, usual=1.0, log=log
        )
        before, after = predicted[new].T
        low, high = ends_of_change(change, before, after, doubt[new], 0.9)
        # Of ratios the interval is told for a run that takes what was predicted before.
        first, second = y[new].T
        truth = before * (second / first - 1) if log else second - first
        covered.append(((low <= truth) & (truth <= high)).mean())
        spread = doubt[known] * (predicted[known, 0] if log else 1.0)
        single = calibrate(
            y[known, 0], predicted[known, 0], spread, np.ones(80), usual=1.0, log=log
        )
        widths.append(change.half_width(doubt[new], 0.9).mean())
        naive.append(2 * single.half_width(doubt[new], 0.9).mean())
    slack = 4 * np.std(covered, ddof=1) / math.sqrt(len(covered))
    assert 0.9 - slack <= np.mean(covered) <= 0.9 + 1 / 81 + slack
    assert np.mean(widths) < 0.3 * np.mean(naive)


def test_groups_of_pairs_count_once() -> None:
    rng = np.random.default_rng(5)
    y = np.column_stack([np.zeros(40), rng.normal(size=40)])
    group = np.repeat(np.arange(8), 5)
    known = calibrate_change(
        y, np.zeros((40, 2)), np.ones(40), np.ones((40, 2)), usual=1.0, group=group
    )
    assert known.units == 8
    assert known.quantile(0.9) == math.inf
    assert math.isfinite(known.quantile(0.85))


def test_pairs_weigh_what_a_run_there_weighs() -> None:
    weight = np.array([[4.0, 4.0], [1.0, 9.0]])
    known = calibrate_change(
        np.array([[0.0, 1.0], [0.0, 2.0]]), np.zeros((2, 2)), np.ones(2), weight, usual=0.0
    )
    assert known.weights.tolist() == [4.0, 3.0]
    assert known.residuals.tolist() == [1.0, 2.0]


def test_a_ratio_to_a_run_that_takes_nothing_is_missed_by_every_interval() -> None:
    y = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 0.0], [1.0, 2.0]])
    known = calibrate_change(y, np.ones((4, 2)), np.ones(4), np.ones((4, 2)), usual=1.0, log=True)
    assert np.isinf(known.residuals).tolist() == [False, True, True, True]


def test_without_pairs_nothing_is_promised() -> None:
    none = np.empty((0, 2))
    known = calibrate_change(none, none, np.empty(0), none, usual=0.0)
    low, high = ends_of_change(known, np.ones(1), np.ones(1), np.ones(1), 0.5)
    assert (low[0], high[0]) == (-math.inf, math.inf)
