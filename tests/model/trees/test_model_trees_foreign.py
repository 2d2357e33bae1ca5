"""Boosters of other libraries as flat arrays, against these libraries."""

import lightgbm
import numpy as np
import pytest
import xgboost
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
)
from tests.model.sklearn_forests import flattened

from compass.domain.errors import BadInput
from compass.model.trees import flat
from compass.model.trees.flat import FlatForest
from compass.model.trees.foreign import from_lightgbm, from_xgboost

modest = settings(max_examples=12, deadline=None)
seeds = st.integers(0, 2**31 - 1)
QUIET = {"verbosity": -1, "num_threads": 1, "deterministic": True, "force_row_wise": True}
SMALL = {"min_data_in_leaf": 3, "num_leaves": 8}
BAGGED = {"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.6}


def rows(seed: int, n: int = 150) -> np.ndarray:
    """Columns of all the sizes that rounding treats differently."""
    rng = np.random.default_rng(seed)
    return np.column_stack(
        [
            rng.normal(size=n),
            rng.integers(-2, 3, n).astype(float),
            2.0**24 + rng.integers(0, 40, n),  # float32 cannot tell odd ones from even ones
            rng.choice([0.0, -0.0, 1e-40, -1e-40, 1e-36, -1e-36, 1e-3, -1e-3], n),
            1 + rng.integers(0, 9, n) * 2.0**-24,  # half as far apart as float32 values are
        ]
    )


def law(X: np.ndarray, seed: int) -> np.ndarray:
    noise = np.random.default_rng(seed + 1).normal(0, 0.1, len(X))
    return X[:, 0] * X[:, 1] + (X[:, 2] - 2.0**24) / 10 + np.sign(X[:, 3]) + X[:, 4] + noise


def labels(X: np.ndarray, seed: int, classes: int) -> np.ndarray:
    y = law(X, seed)
    return np.digitize(y, np.quantile(y, np.arange(1, classes) / classes)).astype(float)


def around(forest: FlatForest, X: np.ndarray) -> np.ndarray:
    """Rows at every threshold, and right beside it in float64 and in float32."""
    found = [X]
    for j in range(forest.width):
        edges = flat.cell_edges(forest, j)
        single = edges.astype(np.float32)
        near = [edges, np.nextafter(edges, np.inf), np.nextafter(edges, -np.inf), single]
        near += [np.nextafter(single, np.float32(s * np.inf)) for s in (1, -1)]
        values = np.concatenate([np.asarray(v, dtype=np.float64) for v in near])
        block = np.tile(X[0], (values.size, 1))
        block[:, j] = values
        found.append(block)
    return np.vstack(found)


def columns(said: np.ndarray, forest: FlatForest) -> np.ndarray:
    if said.ndim == 2:
        return said
    return np.column_stack([1 - said, said]) if forest.link == "sigmoid" else said[:, None]


def lightgbm_model(seed: int, objective: str, **more):
    X = rows(seed)
    y = {
        "binary": lambda: labels(X, seed, 2),
        "multiclass": lambda: labels(X, seed, 3),
        "poisson": lambda: np.floor(np.exp(law(X, seed) / 4)),
        "gamma": lambda: np.exp(law(X, seed) / 4),
        "tweedie": lambda: np.exp(law(X, seed) / 4),
    }.get(objective, lambda: law(X, seed))()
    if objective == "multiclass":
        more["num_class"] = 3
    parameters = QUIET | SMALL | {"objective": objective, "seed": 1} | more
    return lightgbm.train(parameters, lightgbm.Dataset(X, y, params=parameters), 12), X


@pytest.mark.parametrize("objective", ["regression", "binary", "multiclass"])
@modest
@given(seeds)
def test_lightgbm_is_predicted_as_by_itself(objective: str, seed: int) -> None:
    booster, X = lightgbm_model(seed, objective)
    forest = from_lightgbm(booster)
    new = np.vstack([around(forest, X), rows(seed + 7)])
    expected = columns(booster.predict(new, num_threads=1), forest)
    np.testing.assert_allclose(flat.mean(forest, new), expected, rtol=1e-12, atol=1e-14)
    margin = booster.predict(new, raw_score=True, num_threads=1).reshape(len(new), -1)
    np.testing.assert_allclose(flat.raw(forest, new), margin, rtol=1e-12, atol=1e-14)
    again = flat.restore(forest.arrays())
    assert np.array_equal(flat.mean(again, new), flat.mean(forest, new))


@pytest.mark.parametrize(
    ("objective", "more"),
    [
        ("poisson", {}),
        ("gamma", {}),
        ("tweedie", {}),
        ("regression_l1", {}),
        ("huber", {}),
        ("quantile", {"alpha": 0.8}),
        ("binary", {"sigmoid": 0.6}),
        ("regression", {"boosting": "dart", "drop_rate": 0.5}),
        ("regression", BAGGED),
        ("binary", BAGGED),
        ("multiclass", BAGGED),
        ("regression", {"use_missing": False}),
        ("regression", {"min_data_in_leaf": 1000}),  # nothing can be split
    ],
)
def test_other_lightgbm_objectives(objective: str, more: dict) -> None:
    booster, X = lightgbm_model(3, objective, **more)
    forest = from_lightgbm(booster)
    new = around(forest, X)
    expected = columns(booster.predict(new, num_threads=1), forest)
    np.testing.assert_allclose(flat.mean(forest, new), expected, rtol=1e-12, atol=1e-14)
    flat.restore(forest.arrays())


def test_lightgbm_stops_where_training_found_it_best() -> None:
    X, y = rows(0), law(rows(0), 0)
    parameters = QUIET | SMALL | {"objective": "regression", "learning_rate": 1.0}
    data = lightgbm.Dataset(X, y, params=parameters)
    other = lightgbm.Dataset(rows(5), law(rows(5), 9), reference=data, params=parameters)
    stop = lightgbm.early_stopping(3, verbose=False)
    booster = lightgbm.train(
        parameters, data, 60, valid_sets=[other], callbacks=[stop], keep_training_booster=True
    )
    assert booster.best_iteration < booster.current_iteration()
    np.testing.assert_allclose(flat.mean(from_lightgbm(booster), X)[:, 0], booster.predict(X))


@pytest.mark.parametrize(
    ("more", "what"),
    [
        ({"categorical_feature": [1]}, "categorical"),
        ({"linear_tree": True}, "linear"),
        ({"zero_as_missing": True}, "zeros"),
        ({"objective": "cross_entropy"}, "objective cross_entropy"),
        ({"objective": "multiclassova", "num_class": 3}, "objective multiclassova"),
        ({"reg_sqrt": True}, "objective regression sqrt"),
    ],
)
def test_lightgbm_models_that_cannot_be_stated_are_refused(more: dict, what: str) -> None:
    X = rows(1)
    X[:, 1] = np.abs(X[:, 1])
    y = labels(X, 1, 3) if "num_class" in more else labels(X, 1, 2)
    parameters = QUIET | SMALL | {"objective": "regression"} | more
    categories = parameters.pop("categorical_feature", "auto")
    if categories != "auto":
        y = (X[:, 1] == 1).astype(float)
    data = lightgbm.Dataset(X, y, params=parameters, categorical_feature=categories)
    with pytest.raises(BadInput, match=what):
        from_lightgbm(lightgbm.train(parameters, data, 5))


def xgboost_model(seed: int, objective: str, **more):
    X = rows(seed)
    y = {
        "binary:logistic": lambda: labels(X, seed, 2),
        "binary:logitraw": lambda: labels(X, seed, 2),
        "multi:softprob": lambda: labels(X, seed, 3),
        "count:poisson": lambda: np.floor(np.exp(law(X, seed) / 4)),
        "reg:gamma": lambda: np.exp(law(X, seed) / 4),
        "reg:tweedie": lambda: np.exp(law(X, seed) / 4),
    }.get(objective, lambda: law(X, seed))()
    if objective == "multi:softprob":
        more["num_class"] = 3
    parameters = {"objective": objective, "max_depth": 4, "nthread": 1, "seed": 1} | more
    return xgboost.train(parameters, xgboost.DMatrix(X, y, nthread=1), 12), X


def same_as_xgboost(booster, forest: FlatForest, new: np.ndarray) -> None:
    data = xgboost.DMatrix(new, nthread=1)
    expected = columns(booster.predict(data), forest)
    # XGBoost adds in float32.
    np.testing.assert_allclose(flat.mean(forest, new), expected, rtol=3e-6, atol=3e-6)
    margin = booster.predict(data, output_margin=True).reshape(len(new), -1)
    np.testing.assert_allclose(flat.raw(forest, new), margin, rtol=3e-6, atol=5e-6)


@pytest.mark.parametrize("objective", ["reg:squarederror", "binary:logistic", "multi:softprob"])
@pytest.mark.parametrize("method", ["hist", "exact"])
@modest
@given(seeds)
def test_xgboost_is_predicted_as_by_itself(objective: str, method: str, seed: int) -> None:
    booster, X = xgboost_model(seed, objective, tree_method=method)
    forest = from_xgboost(booster)
    new = np.vstack([around(forest, X), rows(seed + 7)])
    same_as_xgboost(booster, forest, new)
    # The same leaf for every row and tree: no rounding hides a wrong turn.
    leaves = booster.predict(xgboost.DMatrix(new, nthread=1), pred_leaf=True)
    leaves = leaves.reshape(len(new), -1)
    for tree in range(forest.trees):
        mine = flat.raw(forest.only(tree, tree + 1), new)[:, forest.slot[tree]]
        assert len(set(zip(leaves[:, tree], mine, strict=True))) == len(set(leaves[:, tree]))
    again = flat.restore(forest.arrays())
    assert np.array_equal(flat.mean(again, new), flat.mean(forest, new))


@pytest.mark.parametrize(
    ("objective", "more"),
    [
        ("count:poisson", {}),
        ("reg:gamma", {}),
        ("reg:tweedie", {}),
        ("reg:absoluteerror", {}),
        ("reg:pseudohubererror", {}),
        ("binary:logitraw", {}),
        ("reg:squarederror", {"base_score": 3.0}),
        ("multi:softprob", {"base_score": 0.3}),
        ("reg:squarederror", {"booster": "dart", "rate_drop": 0.5}),
        ("reg:squarederror", {"num_parallel_tree": 3, "subsample": 0.6}),
        ("multi:softprob", {"num_parallel_tree": 3, "subsample": 0.6}),
        ("reg:squarederror", {"tree_method": "exact", "gamma": 2.0}),  # prunes nodes
        ("reg:squarederror", {"grow_policy": "lossguide", "max_leaves": 9}),
        ("reg:squarederror", {"min_child_weight": 1e6}),  # nothing can be split
    ],
)
def test_other_xgboost_objectives(objective: str, more: dict) -> None:
    booster, X = xgboost_model(3, objective, **more)
    forest = from_xgboost(booster)
    same_as_xgboost(booster, forest, around(forest, X))
    flat.restore(forest.arrays())


def test_trees_grown_side_by_side_are_ordered_round_by_round() -> None:
    booster, _ = xgboost_model(3, "multi:softprob", num_parallel_tree=2, subsample=0.6)
    assert from_xgboost(booster).slot.tolist() == [0, 1, 2] * 24


def test_scores_of_softmax_are_kept() -> None:
    X, y = rows(2), labels(rows(2), 2, 3)
    parameters = {"objective": "multi:softmax", "num_class": 3, "nthread": 1}
    booster = xgboost.train(parameters, xgboost.DMatrix(X, y, nthread=1), 5)
    said = flat.mean(from_xgboost(booster), X)
    assert np.array_equal(said.argmax(axis=1), booster.predict(xgboost.DMatrix(X, nthread=1)))
    np.testing.assert_allclose(said.sum(axis=1), 1)


@pytest.mark.parametrize(
    ("more", "what"),
    [
        ({"objective": "binary:hinge"}, "objective binary:hinge"),
        ({"objective": "reg:logistic"}, "objective reg:logistic"),
        ({"booster": "gblinear"}, "gblinear"),
    ],
)
def test_xgboost_models_that_cannot_be_stated_are_refused(more: dict, what: str) -> None:
    X, y = rows(1), labels(rows(1), 1, 2)
    parameters = {"objective": "reg:squarederror", "nthread": 1, "verbosity": 0} | more
    with pytest.raises(BadInput, match=what):
        from_xgboost(xgboost.train(parameters, xgboost.DMatrix(X, y, nthread=1), 3))


def test_xgboost_categories_and_several_targets_are_refused() -> None:
    X = np.abs(rows(1)[:, :2].round())
    y = (X[:, 1] == 1).astype(float)
    kinds = xgboost.DMatrix(X, y, feature_types=["q", "c"], enable_categorical=True, nthread=1)
    with pytest.raises(BadInput, match="categorical"):
        from_xgboost(xgboost.train({"nthread": 1, "max_cat_to_onehot": 1}, kinds, 3))
    two = xgboost.DMatrix(X, np.column_stack([y, 1 - y]), nthread=1)
    with pytest.raises(BadInput, match="several targets"):
        from_xgboost(xgboost.train({"nthread": 1}, two, 3))


@modest
@given(seeds)
def test_extra_trees_are_predicted_as_by_sklearn(seed: int) -> None:
    X = rows(seed)
    numbers = ExtraTreesRegressor(6, max_depth=7, random_state=1).fit(X, law(X, seed))
    classes = ExtraTreesClassifier(6, max_depth=7, random_state=1).fit(X, labels(X, seed, 3))
    forest, scores = flattened(numbers), flattened(classes)
    new = around(forest, X)
    np.testing.assert_allclose(flat.mean(forest, new)[:, 0], numbers.predict(new), rtol=1e-12)
    new = around(scores, X)
    expected = classes.predict_proba(new)
    np.testing.assert_allclose(flat.mean(scores, new), expected, rtol=1e-12, atol=1e-15)
