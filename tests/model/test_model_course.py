"""Errors on folds: the same as by hand, for numbers and classes, on both scales."""

import numpy as np
import pytest
from model_select_cases import FEW, QUICK, by_family, changed, laid, law
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.metrics import f1_score

from compass.learn.score import Checked, folds_interval
from compass.learn.select import Course, log_is_a_question, scales_of, select
from compass.model.base import Task
from compass.model.recipe import Recipe
from compass.settings import ForestSettings


def test_errors_are_those_of_a_loop_by_hand() -> None:
    rng = np.random.default_rng(3)
    here = laid(weight=rng.uniform(0.5, 2, 150))
    found = by_family(select(here, families=["linear"]))
    errors = []
    for part in range(3):
        learn, check = here.part != part, here.part == part
        mean, deviation = here.X[learn].mean(axis=0), here.X[learn].std(axis=0)
        scaled = (here.X - mean) / deviation
        model = Ridge(alpha=1.0)
        model.fit(scaled[learn], here.y[learn], sample_weight=here.weight[learn])
        wrong = np.abs(model.predict(scaled[check]) - here.y[check])
        shares = wrong / np.maximum(np.abs(here.y[check]), 0.01 * here.y.std())
        errors.append(np.average(shares, weights=here.weight[check]))
    plain = select(
        Course(**{**vars(here), "settings": QUICK.model_copy(update={"scale": "linear"})}),
        families=["linear"],
    )
    assert plain.scores[0].error == pytest.approx(np.mean(errors), rel=0.02)
    assert found["linear"].folds == 3
    assert found["linear"].low < found["linear"].error < found["linear"].high


def test_a_forest_is_as_wrong_as_scikit_learns() -> None:
    settings = QUICK.model_copy(update={"forest": ForestSettings(trees=60), "scale": "linear"})
    here = laid(settings=settings)
    errors = []
    for part in range(3):
        learn, check = here.part != part, here.part == part
        model = RandomForestRegressor(60, max_depth=12, random_state=0)
        model.fit(here.X[learn], here.y[learn])
        errors.append(np.mean(np.abs(model.predict(here.X[check]) / here.y[check] - 1)))
    found = select(here, families=["forest"]).scores[0]
    assert found.error == pytest.approx(np.mean(errors), rel=0.1)


def test_every_error_is_the_mean_of_recipes_on_the_folds() -> None:
    here = laid(settings=changed(hopeless=100.0))
    for score in select(here, families=FEW).scores:
        recipe = Recipe(family=score.family, log=score.log)
        errors = []
        for part in range(3):
            learn, check = here.part != part, here.part == part
            model = recipe.fit(
                here.X[learn], here.y[learn], task=here.task, weight=None, seed=7, settings=QUICK
            )
            errors.append(np.mean(np.abs(model.predict(here.X[check])[:, 0] / here.y[check] - 1)))
        assert score.folds == 3
        assert score.error == pytest.approx(np.mean(errors), rel=1e-9)


def test_classes_are_compared_by_macro_f1() -> None:
    kinds = lambda X: np.digitize(law(X), [15.0, 70.0]).astype(float)  # noqa: E731
    here = laid(outcome=kinds, classes=3)
    found = by_family(select(here, families=FEW))
    for name in FEW:
        errors = []
        for part in range(found[name].folds):
            learn, check = here.part != part, here.part == part
            model = Recipe(family=name).fit(
                here.X[learn], here.y[learn], task=here.task, weight=None, seed=7, settings=QUICK
            )
            guess = model.predict(here.X[check]).argmax(axis=1)
            errors.append(1 - f1_score(here.y[check], guess, average="macro"))
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
        folds.append(Checked(y, np.eye(2)[guess]))
    errors = [1 - f1_score(f.y, f.p.argmax(axis=1), average="macro") for f in folds]
    low, high = folds_interval(folds, Task(2), seed=1)
    assert low <= np.mean(errors) <= high


def test_groups_are_never_torn() -> None:
    groups = np.repeat(np.arange(30), 5)
    here = laid(groups=groups)
    assert here.parts == 3
    for group in range(30):
        assert len(set(here.part[groups == group])) == 1
    sizes = np.bincount(here.part)
    assert sizes.max() - sizes.min() <= 10


def test_rows_that_count_more_decide() -> None:
    n = 150
    weight = np.where(np.arange(n) < 75, 1.0, 1e-6)
    noisy = np.random.default_rng(0).normal(1, 0.5, n)
    outcome = lambda X: np.where(np.arange(n) < 75, law(X), np.abs(law(X) * noisy) + 1)  # noqa: E731
    heavy = by_family(select(laid(n, outcome=outcome, weight=weight), families=["forest"]))
    alike = by_family(select(laid(n, outcome=outcome), families=["forest"]))
    assert heavy["forest"].error < alike["forest"].error / 1.5


def test_which_scales_are_tried() -> None:
    skewed, flat = laid(), laid(outcome=lambda X: 100 + X[:, 0])
    negative = laid(outcome=lambda X: law(X) - 20)
    classes = laid(outcome=lambda X: (X[:, 0] > 5).astype(float) + 1, classes=3)
    assert [log_is_a_question(h) for h in (skewed, flat, negative, classes)] == [
        True,
        False,
        False,
        False,
    ]
    assert scales_of(skewed) == (False, True)
    for scale, expected in (("linear", (False,)), ("log", (True,))):
        fixed = QUICK.model_copy(update={"scale": scale})
        assert scales_of(laid(settings=fixed)) == expected
        found = select(laid(settings=fixed), families=["linear"])
        assert (found.recipe.log,) == expected
    fixed = QUICK.model_copy(update={"scale": "log"})
    assert scales_of(laid(settings=fixed, outcome=lambda X: (X[:, 0] > 5) + 0.0, classes=2)) == (
        False,
    )
