"""Which rows are kept: one random number per row, which nothing can move, against a probability.

The number of a row comes from a counter-based generator keyed by the seed, the content of its
file and its place in it. It does not depend on who reads the row, when, or beside which others.

Decision 0024 (docs/decisions).
"""

import hashlib
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from compass.domain.arguments import Mismatch
from compass.domain.base import scalar
from compass.domain.errors import BadInput
from compass.execute.kernel import f8, integer, kernel, to_f8, to_i8

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
Mask = NDArray[np.uint8]

_MASK = types.Array(types.uint8, 1, "C", readonly=True)
_FRACTION = 2.0**-53
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


@kernel()
def _mixed(x: np.uint64) -> np.uint64:
    """The last step of SplitMix64: every bit of the answer depends on every bit of x."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@kernel(types.uint64, integer, to_f8)
def _fill(key: np.uint64, first: int, into: Floats) -> None:
    for r in range(len(into)):
        counter = np.uint64(first + r + 1) * np.uint64(0x9E3779B97F4A7C15)
        into[r] = np.float64(_mixed(_mixed(key ^ counter)) >> np.uint64(11)) * _FRACTION


def numbers(key: int, first: int, count: int) -> Floats:
    """The random numbers in [0, 1) of the rows first, first + 1, ... under a key."""
    found = np.empty(count)
    _fill(np.uint64(key), first, found)
    return found


@kernel(f8, _MASK, types.uint64, integer, to_i8, to_f8)
def choose(
    probability: Floats, usable: Mask, key: np.uint64, first: int, rows: Rows, weights: Floats
) -> tuple[int, float]:
    """Writes the kept rows and 1 / their probability; how many, and how many were expected."""
    kept, expected = 0, 0.0
    for r in range(len(probability)):
        if usable[r]:
            counter = np.uint64(first + r + 1) * np.uint64(0x9E3779B97F4A7C15)
            number = np.float64(_mixed(_mixed(key ^ counter)) >> np.uint64(11)) * _FRACTION
            expected += probability[r]
            if number < probability[r]:
                rows[kept] = r
                weights[kept] = 1.0 / probability[r]
                kept += 1
    return kept, expected
