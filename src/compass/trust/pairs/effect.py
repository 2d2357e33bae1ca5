"""What comparable past runs say about the effect of a parameter that a suggestion moves.

Whether the outcome moved in the pairs (see `index`) as the model expects decides; what runs of one
configuration differ by anyhow is no movement.

Decision 0019 (docs/decisions).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compass.trust.pairs.comparable import spread_out
from compass.trust.pairs.index import Paired
from compass.trust.rank import Floats

_TRIFLE = 0.01  # a change below 1 % is none, however exactly runs repeat
_MINOR = 0.1  # a parameter that makes less than this share of the whole change is not its cause
_SURE = 1.64  # standard errors: 95 % on one side
_COARSE = 0.1  # an expected change is no claim below the model's usual error, but at most 10 %


@dataclass(frozen=True, eq=False)
class Outcome:
    """One outcome of the past runs, in the scale in which its changes are compared."""

    values: Floats  # [n] logarithms of what is always positive
    log: bool
    scale: float  # what a change is a share of where it is no logarithm
    still: float  # a change below this is none: runs of one configuration differ so much
    claim: float  # below this the model does not claim a change: it errs as much

    @classmethod
    def of(cls, y: Floats, repeats: NDArray[np.uint64], error: float) -> "Outcome":
        """An outcome y [n]; runs with equal `repeats` [n] are of the same configuration.

        `error` is what the model usually errs by, in the scale of the values.
        """
        some = y[np.isfinite(y)]
        log = bool(len(some) and some.min() > 0)
        scale = 1.0 if log else float(np.std(some)) or 1.0
        values, trifle = spread_out(y), _TRIFLE * scale
        claim = max(min(error, _COARSE * scale), trifle)
        return cls(values, log, scale, max(_scatter(values, repeats), trifle), claim)

    def minor(self, whole: float) -> float:
        """The change up to which a parameter is not what makes the whole change."""
        return max(self.claim, _MINOR * abs(whole))

    def scaled(self, predicted: Floats) -> Floats:
        """Predictions or measurements [k] of a number in the scale of the values."""
        if not self.log:
            return np.asarray(predicted)
        # A model may predict 0 or less of what never was: that is as little as there ever was.
        least = float(np.exp(np.nanmin(self.values)))
        return np.asarray(np.log(np.maximum(predicted, least * 1e-3)))

    @classmethod
    def of_class(cls, y: Floats, label: int) -> "Outcome":
        """Whether classes y [n] are this one."""
        values = np.where(np.isfinite(y), (y == label).astype(np.float64), np.nan)
        return cls(values, False, 1.0, 0.5, 0.5)


def _scatter(values: Floats, repeats: NDArray[np.uint64]) -> float:
    """The median difference between two runs of one configuration; 0 where none is repeated."""
    known = np.flatnonzero(np.isfinite(values))
    order = known[np.argsort(repeats[known], kind="stable")]
    again = np.flatnonzero(repeats[order[1:]] == repeats[order[:-1]])
    if not len(again):
        return 0.0
    return float(np.median(np.abs(values[order[again + 1]] - values[order[again]])))


@dataclass(frozen=True)
class Count:
    """How the outcome moved in the pairs."""

    pairs: int
    agreeing: int  # those that moved as expected
    mass: float  # sum of the weights
    agree: float  # share of the weight that moved as expected; 0 without pairs
    median: float  # change of the outcome; NaN without pairs
    refuted: bool = False  # whether surely less than half of the expected change is there


def count(outcome: Outcome, paired: Paired, expected: float, whole: float) -> Count:
    """Compare the pairs with the change that the model expects of this parameter.

    `whole` is what it expects of the suggestion as a whole: a parameter that hardly contributes to
    it agrees with pairs in which hardly anything happened.
    """
    moved = outcome.values[paired.new] - outcome.values[paired.old]
    known = np.isfinite(moved)
    moved, weight = moved[known], paired.weight[known]
    mass = float(weight.sum())
    if not len(moved) or mass <= 0:
        return Count(len(moved), 0, 0.0, 0.0, float("nan"))
    minor = outcome.minor(whole)
    if abs(expected) <= minor:
        most = max(minor, min(3 * outcome.still, _COARSE * outcome.scale))
        agrees = (np.abs(moved) <= most).astype(np.float64)
    else:
        same = np.sign(moved) == np.sign(expected)
        agrees = np.where(np.abs(moved) <= outcome.still, 0.5, same)
    agree = float((agrees * weight).sum() / mass)
    refuted = abs(expected) > minor and _refuted(moved * np.sign(expected), weight, abs(expected))
    agreeing = int((agrees == 1).sum())
    return Count(len(moved), agreeing, mass, agree, float(np.median(moved)), refuted)


def _refuted(moved: Floats, weight: Floats, expected: float) -> bool:
    """Whether changes [p], counted in the expected direction, surely are less than half of it.

    Single runs scatter: where a change is small beside that, every other pair moves the other way
    though the change is there.
    """
    share = weight / weight.sum()
    mean = float((share * moved).sum())
    doubt = float(np.sqrt((share**2 * (moved - mean) ** 2).sum()))
    return mean + _SURE * doubt < expected / 2
