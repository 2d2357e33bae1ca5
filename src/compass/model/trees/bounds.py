"""How low and how high a prediction can be over a box of configurations."""

import numpy as np
from numpy.typing import NDArray

from compass.domain.errors import BadInput
from compass.model.trees.flat import FlatForest, as_compared
from compass.native import kernel

Floats = NDArray[np.float64]

_ROUNDING = 1e-14  # relative: more than exp and the sums of a link are wrong by

_extremes = kernel("extremes")


def raw_bounds(forest: FlatForest, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Bounds float64[raw columns] of `flat.raw` over low <= x <= high (float64[width] each).

    The sum of what every tree can reach by itself, in the order in which `raw` adds: since
    rounding keeps order, no computed prediction lies outside, not even in the last digit.
    """
    floor, ceiling = as_compared(forest, low), as_compared(forest, high)
    if not np.all(floor <= ceiling):
        raise BadInput("the box is empty: a lower bound is above its upper bound, or missing")
    least, most = np.zeros(forest.offset.size), np.zeros(forest.offset.size)
    _extremes(
        forest.feature,
        forest.threshold,
        forest.left,
        forest.right,
        forest.value,
        forest.roots,
        forest.slot,
        floor,
        ceiling,
        least,
        most,
    )
    return forest.offset + least / forest.divisor, forest.offset + most / forest.divisor


def bounds(forest: FlatForest, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Bounds float64[outputs] of `flat.mean` over low <= x <= high (float64[width] each)."""
    least, most = raw_bounds(forest, low, high)
    match forest.link:
        case "identity":
            return least, most
        case "exp":
            with np.errstate(over="ignore"):  # what is too large counts as infinite
                return _outward(np.exp(least), np.exp(most))
        case "sigmoid":
            p_low, p_high = _score(least, np.zeros(1)), _score(most, np.zeros(1))
            found = np.stack([1 - p_high, p_low]).ravel(), np.stack([1 - p_low, p_high]).ravel()
            return _within_one(*found)
        case _:
            return _within_one(_shares(least, most), _shares(most, least))


def _score(own: Floats, other: Floats) -> Floats:
    with np.errstate(over="ignore"):  # exp(large) is infinite and the score 0
        return np.asarray(1.0 / (1.0 + np.exp(other - own)))


def _shares(own: Floats, other: Floats) -> Floats:
    """The softmax of each column at `own` while all others are at `other`."""
    with np.errstate(over="ignore"):
        ratio = np.exp(other[np.newaxis, :] - own[:, np.newaxis])
    np.fill_diagonal(ratio, 1.0)
    return np.asarray(1.0 / ratio.sum(axis=1))


def _within_one(least: Floats, most: Floats) -> tuple[Floats, Floats]:
    # 1 - p is rounded to steps of the size of 1, not of itself: absolute room besides.
    least, most = _outward(least, most)
    return np.maximum(least - _ROUNDING, 0.0), np.minimum(most + _ROUNDING, 1.0)


def _outward(least: Floats, most: Floats) -> tuple[Floats, Floats]:
    return least * (1 - _ROUNDING), most * (1 + _ROUNDING)
