"""Predictions of one question, against the models asked context by context."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compass.generate.predict import Averaged
from compass.model.base import FittedDefaults, Task, family
from compass.model.recipe import Recipe
from compass.model.trees import flat, joined
from compass.settings import ForestSettings, LightGBMSettings, Settings, XGBoostSettings
from property_examples import examples

few = Settings(
    surrogate="forest",
    forest=ForestSettings(trees=7, depth=5),
    lightgbm=LightGBMSettings(rounds=7, leaves=6, leaf=5),
    xgboost=XGBoostSettings(rounds=7, depth=3),
)
FAMILIES = ["forest", "extra-trees", "lightgbm", "xgboost"]
MOVABLE = np.array([0, 2])


def rows(seed: int, n: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.column_stack(
        [rng.normal(size=n), rng.integers(0, 4, n), rng.uniform(size=n), rng.integers(0, 3, n)]
    )


X = rows(0, 200)
LAW = X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3]
TARGETS = {
    None: LAW,
    2: (LAW > 1).astype(float),
    3: np.digitize(LAW, [0.0, 2.0]).astype(float),
}
PAIRS = [(name, classes) for name in FAMILIES for classes in TARGETS]


@cache
def fitted(name, classes):
    """Learnt when a test first needs it, not when tests are collected."""
    y, task = TARGETS[classes], Task(classes)
    return family(name).fit(X, y, task=task, weight=None, seed=1, settings=few)


class Nearest(FittedDefaults):
    """A model that is not made of trees."""

    task, family = Task(), "nearest"

    def predict(self, X):
        return X.sum(axis=1, keepdims=True)

    def spread(self, X):
        return np.abs(X[:, 1])


def one_by_one(ask, contexts: np.ndarray, new: np.ndarray) -> np.ndarray:
    said = []
    for context in contexts:
        full = np.tile(context, (len(new), 1))
        full[:, MOVABLE] = new[:, MOVABLE]
        said.append(ask(full))
    return np.mean(said, axis=0)


pairs = st.sampled_from(sorted(PAIRS, key=str))


@examples(30)
@given(st.lists(pairs, min_size=1, max_size=4), st.integers(1, 4), st.integers(0, 99))
def test_all_outcomes_are_those_of_the_models_asked_apart(chosen, count, seed) -> None:
    models = {f"{i}": fitted(*pair) for i, pair in enumerate(chosen)}
    contexts, new = rows(seed + 1, count), rows(seed + 2, 30)
    predict = Averaged(models, contexts, MOVABLE)
    said, spread = predict(new), predict.spread(new)
    assert list(said) == list(spread) == list(models)
    for name, model in models.items():
        expected = one_by_one(model.predict, contexts, new)
        assert said[name].shape == expected.shape
        np.testing.assert_allclose(said[name], expected, rtol=1e-12, atol=1e-12)
        wide = one_by_one(model.spread, contexts, new)
        np.testing.assert_allclose(spread[name], wide, rtol=1e-12, atol=1e-12)
        assert predict.parts is not None
        parts = [flat.mean(part, new) for part in predict.parts[name]]
        assert len(parts) == count
        np.testing.assert_allclose(said[name], np.mean(parts, axis=0), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", FAMILIES)
def test_one_context_is_predicted_bit_for_bit(name: str) -> None:
    models = {str(classes): fitted(name, classes) for classes in TARGETS}
    context, new = rows(1, 1), rows(2, 60)
    said = Averaged(models, context, MOVABLE)(new)
    for key, model in models.items():
        assert np.array_equal(said[key], one_by_one(model.predict, context, new))


def test_a_row_is_predicted_the_same_in_every_batch_and_on_any_threads(monkeypatch) -> None:
    models = {str(pair): fitted(*pair) for pair in PAIRS}
    predict = Averaged(models, rows(1, 3), MOVABLE)
    new = rows(2, 300)
    said, spread = predict(new), predict.spread(new)
    for i in range(5):
        alone, wide = predict(new[i : i + 1]), predict.spread(new[i : i + 1])
        for name in models:
            assert np.array_equal(alone[name], said[name][i : i + 1])
            assert np.array_equal(wide[name], spread[name][i : i + 1])
    monkeypatch.setattr(joined, "enough", lambda trees: 1)
    shared = predict(new)
    assert all(np.array_equal(shared[name], said[name]) for name in models)


def test_models_without_trees_are_asked_context_by_context() -> None:
    contexts, new = rows(1, 3), rows(2, 20)
    models = {"trees": fitted("forest", None), "other": Nearest()}
    predict = Averaged(models, contexts, MOVABLE)
    said, spread = predict(new), predict.spread(new)
    np.testing.assert_allclose(said["other"], one_by_one(Nearest().predict, contexts, new))
    np.testing.assert_allclose(spread["other"], one_by_one(Nearest().spread, contexts, new))
    expected = one_by_one(models["trees"].predict, contexts, new)
    np.testing.assert_allclose(said["trees"], expected, rtol=1e-12)
    assert predict.parts is None
    assert predict.edges(0) is None


@pytest.mark.parametrize("name", ["lightgbm", "linear"])
def test_an_outcome_that_is_learnt_as_a_logarithm_is_averaged_as_one(name: str) -> None:
    X = rows(3, 200)
    model = Recipe(family=name, log=True).fit(
        X, 1 + X[:, 0] ** 2, task=Task(), weight=None, seed=1, settings=few
    )
    contexts, new = rows(1, 3), rows(2, 20)
    said = Averaged({"time": model}, contexts, MOVABLE)(new)["time"]
    logs = one_by_one(lambda full: np.log(model.predict(full)), contexts, new)
    np.testing.assert_allclose(said, np.exp(logs), rtol=1e-12)
    # The spread is a share of that mean: large contexts do not widen it.
    wide = Averaged({"time": model}, contexts, MOVABLE).spread(new)["time"]
    shares = one_by_one(lambda full: model.spread(full) / model.predict(full)[:, 0], contexts, new)
    np.testing.assert_allclose(wide, said[:, 0] * shares, rtol=1e-9)


def test_the_slope_of_averaged_logarithms_is_that_of_the_prediction() -> None:
    X = rows(3, 200)
    model = Recipe(family="linear", log=True).fit(
        X, 1 + X[:, 0] ** 2, task=Task(), weight=None, seed=1, settings=few
    )
    predict = Averaged({"time": model}, rows(1, 3), MOVABLE)
    new = rows(2, 20)
    slopes = predict.gradient(new)
    assert slopes is not None
    for column in MOVABLE:
        moved = new.copy()
        moved[:, column] += 1e-6
        steep = (predict(moved)["time"] - predict(new)["time"])[:, 0] / 1e-6
        np.testing.assert_allclose(slopes["time"][:, column], steep, rtol=1e-3, atol=1e-6)


def test_edges_are_those_of_all_parts() -> None:
    models = {"a": fitted("forest", None), "b": fitted("lightgbm", 3)}
    contexts = rows(1, 2)
    predict = Averaged(models, contexts, MOVABLE)
    assert predict.parts is not None
    for column in range(4):
        found = [flat.cell_edges(p, column) for parts in predict.parts.values() for p in parts]
        edges = predict.edges(column)
        assert edges is not None
        assert np.array_equal(edges, np.unique(np.concatenate(found)))
        assert (edges.size > 0) == (column in MOVABLE)


def test_a_repeated_question_is_not_cut_again() -> None:
    models = {"y": fitted("forest", None)}
    first = Averaged(models, rows(1, 3), MOVABLE).parts
    again = Averaged(models, rows(1, 3), MOVABLE).parts
    assert first is not None
    assert again is not None
    assert all(a is b for a, b in zip(first["y"], again["y"], strict=True))


def test_nothing_to_predict() -> None:
    predict = Averaged({}, rows(1, 1), MOVABLE)
    assert predict(rows(2, 3)) == {}
    assert predict.parts == {}
    assert predict.edges(0).size == 0
