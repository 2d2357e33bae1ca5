"""The forests: Random Forest, the default surrogate, and Extra Trees.

scikit-learn trains them; they are used as flat arrays.
"""

from collections.abc import Mapping
from contextlib import nullcontext
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compass import registry
from compass.domain.space import Space
from compass.model import flat
from compass.model.base import Floats, Task
from compass.model.flat import FlatForest
from compass.model.trees import FittedTrees, check, restored
from compass.settings import ForestSettings, Settings

# scikit-learn replaces the filters of warnings while it grows a forest, for the whole process: two
# forests at once would leave them in disorder.
_alone = Lock()


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
        features: Space | None = None,
    ) -> FittedTrees:
        """Train on X float64[n, d] (encoded, nothing missing) and y float64[n].

        A category is its position among its labels, as the encoded matrix holds it; trees cut
        between positions and need no more.
        """
        del features
        grown = grow(
            X,
            y,
            task=task,
            weight=weight,
            seed=seed,
            settings=settings.forest,
            threads=settings.threads,
        )
        return FittedTrees(grown, task, "forest")

    @staticmethod
    def restore(arrays: Mapping[str, NDArray[np.generic]], task: Task) -> FittedTrees:
        """The model whose `arrays()` these are; predictions are the same bit for bit."""
        return restored(arrays, task, "forest")


@registry.add("surrogate", "extra-trees")
class ExtraTrees:
    """Extra Trees: a forest that cuts at random places, smoother where runs are few."""

    name = "extra-trees"

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
        del features  # see Forest
        grown = grow(
            X,
            y,
            task=task,
            weight=weight,
            seed=seed,
            settings=settings.forest,
            threads=settings.threads,
            extra=True,
        )
        return FittedTrees(grown, task, "extra-trees")

    @staticmethod
    def restore(arrays: Mapping[str, NDArray[np.generic]], task: Task) -> FittedTrees:
        """The model whose `arrays()` these are; predictions are the same bit for bit."""
        return restored(arrays, task, "extra-trees")


def grow(
    X: Floats,
    y: Floats,
    *,
    task: Task,
    weight: Floats | None,
    seed: int,
    settings: ForestSettings,
    threads: int = 0,
    extra: bool = False,
) -> FlatForest:
    """Grow a forest and flatten it.

    `extra`: Extra Trees (all rows, random thresholds) instead of a Random Forest.
    Class scores have one column for each of `task.classes`, also for classes that no row has.
    """
    check(X, y, task, weight)
    # Imported here: a saved model predicts without scikit-learn, which takes a second to load.
    from sklearn import ensemble

    name = "ExtraTrees" if extra else "RandomForest"
    kind = getattr(ensemble, name + ("Regressor" if task.classes is None else "Classifier"))
    estimator = kind(
        n_estimators=settings.trees,
        max_depth=settings.depth,
        min_samples_leaf=settings.leaf,
        max_features=settings.features,
        random_state=seed,
        n_jobs=threads or -1,
    )
    with _alone if threads == 1 else nullcontext():
        estimator.fit(X, y, sample_weight=weight)
    forest = flat.from_sklearn(estimator)
    return forest if task.classes is None else _widen(forest, estimator.classes_, task.classes)


def _widen(forest: FlatForest, seen: NDArray[Any], classes: int) -> FlatForest:
    value = np.zeros((forest.nodes, classes))
    value[:, seen.astype(np.int64)] = forest.value
    return flat.with_values(forest, value)
