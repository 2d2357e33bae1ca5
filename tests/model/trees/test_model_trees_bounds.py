"""Bounds of predictions over boxes, against sampling and against what every tree can reach."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compass.domain.errors import BadInput
from compass.model.base import Task, family
from compass.model.trees import flat
from compass.model.trees.bounds import bounds, raw_bounds
from compass.model.trees.foreign import from_xgboost
from compass.settings import ForestSettings, LightGBMSettings, Settings, XGBoostSettings
from property_examples import examples

few = Settings(
    surrogate="forest",
    forest=ForestSettings(trees=9, depth=5),
    lightgbm=LightGBMSettings(rounds=9, leaves=6, leaf=5),
    xgboost=XGBoostSettings(rounds=9, depth=3),
)


def ensemble(seed: int, name: str, classes: int | None):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=150), rng.integers(0, 6, 150), rng.uniform(size=150)])
    y = X[:, 0] * X[:, 1] + X[:, 2]
    if classes:
        y = np.digitize(y, np.quantile(y, np.arange(1, classes) / classes)).astype(float)
    fitted = family(name).fit(X, y, task=Task(classes), weight=None, seed=1, settings=few)
    return fitted.forest, X


def box(seed: int, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    low, high = np.sort(X[rng.integers(len(X), size=2)], axis=0)
    open_ = rng.random(3) < 0.2
    return np.where(open_, -np.inf, low), np.where(open_, np.inf, high)


@pytest.mark.parametrize("name", ["forest", "extra-trees", "lightgbm", "xgboost"])
@pytest.mark.parametrize("classes", [None, 2, 3])
@examples(8)
@given(st.integers(0, 2**31))
def test_no_prediction_lies_outside(name: str, classes: int | None, seed: int) -> None:
    forest, X = ensemble(seed % 5, name, classes)
    low, high = box(seed, X)
    inside = np.random.default_rng(seed).uniform(
        np.maximum(low, -4), np.minimum(high, 7), size=(400, 3)
    )
    inside = np.vstack([inside, np.clip(X, low, high)])
    least, most = bounds(forest, low, high)
    said = flat.mean(forest, inside)
    assert least.shape == most.shape == (forest.outputs,)
    assert (said >= least).all()
    assert (said <= most).all()
    raw_least, raw_most = raw_bounds(forest, low, high)
    assert (flat.raw(forest, inside) >= raw_least).all()
    assert (flat.raw(forest, inside) <= raw_most).all()


@pytest.mark.parametrize("name", ["forest", "lightgbm", "xgboost"])
def test_bounds_are_the_extremes_of_every_tree(name: str) -> None:
    forest, X = ensemble(1, name, None)
    low, high = box(3, X)
    least, most = 0.0, 0.0
    for tree in range(forest.trees):
        part = flat.restrict(forest.only(tree, tree + 1), low, high)
        leaves = part.value[part.feature < 0]
        least, most = least + leaves.min(), most + leaves.max()
    found = raw_bounds(forest, low, high)
    np.testing.assert_allclose(found[0], forest.offset + least / forest.divisor, rtol=1e-12)
    np.testing.assert_allclose(found[1], forest.offset + most / forest.divisor, rtol=1e-12)


@pytest.mark.parametrize("classes", [None, 2, 3])
@pytest.mark.parametrize("name", ["forest", "lightgbm", "xgboost"])
def test_a_box_of_one_point_bounds_its_prediction_tightly(name: str, classes: int | None) -> None:
    forest, X = ensemble(1, name, classes)
    for x in X[:20]:
        least, most = bounds(forest, x, x)
        said = flat.mean(forest, x[None, :])[0]
        np.testing.assert_allclose(least, said, atol=1e-12)
        np.testing.assert_allclose(most, said, atol=1e-12)
        assert (least <= said).all()
        assert (said <= most).all()


def test_bounds_of_an_exponential_link() -> None:
    import xgboost

    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    data = xgboost.DMatrix(X, np.exp(X[:, 0]), nthread=1)
    parameters = {"objective": "reg:gamma", "nthread": 1, "max_depth": 3}
    forest = from_xgboost(xgboost.train(parameters, data, 20))
    low, high = np.full(3, -0.5), np.full(3, 0.5)
    least, most = bounds(forest, low, high)
    said = flat.mean(forest, rng.uniform(-0.5, 0.5, size=(500, 3)))
    assert 0 < least[0] <= said.min()
    assert said.max() <= most[0] < flat.mean(forest, X).max()


def test_empty_boxes_are_refused() -> None:
    forest, _ = ensemble(1, "forest", None)
    with pytest.raises(BadInput, match="empty"):
        bounds(forest, np.ones(3), np.zeros(3))
    with pytest.raises(BadInput, match="empty"):
        bounds(forest, np.full(3, np.nan), np.ones(3))
    with pytest.raises(BadInput, match="3 features"):
        bounds(forest, np.zeros(2), np.ones(2))
