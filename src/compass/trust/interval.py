"""Intervals that mean what they say: split-conformal, normalised by the model's own spread."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Conformal:
    """Scaled residuals of rows that the model did not see, ascending, with their weights."""

    residuals: Floats  # [v] |y - prediction| / (spread + floor)
    weights: Floats  # [v]
    floor: float  # keeps the width positive where all trees agree

    def half_width(self, spread: Floats, level: float) -> Floats:
        """Half the width of the interval at `level` for predictions with this spread, [n].

        Infinite when there are too few rows to promise that level: with v rows the highest level
        is v / (v + 1).
        """
        return np.asarray(self.quantile(level) * (spread + self.floor))

    def quantile(self, level: float) -> float:
        """The scaled residual that a new run stays below with probability `level`."""
        total = float(self.weights.sum())
        if not total:
            return float("inf")
        # A new run counts as one more row with an unknown, possibly infinite residual.
        share = np.cumsum(self.weights) / (total + total / len(self.weights))
        place = int(np.searchsorted(share, level - 1e-12))
        return float(self.residuals[place]) if place < len(self.residuals) else float("inf")


def calibrate(y: Floats, predicted: Floats, spread: Floats, weight: Floats) -> Conformal:
    """Learn the widths from validation rows; all arrays are [v]."""
    miss = np.abs(y - predicted)
    floor = _floor(miss, spread) if len(spread) else 1e-12
    residuals = miss / (spread + floor)
    ascending = np.argsort(residuals, kind="stable")
    return Conformal(residuals[ascending], weight[ascending], floor)


def _floor(miss: Floats, spread: Floats) -> float:
    """A share of the usual spread; where models mostly agree, that says nothing of their error."""
    usual, error = float(np.median(spread)), float(np.mean(miss))
    return (0.1 * usual if usual > 0.1 * error else error) + 1e-12
