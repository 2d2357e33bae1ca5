"""The compiled loops of the flat forest: pack its nodes, walk its trees, cut branches."""

from typing import Any

import numba
import numpy as np
from numba import types
from numpy.typing import NDArray

from compass.model.kernel import (
    f8,
    f8_2d,
    i4,
    i8,
    integer,
    kernel,
    to_f8,
    to_f8_2d,
    to_i4,
    to_i8,
)

Floats = NDArray[np.float64]
Nodes = NDArray[np.void]
Any1D = NDArray[Any]

_BLOCK = 2048  # rows that walk a tree one after the other while its nodes are in cache
# What a walk needs of a node, in 16 bytes: one cache line per step instead of four.
NODE = np.dtype([("edge", "f4"), ("feature", "i4"), ("left", "i4"), ("right", "i4")])

_packed = types.Array(numba.from_dtype(NODE), 1, "C", readonly=True)
_to_packed = types.Array(numba.from_dtype(NODE), 1, "C")


@kernel(i4, f8, i4, i4, _to_packed)
def pack(feature: Any1D, threshold: Floats, left: Any1D, right: Any1D, nodes: Nodes) -> None:
    """Write what a walk needs of every node into `nodes`."""
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


@kernel()
def _load(X: Floats, first: int, size: int, block: NDArray[np.float32]) -> None:
    for r in range(size):
        for j in range(X.shape[1]):
            block[r, j] = np.float32(X[first + r, j])


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


@kernel(_packed, f8_2d, i8, f8_2d, integer, integer, to_f8_2d)
def mean(
    nodes: Nodes, value: Floats, roots: Any1D, X: Floats, start: int, stop: int, out: Floats
) -> None:
    """Write the mean over trees of the rows start .. stop - 1 into `out`."""
    trees, outputs = roots.size, value.shape[1]
    block = np.empty((min(_BLOCK, stop - start), X.shape[1]), np.float32)
    at = np.empty(min(_BLOCK, stop - start), np.int32)
    for first in range(start, stop, _BLOCK):
        size = min(_BLOCK, stop - first)
        _load(X, first, size, block)
        out[first : first + size] = 0.0
        for t in range(trees):
            _walk(nodes, roots[t], block, size, at)
            for r in range(size):
                for c in range(outputs):
                    out[first + r, c] += value[at[r], c]
        for r in range(first, first + size):
            for c in range(outputs):
                out[r, c] /= trees


@kernel(_packed, f8_2d, i8, f8_2d, integer, integer, to_f8_2d, to_f8)
def mean_spread(
    nodes: Nodes,
    value: Floats,
    roots: Any1D,
    X: Floats,
    start: int,
    stop: int,
    out: Floats,
    spread: Floats,
) -> None:
    """The same, and the standard deviation over trees of the first largest output."""
    trees, outputs = roots.size, value.shape[1]
    block = np.empty((min(_BLOCK, stop - start), X.shape[1]), np.float32)
    leaves = np.empty((trees, min(_BLOCK, stop - start)), np.int32)
    for first in range(start, stop, _BLOCK):
        size = min(_BLOCK, stop - first)
        _load(X, first, size, block)
        for t in range(trees):
            _walk(nodes, roots[t], block, size, leaves[t])
        for r in range(size):
            best = 0
            for c in range(outputs):
                total = 0.0
                for t in range(trees):
                    total += value[leaves[t, r], c]
                out[first + r, c] = total / trees
                if out[first + r, c] > out[first + r, best]:
                    best = c
            # A second sweep over the leaves: squares minus squared mean would cancel.
            centre, squares = out[first + r, best], 0.0
            for t in range(trees):
                squares += (value[leaves[t, r], best] - centre) ** 2
            spread[first + r] = np.sqrt(squares / trees)


@kernel(i4, f8, i4, i4, i8, f8, f8, to_i4, to_i4, to_i4, to_i4, to_i8, to_i4, to_i4)
def restrict(
    feature: Any1D,
    threshold: Floats,
    left: Any1D,
    right: Any1D,
    roots: Any1D,
    low: Floats,
    high: Floats,
    new_feature: Any1D,
    new_left: Any1D,
    new_right: Any1D,
    origin: Any1D,
    new_roots: Any1D,
    stack_node: Any1D,
    stack_parent: Any1D,
) -> int:
    """Write the nodes that a box can reach, in preorder; how many there are."""
    floor, ceiling = low.astype(np.float32), high.astype(np.float32)
    kept = 0
    for t in range(roots.size):
        new_roots[t] = kept
        node, waiting = roots[t], 0
        while True:
            split = feature[node]
            while split >= 0:
                if ceiling[split] <= threshold[node]:
                    node = left[node]
                elif floor[split] > threshold[node]:
                    node = right[node]
                else:
                    break
                split = feature[node]
            new_feature[kept], origin[kept] = split, node
            new_left[kept] = new_right[kept] = -1
            kept += 1
            if split >= 0:
                # The left child is the next node out; the right one waits for its number.
                new_left[kept - 1] = kept
                stack_node[waiting], stack_parent[waiting] = right[node], kept - 1
                waiting += 1
                node = left[node]
                continue
            if waiting == 0:
                break
            waiting -= 1
            node = stack_node[waiting]
            new_right[stack_parent[waiting]] = kept
    return kept
