"""The Random Forest family."""

import io
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from tests.model.sklearn_forests import flattened

from compass.domain.errors import BadInput, DataProblem, EngineProblem
from compass.model.base import Task, family
from compass.model.forest import Forest, grow
from compass.model.recipe import Recipe
from compass.settings import ForestSettings, Settings

chosen = Settings(surrogate="forest", forest=ForestSettings(trees=12, depth=6, leaf=2))


def runs(seed: int = 0, n: int = 200) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.uniform(size=n), rng.integers(0, 4, n), rng.normal(size=n)])
    return X, 3 * X[:, 0] + X[:, 1] ** 2 + 0.1 * rng.normal(size=n)


@pytest.mark.parametrize("weighted", [False, True])
def test_numbers_are_predicted_as_by_sklearn(weighted: bool) -> None:
    X, y = runs()
    weight = np.linspace(0.5, 3, y.size) if weighted else None
    model = Forest.fit(X, y, task=Task(), weight=weight, seed=5, settings=chosen)
    twin = RandomForestRegressor(
        12, max_depth=6, min_samples_leaf=2, max_features=1.0, random_state=5
    ).fit(X, y, sample_weight=weight)
    new = runs(1)[0]
    assert model.predict(new).shape == (200, 1)
    np.testing.assert_allclose(model.predict(new)[:, 0], twin.predict(new), rtol=1e-12)
    votes = np.array([tree.predict(new) for tree in twin.estimators_])
    np.testing.assert_allclose(model.spread(new), votes.std(axis=0), rtol=1e-9, atol=1e-12)


def test_classes_that_no_row_has_get_score_zero() -> None:
    X, y = runs()
    label = np.where(y > np.median(y), 4.0, 1.0)
    model = Forest.fit(X, label, task=Task(6), seed=5, settings=chosen)
    twin = RandomForestClassifier(
        12, max_depth=6, min_samples_leaf=2, max_features=1.0, random_state=5
    ).fit(X, label)
    scores = model.predict(X)
    assert scores.shape == (200, 6)
    np.testing.assert_allclose(scores.sum(axis=1), 1)
    np.testing.assert_allclose(scores[:, [1, 4]], twin.predict_proba(X), rtol=1e-12, atol=1e-15)
    assert not scores[:, [0, 2, 3, 5]].any()


def test_spread_of_classes_is_that_of_the_winning_score() -> None:
    X, y = runs()
    label = np.digitize(y, np.quantile(y, [0.3, 0.6])).astype(float)
    model = Forest.fit(X, label, task=Task(3), seed=5, settings=chosen)
    twin = RandomForestClassifier(
        12, max_depth=6, min_samples_leaf=2, max_features=1.0, random_state=5
    ).fit(X, label)
    votes = np.array([tree.predict_proba(X) for tree in twin.estimators_])
    winner = twin.predict_proba(X).argmax(axis=1)
    expected = votes[:, np.arange(len(X)), winner].std(axis=0)
    np.testing.assert_allclose(model.spread(X), expected, atol=1e-12)


def test_a_single_class_is_certain() -> None:
    X, _ = runs()
    model = Forest.fit(X, np.zeros(200), task=Task(1), seed=5, settings=chosen)
    assert (model.predict(X) == 1).all()
    assert (model.spread(X) == 0).all()


def test_settings_and_seed_matter() -> None:
    X, y = runs()
    base = Forest.fit(X, y, task=Task(), seed=5, settings=chosen)
    again = Forest.fit(X, y, task=Task(), seed=5, settings=chosen)
    other = Forest.fit(X, y, task=Task(), seed=6, settings=chosen)
    assert np.array_equal(base.predict(X), again.predict(X))
    assert not np.array_equal(base.predict(X), other.predict(X))
    shallow = Settings(surrogate="forest", forest=ForestSettings(trees=7, depth=1))
    stumps = Forest.fit(X, y, task=Task(), seed=5, settings=shallow).forest
    assert stumps.trees == 7
    assert stumps.nodes == 21


