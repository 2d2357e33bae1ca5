"""The final model of an outcome: trained on some rows, its error measured on the others."""

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import f1_score

import compass as cp
from compass.learn.training import TrainingData, TrainingPlan, train_final
from compass.model.base import Task, family
from compass.model.error import mape, model_score, small
from compass.model.neighbours import Neighbours
from compass.model.recipe import Recipe
from compass.settings import ForestSettings, Settings

few = Settings(surrogate="forest", forest=ForestSettings(trees=5))


def test_the_error_of_a_final_model_is_measured_on_the_other_rows() -> None:
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(80, 3))
    y = 5 + X[:, 0]
    train, valid = np.arange(60), np.arange(60, 80)
    y[valid] *= 2  # nothing that training rows could tell
    data = TrainingData(X, y, Task(), None, 1, few)
    (final,) = train_final([TrainingPlan(family("forest"), data, train, valid)])
    assert final.score.name == "MAPE"
    assert final.score.error == pytest.approx(0.5, abs=0.06)
    p = final.fitted.predict(X[valid])[:, 0]
    assert final.score.error == pytest.approx(mape(y[valid], p, scale=small(y[train])))
    assert model_score(final.fitted, X[train], y[train]).error < 0.05


def test_the_error_of_classes_is_what_macro_f1_lacks() -> None:
    rng = np.random.default_rng(2)
    X = rng.uniform(size=(90, 2))
    y = np.floor(3 * X[:, 0])
    train, valid = np.arange(0, 90, 2), np.arange(1, 90, 2)
    data = TrainingData(X, y, Task(3), np.ones(90), 1, few)
    (final,) = train_final([TrainingPlan(family("forest"), data, train, valid)])
    guess = final.fitted.predict(X[valid]).argmax(axis=1)
    assert final.score.name == "1 - macro F1"
    assert final.score.error == pytest.approx(1 - f1_score(y[valid], guess, average="macro"))
    assert final.score.error < 0.2


def plans(recipes: list[Recipe], rows: list[np.ndarray]) -> list[TrainingPlan]:
    rng = np.random.default_rng(3)
    X = rng.uniform(1, 9, (80, 2))
    outcomes = [X[:, 0] * X[:, 1], 5 + X[:, 0], np.floor(X[:, 1] / 3)]
    tasks = [Task(), Task(), Task(4)]
    valid = np.arange(60, 80)
    return [
        TrainingPlan(recipe, TrainingData(X, y, task, np.linspace(1, 2, 80), 1, few), train, valid)
        for recipe, y, task, train in zip(recipes, outcomes, tasks, rows, strict=True)
    ]


@pytest.mark.parametrize("name", ["neighbours", "forest", "linear"])
def test_outcomes_that_are_learnt_together_have_the_models_they_have_alone(name: str) -> None:
    given = plans([Recipe(family=name)] * 3, [np.arange(60)] * 3)
    for plan, final in zip(given, train_final(given), strict=True):
        (single,) = train_final([plan])
        X = plan.data.X
        assert np.array_equal(final.fitted.predict(X), single.fitted.predict(X))
        assert np.array_equal(final.fitted.spread(X), single.fitted.spread(X))
        assert final.score == single.score


def test_only_outcomes_of_one_recipe_and_the_same_rows_are_learnt_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    together: list[int] = []
    real = Neighbours.fit_many

    def counted(X: np.ndarray, Y: np.ndarray, **rest: Any) -> Any:
        together.append(Y.shape[1])
        return real(X, Y, **rest)

    monkeypatch.setattr(Neighbours, "fit_many", staticmethod(counted))
    near, log = Recipe(family="neighbours"), Recipe(family="neighbours", log=True)
    all_rows, fewer = np.arange(60), np.arange(50)
    for recipes, rows, expected in (
        ([near, near, near], [all_rows] * 3, [3]),
        ([near, log, near], [all_rows] * 3, [2]),
        ([log, log, near], [all_rows] * 3, [2]),
        ([near, near, near], [all_rows, fewer, all_rows], [2]),
        ([near, Recipe(family="linear"), log], [all_rows] * 3, []),
    ):
        together.clear()
        models = train_final(plans(recipes, rows)[: 2 if recipes[2].log else 3])
        assert together == expected
        families = [recipe.family for recipe in recipes]
        assert [model.fitted.family for model in models] == families[: len(models)]


def test_an_engine_learns_its_outcomes_together(monkeypatch: pytest.MonkeyPatch) -> None:
    together: list[int] = []
    real = Neighbours.fit_many

    def counted(X: np.ndarray, Y: np.ndarray, **rest: Any) -> Any:
        together.append(Y.shape[1])
        return real(X, Y, **rest)

    monkeypatch.setattr(Neighbours, "fit_many", staticmethod(counted))
    nodes = [1, 2, 4, 8] * 20
    table = {"nodes": nodes, "time": [10 + 1 / n for n in nodes], "power": [99 + n for n in nodes]}
    table["size"] = list(range(80))
    data = cp.read(table).roles(knobs=["nodes", "size"], outcomes=["time", "power"])
    settings = Settings(surrogate="neighbours", scale="linear")
    assert len(cp.Compass(data, settings=settings).fit().cards) == 2
    assert together == [2]
