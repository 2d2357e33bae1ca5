"""What runs of another machine, size or version say about this one.

The history is a prior mean: outcomes here are taken to be a line in those there, and the models
learn what is left. It is dropped where the runs made here are predicted better without it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compass.acquire.loop import forest
from compass.acquire.loop.inputs import Inputs
from compass.model.trees.flat import FlatForest

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

_LEARNT = 4000  # runs of a history that are learnt from; the best are among them
_BEST = 500
_TREES = 24
_DOUBT = 1.0  # runs of doubt that both are related


@dataclass(frozen=True, eq=False)
class Reference:
    """What is expected of a configuration where the history was made, standardised."""

    inputs: Inputs
    forest: FlatForest
    X: Floats  # [b, d] the best configurations there, best first

    @staticmethod
    def of(X: Floats, loss: Floats, inputs: Inputs, *, positive: bool, seed: int) -> "Reference":
        """What was learnt from a history X [h, d] with losses [h], NaN where runs failed."""
        fine = np.isfinite(loss)
        if positive:
            fine &= loss > 0
        X, value = X[fine], np.log(loss[fine]) if positive else loss[fine]
        order = np.argsort(value, kind="stable")
        rest = np.random.default_rng(seed).permutation(order[_BEST:])[: _LEARNT - _BEST]
        kept = np.concatenate([order[:_BEST], np.sort(rest)])
        X, value = X[kept], value[kept]
        y = (value - np.median(value)) / (value.std() or 1.0)
        return Reference(inputs, forest.grown(inputs(X).Z, y, _TREES, seed), X[:_BEST])

    def __call__(self, Z: Floats) -> Floats:
        """Standardised outcomes [m] there at inputs Z [m, p]."""
        return forest.beliefs(self.forest, Z)[0]


@dataclass(frozen=True)
class Line:
    """Outcomes here as a line in those there: `level + slope * there`."""

    level: float
    slope: float

    @staticmethod
    def of(there: Floats, here: Floats) -> "Line":
        """The line through outcomes [n] of the same configurations; never a falling one."""
        away = there - there.mean()
        slope = float(away @ here) / (float(away @ away) + _DOUBT)
        slope = max(slope, 0.0)
        return Line(float(here.mean() - slope * there.mean()), slope)

    def __call__(self, there: Floats) -> Floats:
        """What is expected here, of the same shape."""
        return self.level + self.slope * there
