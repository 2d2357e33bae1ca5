"""The step of a grid that all values of a column stand on: 96, 192, 288, or 0.1, 0.3, 0.5."""

import numpy as np
from numpy.typing import NDArray

_CHANCE = 1e-3  # that arbitrary numbers would stand on such a grid: less than this
_DECIMALS = 3  # most decimals of a step
_EXACT = 1e-9  # of a step: how far values may be off, as where legal values are checked
_LARGEST = 2.0**53
_FEW = 8  # different values from which on their last decimal is a step
_STEPS = 1000  # from the lowest to the highest value, up to which it is
_FIRST = 1000  # values that are looked at before all are


def step_of(values: NDArray[np.float64]) -> float | None:
    """The step of the grid of these finite numbers [n]; None: they tell none but 1.

    The grid may begin anywhere (8, 24, 40: step 16). Of n different whole numbers all differences
    are multiples of g or more by chance with a probability of about g ** -(n - 1) * (1 + g /
    (n - 2)): larger ones are no grid. Numbers with few decimals stand on the grid of these.
    """
    values = np.unique(values)
    if len(values) < 4:
        return None
    for decimals in range(_DECIMALS + 1):
        scaled = values * 10.0**decimals
        nearest = np.rint(scaled)
        if np.abs(nearest).max() > _LARGEST:
            return None
        if (np.abs(scaled - nearest) <= _EXACT).all():
            return _step(nearest.astype(np.int64), decimals)
    return None


def _step(values: NDArray[np.int64], decimals: int) -> float | None:
    differences = values[1:] - values[0]
    # Nearly always a few values are enough to see that there is none.
    common = int(np.gcd.reduce(differences[:_FIRST]))
    if common > 1:
        common = int(np.gcd.reduce(differences))
    count = len(values)
    by_chance = float(common) ** -(count - 1) * (1 + common / (count - 2))
    if common > 1 and by_chance < _CHANCE:
        return float(common / 10**decimals)
    span = int(values[-1]) - int(values[0])
    return 10.0**-decimals if decimals and count >= _FEW and span <= _STEPS else None
