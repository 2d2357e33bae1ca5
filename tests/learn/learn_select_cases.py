"""Rows of a known law that families are compared on."""

from collections.abc import Callable
from typing import Any

import numpy as np

from compass.learn.folds import CrossValidation
from compass.learn.training import TrainingData
from compass.model.base import Task
from compass.settings import ForestSettings, LightGBMSettings, SelectSettings, Settings

QUICK = Settings(
    forest=ForestSettings(trees=5),
    lightgbm=LightGBMSettings(rounds=10),
    select=SelectSettings(folds=3),
)
PLAIN = QUICK.model_copy(update={"scale": "linear"})
FEW = ("forest", "linear", "neighbours")


def law(X: np.ndarray) -> np.ndarray:
    return X[:, 0] * X[:, 1] + X[:, 2]


def laid(
    n: int = 150,
    settings: Settings = QUICK,
    outcome: Callable[[np.ndarray], np.ndarray] = law,
    classes: int | None = None,
    **given: Any,
) -> CrossValidation:
    rng = np.random.default_rng(1)
    X = rng.uniform(1, 10, (n, 3))
    rest = {"weight": None, "seed": 7, "settings": settings} | given
    groups = rest.pop("groups", np.arange(n))
    return CrossValidation.of(TrainingData(X, outcome(X), Task(classes), **rest), groups)


def changed(**select_: Any) -> Settings:
    return QUICK.model_copy(update={"select": QUICK.select.model_copy(update=select_)})


def by_family(found: Any) -> dict[str, Any]:
    return {score.family: score for score in found.scores}
