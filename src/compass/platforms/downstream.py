"""What predicts the ratio: AdaBoost, Bagging, Random Forest, XGBoost, or a model of one's own.

Trees are kept as plain arrays, so that a saved model needs no pickle.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from compass.domain.errors import EngineProblem, unknown
from compass.model.trees.flat import FlatForest, from_trees, mean, restore
from compass.platforms.pairs import Floats

Arrays = Mapping[str, NDArray[Any]]


class Downstream(Protocol):
    """A model of one's own: as in scikit-learn."""

    def fit(self, X: Floats, y: Floats) -> object:
        """Learn y [n] from X [n, d]."""

    def predict(self, X: Floats) -> Floats:
        """y of X [n, d]."""


@dataclass(frozen=True, eq=False)
class TreeModel:
    """Trees with a weight each: their mean, or the weighted median of AdaBoost.R2."""

    forests: tuple[FlatForest, ...]
    weights: Floats | None  # of the weighted median; None: one forest, its mean

    def predict(self, X: Floats) -> Floats:
        """Ratios [n] of inputs X [n, d]."""
        if self.weights is None:
            return np.asarray(mean(self.forests[0], X)[:, 0])
        each = np.column_stack([mean(forest, X)[:, 0] for forest in self.forests])
        order = np.argsort(each, axis=1)
        reached = np.cumsum(self.weights[order], axis=1)
        at = (reached >= 0.5 * reached[:, [-1]]).argmax(axis=1)
        rows = np.arange(len(X))
        return np.asarray(each[rows, order[rows, at]])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything that is needed to restore it."""
        found: dict[str, NDArray[Any]] = {
            f"{place}.{name}": array
            for place, forest in enumerate(self.forests)
            for name, array in forest.arrays().items()
        }
        if self.weights is not None:
            found["weights"] = self.weights
        return found


@dataclass(frozen=True, eq=False)
class OwnModel:
    """A model that a person brought; it cannot be saved here."""

    model: Downstream

    def predict(self, X: Floats) -> Floats:
        """Ratios [n] of inputs X [n, d]."""
        return np.asarray(self.model.predict(X), dtype=np.float64)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Nothing that could be kept."""
        raise EngineProblem(
            "a downstream model of your own is not saved", hint="save it yourself, and train again"
        )


Fitted = TreeModel | OwnModel


def _xgboost(X: Floats, y: Floats, seed: int) -> TreeModel:
    from xgboost import XGBRegressor

    from compass.model.trees.foreign import from_xgboost

    model = XGBRegressor(n_jobs=1, random_state=seed).fit(X, y)
    return TreeModel((from_xgboost(model.get_booster()),), None)


def _forest(X: Floats, y: Floats, seed: int) -> TreeModel:
    from sklearn.ensemble import RandomForestRegressor

    model = RandomForestRegressor(n_jobs=1, random_state=seed).fit(X, y)
    return TreeModel((from_trees([tree.tree_ for tree in model.estimators_], X.shape[1]),), None)


def _bagging(X: Floats, y: Floats, seed: int) -> TreeModel:
    from sklearn.ensemble import BaggingRegressor

    model = BaggingRegressor(n_jobs=1, random_state=seed).fit(X, y)
    return TreeModel((from_trees([tree.tree_ for tree in model.estimators_], X.shape[1]),), None)


def _adaboost(X: Floats, y: Floats, seed: int) -> TreeModel:
    from sklearn.ensemble import AdaBoostRegressor

    model = AdaBoostRegressor(random_state=seed).fit(X, y)
    forests = tuple(from_trees([tree.tree_], X.shape[1]) for tree in model.estimators_)
    return TreeModel(forests, np.asarray(model.estimator_weights_[: len(forests)]))


DOWNSTREAM: dict[str, Callable[[Floats, Floats, int], TreeModel]] = {
    "xgboost": _xgboost,
    "forest": _forest,
    "bagging": _bagging,
    "adaboost": _adaboost,
}


def learnt(downstream: "str | Downstream", X: Floats, y: Floats, seed: int) -> Fitted:
    """A downstream model of inputs X [n, d] and ratios y [n]."""
    if not isinstance(downstream, str):
        downstream.fit(X, y)
        return OwnModel(downstream)
    if downstream not in DOWNSTREAM:
        raise unknown("downstream model", downstream, DOWNSTREAM)
    return DOWNSTREAM[downstream](X, y, seed)


def restored(arrays: Arrays) -> TreeModel:
    """The model whose `arrays()` these are."""
    places = sorted({int(name.partition(".")[0]) for name in arrays if name[0].isdigit()})
    forests = tuple(
        restore({n.partition(".")[2]: a for n, a in arrays.items() if n.startswith(f"{place}.")})
        for place in places
    )
    return TreeModel(forests, arrays.get("weights"))
