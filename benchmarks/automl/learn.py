"""What Compass makes of a problem, and how wrong a model is on the rows put aside."""

import time
from dataclasses import dataclass

from benchmarks.automl.tables import Problem
from compass.learn.compare import Selection, compare_families
from compass.learn.folds import CrossValidation
from compass.learn.select import family_errors, recipes_to_tune
from compass.learn.training import TrainingData
from compass.learn.tune import Tuned, tune
from compass.model.base import Fitted, Task
from compass.model.error import mape, small
from compass.model.recipe import Recipe
from compass.settings import Settings

SEED = 7
_SELECT = 0.5  # share of a budget that comparing families may take
_FIT = 0.08  # share that is kept for training the chosen model on all rows


@dataclass(frozen=True)
class Made:
    """A model and how it came about."""

    selected: Selection
    recipe: Recipe
    tuned: Tuned | None
    error: float  # on the rows put aside
    seconds: float  # wall-clock, everything included


def folds_of(problem: Problem, settings: Settings) -> CrossValidation:
    """The rows of a problem as selection takes them."""
    data = TrainingData(problem.X, problem.y, Task(), None, SEED, settings, problem.features)
    return CrossValidation.of(data, problem.groups)


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
    predicted = fitted.predict(problem.X_test)[:, 0]
    return mape(problem.y_test, predicted, scale=small(problem.y))


def selected(problem: Problem) -> Made:
    """The default: the family that cross-validates best."""
    began = time.perf_counter()
    settings = Settings()
    chosen = compare_families(folds_of(problem, settings))
    model = trained(problem, chosen.recipe, settings)
    seconds = time.perf_counter() - began
    return Made(chosen, chosen.recipe, None, test_error(problem, model), seconds)


def within(problem: Problem, seconds: float) -> Made:
    """Selection and tuning in a number of seconds, training of the last model included."""
    began = time.perf_counter()
    base = Settings()
    settings = base.model_copy(
        update={"select": base.select.model_copy(update={"work": _SELECT * seconds})}
    )
    cv = folds_of(problem, settings)
    chosen = compare_families(cv)
    left = (1 - _FIT) * seconds - (time.perf_counter() - began)
    found = (
        tune(cv, recipes_to_tune(chosen), left, known=family_errors(chosen)) if left > 1 else None
    )
    recipe = chosen.recipe if found is None else found.recipe
    model = trained(problem, recipe, settings)
    took = time.perf_counter() - began
    return Made(chosen, recipe, found, test_error(problem, model), took)
