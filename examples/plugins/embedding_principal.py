"""An embedding: principal components, the directions in which past runs differ most."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compass import registry
from compass.domain.space import Space
from compass.settings import Settings

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Components:
    """Directions in the space of standardised columns."""

    middle: Floats  # [d]
    scale: Floats  # [d]
    axes: Floats  # [d, width]
    name: str = "principal"

    @property
    def width(self) -> int:
        """How many columns it gives."""
        return self.axes.shape[1]

    def transform(self, X: Floats) -> Floats:
        """How far each run lies along the directions, float64[n, width]."""
        found = np.zeros((len(X), self.width))
        # Column by column: a matrix product would round a run differently in every batch.
        for place, axis in enumerate(self.axes):
            found += (X[:, place : place + 1] - self.middle[place]) / self.scale[place] * axis
        return found

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Everything needed to restore it."""
        return {"middle": self.middle, "scale": self.scale, "axes": self.axes}


@registry.add("embedding", "principal")
class Principal:
    """Principal components of the columns."""

    name = "principal"

    @staticmethod
    def fit(
        X: Floats,
        y: Floats,
        *,
        classes: int | None,
        weight: Floats | None,
        seed: int,
        settings: Settings,
        features: Space | None = None,
    ) -> Components:
        """Looks at the columns only; nothing is random."""
        del y, classes, seed, features
        share = np.ones(len(X)) if weight is None else weight
        middle = np.average(X, axis=0, weights=share)
        spread = np.sqrt(np.average((X - middle) ** 2, axis=0, weights=share))
        scale = np.where(spread > 0, spread, 1.0)
        Z = (X - middle) / scale * np.sqrt(share)[:, None]
        _, sizes, directions = np.linalg.svd(Z, full_matrices=False)
        width = min(settings.embedding.width, len(directions))
        # Each column that comes out has deviation 1 on the runs learnt from.
        sizes = sizes[:width] / np.sqrt(share.sum())
        axes = directions[:width].T / np.where(sizes > 1e-9, sizes, np.inf)
        return Components(middle, scale, np.ascontiguousarray(axes))

    @staticmethod
    def restore(arrays: Mapping[str, NDArray[np.generic]]) -> Components:
        """The representation whose `arrays()` these are."""
        middle, scale, axes = (
            np.asarray(arrays[key], dtype=np.float64) for key in ("middle", "scale", "axes")
        )
        return Components(middle, scale, axes)
