"""Boosted trees: LightGBM and XGBoost, trained by these libraries, used as flat arrays."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from compass import registry
from compass.execute.processors import cores
from compass.model.base import Task
from compass.model.search_space import SearchSpace, TunedNumber
from compass.model.trees.fitted import TreeFamily, TreeRows, arranged_forest, check, constant
from compass.model.trees.flat import FlatForest
from compass.model.trees.foreign import from_lightgbm, from_xgboost
from compass.prepare.weigh import deviation, normal
from compass.settings import Settings

# Cells (rows x columns) that repay a thread: threads of these libraries wait for each other so
# often that on busy processors small tables train a hundred times slower with two than with one.
_CELLS = 500_000


@registry.add("surrogate", "lightgbm")
class LightGBM(TreeFamily):
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

    @classmethod
    def grown(cls, rows: TreeRows) -> FlatForest:
        """The trees of these rows."""
        return _boost(_lightgbm, rows)

    @staticmethod
    def effort(rows: int, columns: int, task: Task) -> float:
        """A part for the rounds, whatever the table, and a part of every cell."""
        return _trees_at_once(task) * (0.07 + 6e-7 * rows * columns)

    @staticmethod
    def relative_cost(settings: Settings, defaults: Settings) -> float:
        """It grows with the number of rounds and, half as fast, of leaves."""
        now, before = settings.lightgbm, defaults.lightgbm
        return now.rounds / before.rounds * (0.5 + 0.5 * now.leaves / before.leaves)


@registry.add("surrogate", "xgboost")
class XGBoost(TreeFamily):
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

    @classmethod
    def grown(cls, rows: TreeRows) -> FlatForest:
        """The trees of these rows."""
        return _boost(_xgboost, rows)

    @staticmethod
    def effort(rows: int, columns: int, task: Task) -> float:
        """A part for the rounds, whatever the table, and a part of every cell."""
        return _trees_at_once(task) * (0.02 + 3e-7 * rows * columns)

    @staticmethod
    def relative_cost(settings: Settings, defaults: Settings) -> float:
        """It grows with the number of rounds and with the number of leaves."""
        now, before = settings.xgboost, defaults.xgboost
        return float(now.rounds / before.rounds * 2.0 ** ((now.depth - before.depth) / 2))


def _trees_at_once(task: Task) -> int:
    """Trees that are grown in a round: one of each class, where there are more than two."""
    return 1 if task.classes is None or task.classes == 2 else task.classes


def _boost(train: Callable[[TreeRows], FlatForest], rows: TreeRows) -> FlatForest:
    X, y, weight, classes = rows.X, rows.y, rows.weight, rows.task.classes
    check(X, y, rows.task, weight)
    if weight is not None:
        # A class that only rows without weight have would have a share of 0, which has no log.
        counts = weight > 0
        X, y, weight = X[counts], y[counts], normal(weight[counts])
    rows = replace(rows, X=X, weight=weight)
    if classes is None:
        # Both libraries keep outcomes as float32, which has no digits left for small differences
        # between large numbers.
        centre, scale = float(np.average(y, weights=weight)), deviation(y, weight) or 1.0
        grown = train(replace(rows, y=(y - centre) / scale))
        return replace(grown, value=scale * grown.value, offset=scale * grown.offset + centre)
    seen, place = np.unique(y.astype(np.int64), return_inverse=True)
    if seen.size == 1:
        return constant((np.arange(classes) == seen[0]).astype(np.float64), X.shape[1])
    grown = train(replace(rows, y=place.astype(np.float64)))
    return grown if grown.link == "sigmoid" else arranged_forest(grown, seen, classes)


def _threads(rows: TreeRows) -> int:
    return max(1, min(rows.settings.threads or cores(), rows.X.size // _CELLS))


def _objective(rows: TreeRows, number: str, two: str, several: str) -> dict[str, Any]:
    if rows.task.classes is None or rows.task.classes == 2:
        return {"objective": number if rows.task.classes is None else two}
    return {"objective": several, "num_class": int(rows.y.max()) + 1}


def _lightgbm(rows: TreeRows) -> FlatForest:
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
    } | _objective(rows, "regression", "binary", "multiclass")
    data = lightgbm.Dataset(rows.X, rows.y, weight=rows.weight, params=parameters)
    return from_lightgbm(lightgbm.train(parameters, data, num_boost_round=chosen.rounds))


def _xgboost(rows: TreeRows) -> FlatForest:
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
    } | _objective(rows, "reg:squarederror", "binary:logistic", "multi:softprob")
    data = xgboost.DMatrix(rows.X, rows.y, weight=rows.weight, nthread=_threads(rows))
    return from_xgboost(xgboost.train(parameters, data, num_boost_round=chosen.rounds))
