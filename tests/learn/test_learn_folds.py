"""Errors on folds: the same as by hand, for numbers and classes, on both scales."""

from dataclasses import replace

import numpy as np
import pytest
from learn_select_cases import FEW, QUICK, by_family, changed, laid, law
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.metrics import f1_score

from compass.learn import elimination
from compass.learn.compare import compare_families
from compass.learn.folds import log_may_help, scales_of
from compass.model.base import Task
from compass.model.error import HeldOutPredictions, folds_interval
from compass.model.recipe import Recipe
from compass.settings import ForestSettings


def test_errors_are_those_of_a_loop_by_hand() -> None:
    rng = np.random.default_rng(3)
    cv = laid(weight=rng.uniform(0.5, 2, 150))
    found = by_family(compare_families(cv, families=["linear"]))
    errors = []
    for fold in range(3):
        train, valid = cv.fold_of != fold, cv.fold_of == fold
        mean, deviation = cv.data.X[train].mean(axis=0), cv.data.X[train].std(axis=0)
        scaled = (cv.data.X - mean) / deviation
        model = Ridge(alpha=1.0)
        model.fit(scaled[train], cv.data.y[train], sample_weight=cv.data.weight[train])
        wrong = np.abs(model.predict(scaled[valid]) - cv.data.y[valid])
        shares = wrong / np.maximum(np.abs(cv.data.y[valid]), 0.01 * cv.data.y.std())
        errors.append(np.average(shares, weights=cv.data.weight[valid]))
    plain = compare_families(
        replace(cv, data=replace(cv.data, settings=QUICK.model_copy(update={"scale": "linear"}))),
        families=["linear"],
    )
    assert plain.scores[0].error == pytest.approx(np.mean(errors), rel=0.02)
    assert found["linear"].folds == 3
    assert found["linear"].low < found["linear"].error < found["linear"].high


def test_a_forest_is_as_wrong_as_scikit_learns() -> None:
    settings = QUICK.model_copy(update={"forest": ForestSettings(trees=60), "scale": "linear"})
    cv = laid(settings=settings)
    errors = []
    for fold in range(3):
        train, valid = cv.fold_of != fold, cv.fold_of == fold
        model = RandomForestRegressor(60, max_depth=12, random_state=0)
        model.fit(cv.data.X[train], cv.data.y[train])
        errors.append(np.mean(np.abs(model.predict(cv.data.X[valid]) / cv.data.y[valid] - 1)))
    found = compare_families(cv, families=["forest"]).scores[0]
    assert found.error == pytest.approx(np.mean(errors), rel=0.1)


def test_every_error_is_the_mean_of_recipes_on_the_folds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elimination, "_FINALISTS", (9,))
    cv = laid(settings=changed(hopeless=100.0))
    for score in compare_families(cv, families=FEW).scores:
        recipe = Recipe(family=score.family, log=score.log)
        errors = []
        for fold in range(3):
            train, valid = cv.fold_of != fold, cv.fold_of == fold
            model = recipe.fit(
                cv.data.X[train],
                cv.data.y[train],
                task=cv.data.task,
                weight=None,
                seed=7,
                settings=QUICK,
            )
            errors.append(
                np.mean(np.abs(model.predict(cv.data.X[valid])[:, 0] / cv.data.y[valid] - 1))
            )
        assert score.folds == 3
        assert score.error == pytest.approx(np.mean(errors), rel=1e-9)


def test_classes_are_compared_by_macro_f1() -> None:
    kinds = lambda X: np.digitize(law(X), [15.0, 70.0]).astype(float)  # noqa: E731
    cv = laid(outcome=kinds, classes=3)
    found = by_family(compare_families(cv, families=FEW))
    for name in FEW:
        errors = []
        for fold in range(found[name].folds):
            train, valid = cv.fold_of != fold, cv.fold_of == fold
            model = Recipe(family=name).fit(
                cv.data.X[train],
                cv.data.y[train],
                task=cv.data.task,
                weight=None,
                seed=7,
                settings=QUICK,
            )
            guess = model.predict(cv.data.X[valid]).argmax(axis=1)
            errors.append(1 - f1_score(cv.data.y[valid], guess, average="macro"))
        assert found[name].error == pytest.approx(np.mean(errors), rel=1e-9)
        assert found[name].low <= found[name].error <= found[name].high
        assert not found[name].log


def test_an_interval_of_folds_holds_the_mean_of_their_errors() -> None:
    """Rare classes: the score of all rows together is another one than the mean of folds."""
    rng = np.random.default_rng(0)
    folds = []
    for _ in range(5):
        y = (rng.random(60) < 0.05).astype(float)
        guess = np.where(rng.random(60) < 0.03, 1 - y, y).astype(int)
        folds.append(HeldOutPredictions(y, np.eye(2)[guess]))
    errors = [1 - f1_score(f.y, f.p.argmax(axis=1), average="macro") for f in folds]
    low, high = folds_interval(folds, Task(2), seed=1)
    assert low <= np.mean(errors) <= high


def test_groups_are_never_torn() -> None:
    groups = np.repeat(np.arange(30), 5)
    cv = laid(groups=groups)
    assert cv.count == 3
    for group in range(30):
        assert len(set(cv.fold_of[groups == group])) == 1
    sizes = np.bincount(cv.fold_of)
    assert sizes.max() - sizes.min() <= 10


def test_rows_that_count_more_decide() -> None:
    n = 150
    weight = np.where(np.arange(n) < 75, 1.0, 1e-6)
    noisy = np.random.default_rng(0).normal(1, 0.5, n)
    outcome = lambda X: np.where(np.arange(n) < 75, law(X), np.abs(law(X) * noisy) + 1)  # noqa: E731
    heavy = by_family(
        compare_families(laid(n, outcome=outcome, weight=weight), families=["forest"])
    )
    alike = by_family(compare_families(laid(n, outcome=outcome), families=["forest"]))
    assert heavy["forest"].error < alike["forest"].error / 1.5


def test_which_scales_are_tried() -> None:
    skewed, flat = laid(), laid(outcome=lambda X: 100 + X[:, 0])
    negative = laid(outcome=lambda X: law(X) - 20)
    classes = laid(outcome=lambda X: (X[:, 0] > 5).astype(float) + 1, classes=3)
    assert [log_may_help(h.data) for h in (skewed, flat, negative, classes)] == [
        True,
        False,
        False,
        False,
    ]
    assert scales_of(skewed.data) == (False, True)
    for scale, expected in (("linear", (False,)), ("log", (True,))):
        fixed = QUICK.model_copy(update={"scale": scale})
        assert scales_of(laid(settings=fixed).data) == expected
        found = compare_families(laid(settings=fixed), families=["linear"])
        assert (found.recipe.log,) == expected
    fixed = QUICK.model_copy(update={"scale": "log"})
    labels = laid(settings=fixed, outcome=lambda X: (X[:, 0] > 5) + 0.0, classes=2)
    assert scales_of(labels.data) == (False,)
