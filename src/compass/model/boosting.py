"""Boosted trees: LightGBM and XGBoost, trained by these libraries, used as flat arrays."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compass import registry
from compass.domain.space import Space
from compass.execute.kernel import cores
from compass.model.base import Floats, Task
from compass.model.trees.fitted import FittedTrees, check, constant, rescaled, restored
from compass.model.trees.flat import FlatForest
from compass.model.trees.foreign import from_lightgbm, from_xgboost
from compass.prepare.weigh import deviation, normal
from compass.settings import Settings

# Cells (rows x columns) that repay a thread: threads of these libraries wait for each other so
# often that on busy processors small tables train a hundred times slower with two than with one.
_CELLS = 500_000
_NEVER = -1e6  # the raw score of a class that no run had: its share is 0 after the link


@dataclass(frozen=True, eq=False)
class _Lesson:
    """Rows in the form that boosting learns from; 0 classes: a number."""

    X: Floats
    y: Floats
    weight: Floats | None
    classes: int
    seed: int
    settings: Settings


@registry.add("surrogate", "lightgbm")
class LightGBM:
    """LightGBM: boosted trees, often more accurate than a forest; small, so proofs are quick."""

    name = "lightgbm"

    @staticmethod
    def fit(
        X: Floats,
        y: Floats,
        *,
        task: Task,
        weight: Floats | None = None,
        seed: int,
        settings: Settings,
        features: Space | None = None,
    ) -> FittedTrees:
        """Train on X float64[n, d] (encoded, nothing missing) and y float64[n]."""
        del features  # trees cut between the positions of labels
        grown = _boost(_lightgbm, X, y, task, weight, seed, settings)
        return FittedTrees(grown, task, "lightgbm")

    @staticmethod
    def restore(arrays: Mapping[str, NDArray[np.generic]], task: Task) -> FittedTrees:
        """The model whose `arrays()` these are; predictions are the same bit for bit."""
        return restored(arrays, task, "lightgbm")


@registry.add("surrogate", "xgboost")
class XGBoost:
    """XGBoost: boosted trees of equal depth, often more accurate than a forest."""

    name = "xgboost"

    @staticmethod
    def fit(
        X: Floats,
        y: Floats,
        *,
        task: Task,
        weight: Floats | None = None,
        seed: int,
        settings: Settings,
        features: Space | None = None,
    ) -> FittedTrees:
        """Train on X float64[n, d] (encoded, nothing missing) and y float64[n]."""
        del features
        grown = _boost(_xgboost, X, y, task, weight, seed, settings)
        return FittedTrees(grown, task, "xgboost")

    @staticmethod
    def restore(arrays: Mapping[str, NDArray[np.generic]], task: Task) -> FittedTrees:
        """The model whose `arrays()` these are; predictions are the same bit for bit."""
        return restored(arrays, task, "xgboost")


def _boost(
    train: Callable[[_Lesson], FlatForest],
    X: Floats,
    y: Floats,
    task: Task,
    weight: Floats | None,
    seed: int,
    settings: Settings,
) -> FlatForest:
    check(X, y, task, weight)
    if weight is not None:
        # A class that only rows without weight have would have a share of 0, which has no log.
        counts = weight > 0
        X, y, weight = X[counts], y[counts], normal(weight[counts])
    if task.classes is None:
        # Both libraries keep outcomes as float32, which has no digits left for small differences
        # between large numbers.
        centre, scale = float(np.average(y, weights=weight)), deviation(y, weight) or 1.0
        grown = train(_Lesson(X, (y - centre) / scale, weight, 0, seed, settings))
        return rescaled(grown, scale, centre)
    seen, place = np.unique(y.astype(np.int64), return_inverse=True)
    if seen.size == 1:
        return constant((np.arange(task.classes) == seen[0]).astype(np.float64), X.shape[1])
    grown = train(_Lesson(X, place.astype(np.float64), weight, task.classes, seed, settings))
    return grown if grown.link == "sigmoid" else _widen(grown, seen, task.classes)


def _widen(forest: FlatForest, seen: NDArray[np.int64], classes: int) -> FlatForest:
    offset = np.full(classes, _NEVER)
    offset[seen] = forest.offset
    return replace(forest, slot=seen[forest.slot], offset=offset)


def _threads(lesson: _Lesson) -> int:
    return max(1, min(lesson.settings.threads or cores(), lesson.X.size // _CELLS))


def _lightgbm(lesson: _Lesson) -> FlatForest:
    import lightgbm

    chosen = lesson.settings.lightgbm
    parameters: dict[str, Any] = {
        "num_leaves": chosen.leaves,
        "learning_rate": chosen.rate,
        "min_data_in_leaf": chosen.leaf,
        "lambda_l2": chosen.ridge,
        "feature_fraction_bynode": chosen.features,
        "seed": lesson.seed % 2**31,  # LightGBM keeps it in 32 bits with a sign
        "num_threads": _threads(lesson),
        "deterministic": True,
        "force_row_wise": True,  # otherwise a race of two ways decides, and their rounding differs
        "verbosity": -1,
    } | _lightgbm_objective(lesson)
    data = lightgbm.Dataset(lesson.X, lesson.y, weight=lesson.weight, params=parameters)
    return from_lightgbm(lightgbm.train(parameters, data, num_boost_round=chosen.rounds))


def _lightgbm_objective(lesson: _Lesson) -> dict[str, Any]:
    if lesson.classes == 0:
        return {"objective": "regression"}
    if lesson.classes == 2:
        return {"objective": "binary"}
    return {"objective": "multiclass", "num_class": int(lesson.y.max()) + 1}


def _xgboost(lesson: _Lesson) -> FlatForest:
    import xgboost

    chosen = lesson.settings.xgboost
    parameters: dict[str, Any] = {
        "max_depth": chosen.depth,
        "learning_rate": chosen.rate,
        "min_child_weight": chosen.leaf,
        "reg_lambda": chosen.ridge,
        "colsample_bynode": chosen.features,
        "tree_method": "hist",
        "seed": lesson.seed % 2**31,
        "nthread": _threads(lesson),
        "verbosity": 0,
    } | _xgboost_objective(lesson)
    data = xgboost.DMatrix(lesson.X, lesson.y, weight=lesson.weight, nthread=_threads(lesson))
    return from_xgboost(xgboost.train(parameters, data, num_boost_round=chosen.rounds))


def _xgboost_objective(lesson: _Lesson) -> dict[str, Any]:
    if lesson.classes == 0:
        return {"objective": "reg:squarederror"}
    if lesson.classes == 2:
        return {"objective": "binary:logistic"}
    return {"objective": "multi:softprob", "num_class": int(lesson.y.max()) + 1}