@pytest.mark.parametrize("classes", [None, 3])
def test_restored_models_predict_bit_for_bit(classes: int | None) -> None:
    X, y = runs()
    if classes:
        y = np.digitize(y, np.quantile(y, [0.3, 0.6])).astype(float)
    task = Task(classes)
    model = Forest.fit(X, y, task=task, seed=5, settings=chosen)
    file = io.BytesIO()
    np.savez(file, **model.arrays())
    file.seek(0)
    again = Forest.restore(np.load(file, allow_pickle=False), task)
    assert np.array_equal(again.predict(X), model.predict(X))
    assert np.array_equal(again.spread(X), model.spread(X))
    with pytest.raises(EngineProblem, match="columns"):
        Forest.restore(model.arrays(), Task(9))


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e39])
def test_incomplete_rows_are_refused(bad: float) -> None:
    X, y = runs()
    X[3, 1] = bad
    with pytest.raises(DataProblem, match="missing, infinite or enormous"):
        Forest.fit(X, y, task=Task(), seed=5, settings=chosen)


def test_incomplete_outcomes_are_refused() -> None:
    X, y = runs()
    y[3] = np.nan
    with pytest.raises(DataProblem, match="missing"):
        Forest.fit(X, y, task=Task(), seed=5, settings=chosen)


def test_nothing_to_learn_from_is_refused() -> None:
    with pytest.raises(DataProblem, match="nothing to learn"):
        Forest.fit(np.empty((0, 3)), np.empty(0), task=Task(), seed=5, settings=chosen)
    with pytest.raises(DataProblem, match="nothing to learn"):
        Forest.fit(np.empty((5, 0)), np.ones(5), task=Task(), seed=5, settings=chosen)


def test_arguments_that_do_not_fit_are_refused() -> None:
    X, y = runs()
    with pytest.raises(BadInput, match="do not fit together"):
        Forest.fit(X, y[:-1], task=Task(), seed=5, settings=chosen)
    with pytest.raises(BadInput, match="positions from 0 to 2"):
        Forest.fit(X, np.full(200, 3.0), task=Task(3), seed=5, settings=chosen)
    with pytest.raises(BadInput, match="weights"):
        Forest.fit(X, y, task=Task(), weight=-np.ones(200), seed=5, settings=chosen)


def test_rows_of_another_width_are_refused() -> None:
    X, y = runs()
    model = Forest.fit(X, y, task=Task(), seed=5, settings=chosen)
    with pytest.raises(BadInput, match="3 features"):
        model.predict(X[:, :2])


@pytest.mark.parametrize("kind", ["numbers", "classes"])
@pytest.mark.parametrize("weighted", [False, True])
def test_trees_are_those_of_sklearn_however_many_threads_grow_them(
    kind: str, weighted: bool
) -> None:
    X, y = runs()
    weight = np.linspace(0.0, 3, y.size) if weighted else None
    task = Task() if kind == "numbers" else Task(3)
    if kind == "classes":
        y = np.digitize(y, np.quantile(y, [0.3, 0.6])).astype(float)
    twins = {
        "numbers": (RandomForestRegressor, ExtraTreesRegressor),
        "classes": (RandomForestClassifier, ExtraTreesClassifier),
    }[kind]
    few = ForestSettings(trees=9, depth=5, leaf=2, features=0.7)
    for extra, twin in zip((False, True), twins, strict=True):
        expected = flattened(
            twin(9, max_depth=5, min_samples_leaf=2, max_features=0.7, random_state=3).fit(
                X, y, sample_weight=weight
            )
        )
        for threads in (1, 4):
            grown = grow(
                X, y, task=task, weight=weight, seed=3, settings=few, threads=threads, extra=extra
            )
            for name, values in expected.arrays().items():
                np.testing.assert_array_equal(grown.arrays()[name], values, err_msg=name)


def test_filters_of_warnings_are_left_as_they_are() -> None:
    X, y = runs()
    many = ForestSettings(trees=60, depth=3)
    pause = sys.getswitchinterval()
    before = list(warnings.filters)
    try:
        sys.setswitchinterval(1e-6)  # threads meet far more often than they would
        with ThreadPoolExecutor(2) as pool:
            for seed in range(4):
                pool.submit(
                    grow, X, y, task=Task(), weight=None, seed=seed, settings=many, threads=3
                )
    finally:
        sys.setswitchinterval(pause)
    assert list(warnings.filters) == before


@pytest.mark.parametrize("name", ["forest", "extra-trees"])
def test_a_first_impression_is_a_quarter_of_the_trees_and_of_the_work(name: str) -> None:
    kind, settings = family(name), Settings()
    quick = Recipe(family=name, changes=kind.quicker(settings)).settings(settings)
    assert quick.forest.trees == settings.forest.trees // 4
    assert kind.relative_cost(quick, settings) == pytest.approx(0.25)
    few = Settings(forest=ForestSettings(trees=2))
    assert kind.quicker(few)["forest"]["trees"] == 1
