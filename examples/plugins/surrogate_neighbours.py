"""A surrogate: the mean of the nearest past runs. Nothing to tune, easy to explain."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from compass import registry
from compass.domain.space import Space
from compass.model.base import FamilyDefaults, FittedDefaults, Floats, Task
from compass.settings import Settings

_NEAREST = 8


@dataclass(frozen=True)
class Neighbours(FittedDefaults):
    """Past runs in units of each column's standard deviation, and what they measured."""

    points: Floats  # [n, d]
    values: Floats  # [n, outputs] outcomes, or 1 for the class of the run
    weight: Floats  # [n]
    scale: Floats  # [d]
    task: Task
    family: str = "analogy"

    @cached_property
    def tree(self) -> cKDTree:
        """Finds the nearest of the points."""
        return cKDTree(self.points)

    def predict(self, X: Floats) -> Floats:
        """The weighted mean of the nearest runs, float64[n, outputs]."""
        return self._mean_and_spread(X)[0]

    def spread(self, X: Floats) -> Floats:
        """Their weighted standard deviation, float64[n]; of classes: of the winning score."""
        return self._mean_and_spread(X)[1]

    def _mean_and_spread(self, X: Floats) -> tuple[Floats, Floats]:
        count = min(_NEAREST, len(self.points))
        found = self.tree.query(np.ascontiguousarray(X / self.scale), k=count)[1]
        near = found.reshape(len(X), count)  # a tree drops the last axis where k is 1
        share = self.weight[near] / self.weight[near].sum(axis=1, keepdims=True)
        values = self.values[near]  # [n, k, outputs]
        mean = (share[:, :, None] * values).sum(axis=1)
        variance = (share[:, :, None] * (values - mean[:, None, :]) ** 2).sum(axis=1)
        return mean, np.sqrt(variance[np.arange(len(X)), mean.argmax(axis=1)])

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Everything needed to restore it; the tree is built again."""
        return {
            "points": self.points,
            "values": self.values,
            "weight": self.weight,
            "scale": self.scale,
        }


@registry.add("surrogate", "analogy")
class NeighboursFamily(FamilyDefaults):
    """The mean of the nearest past runs."""

    name = "analogy"

    @staticmethod
    def fit(
        X: Floats,
        y: Floats,
        *,
        task: Task,
        weight: Floats | None,
        seed: int,
        settings: Settings,
        features: Space | None = None,
    ) -> Neighbours:
        """Remembers the rows; nothing is random, so the seed does not matter."""
        del seed, settings, features
        spread = X.std(axis=0)
        scale = np.where(spread > 0, spread, 1.0)
        values = y[:, None].copy() if task.classes is None else np.eye(task.classes)[y.astype(int)]
        counts = np.ones(len(X)) if weight is None else weight.copy()
        return Neighbours(X / scale, values, counts, scale, task)

    @staticmethod
    def restore(arrays: Mapping[str, NDArray[np.generic]], task: Task) -> Neighbours:
        """The model whose `arrays()` these are."""
        points, values, weight, scale = (
            np.asarray(arrays[key], dtype=np.float64)
            for key in ("points", "values", "weight", "scale")
        )
        return Neighbours(points, values, weight, scale, task)
