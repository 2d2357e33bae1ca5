"""Shares of a prediction against brute force over all subsets, and what they must satisfy."""

from collections.abc import Callable
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from tests.model.sklearn_forests import flattened

from compass.domain.errors import BadInput
from compass.explain import shapley
from compass.model.base import FittedDefaults, Task, family
from compass.model.recipe import Exponential, Recipe
from compass.model.trees import flat
from compass.model.trees.fitted import FittedTrees
from compass.model.trees.flat import FlatForest
from compass.settings import ForestSettings, Settings

modest = settings(max_examples=20, deadline=None)
seeds = st.integers(0, 2**31)
SMALL = Settings(surrogate="forest", forest=ForestSettings(trees=8))


def rows(seed: int, n: int, d: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[:, ::2] = rng.integers(0, 4, size=X[:, ::2].shape)
    return X


def law(X: np.ndarray) -> np.ndarray:
    return X[:, 0] * X[:, -1] + np.sin(2 * X[:, X.shape[1] // 2])


def forest_of(seed: int, d: int, trees: int = 5) -> FlatForest:
    X = rows(seed, 80, d)
    return flattened(
        RandomForestRegressor(trees, random_state=seed % 1000, max_features=0.6).fit(X, law(X))
    )


def brute_force(predict: Callable, x: np.ndarray, Z: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The definition: every column, every subset of the others, the mean over the background."""
    d, mass = x.size, weight / weight.sum()

    def worth(chosen: tuple[int, ...]) -> np.ndarray:
        mixed = Z.copy()
        mixed[:, list(chosen)] = x[list(chosen)]
        return mass @ predict(mixed)

    share = np.zeros((d, predict(Z).shape[1]))
    for j in range(d):
        others = [i for i in range(d) if i != j]
        for size in range(d):
            for chosen in combinations(others, size):
                gain = worth((*chosen, j)) - worth(chosen)
                share[j] += gain / (d * comb(d - 1, size))
    return share


@modest
@given(seeds, st.integers(1, 6), st.integers(1, 5))
def test_shares_of_trees_are_those_of_brute_force(seed: int, d: int, b: int) -> None:
    forest, Z, x = forest_of(seed, d), rows(seed + 1, b, d), rows(seed + 2, 1, d)[0]
    weight = np.random.default_rng(seed).uniform(0.1, 2, b)
    share = shapley.trees(forest, x, Z, weight)
    expected = brute_force(lambda X: flat.raw(forest, X), x, Z, weight)
    np.testing.assert_allclose(share, expected, rtol=0, atol=1e-12)
    difference = flat.raw(forest, x[None])[0] - weight @ flat.raw(forest, Z) / weight.sum()
    np.testing.assert_allclose(share.sum(axis=0), difference, rtol=0, atol=1e-9)
    # The general way must agree with the one for trees.
    plain = shapley.enumerated(lambda X: flat.raw(forest, X), x, Z, weight)
    np.testing.assert_allclose(plain, expected, rtol=0, atol=1e-12)


@modest
@given(seeds, st.integers(2, 4))
def test_every_class_has_its_shares(seed: int, classes: int) -> None:
    X = rows(seed, 90, 4)
    y = np.random.default_rng(seed).integers(0, classes, 90)
    forest = flattened(RandomForestClassifier(5, random_state=1).fit(X, y))
    Z, x, weight = X[:3], rows(seed + 1, 1, 4)[0], np.ones(3)
    share = shapley.trees(forest, x, Z)
    expected = brute_force(lambda X: flat.raw(forest, X), x, Z, weight)
    np.testing.assert_allclose(share, expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(share.sum(axis=1), 0, atol=1e-12)  # what one gains others lose


@pytest.mark.parametrize("name", ["lightgbm", "xgboost"])
@pytest.mark.parametrize("classes", [None, 2, 3])
def test_boosted_trees_and_their_raw_scale(name: str, classes: int | None) -> None:
    X = rows(5, 300, 5)
    y = law(X) if classes is None else np.digitize(law(X), [-0.5, 1.0][: classes - 1]).astype(float)
    fitted = family(name).fit(
        X, y, task=Task(classes), weight=None, seed=3, settings=SMALL, features=None
    )
    Z, x = X[:4], X[50]
    found = shapley.explained(fitted, x, Z)
    forest = fitted.forest
    expected = brute_force(lambda X: flat.raw(forest, X), x, Z, np.ones(4))
    np.testing.assert_allclose(found.share, expected, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.share.sum(axis=0), found.reached - found.usual, atol=1e-9)
    assert found.scale == ("amount" if classes is None else "log-odds")
    assert found.exact
    assert not found.error.any()


def test_additive_laws_have_the_signs_and_sums_of_pred_contrib() -> None:
    """LightGBM's own shares follow the paths of training rows: only this much must coincide."""
    import lightgbm

    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, size=(2000, 3))
    y = 5 * X[:, 0] - 3 * X[:, 1]
    booster = lightgbm.train(
        {"objective": "regression", "verbosity": -1, "num_threads": 1, "deterministic": True},
        lightgbm.Dataset(X, y),
        40,
    )
    from compass.model.trees import foreign

    forest = foreign.from_lightgbm(booster)
    ask = np.array([[0.8, 0.8, 0.1], [-0.8, 0.8, -0.5], [0.7, -0.9, 0.3]])
    theirs = booster.predict(ask, pred_contrib=True)
    for x, other in zip(ask, theirs, strict=True):
        ours = shapley.trees(forest, x, X[:400])[:, 0]
        assert np.array_equal(np.sign(ours[:2]), np.sign(other[:2]))
        raw = flat.raw(forest, x[None])[0, 0]
        assert other.sum() == pytest.approx(raw, abs=1e-9)
        assert ours.sum() + flat.raw(forest, X[:400]).mean() == pytest.approx(raw, abs=1e-9)
        np.testing.assert_allclose(ours[:2], other[:2], atol=0.5)


def test_a_column_that_is_not_used_or_does_not_differ_gets_nothing() -> None:
    X = rows(2, 100, 4)
    X[:, 3] = 7.0  # trees cannot cut it
    forest = flattened(RandomForestRegressor(6, random_state=0).fit(X, law(X[:, :3])))
    x = X[0].copy()
    x[3] = 99.0
    share = shapley.trees(forest, x, X[1:20])
    assert share[3, 0] == 0
    assert abs(share[:3, 0]).max() > 0
    one = x.copy()
    one[1] += 1.5
    alone = shapley.trees(forest, one, x[None])
    assert np.count_nonzero(alone) <= 1
    assert not shapley.trees(forest, x, x[None]).any()


def test_shares_do_not_depend_on_threads_or_other_rows() -> None:
    forest = forest_of(4, 6, trees=300)
    Z, x = rows(9, 40, 6), rows(8, 1, 6)[0]
    together = shapley.trees(forest, x, Z)
    assert np.array_equal(together, shapley.trees(forest, x, Z))
    alone = np.array([shapley.trees(forest, x, z[None]) for z in Z])
    np.testing.assert_allclose(together, alone.mean(axis=0), rtol=0, atol=1e-13)


def test_sums_hold_in_deep_trees_with_many_columns() -> None:
    X = rows(11, 1500, 30)
    forest = flattened(
        RandomForestRegressor(10, random_state=0, max_features=0.3).fit(X, X.sum(axis=1))
    )
    share = shapley.trees(forest, X[0], X[1:60])
    difference = flat.raw(forest, X[:1])[0] - flat.raw(forest, X[1:60]).mean(axis=0)
    np.testing.assert_allclose(share.sum(axis=0), difference, rtol=0, atol=1e-9)


def test_sampled_shares_sum_exactly_and_lie_within_their_error() -> None:
    forest, Z, x = forest_of(3, 6), rows(4, 12, 6), rows(5, 1, 6)[0]
    weight = np.linspace(1, 2, 12)

    def predict(X: np.ndarray) -> np.ndarray:
        return flat.raw(forest, X)

    share, error, orders = shapley.sampled(predict, x, Z, weight, seed=1, rounds=8)
    exact = shapley.trees(forest, x, Z, weight)
    np.testing.assert_allclose(share.sum(axis=0), exact.sum(axis=0), rtol=0, atol=1e-12)
    assert orders == 2 * 8 * 12
    assert (abs(share - exact) <= 4 * error + 1e-12).all()
    assert error.max() > 0
    again = shapley.sampled(predict, x, Z, weight, seed=1, rounds=8)
    assert np.array_equal(share, again[0])
    more = shapley.sampled(predict, x, Z, weight, seed=1, rounds=128)
    assert more[1].max() < error.max() / 2


def test_the_stated_error_is_the_one_that_occurs() -> None:
    forest, Z, x = forest_of(6, 5), rows(7, 3, 5), rows(8, 1, 5)[0]
    exact = shapley.trees(forest, x, Z)
    drawn = [
        shapley.sampled(lambda X: flat.raw(forest, X), x, Z, seed=s, rounds=8) for s in range(150)
    ]
    seen = np.sqrt(np.mean([(share - exact) ** 2 for share, _, _ in drawn], axis=0))
    told = np.sqrt(np.mean([error**2 for _, error, _ in drawn], axis=0))
    np.testing.assert_allclose(told, seen, rtol=0.25, atol=1e-12)


class Plain(FittedDefaults):
    """A model that is not made of trees."""

    family = "plain"
    task = Task()

    def __init__(self) -> None:
        self.calls = 0

    def predict(self, X: np.ndarray) -> np.ndarray:
        self.calls += 1
        return (X[:, :1] * X[:, 1:2]) + X.sum(axis=1, keepdims=True)

    def spread(self, X: np.ndarray) -> np.ndarray:
        return np.zeros(len(X))

    def arrays(self) -> dict[str, np.ndarray]:
        return {}


def test_other_models_are_exact_for_few_columns_and_sampled_for_many() -> None:
    few, many = rows(1, 100, 8), rows(1, 100, 12)
    exact = shapley.explained(Plain(), few[0], few)
    assert exact.exact
    assert exact.scale == "amount"
    # x0 * x1 is split evenly; every other column contributes itself.
    expected = few[0] - few.mean(axis=0)
    both = (few[0, 0] * few[0, 1] - few[:, 0] * few[:, 1]).mean()
    np.testing.assert_allclose(exact.share[2:, 0], expected[2:], atol=1e-9)
    assert exact.share[:2, 0].sum() == pytest.approx(expected[:2].sum() + both)
    loose = shapley.explained(Plain(), many[0], many, seed=3)
    assert loose.orders == 800
    np.testing.assert_allclose(loose.share.sum(axis=0), loose.reached - loose.usual, atol=1e-9)
    np.testing.assert_allclose(loose.share[2:, 0], (many[0] - many.mean(axis=0))[2:], atol=1e-9)
    # Against one row all subsets of twelve columns are few.
    assert shapley.explained(Plain(), many[0], many[1:2]).exact


def test_models_of_a_logarithm_are_explained_there() -> None:
    X = rows(3, 200, 3)
    y = np.exp(X[:, 0] + 0.5 * X[:, 1])
    trees = Recipe(family="forest", log=True).fit(
        X, y, task=Task(), weight=None, seed=1, settings=SMALL
    )
    assert isinstance(trees, FittedTrees)
    for model in (trees, Exponential(Plain())):
        found = shapley.explained(model, X[0], X[1:30])
        assert found.scale == "factor"
        assert np.exp(found.reached) == pytest.approx(model.predict(X[:1])[0])
        product = np.exp(found.share.sum(axis=0))
        assert product == pytest.approx(np.exp(found.reached - found.usual), rel=1e-9)


def test_rows_that_do_not_fit_are_refused() -> None:
    forest = forest_of(1, 3)
    with pytest.raises(BadInput, match="do not fit"):
        shapley.trees(forest, np.zeros(3), np.zeros((2, 4)))
    with pytest.raises(BadInput, match="do not fit"):
        shapley.trees(forest, np.zeros(3), np.zeros((0, 3)))
    with pytest.raises(BadInput, match="3 features"):
        shapley.trees(forest, np.zeros(4), np.zeros((2, 4)))
    with pytest.raises(BadInput, match="weights"):
        shapley.trees(forest, np.zeros(3), np.zeros((2, 3)), np.zeros(2))
    with pytest.raises(BadInput, match="two rounds"):
        shapley.sampled(Plain().predict, np.zeros(3), np.ones((2, 3)), rounds=1)
