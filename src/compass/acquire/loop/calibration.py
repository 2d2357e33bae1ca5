"""How wide an interval has to be, told by what predictions were off by.

A model that few runs have taught is too sure of itself, and what is chosen because it looks good
turns out worse than it looks. So the half-width that a model gives is multiplied by a quantile of
errors in half-widths: those of every run as the others predict it, and those of the predictions
that were made before their run was. A few errors as far apart as a Cauchy distribution has them
stand for what nothing is known of yet.
"""

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LEVEL = 0.9  # of the intervals
SPREAD = 1.645  # deviations of such an interval of a normal distribution
_DOUBTS = 4  # seeds 4000 and 4001 of five spaces of benchmarks/loop
_LATEST = 500  # predictions that are looked back at


def doubts() -> Floats:
    """Errors in half-widths that are always reckoned with: evenly spread Cauchy quantiles."""
    share = (np.arange(_DOUBTS) + 0.5) / _DOUBTS
    return np.asarray(np.tan(np.pi / 2 * share) / SPREAD)


def widening(left_out: Floats, told: Floats) -> float:
    """By how much to multiply half-widths, at least 1: a quantile of errors [n] and [k].

    It is the one that a new error of the same kind is below with at least the level.
    """
    errors = np.sort(np.concatenate([left_out, told[-_LATEST:], doubts()]))
    place = min(math.ceil((len(errors) + 1) * LEVEL), len(errors))
    return max(float(errors[place - 1]), 1.0)


def error_of(
    measured: float, told: tuple[float, float, float], *, widened: float, positive: bool
) -> float:
    """By how many half-widths, before these were widened, a prediction was off; NaN: unknown.

    `told` is the value and the ends of its interval.
    """
    ends = np.array([measured, *told])
    if positive:
        if not (ends > 0).all():
            return math.nan
        ends = np.log(ends)
    if not np.isfinite(ends).all():
        return math.nan
    truth, value, low, high = ends.tolist()
    half = (high - value if truth > value else value - low) / widened
    return abs(truth - value) / half if half > 0 else math.nan
