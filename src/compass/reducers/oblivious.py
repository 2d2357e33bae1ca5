"""Small boosted trees that score tens of millions of rows per second and core.

All nodes of one level ask the same question (symmetric or oblivious trees), so that the leaf of a
row is a few compared bytes put together, without a branch. Every leaf has one value per member:
the members share the questions, but each learns its values from another three quarters of the
rows. Their mean predicts; their spread tells how sure that is.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compass.native import kernel

Bins = NDArray[np.uint8]
Floats = NDArray[np.float64]
Columns = NDArray[np.uint16]  # a table may have more columns than a byte counts

MEMBERS = 4  # sums of 16 bits each, added as one number of 64
_LANE = 65_535

_add_trees = kernel("add_trees")
_boost = kernel("boost")


@dataclass(frozen=True)
class Oblivious:
    """Boosted symmetric trees over binned columns: `bin > border` at each level.

    The values of the members are whole numbers of a common `step`, four to a word: their sum over
    the trees is exact, so a row gets the same score in any batch.
    """

    features: Columns  # [trees, depth] column asked about
    borders: Bins  # [trees, depth] the answer is yes above this bin
    leaves: NDArray[np.uint64]  # [trees, 2**depth]
    step: float
    base: float  # what a sum of 0 stands for

    def sums(self, bins: Bins) -> NDArray[np.uint64]:
        """The packed sums of the members, [n], for bins [d, n]."""
        found = np.empty(bins.shape[1], dtype=np.uint64)
        _add_trees(bins, self.features, self.borders, self.leaves, found)
        return found

    def members(self, bins: Bins) -> Floats:
        """What each member predicts, [MEMBERS, n]."""
        sums = self.sums(bins)
        lanes = [(sums >> np.uint64(16 * m)) & np.uint64(_LANE) for m in range(MEMBERS)]
        return self.base + self.step * np.array(lanes, dtype=np.float64)


def learn(bins: Bins, y: Floats, seed: int, *, trees: int, depth: int, rate: float) -> Oblivious:
    """Boosted trees of these rows: bins uint8[d, n], outcomes float64[n]."""
    base = float(y.mean())
    apart = np.random.default_rng(seed).integers(0, MEMBERS, len(y)).astype(np.uint8)
    features = np.zeros((trees, depth), dtype=np.uint16)
    borders = np.full((trees, depth), 255, dtype=np.uint8)
    values = np.zeros((trees, 2**depth, MEMBERS))
    highest = int(bins.max(initial=0)) + 1
    _boost(np.ascontiguousarray(bins), y - base, apart, rate, highest, features, borders, values)
    lowest = values.min(axis=(1, 2))
    # Half a step of rounding in each tree must not carry into the next member.
    reach = float((values.max(axis=(1, 2)) - lowest).sum())
    step = reach / (_LANE - trees) or 1.0
    whole = np.rint((values - lowest[:, None, None]) / step).astype(np.uint64)
    shifts = (np.uint64(16) * np.arange(MEMBERS, dtype=np.uint64)).astype(np.uint64)
    leaves = np.bitwise_or.reduce(whole << shifts, axis=2)
    return Oblivious(features, borders, leaves, step, base + float(lowest.sum()))
