"""Every model, score and comparison counts a row as often as its weight says."""

from typing import Any

import numpy as np
import pytest

from compass.domain.space import Category, Number, Space
from compass.learn.drift import verdict
from compass.learn.folds import CrossValidation, evaluate
from compass.learn.training import TrainingData, TrainingPlan, train_final
from compass.model.base import Task, family
from compass.model.error import HeldOutPredictions, folds_interval, macro_f1, mape, small
from compass.model.recipe import Recipe
from compass.settings import (
    ForestSettings,
    NeuralSettings,
    Settings,
)

FAMILIES = (
    "forest",
    "extra-trees",
    "lightgbm",
    "xgboost",
    "linear",
    "neighbours",
    "gaussian",
    "svm",
    "neural",
)
QUICK = Settings(
    threads=1,
    forest=ForestSettings(trees=20),
    neural=NeuralSettings(layers=2, units=8, epochs=60, members=2),
)
SPACE = Space(
    parameters=(Number(name="nodes", low=1, high=64), Category(name="app", values=("a", "b")))
)


def runs(n: int = 120, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.uniform(1, 64, n), rng.integers(0, 2, n)])
    y = 10 + np.sqrt(X[:, 0]) * (1 + X[:, 1]) + rng.normal(size=n)
    return X, y, rng.uniform(0.2, 5, n)


def fit(name: str, X: np.ndarray, y: np.ndarray, weight: Any, classes: int | None = None) -> Any:
    return family(name).fit(
        X, y, task=Task(classes), weight=weight, seed=3, settings=QUICK, features=SPACE
    )


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_follows_the_rows_that_count(name: str) -> None:
    # The same configurations with two outcomes each: which one is told depends on weights only.
    X = np.column_stack([np.repeat([2.0, 9.0, 30.0, 50.0], 24), np.tile([0.0, 1.0], 48)])
    y = np.tile(np.repeat([1.0, 2.0], 2), 24)
    for heavy in (1.0, 2.0):
        weight = np.where(y == heavy, 57.0, 3.0)
        predicted = fit(name, X, y, weight).predict(X)[:, 0]
        assert np.abs(predicted - heavy).max() < 0.35
        label = (y == 2.0).astype(float)
        shares = fit(name, X, label, weight, 2).predict(X)
        assert shares[:, int(heavy) - 1].min() > 0.5


@pytest.mark.parametrize("name", FAMILIES)
def test_how_large_weights_are_on_the_whole_does_not_matter(name: str) -> None:
    # A sample of 5 % has weights of about 20: no penalty may mean something else there.
    # By a power of two nothing is rounded.
    X, y, weight = runs()
    one, many = fit(name, X, y, weight), fit(name, X, y, 16 * weight)
    np.testing.assert_array_equal(many.predict(X), one.predict(X))
    np.testing.assert_array_equal(many.spread(X), one.spread(X))


@pytest.mark.parametrize("name", [name for name in FAMILIES if name != "forest"])
def test_equal_weights_are_none(name: str) -> None:
    X, y, _ = runs(60)
    one, even = fit(name, X, y, np.ones(60)), fit(name, X, y, None)
    np.testing.assert_array_equal(one.predict(X), even.predict(X))
    if name in ("lightgbm", "xgboost"):
        np.testing.assert_array_equal(fit(name, X, y, np.full(60, 6.3)).predict(X), one.predict(X))


def test_leaves_of_a_forest_hold_weighted_means() -> None:
    # Nothing but the app tells rows apart: a leaf holds all drawn rows of an app.
    X = np.column_stack([np.ones(60), np.repeat([0.0, 1.0], 30)])
    rng = np.random.default_rng(1)
    y = rng.normal(size=60)
    weight = np.exp(y)
    settings = QUICK.model_copy(update={"forest": ForestSettings(trees=400)})
    model = family("forest").fit(
        X, y, task=Task(), weight=weight, seed=1, settings=settings, features=SPACE
    )
    predicted = model.predict(np.array([[1.0, 0.0], [1.0, 1.0]]))[:, 0]
    means = [np.average(y[part], weights=weight[part]) for part in (slice(0, 30), slice(30, 60))]
    np.testing.assert_allclose(predicted, means, atol=0.1)
    plain = [y[part].mean() for part in (slice(0, 30), slice(30, 60))]
    assert np.abs(np.array(plain) - means).min() > 0.3


