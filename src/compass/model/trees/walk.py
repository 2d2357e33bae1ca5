"""The compiled loops of flat trees: pack their nodes, walk them, add up what their leaves say.

Every loop exists twice: for inputs that are cast to float32 before they are compared (`single`),
and for inputs that are compared as they are.
"""

from typing import Any

import numba
import numpy as np
from numba import types
from numpy.typing import NDArray

from compass.execute.kernel import (
    f8,
    f8_2d,
    i4,
    i8,
    i8_2d,
    integer,
    kernel,
    number,
    to_f8,
    to_f8_2d,
)

Floats = NDArray[np.float64]
Nodes = NDArray[np.void]
Any1D = NDArray[Any]
Any2D = NDArray[Any]

LINKS = ("identity", "sigmoid", "softmax", "exp")  # kernels know a link by its place
_SIGMOID, _SOFTMAX, _EXP = 1, 2, 3

_BLOCK = 2048  # rows that walk a tree one after the other while its nodes are in cache
# What a walk needs of a node, in 16 bytes: one cache line per step instead of four.
NODE = np.dtype([("edge", "f4"), ("feature", "i4"), ("left", "i4"), ("right", "i4")])
WIDE_NODE = np.dtype(
    [("edge", "f8"), ("feature", "i4"), ("left", "i4"), ("right", "i4"), ("unused", "i4")]
)
# An empty array of the type that inputs are cast to: it chooses the loop.
SINGLE, DOUBLE = np.empty(0, np.float32), np.empty(0, np.float64)

NODES = types.Array(numba.from_dtype(NODE), 1, "C", readonly=True)
WIDE_NODES = types.Array(numba.from_dtype(WIDE_NODE), 1, "C", readonly=True)
_TO_NODES = types.Array(numba.from_dtype(NODE), 1, "C")
_TO_WIDE_NODES = types.Array(numba.from_dtype(WIDE_NODE), 1, "C")


def _both(*rest: object) -> tuple[list[object], list[object]]:
    single = types.Array(types.float32, 1, "C")
    double = types.Array(types.float64, 1, "C")
    return [NODES, single, *rest], [WIDE_NODES, double, *rest]


@kernel(i4, f8, i4, i4, _TO_NODES)
def pack(feature: Any1D, threshold: Floats, left: Any1D, right: Any1D, nodes: Nodes) -> None:
    """Write what a walk of float32 inputs needs of every node into `nodes`."""
    for i in range(feature.size):
        leaf = feature[i] < 0
        # The largest float32 that is not above the threshold: inputs are float32, so comparing
        # with it decides every one of them as comparing with the float64 threshold does.
        edge = np.float32(threshold[i])
        if edge > threshold[i]:
            edge = np.nextafter(edge, np.float32(-np.inf))
        nodes[i].edge, nodes[i].feature = edge, feature[i]
        # A leaf leads to itself: all rows of a block can step until the last one has arrived.
        nodes[i].left = i if leaf else left[i]
        nodes[i].right = i if leaf else right[i]


@kernel(i4, f8, i4, i4, _TO_WIDE_NODES)
def pack_wide(feature: Any1D, threshold: Floats, left: Any1D, right: Any1D, nodes: Nodes) -> None:
    """Write what a walk of float64 inputs needs of every node into `nodes`."""
    for i in range(feature.size):
        leaf = feature[i] < 0
        nodes[i].edge, nodes[i].feature, nodes[i].unused = threshold[i], feature[i], 0
        nodes[i].left = i if leaf else left[i]
        nodes[i].right = i if leaf else right[i]


@kernel()
def _load(X: Floats, first: int, size: int, block: Any2D) -> None:
    for r in range(size):
        for j in range(X.shape[1]):
            block[r, j] = X[first + r, j]  # cast to the type of the block


@kernel()
def _walk(nodes: Any, root: int, block: Any, size: int, at: Any) -> None:
    # All rows take a step before any takes the next: their memory accesses overlap, and without
    # branches there is nothing to mispredict.
    for r in range(size):
        at[r] = root
    moved = np.int32(1)
    while moved > 0:
        moved = np.int32(0)
        for r in range(size):
            node = nodes[at[r]]
            down = np.int32(block[r, max(node.feature, 0)] <= node.edge)
            to = node.right + (node.left - node.right) * down
            moved += np.int32(to != at[r])
            at[r] = to


@kernel()
def _linked(raw: Floats, first: int, count: int, link: int, linked: Floats) -> None:
    # In the kernel rather than in numpy, whose vectorised exp may differ with the place of a row.
    if link == _SIGMOID:
        linked[1] = 1.0 / (1.0 + np.exp(-raw[first]))
        linked[0] = 1.0 - linked[1]
    elif link == _SOFTMAX:
        top = raw[first]
        for c in range(1, count):
            top = max(top, raw[first + c])
        total = 0.0
        for c in range(count):
            linked[c] = np.exp(raw[first + c] - top)
            total += linked[c]
        for c in range(count):
            linked[c] /= total
    elif link == _EXP:
        for c in range(count):
            linked[c] = np.exp(raw[first + c])
    else:
        for c in range(count):
            linked[c] = raw[first + c]


@kernel()
def _add(value: Any, place: int, wide: int, at: Any, size: int, slot: int, raw: Any) -> None:
    if wide == 1:
        for r in range(size):
            raw[r, slot] += value[place + at[r]]
    else:
        for r in range(size):
            for c in range(wide):
                raw[r, slot + c] += value[place + at[r] * wide + c]


