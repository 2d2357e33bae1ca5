"""Small boosted trees that score tens of millions of rows per second and core.

All nodes of one level ask the same question (symmetric or oblivious trees), so that the leaf of a
row is a few compared bytes put together, without a branch. Every leaf has one value per member:
the members share the questions, but each learns its values from another three quarters of the
rows. Their mean predicts; their spread tells how sure that is.
"""

from dataclasses import dataclass

import numpy as np
from numba import types
from numpy.typing import NDArray

from compass.execute.kernel import f8, integer, kernel, number

Bins = NDArray[np.uint8]
Floats = NDArray[np.float64]
Columns = NDArray[np.uint16]  # a table may have more columns than a byte counts
Words = NDArray[np.uint64]

MEMBERS = 4  # sums of 16 bits each, added as one number of 64
_LANE = 65_535
_BLOCK = 512  # rows whose leaves stay in the nearest cache

_u1 = types.Array(types.uint8, 1, "C", readonly=True)
_u1_2d = types.Array(types.uint8, 2, "C", readonly=True)
_u2_2d = types.Array(types.uint16, 2, "C", readonly=True)
_u8_2d = types.Array(types.uint64, 2, "C", readonly=True)
_to_u8 = types.uint64[::1]
_to_u2_2d = types.uint16[:, ::1]
_to_u1_2d = types.uint8[:, ::1]
_to_f8_3d = types.float64[:, :, ::1]


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
        add_trees(bins, self.features, self.borders, self.leaves, found)
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


@kernel(_u1_2d, _u2_2d, _u1_2d, _u8_2d, _to_u8)
def add_trees(bins: Bins, features: Columns, borders: Bins, leaves: Words, into: Words) -> None:
    """The sum of the leaves of every row of bins [d, n], into [n]."""
    trees, depth = features.shape
    rows = bins.shape[1]
    leaf = np.empty((trees, _BLOCK), dtype=np.uint8)
    for start in range(0, rows, _BLOCK):
        count = min(_BLOCK, rows - start)
        for t in range(trees):
            places = leaf[t]
            for r in range(count):
                places[r] = 0
            for level in range(depth):
                column = bins[features[t, level], start : start + count]
                border = borders[t, level]
                bit = np.uint8(1 << level)
                for r in range(count):
                    places[r] |= bit if column[r] > border else np.uint8(0)
        for r in range(count):
            total = np.uint64(0)
            for t in range(trees):
                total += leaves[t, leaf[t, r]]
            into[start + r] = total


@kernel()
def _split(bins: Bins, slope: Floats, leaf: Bins, leaves: int, highest: int) -> tuple[int, int]:
    """The column and border that explain most over all leaves of a level; border -1: none."""
    columns, rows = bins.shape
    best, feature, border = 0.0, 0, -1
    for column in range(columns):
        total = np.zeros((highest, leaves))
        count = np.zeros((highest, leaves))
        for r in range(rows):
            total[bins[column, r], leaf[r]] += slope[r]
            count[bins[column, r], leaf[r]] += 1
        below, few = np.zeros(leaves), np.zeros(leaves)
        whole, many = total.sum(axis=0), count.sum(axis=0)
        for b in range(highest - 1):
            gain = 0.0
            for i in range(leaves):
                below[i] += total[b, i]
                few[i] += count[b, i]
                above, rest = whole[i] - below[i], many[i] - few[i]
                gain += below[i] ** 2 / (few[i] + 1.0) + above**2 / (rest + 1.0)
                gain -= whole[i] ** 2 / (many[i] + 1.0)
            if gain > best:
                best, feature, border = gain, column, b
    return feature, border


@kernel()
def _settle(left: Floats, leaf: Bins, apart: Bins, rate: float, values: Floats) -> None:
    """Gives every leaf its values, and takes them off what is left."""
    members, rows = left.shape
    for member in range(members):
        total, count = np.zeros(len(values)), np.zeros(len(values))
        for r in range(rows):
            if apart[r] != member:
                total[leaf[r]] += left[member, r]
                count[leaf[r]] += 1
        for i in range(len(values)):
            values[i, member] = rate * total[i] / (count[i] + 1.0)
        for r in range(rows):
            left[member, r] -= values[leaf[r], member]


@kernel(_u1_2d, f8, _u1, number, integer, _to_u2_2d, _to_u1_2d, _to_f8_3d)
def _boost(
    bins: Bins,
    y: Floats,
    apart: Bins,
    rate: float,
    highest: int,
    features: Columns,
    borders: Bins,
    values: Floats,
) -> None:
    """Grows one tree after the other on what the earlier ones left over."""
    rows = bins.shape[1]
    trees, depth = features.shape
    left = np.empty((MEMBERS, rows))  # what each member has not explained yet
    for member in range(MEMBERS):
        left[member, :] = y
    slope = np.empty(rows)
    leaf = np.empty(rows, dtype=np.uint8)
    for t in range(trees):
        for r in range(rows):
            slope[r] = 0.25 * (left[0, r] + left[1, r] + left[2, r] + left[3, r])
            leaf[r] = 0
        for level in range(depth):
            feature, border = _split(bins, slope, leaf, 1 << level, highest)
            if border < 0:
                break
            features[t, level] = feature
            borders[t, level] = border
            for r in range(rows):
                if bins[feature, r] > border:
                    leaf[r] |= np.uint8(1 << level)
        _settle(left, leaf, apart, rate, values[t])
