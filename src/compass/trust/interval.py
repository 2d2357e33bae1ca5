"""Intervals that mean what they say: split-conformal, normalised by the model's own spread."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_ONE_SIGMA = 0.683  # the level at which half an interval is one standard deviation


@dataclass(frozen=True)
class Conformal:
    """Scaled residuals of rows that the model did not see, ascending, with their weights.

    Of an outcome that is learnt as a logarithm they are residuals of the logarithm: its intervals
    are factors around the prediction, as wide for a second as for an hour.
    """

    residuals: Floats  # [v] |y - prediction| / (spread + floor)
    weights: Floats  # [v]
    floor: float  # keeps the width positive where all trees agree
    log: bool = False

    def ends(self, predicted: Floats, spread: Floats, level: float) -> tuple[Floats, Floats]:
        """Both ends [n] of the interval around predictions [n] with this spread [n]."""
        if not self.log:
            half = self.half_width(spread, level)
            return predicted - half, predicted + half
        with np.errstate(over="ignore"):
            factor = np.exp(self.half_width(spread / predicted, level))
            return predicted / factor, predicted * factor

    def deviation(self, predicted: Floats, spread: Floats) -> Floats:
        """One standard deviation of what the model errs, [n]: half an interval that holds 68 %."""
        low, high = self.ends(predicted, spread, _ONE_SIGMA)
        return np.asarray((high - low) / 2)

    def half_width(self, spread: Floats, level: float) -> Floats:
        """Half the width of the interval at `level` for predictions with this spread, [n].

        Of the logarithm where that is learnt; the spread then is a share of the prediction.

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


def calibrate(
    y: Floats, predicted: Floats, spread: Floats, weight: Floats, *, log: bool = False
) -> Conformal:
    """Learn the widths from validation rows, all arrays [v]; `log`: of the logarithm."""
    if log:
        y, predicted, spread = np.log(y), np.log(predicted), spread / predicted
    miss = np.abs(y - predicted)
    floor = _floor(miss, spread) if len(spread) else 1e-12
    residuals = miss / (spread + floor)
    ascending = np.argsort(residuals, kind="stable")
    return Conformal(residuals[ascending], weight[ascending], floor, log)


def _floor(miss: Floats, spread: Floats) -> float:
    """A share of the usual spread; where models mostly agree, that says nothing of their error."""
    usual, error = float(np.median(spread)), float(np.mean(miss))
    return (0.1 * usual if usual > 0.1 * error else error) + 1e-12