@kernel(*_both(f8, i8_2d, f8, f8, i8_2d, f8, f8_2d, integer, integer, to_f8_2d))
def mean(
    nodes: Nodes,
    like: Any1D,
    value: Floats,
    trees: Any2D,
    divisor: Floats,
    offset: Floats,
    groups: Any2D,
    share: Floats,
    X: Floats,
    start: int,
    stop: int,
    out: Floats,
) -> None:
    """Write the predictions of the rows start .. stop - 1 into `out`; see `joined.Joined`."""
    rows, columns = min(_BLOCK, stop - start), offset.size
    block = np.empty((rows, X.shape[1]), like.dtype)
    at = np.empty(rows, np.int32)
    raw = np.empty((rows, columns))
    linked = np.empty(out.shape[1])
    for first in range(start, stop, _BLOCK):
        size = min(_BLOCK, stop - first)
        _load(X, first, size, block)
        raw[:size] = 0.0
        for t in range(trees.shape[0]):
            place, wide, slot = trees[t, 2], trees[t, 3], trees[t, 4]
            _walk(nodes[trees[t, 0] :], trees[t, 1], block, size, at)
            _add(value, place, wide, at, size, slot, raw)
        for r in range(size):
            for c in range(columns):
                raw[r, c] = offset[c] + raw[r, c] / divisor[c]
            for c in range(out.shape[1]):
                out[first + r, c] = 0.0
            for g in range(groups.shape[0]):
                _linked(raw[r], groups[g, 0], groups[g, 1], groups[g, 2], linked)
                for c in range(groups[g, 4]):
                    out[first + r, groups[g, 3] + c] += linked[c]
            for c in range(out.shape[1]):
                out[first + r, c] /= share[c]


@kernel()
def _votes(value: Any, leaves: Any, offset: Floats, divisor: float, out: Floats) -> float:
    best = 0
    for c in range(out.size):
        total = 0.0
        for t in range(leaves.size):
            total += value[leaves[t], c]
        out[c] = offset[c] + total / divisor
        if out[c] > out[best]:
            best = c
    # A second sweep over the leaves: squares minus squared mean would cancel.
    centre, squares = out[best] - offset[best], 0.0
    for t in range(leaves.size):
        squares += (value[leaves[t], best] - centre) ** 2
    return float(np.sqrt(squares / leaves.size))


@kernel()
def _add_tree(value: Any, leaf: int, slot: int, raw: Floats) -> None:
    for c in range(value.shape[1]):
        raw[slot + c] += value[leaf, c]


@kernel()
def _rounds(
    value: Any,
    leaves: Any,
    slot: Any,
    offset: Floats,
    link: int,
    staged: int,
    each: int,
    best: int,
    raw: Floats,
    linked: Floats,
    score: Floats,
) -> None:
    raw[:] = offset
    for k in range(score.size):
        if staged == 0:
            raw[:] = offset
        for t in range(k * each, min((k + 1) * each, leaves.size)):
            _add_tree(value, leaves[t], slot[t], raw)
        _linked(raw, 0, offset.size, link, linked)
        score[k] = linked[best]


@kernel()
def _deviation(score: Floats, since: int) -> float:
    # Two sweeps: squares minus squared mean would cancel.
    centre, squares = 0.0, 0.0
    for k in range(since, score.size):
        centre += score[k]
    centre /= score.size - since
    for k in range(since, score.size):
        squares += (score[k] - centre) ** 2
    return float(np.sqrt(squares / (score.size - since)))


@kernel(
    *_both(f8_2d, i8, i8, f8, number, integer, integer, f8_2d, integer, integer, to_f8_2d, to_f8)
)
def mean_spread(
    nodes: Nodes,
    like: Any1D,
    value: Floats,
    roots: Any1D,
    slot: Any1D,
    offset: Floats,
    divisor: float,
    link: int,
    staged: int,
    X: Floats,
    start: int,
    stop: int,
    out: Floats,
    spread: Floats,
) -> None:
    """The same for one ensemble, and the standard deviation of the first largest output.

    Over what: the rounds of trees, each by itself; or, if `staged`, the sums up to each of the
    later half of the rounds.
    """
    trees, columns = roots.size, offset.size
    each = max(columns // value.shape[1], 1)  # trees that make a round
    rounds = (trees + each - 1) // each
    since = rounds // 2 if staged > 0 else 0
    # Every tree votes on all outputs, and its vote is what its leaf holds.
    plain = staged == 0 and link == 0 and each == 1 and divisor == trees
    rows = min(_BLOCK, stop - start)
    block = np.empty((rows, X.shape[1]), like.dtype)
    leaves = np.empty((trees, rows), np.int32)
    raw, linked, score = np.empty(columns), np.empty(out.shape[1]), np.empty(rounds)
    for first in range(start, stop, _BLOCK):
        size = min(_BLOCK, stop - first)
        _load(X, first, size, block)
        for t in range(trees):
            _walk(nodes, roots[t], block, size, leaves[t])
        for r in range(size):
            if plain:
                spread[first + r] = _votes(value, leaves[:, r], offset, divisor, out[first + r])
                continue
            raw[:] = 0.0
            for t in range(trees):
                _add_tree(value, leaves[t, r], slot[t], raw)
            for c in range(columns):
                raw[c] = offset[c] + raw[c] / divisor
            _linked(raw, 0, columns, link, linked)
            best = 0
            for c in range(out.shape[1]):
                out[first + r, c] = linked[c]
                if linked[c] > linked[best]:
                    best = c
            _rounds(value, leaves[:, r], slot, offset, link, staged, each, best, raw, linked, score)
            spread[first + r] = _deviation(score, since)
