"""Which rows are kept: one random number per row, which nothing can move, against a probability.

The number of a row comes from a counter-based generator keyed by the seed, the content of its
file and its place in it. It does not depend on who reads the row, when, or beside which others.

Decision 0024 (docs/decisions).
"""

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compass.domain.arguments import Mismatch
from compass.domain.base import scalar
from compass.domain.errors import BadInput
from compass.native import kernel

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
Mask = NDArray[np.uint8]

_random_numbers = kernel("random_numbers")
_choose = kernel("choose")
_NOTHING = 1e-200  # a usual score is 1; what is smaller than this cannot be divided by


def check_share(keep: float) -> None:
    """Raises the error that says what a share is, if `keep` is none."""
    if not 0 < keep <= 1:
        raise BadInput(
            f"the share of rows to keep must be above 0 and at most 1, not {keep:g}",
            hint="0.2 keeps every fifth row",
        )


def share(given: Any) -> float:
    """An argument that is a share of rows."""
    plain = scalar(given)
    if isinstance(plain, bool) or not isinstance(plain, int | float):
        raise Mismatch("must be a number above 0 and at most 1")
    check_share(plain)
    return float(plain)


def key_of(seed: int, *place: object) -> int:
    """A key of 64 bits from the seed and what names a place."""
    text = "\x00".join(str(part) for part in (seed, *place))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def proportional(
    scores: Floats, keep: float, floor: float, counts: Floats | None = None
) -> tuple[float, float]:
    """`a`, `b` such that min(1, a + b * score) is `keep` on the mean of these scores.

    `counts` says how many rows each of them stands for; None: as many as any other. A share
    `floor` of the probability is the same for all rows, so that no weight exceeds
    1 / (floor * keep) by much, however small a score.
    """
    mean = float(np.average(scores, weights=counts))
    if keep >= 1 or not mean > _NOTHING:
        return keep, 0.0
    shape = floor + (1 - floor) * scores / mean
    low, high = 0.0, keep / floor
    for _ in range(60):  # the share grows with the factor, so halving finds it
        factor = (low + high) / 2
        if np.average(np.minimum(1.0, factor * shape), weights=counts) < keep:
            low = factor
        else:
            high = factor
    return high * floor, high * (1 - floor) / mean


def numbers(key: int, first: int, count: int) -> Floats:
    """The random numbers in [0, 1) of the rows first, first + 1, ... under a key."""
    found = np.empty(count)
    _random_numbers(key, first, found)
    return found


def choose(probability: Floats, usable: Mask, key: int, first: int) -> tuple[Rows, Floats, float]:
    """The kept rows, 1 / their probability, and how many were expected to be kept."""
    rows, weights = np.empty(len(probability), dtype=np.int64), np.empty(len(probability))
    counted = np.empty(2)
    _choose(probability, usable, key, first, rows, weights, counted)
    kept = int(counted[0])
    return rows[:kept].copy(), weights[:kept].copy(), float(counted[1])
