"""The compiled loop of exact Shapley values: one walk per tree and row compared with.

Where two rows agree on the way at a node there is nothing to decide. Where they part, both ways
are walked, and the column counts as taken from one row or the other below. A leaf that is reached
with `a` columns of the first row and `b` of the second gives each of the former its value times
(a-1)! b! / (a+b)!, and takes from each of the latter its value times a! (b-1)! / (a+b)!
(Lundberg et al., Nature Machine Intelligence 2020; Laberge and Pequignot, 2022). Sums of both kinds
are handed up from the leaves, so the walk costs as much as the nodes it visits.
"""

from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from compass.execute.kernel import f8_2d, i8, integer, kernel
from compass.model.trees.walk import NODES, WIDE_NODES, Floats, Nodes

_FIRST, _SECOND = 1, 2
_OUT = types.float64[:, :, ::1]


def _columns(kind: Any, dimensions: int) -> object:
    return types.Array(kind, dimensions, "C", readonly=True)


def _both(*rest: object) -> tuple[list[object], list[object]]:
    single = [NODES, _columns(types.float32, 1), _columns(types.float32, 2), *rest]
    double = [WIDE_NODES, _columns(types.float64, 1), _columns(types.float64, 2), *rest]
    return single, double


@kernel()
def _fork(nodes: Any, node: int, x: Any, z: Any, side: Any) -> int:
    """The first node at or below this one where the rows part, or the leaf where they end."""
    while True:
        column = nodes[node].feature
        if column < 0:
            break
        first, second = x[column] <= nodes[node].edge, z[column] <= nodes[node].edge
        if first != second:
            if side[column] == 0:
                break
            if side[column] == _SECOND:
                first = second
        node = nodes[node].left if first else nodes[node].right
    return node


@kernel()
def _branch(nodes: Any, node: int, value: float) -> int:
    return nodes[node].left if value <= nodes[node].edge else nodes[node].right  # type: ignore[no-any-return]


@kernel(*_both(f8_2d, i8, i8, f8_2d, integer, integer, _OUT))
def contributions(
    nodes: Nodes,
    x: NDArray[Any],
    Z: NDArray[Any],
    value: Floats,
    roots: NDArray[np.int64],
    slot: NDArray[np.int64],
    share: Floats,
    start: int,
    stop: int,
    out: Floats,
) -> None:
    """Add the Shapley values of x [d] against the rows start .. stop - 1 of Z [b, d] to `out`.

    `share[a, b]` is (a-1)! b! / (a+b)!, `out` [b, d, raw columns] is zero before.
    """
    wide = value.shape[1]
    side = np.zeros(x.size, np.int64)
    path = np.empty(share.shape[0], np.int64)  # the nodes above where the rows part
    gained, lost = np.empty((share.shape[0], wide)), np.empty((share.shape[0], wide))
    gain, loss = np.empty(wide), np.empty(wide)
    for k in range(start, stop):
        z = Z[k]
        for t in range(roots.size):
            node, depth, a, b, first = roots[t], 0, 0, 0, slot[t]
            more = True
            while more:
                node = _fork(nodes, node, x, z, side)
                column = nodes[node].feature
                if column >= 0:
                    path[depth], side[column] = node, _FIRST
                    depth, a = depth + 1, a + 1
                    node = _branch(nodes, node, x[column])
                    continue
                for c in range(wide):
                    gain[c], loss[c] = value[node, c] * share[a, b], value[node, c] * share[b, a]
                more = False
                while depth > 0 and not more:
                    above = path[depth - 1]
                    column = nodes[above].feature
                    if side[column] == _FIRST:
                        for c in range(wide):
                            out[k, column, first + c] += gain[c]
                            gained[depth - 1, c], lost[depth - 1, c] = gain[c], loss[c]
                        side[column], a, b = _SECOND, a - 1, b + 1
                        node, more = _branch(nodes, above, z[column]), True
                    else:
                        for c in range(wide):
                            out[k, column, first + c] -= loss[c]
                            gain[c] += gained[depth - 1, c]
                            loss[c] += lost[depth - 1, c]
                        side[column], b, depth = 0, b - 1, depth - 1