def test_errors_are_those_of_repeated_rows() -> None:
    rng = np.random.default_rng(2)
    y, p = rng.normal(size=40), rng.normal(size=40)
    y[:8] = 0.0  # there the error is a share of the deviation, which is weighted too
    times = rng.integers(1, 7, 40)
    often, weight = np.repeat(np.arange(40), times), times.astype(float)
    assert small(y, weight) == pytest.approx(small(y[often]))
    assert mape(y, p, weight=weight) == pytest.approx(mape(y[often], p[often]))
    assert abs(small(y, weight) - small(y)) > 1e-4
    label, guess = rng.integers(0, 3, 40).astype(float), rng.integers(0, 3, 40).astype(float)
    assert macro_f1(label, guess, weight=weight) == pytest.approx(
        macro_f1(label[often], guess[often])
    )
    # The interval of the error lies around the weighted error, not around the plain one.
    easy = np.where(np.arange(40) % 2 == 0, 0.0, 1.0)
    heavy = np.where(easy > 0, 20.0, 1.0)
    low, high = folds_interval(
        [HeldOutPredictions(np.ones(40), (1 + easy)[:, None], heavy)], Task(), scale=1
    )
    assert low < np.average(easy, weights=heavy) < high
    assert low > easy.mean()


def test_holdout_and_folds_are_measured_by_weight() -> None:
    X, y, weight = runs()
    train, valid = np.arange(80), np.arange(80, 120)
    y[80:88] = 0.0
    data = TrainingData(X, y, Task(), weight, 1, QUICK, SPACE)
    (final,) = train_final([TrainingPlan(family("linear"), data, train, valid)])
    predicted = final.fitted.predict(X[valid])[:, 0]
    least = 0.01 * np.sqrt(np.cov(y[train], aweights=weight[train], ddof=0))
    errors = np.abs(predicted - y[valid]) / np.maximum(np.abs(y[valid]), least)
    assert final.score.error == pytest.approx(np.average(errors, weights=weight[valid]))
    cv = CrossValidation.of(TrainingData(X, y, Task(), weight, 1, QUICK), np.arange(120))
    assert cv.scale == pytest.approx(small(np.repeat(y, 1), weight))
    rows = cv.fold(0).valid
    result = evaluate(cv, Recipe(family="linear"), cv.fold(0))
    errors = np.abs(result.predicted[:, 0] - y[rows]) / np.maximum(np.abs(y[rows]), cv.scale)
    assert result.error == pytest.approx(np.average(errors, weights=weight[rows]))


def test_a_logarithm_is_chosen_for_the_rows_that_count() -> None:
    from compass.learn.select import select_recipe

    # Among light rows the outcome grows by factors, among heavy ones by sums.
    rng = np.random.default_rng(4)
    x = rng.uniform(1, 8, 240)
    light = np.arange(240) % 2 == 0
    y = np.where(light, np.exp(x), 2 + 10 * x) * rng.normal(1, 0.01, 240)
    X = np.column_stack([x, light.astype(float)])
    one_law = QUICK.model_copy(update={"surrogate": "linear"})
    found = []
    for weight in (np.where(light, 1e8, 1.0), np.where(light, 1.0, 1e8)):
        data = TrainingData(X, y, Task(), weight, 1, one_law)
        found.append(select_recipe(CrossValidation.of(data, np.arange(240))).recipe)
    assert found == [Recipe(family="linear", log=True), Recipe(family="linear", log=False)]


def test_drift_compares_with_the_source_not_with_the_sample() -> None:
    rng = np.random.default_rng(6)
    # Rows with large errors were sampled less often: each stands for many.
    wrong = np.repeat([0.01, 0.2], 150) * rng.uniform(0.9, 1.1, 300)
    weight = np.repeat([1.0, 9.0], 150)
    new = rng.choice(wrong, 80, p=weight / weight.sum())
    assert verdict((), wrong, new, seed=1)[0] == "law"  # by the sample as it is
    assert verdict((), wrong, new, seed=1, weights=(weight, np.ones(80)))[0] == "none"
    assert verdict((), wrong, 3 * new, seed=1, weights=(weight, np.ones(80)))[0] == "law"
    alike = verdict((), wrong, new, seed=1, weights=(np.full(300, 4.0), np.ones(80)))
    assert alike == verdict((), wrong, new, seed=1)


def test_a_worse_error_is_told_by_weighted_means_and_by_enough_rows() -> None:
    rng = np.random.default_rng(8)
    # 0.21 is a tenth above the mean of the source, 0.19, though far above that of the sample.
    wrong, weight = np.repeat([0.1, 0.2], 150), np.repeat([1.0, 9.0], 150)
    new = 0.21 + 0.001 * rng.normal(size=200)
    assert verdict((), wrong, new, seed=1)[0] == "law"
    assert verdict((), wrong, new, seed=1, weights=(weight, np.ones(200)))[0] == "none"
    # Three rows stand for nearly all of the source: they cannot tell what is beyond chance.
    wrong = np.append(0.1 + 0.001 * rng.normal(size=300), [0.02, 0.1, 0.35])
    weight = np.append(np.ones(300), [3000.0] * 3)
    new = np.abs(0.25 + 0.15 * rng.normal(size=40))
    assert new.mean() > 1.2 * np.average(wrong, weights=weight)
    assert verdict((), wrong, new, seed=1)[0] == "law"
    assert verdict((), wrong, new, seed=1, weights=(weight, np.ones(40)))[0] == "none"
