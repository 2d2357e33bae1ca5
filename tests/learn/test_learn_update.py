"""Models that take in new runs: what is kept, what is added, and that it is as good as anew."""

import numpy as np
import pytest

from compass.learn.training import TrainingData
from compass.learn.update import Updated, continued
from compass.model.base import Task
from compass.model.error import mape
from compass.model.recipe import Recipe
from compass.model.trees import flat
from compass.settings import Settings

SETTINGS = Settings().model_copy(
    update={"forest": Settings().forest.model_copy(update={"trees": 30})}
)
KINDS = ("forest", "extra-trees", "lightgbm", "xgboost")


def rows(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(1, 17, n), rng.uniform(1, 10, n), rng.integers(0, 3, n)])
    X = X.astype(float)
    return X, 5 + X[:, 1] ** 2 / X[:, 0] + X[:, 2]


def taken_in(name: str, log: bool, task: Task | None = None):
    X, y = rows(1000, 1)
    if task is not None:
        y = np.digitize(y, [10.0, 20.0]).astype(float)
    rest = {"weight": None, "seed": 7, "settings": SETTINGS, "task": task or Task()}
    recipe = Recipe(family=name, log=log)
    old = recipe.fit(X[:900], y[:900], **rest)
    return recipe, old, X, y, rest


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("log", [False, True])
def test_it_learns_from_the_new_rows_and_stays_what_it_was(name: str, log: bool) -> None:
    recipe, old, X, y, rest = taken_in(name, log)
    found = continued(recipe, old, TrainingData(X, y, **rest), 100)
    assert isinstance(found, Updated)
    anew = recipe.fit(X, y, **rest)
    X_test, y_test = rows(400, 2)
    before, after, whole = (
        mape(y_test, model.predict(X_test)[:, 0]) for model in (old, found.fitted, anew)
    )
    assert after < 1.02 * before
    assert after < 1.3 * whole
    more = 3 if name in ("forest", "extra-trees") else None
    if more:
        assert found.fitted.forest.trees == 30
        # The trees that stay are the last ones of before.
        kept = flat.without_first(old.forest, more)
        np.testing.assert_allclose(
            flat.raw(found.fitted.forest.only(0, 30 - more), X), flat.raw(kept, X)
        )
        assert "3 of 30 trees" in found.how
    else:
        assert found.fitted.forest.trees > old.forest.trees
        assert "rounds of boosting added" in found.how


def test_a_forest_of_classes_goes_on_and_boosted_classes_do_not() -> None:
    recipe, old, X, y, rest = taken_in("forest", False, Task(3))
    found = continued(recipe, old, TrainingData(X, y, **rest), 100)
    assert isinstance(found, Updated)
    scores = found.fitted.predict(X)
    np.testing.assert_allclose(scores.sum(axis=1), 1)
    assert (scores.argmax(axis=1) == y).mean() > 0.95
    recipe, old, X, y, rest = taken_in("lightgbm", False, Task(3))
    assert "classes" in str(continued(recipe, old, TrainingData(X, y, **rest), 100))


def test_one_new_tree_votes_like_the_others() -> None:
    recipe, old, X, y, rest = taken_in("forest", False)
    found = continued(recipe, old, TrainingData(X[:901], y[:901], **rest), 1)
    assert isinstance(found, Updated)
    assert found.fitted.forest.trees == 30
    assert abs(found.fitted.predict(X) / old.predict(X) - 1).mean() < 0.05


@pytest.mark.parametrize("name", ["linear", "neighbours"])
def test_what_cannot_go_on_says_so(name: str) -> None:
    recipe, old, X, y, rest = taken_in(name, False)
    assert "cannot go on" in str(continued(recipe, old, TrainingData(X, y, **rest), 100))


def test_many_new_rows_are_trained_anew() -> None:
    recipe, old, X, y, rest = taken_in("forest", False)
    assert "60% of the runs" in str(continued(recipe, old, TrainingData(X, y, **rest), 600))


def test_the_parts_of_an_appended_ensemble_add_up() -> None:
    recipe, old, X, y, rest = taken_in("lightgbm", False)
    other = recipe.fit(X, y, **{**rest, "seed": 8})
    both = flat.append(old.forest, other.forest)
    np.testing.assert_allclose(
        flat.raw(both, X), flat.raw(old.forest, X) + flat.raw(other.forest, X), rtol=1e-12
    )
    forest = taken_in("forest", False)[1].forest
    twice = flat.append(forest, forest)
    np.testing.assert_allclose(flat.mean(twice, X), flat.mean(forest, X), rtol=1e-12)
    with pytest.raises(Exception, match="one kind"):
        flat.append(forest, other.forest)
