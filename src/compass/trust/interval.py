"""Intervals that mean what they say: split-conformal, normalised by the model's own spread.

Everything that a score is made of comes from training rows or from the row itself. Rows to check
with and a new run are then exchangeable, and that is all that the promise rests on.

Decision 0020 (docs/decisions).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compass.execute.arrays import checked, floats
from compass.trust.rank import Floats

Labels = NDArray[np.generic]

_ARRAYS = {
    "residuals": floats("rows", least=0, infinite=True, ascending=True),
    "weights": floats("rows", least=0),
}
_ONE_SIGMA = 0.683  # the level at which half an interval is one standard deviation
# A spread tells errors only roughly: twice the spread is less than twice the error. Of the powers
# and floors that were tried these give the narrowest intervals over public tables and families.
_POWER = 2 / 3
_LEAST = 0.03  # keeps the width positive where all parts of a model agree; in usual spreads


@dataclass(frozen=True)
class Conformal:
    """Scaled residuals of rows that the model did not see, ascending, with their weights.

    Of an outcome that is learnt as a logarithm they are residuals of the logarithm: its intervals
    are factors around the prediction, as wide for a second as for an hour.
    """

    residuals: Floats  # [v] |y - prediction| / size(spread)
    weights: Floats  # [v]
    unseen: float  # the weight that a new run counts with
    usual: float  # a usual spread, of training rows; 0: spreads tell nothing
    log: bool = False
    units: int = 0  # configurations or groups among the rows: what errors may be shared within

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """What is saved as arrays; the rest are plain numbers."""
        return {name: getattr(self, name) for name in _ARRAYS}

    @classmethod
    def restore(cls, arrays: Mapping[str, NDArray[Any]], **numbers: Any) -> "Conformal":
        """The interval with these `arrays()` and numbers; damaged arrays are refused."""
        return cls(**checked(arrays, _ARRAYS, "a saved interval")[0], **numbers)

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

        Infinite when there are too few rows to promise that level: with v rows of different
        configurations the highest level is v / (v + 1).
        """
        return np.asarray(self.quantile(level) * size(spread, self.usual))

    def quantile(self, level: float) -> float:
        """The scaled residual that a new run stays below with probability `level`."""
        place = int(np.searchsorted(self._share, level - 1e-12))
        return float(self.residuals[place]) if place < len(self.residuals) else math.inf

    @property
    def effective(self) -> float:
        """How many units that count alike the rows to check with are worth."""
        return float(self.weights.sum()) / self.unseen

    @cached_property
    def _share(self) -> Floats:
        # A new run comes with a weight of its own and an unknown, possibly infinite residual.
        total = float(self.weights.sum())
        return np.asarray(np.cumsum(self.weights) / (total + self.unseen))


def size(spread: Floats, usual: float) -> Floats:
    """How large an error is to be expected, [n], for spreads [n]: 1 at about the usual one."""
    if not usual:
        return np.ones(len(spread))
    return np.asarray((spread / usual + _LEAST) ** _POWER)


def units_needed(level: float) -> int:
    """How many configurations or groups have to be checked with to promise a level."""
    odds = level / (1 - level)
    return math.ceil(odds - 1e-9 * max(odds, 1.0))


def calibrate(
    y: Floats,
    predicted: Floats,
    spread: Floats,
    weight: Floats,
    *,
    usual: float,
    unit: Labels | None = None,
    groups: bool = False,
    log: bool = False,
) -> Conformal:
    """Learn the widths from validation rows, all arrays [v]; `log`: of the logarithm.

    `usual` is a usual spread, told by training rows only (of the logarithm if `log`). `unit`: rows
    with the same label may share an error, see `of_residuals`.
    """
    if log:
        # What is learnt as a logarithm may be 0 in a run that nobody has seen: any factor misses.
        with np.errstate(divide="ignore", invalid="ignore"):
            y = np.where(y > 0, np.log(y), -np.inf)
        predicted, spread = np.log(predicted), spread / predicted
    miss = np.abs(y - predicted)
    return of_residuals(miss, spread, weight, usual=usual, unit=unit, groups=groups, log=log)


def of_residuals(
    miss: Floats,
    spread: Floats,
    weight: Floats,
    *,
    usual: float,
    unit: Labels | None = None,
    groups: bool = False,
    log: bool = False,
) -> Conformal:
    """The intervals that errors [v] of a model with these spreads [v] give.

    Rows of one unit may share an error, so a unit counts as one draw, however many rows it has.
    Without `groups` the promise is for a run like the past ones: rows weigh what they weigh, and
    the new run brings the weight of the unit that a random run belongs to. With `groups` it is for
    a run of a new group, each group as likely as any: all have the same weight, shared by their
    rows, and so has the new one (hierarchical conformal prediction, Lee, Barber, Willett 2023).
    """
    weight, unseen, units = counted(weight, unit, groups=groups)
    residuals = miss / size(spread, usual)
    ascending = np.argsort(residuals, kind="stable")
    return Conformal(residuals[ascending], weight[ascending], unseen, usual, log, units)


def counted(weight: Floats, unit: Labels | None, *, groups: bool) -> tuple[Floats, float, int]:
    """How much each row [v] counts, how much a new run does, and how many units there are.

    See `of_residuals`.
    """
    of_row = np.arange(len(weight)) if unit is None else np.unique(unit, return_inverse=True)[1]
    masses: Floats = np.bincount(of_row, weights=weight).astype(np.float64)
    if groups and len(masses):
        weight, masses = weight / masses[of_row], np.ones(len(masses))
    total = float(masses.sum())
    return weight, float((masses**2).sum() / total) if total else 1.0, len(masses)
