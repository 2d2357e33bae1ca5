"""Surrogates: models that predict an outcome from a configuration.

`base` says what a model family is, `forest` is the Random Forest, `flat` predicts with it
thousands of times per second, `score` measures errors. Nothing heavy is imported until it is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from compass.learn.score import holdout_error as holdout_error
    from compass.learn.score import macro_f1 as macro_f1
    from compass.learn.score import mape as mape
    from compass.model.base import Family as Family
    from compass.model.base import Fitted as Fitted
    from compass.model.base import Task as Task
    from compass.model.base import family as family
    from compass.model.forest import Forest as Forest
    from compass.model.trees.fitted import FittedTrees as FittedTrees
    from compass.model.trees.flat import FlatForest as FlatForest

_HOME = {
    "Family": "base",
    "FittedTrees": "trees",
    "Fitted": "base",
    "FlatForest": "flat",
    "Forest": "forest",
    "Task": "base",
    "family": "base",
    "holdout_error": "score",
    "macro_f1": "score",
    "mape": "score",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(_HOME)
