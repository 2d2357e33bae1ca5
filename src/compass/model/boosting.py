"""Boosted trees: LightGBM and XGBoost, trained by these libraries, used as flat arrays."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compass import registry
from compass.domain.space import Space
from compass.execute.kernel import cores
from compass.model.base import FamilyDefaults, Floats, Task
from compass.model.search_space import SearchSpace, TunedNumber
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
class _BoostingRows:
    """Rows in the form that boosting learns from; 0 classes: a number."""

    X: Floats
    y: Floats
    weight: Floats | None
    classes: int
    seed: int
    settings: Settings


@registry.add("surrogate", "lightgbm")
class LightGBM(FamilyDefaults):
    """LightGBM: boosted trees, often more accurate than a forest; small, so proofs are quick."""

    name = "lightgbm"
    search_space = SearchSpace(
        "lightgbm",
        (
            TunedNumber("rounds", 50, 1000),
            TunedNumber("leaves", 7, 127),
            TunedNumber("rate", 0.03, 0.3),
            TunedNumber("leaf", 1, 50),
            TunedNumber("ridge", 1e-3, 10),
            TunedNumber("features", 0.4, 1.0, log=False),
        ),
    )

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

    @staticmethod
    def relative_cost(settings: Settings, defaults: Settings) -> float:
        """It grows with the number of rounds and, half as fast, of leaves."""
        now, before = settings.lightgbm, defaults.lightgbm
        return now.rounds / before.rounds * (0.5 + 0.5 * now.leaves / before.leaves)


@registry.add("surrogate", "xgboost")
class XGBoost(FamilyDefaults):
    """XGBoost: boosted trees of equal depth, often more accurate than a forest."""

    name = "xgboost"
    search_space = SearchSpace(
        "xgboost",
        (
            TunedNumber("rounds", 50, 1000),
            TunedNumber("depth", 3, 10, log=False),
            TunedNumber("rate", 0.03, 0.4),
            TunedNumber("leaf", 0.5, 20),
            TunedNumber("ridge", 1e-3, 10),
            TunedNumber("features", 0.4, 1.0, log=False),
        ),
    )

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

    @staticmethod
    def relative_cost(settings: Settings, defaults: Settings) -> float:
        """It grows with the number of rounds and with the number of leaves."""
        now, before = settings.xgboost, defaults.xgboost
        return float(now.rounds / before.rounds * 2.0 ** ((now.depth - before.depth) / 2))


def _boost(
    train: Callable[[_BoostingRows], FlatForest],
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
        grown = train(_BoostingRows(X, (y - centre) / scale, weight, 0, seed, settings))
        return rescaled(grown, scale, centre)
    seen, place = np.unique(y.astype(np.int64), return_inverse=True)
    if seen.size == 1:
        return constant((np.arange(task.classes) == seen[0]).astype(np.float64), X.shape[1])
    grown = train(_BoostingRows(X, place.astype(np.float64), weight, task.classes, seed, settings))
    return grown if grown.link == "sigmoid" else _widen(grown, seen, task.classes)


def _widen(forest: FlatForest, seen: NDArray[np.int64], classes: int) -> FlatForest:
    offset = np.full(classes, _NEVER)
    offset[seen] = forest.offset
    return replace(forest, slot=seen[forest.slot], offset=offset)


def _threads(rows: _BoostingRows) -> int:
    return max(1, min(rows.settings.threads or cores(), rows.X.size // _CELLS))


def _lightgbm(rows: _BoostingRows) -> FlatForest:
    import lightgbm

    chosen = rows.settings.lightgbm
    parameters: dict[str, Any] = {
        "num_leaves": chosen.leaves,
        "learning_rate": chosen.rate,
        "min_data_in_leaf": chosen.leaf,
        "lambda_l2": chosen.ridge,
        "feature_fraction_bynode": chosen.features,
        "seed": rows.seed % 2**31,  # LightGBM keeps it in 32 bits with a sign
        "num_threads": _threads(rows),
        "deterministic": True,
        "force_row_wise": True,  # otherwise a race of two ways decides, and their rounding differs
        "verbosity": -1,
    } | _lightgbm_objective(rows)
    data = lightgbm.Dataset(rows.X, rows.y, weight=rows.weight, params=parameters)
    return from_lightgbm(lightgbm.train(parameters, data, num_boost_round=chosen.rounds))


def _lightgbm_objective(rows: _BoostingRows) -> dict[str, Any]:
    if rows.classes == 0:
        return {"objective": "regression"}
    if rows.classes == 2:
        return {"objective": "binary"}
    return {"objective": "multiclass", "num_class": int(rows.y.max()) + 1}


def _xgboost(rows: _BoostingRows) -> FlatForest:
    import xgboost

    chosen = rows.settings.xgboost
    parameters: dict[str, Any] = {
        "max_depth": chosen.depth,
        "learning_rate": chosen.rate,
        "min_child_weight": chosen.leaf,
        "reg_lambda": chosen.ridge,
        "colsample_bynode": chosen.features,
        "tree_method": "hist",
        "seed": rows.seed % 2**31,
        "nthread": _threads(rows),
        "verbosity": 0,
    } | _xgboost_objective(rows)
    data = xgboost.DMatrix(rows.X, rows.y, weight=rows.weight, nthread=_threads(rows))
    return from_xgboost(xgboost.train(parameters, data, num_boost_round=chosen.rounds))


def _xgboost_objective(rows: _BoostingRows) -> dict[str, Any]:
    if rows.classes == 0:
        return {"objective": "reg:squarederror"}
    if rows.classes == 2:
        return {"objective": "binary:logistic"}
    return {"objective": "multi:softprob", "num_class": int(rows.y.max()) + 1}
