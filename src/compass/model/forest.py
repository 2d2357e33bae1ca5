"""The Random Forest: the default surrogate, trained by scikit-learn, used as flat arrays."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compass import registry
from compass.domain.errors import BadInput, DataProblem, EngineProblem
from compass.model import flat
from compass.model.base import Floats, Task
from compass.model.flat import FlatForest
from compass.settings import ForestSettings, Settings


@dataclass(frozen=True, eq=False)
class FittedForest:
    """A trained Random Forest of one outcome."""

    forest: FlatForest
    task: Task
    family: str = "forest"

    def predict(self, X: Floats) -> Floats:
        """Predictions float64[n, outputs] for X float64[n, d]; class scores sum to 1."""
        return flat.mean(self.forest, X)

    def spread(self, X: Floats) -> Floats:
        """Standard deviation over trees float64[n] of the prediction or the winning score."""
        return self.predict_spread(X)[1]

    def predict_spread(self, X: Floats) -> tuple[Floats, Floats]:
        """Predictions and their spread, in one pass."""
        return flat.mean_spread(self.forest, X)

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Everything needed to restore it, as plain arrays."""
        return self.forest.arrays()


@registry.add("surrogate", "forest")
class Forest:
    """Random Forest: robust with few settings, numbers and categories alike."""

    name = "forest"

    @staticmethod
    def fit(
        X: Floats,
        y: Floats,
        *,
        task: Task,
        weight: Floats | None = None,
        seed: int,
        settings: Settings,
    ) -> FittedForest:
        """Train on X float64[n, d] (encoded, nothing missing) and y float64[n].

        A category is its position among its labels, as the encoded matrix holds it; trees cut
        between positions and need no more.
        """
        grown = grow(X, y, task=task, weight=weight, seed=seed, settings=settings.forest)
        return FittedForest(grown, task)

    @staticmethod
    def restore(arrays: Mapping[str, NDArray[np.generic]], task: Task) -> FittedForest:
        """The model whose `arrays()` these are; predictions are the same bit for bit."""
        forest = flat.restore(arrays)
        if forest.outputs != task.outputs:
            raise EngineProblem(
                f"the saved forest predicts {forest.outputs} columns, {task.outputs} were expected",
                hint="fit and save the engine again",
            )
        return FittedForest(forest, task)


def grow(
    X: Floats,
    y: Floats,
    *,
    task: Task,
    weight: Floats | None,
    seed: int,
    settings: ForestSettings,
    features: float = 1.0,
) -> FlatForest:
    """Grow a forest and flatten it; `features` is the share of columns tried at each split.

    Class scores have one column for each of `task.classes`, also for classes that no row has.
    """
    _check(X, y, task, weight)
    # Imported here: a saved model predicts without scikit-learn, which takes a second to load.
    from sklearn.ensemble import (
        RandomForestClassifier,
        RandomForestRegressor,
    )

    kind = RandomForestRegressor if task.classes is None else RandomForestClassifier
    estimator = kind(
        n_estimators=settings.trees,
        max_depth=settings.depth,
        min_samples_leaf=settings.leaf,
        max_features=features,
        random_state=seed,
        n_jobs=-1,
    )
    estimator.fit(X, y, sample_weight=weight)
    forest = flat.from_sklearn(estimator)
    return forest if task.classes is None else _widen(forest, estimator.classes_, task.classes)


def _widen(forest: FlatForest, seen: NDArray[Any], classes: int) -> FlatForest:
    value = np.zeros((forest.nodes, classes))
    value[:, seen.astype(np.int64)] = forest.value
    return flat.with_values(forest, value)


def _check(X: Floats, y: Floats, task: Task, weight: Floats | None) -> None:
    if X.ndim != 2 or y.shape != (X.shape[0],):
        raise BadInput(f"rows and outcomes do not fit together: {X.shape} and {y.shape}")
    if X.shape[0] == 0 or X.shape[1] == 0:
        raise DataProblem(
            "there is nothing to learn from: no complete rows or no features",
            hint="check which columns have missing values, and the roles of the columns",
        )
    # Trees compare in float32: what does not fit into it cannot be told apart.
    if not (np.all(np.abs(X) <= np.finfo(np.float32).max) and np.all(np.isfinite(y))):
        raise DataProblem(
            "a row to learn from has a missing, infinite or enormous value",
            hint="drop incomplete rows before fitting",
        )
    if task.classes is not None and not np.all((y >= 0) & (y < task.classes) & (y == np.floor(y))):
        raise BadInput(f"classes must be positions from 0 to {task.classes - 1}")
    if weight is not None and not (
        weight.shape == y.shape
        and np.all(np.isfinite(weight))
        and np.all(weight >= 0)
        and weight.sum() > 0
    ):
        raise BadInput("weights must be one number >= 0 for each row, and not all 0")
