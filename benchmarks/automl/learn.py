"""What Compass makes of a problem, and how wrong a model is on the rows put aside."""

import time
from dataclasses import dataclass

from benchmarks.automl.tables import Problem
from compass.learn.choose import contenders, tried
from compass.learn.score import mape, small
from compass.learn.select import Course, Selected, course, select
from compass.learn.tune import Tuned, tune
from compass.model.base import Fitted, Task
from compass.model.recipe import Recipe
from compass.settings import Settings

SEED = 7
_SELECT = 0.5  # share of a budget that comparing families may take
_FIT = 0.08  # share that is kept for training the chosen model on all rows


@dataclass(frozen=True)
class Made:
    """A model and how it came about."""

    selected: Selected
    recipe: Recipe
    tuned: Tuned | None
    error: float  # on the rows put aside
    seconds: float  # wall-clock, everything included


def ground(problem: Problem, settings: Settings) -> Course:
    """The rows of a problem as selection takes them."""
    return course(
        problem.X,
        problem.y,
        Task(),
        groups=problem.groups,
        weight=None,
        seed=SEED,
        settings=settings,
        features=problem.features,
    )


def trained(problem: Problem, recipe: Recipe, settings: Settings) -> Fitted:
    """The model of a recipe that knows every row except those put aside."""
    return recipe.fit(
        problem.X,
        problem.y,
        task=Task(),
        weight=None,
        seed=SEED,
        settings=settings,
        features=problem.features,
    )


def test_error(problem: Problem, fitted: Fitted) -> float:
    """MAPE on the rows put aside."""
    said = fitted.predict(problem.X_test)[:, 0]
    return mape(problem.y_test, said, scale=small(problem.y))


def selected(problem: Problem) -> Made:
    """The default: the family that cross-validates best."""
    began = time.perf_counter()
    settings = Settings()
    chosen = select(ground(problem, settings))
    model = trained(problem, chosen.recipe, settings)
    seconds = time.perf_counter() - began
    return Made(chosen, chosen.recipe, None, test_error(problem, model), seconds)


def within(problem: Problem, seconds: float) -> Made:
    """Selection and tuning in a number of seconds, training of the last model included."""
    began = time.perf_counter()
    base = Settings()
    settings = base.model_copy(
        update={"select": base.select.model_copy(update={"seconds": _SELECT * seconds})}
    )
    here = ground(problem, settings)
    chosen = select(here)
    left = (1 - _FIT) * seconds - (time.perf_counter() - began)
    found = tune(here, contenders(chosen), left, known=tried(chosen)) if left > 1 else None
    recipe = chosen.recipe if found is None else found.recipe
    model = trained(problem, recipe, settings)
    took = time.perf_counter() - began
    return Made(chosen, recipe, found, test_error(problem, model), took)
