"""The best points of planes: two columns of one configuration move, everything else stays.

A tree cuts such a plane into a few rectangles. Adding each at its four corners and summing up once
at the end gives the prediction at every point of the plane for little more than the price of the
rectangles: thousands of configurations cost what a dozen do when each is walked on its own.

Decision 0010 (docs/decisions).
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import types

from compass.execute.kernel import f8, f8_2d, i8, i8_2d, kernel, number, to_f8, to_f8_2d, to_i8
from compass.generate.base import Bools, Columns, Floats
from compass.generate.blocks import ColumnValues
from compass.generate.linear_rules import BELOW, EQUAL, LinearRules
from compass.model.trees.joined import Joined
from compass.model.trees.walk import NODES, WIDE_NODES

_flags = types.Array(types.boolean, 1, "C", readonly=True)
_grid = types.float64[:, :, ::1]
_stack = types.int64[:, ::1]


class RawTargets(NamedTuple):
    """The targets in terms of raw outputs, one entry per target."""

    slot: Columns  # first output
    wide: Columns  # 1: a number; otherwise scores of so many classes
    wanted: Columns  # position of the wanted class
    low: Floats
    high: Floats
    scale: Floats
    sign: Floats  # of its objective: see `compass.generate.objectives.sign`


@dataclass(frozen=True, eq=False)
class Planes:
    """Pairs of columns that move together, and the points of their planes that may be looked at."""

    columns: Columns  # [p, 2]; the same column twice is a line
    budget: Floats  # [p] the two values of a point must cost less than this together
    mask_start: Columns  # [p] where the points of a plane begin in `allowed`; -1: all are allowed
    allowed: Bools  # per point, plane after plane, whether the rules allow it


def best_of_planes(
    trees: Joined,
    x: Floats,
    planes: Planes,
    values: ColumnValues,
    costs: Floats,
    targets: RawTargets,
    rules: LinearRules,
    margin: float,
) -> Columns:
    """The positions [p, 2] of the best point of each plane through x [d].

    `costs` are those of the values. What counts is: how far the goals are missed, the preference,
    and the two costs (or, with `margin` > 0, how far inside the ranges a point lies, up to that
    margin). A position of -1 means that the plane has no allowed point within its budget.
    """
    compared, value = (_compared(trees, a) for a in (x, values.value))
    sizes, pairs = np.diff(values.start), planes.columns
    rows = int(sizes[pairs[:, 0]].max(initial=1)) + 1
    areas = pairs[pairs[:, 0] != pairs[:, 1]]  # a line needs no second side
    columns = int(sizes[areas[:, 1]].max(initial=1)) + 1
    position = np.full((len(pairs), 2), -1, dtype=np.int64)
    _best_of_planes(
        trees.nodes,
        trees.value,
        trees.trees,
        trees.divisor,
        trees.offset,
        compared,
        np.ascontiguousarray(pairs),
        values.start,
        value,
        costs,
        *targets,
        *rules,
        np.ascontiguousarray(x),
        values.value,
        planes.mask_start,
        planes.allowed,
        planes.budget,
        margin,
        np.zeros((rows, columns, len(trees.offset))),
        # More branches never wait on the way down a tree; memory is taken only as it is used.
        np.empty((len(trees.nodes) // 2 + 2, 5), dtype=np.int64),
        np.empty((6, len(rules.constant))),
        position.reshape(-1),
        np.full(3 * len(pairs), np.inf),
    )
    return position


def _compared(trees: Joined, values: Floats) -> Floats:
    """Values as the trees compare them."""
    cast = values.astype(np.float32).astype(np.float64) if trees.single else values
    return np.ascontiguousarray(cast)


@kernel()
def _first_above(values: Any, first: int, last: int, threshold: float) -> int:
    """The first position in first .. last - 1 whose value is above the threshold, else last."""
    while first < last:
        middle = (first + last) // 2
        if values[middle] <= threshold:
            first = middle + 1
        else:
            last = middle
    return first


@kernel()
def _rest(
    factor: Any, constant: Any, term: Any, size: Any, slack: Any, x: Any, a: int, b: int, sums: Any
) -> None:
    """Of every sum: what the columns that stay add to it and to its slack, and what a and b do."""
    for r in range(constant.size):
        total, near = constant[r], size[r]
        for c in range(x.size):
            if c not in (a, b):
                total += factor[r, c] * x[c]
                near += term[r, c] * abs(x[c])
        sums[0, r], sums[1, r] = total, slack[r] * near
        sums[2, r], sums[3, r] = factor[r, a], factor[r, b]
        sums[4, r], sums[5, r] = slack[r] * term[r, a], slack[r] * term[r, b]


@kernel()
def _obeys(kind: Any, sums: Any, first: float, second: float) -> bool:
    """Whether all sums hold at a point; where rounding decides, `<` does not and `<=` does."""
    fine = True
    for r in range(kind.size):
        total = sums[0, r] + sums[2, r] * first + sums[3, r] * second
        near = sums[1, r] + sums[4, r] * abs(first) + sums[5, r] * abs(second)
        if kind[r] == BELOW:
            fine = total < -near
        else:
            fine = (abs(total) if kind[r] == EQUAL else total) <= near
        if not fine:
            break
    return fine


_SIGNATURE = [
    *(f8, i8_2d, f8, f8),
    *(f8, i8_2d, i8, f8, f8),
    *(i8, i8, i8, f8, f8, f8, f8),
    *(f8_2d, f8, i8, f8_2d, f8, f8, f8, f8, i8, _flags, f8, number),
    *(_grid, _stack, to_f8_2d, to_i8, to_f8),
]


@kernel([NODES, *_SIGNATURE], [WIDE_NODES, *_SIGNATURE])
def _best_of_planes(  # noqa: PLR0912, PLR0915 - one pass without calls is what makes it fast
    nodes: Any,
    value: Any,
    trees: Any,
    divisor: Any,
    offset: Any,
    x: Any,
    pairs: Any,
    begin: Any,
    option: Any,
    option_cost: Any,
    target_slot: Any,
    target_wide: Any,
    target_wanted: Any,
    target_low: Any,
    target_high: Any,
    target_scale: Any,
    target_sign: Any,
    factor: Any,
    constant: Any,
    kind: Any,
    term: Any,
    size: Any,
    slack: Any,
    exact_x: Any,
    exact_option: Any,
    mask_start: Any,
    allowed: Any,
    budget: Any,
    margin: float,
    grid: Any,
    stack: Any,
    sums: Any,
    position: Any,
    keys: Any,
) -> None:
    outputs = offset.size
    for p in range(pairs.shape[0]):
        a, b = pairs[p, 0], pairs[p, 1]
        va, vb = option[begin[a] : begin[a + 1]], option[begin[b] : begin[b + 1]]
        # Rules are about the values themselves, not about what the trees cast them to.
        ea, eb = exact_option[begin[a] : begin[a + 1]], exact_option[begin[b] : begin[b + 1]]
        ca, cb = option_cost[begin[a] : begin[a + 1]], option_cost[begin[b] : begin[b + 1]]
        na, nb = va.size, vb.size
        if a == b:  # a line: nothing else moves
            b, nb = -1, 1
        _rest(factor, constant, term, size, slack, exact_x, a, b, sums)
        for i in range(na + 1):
            for j in range(nb + 1):
                for c in range(outputs):
                    grid[i, j, c] = 0.0
        for t in range(trees.shape[0]):
            base, first_value, many = trees[t, 0], trees[t, 2], trees[t, 3]
            stack[0, 0], stack[0, 1], stack[0, 2] = trees[t, 1], 0, na
            stack[0, 3], stack[0, 4] = 0, nb
            waiting = 1
            while waiting > 0:
                waiting -= 1
                at = stack[waiting, 0]
                i0, i1 = stack[waiting, 1], stack[waiting, 2]
                j0, j1 = stack[waiting, 3], stack[waiting, 4]
                node = nodes[base + at]
                while node.feature >= 0:
                    down = node.left
                    if node.feature == a:
                        cut = _first_above(va, i0, i1, node.edge)
                        if cut == i0:
                            down = node.right
                        elif cut < i1:
                            stack[waiting, 0] = node.right
                            stack[waiting, 1], stack[waiting, 2] = cut, i1
                            stack[waiting, 3], stack[waiting, 4] = j0, j1
                            waiting += 1
                            i1 = cut
                    elif node.feature == b:
                        cut = _first_above(vb, j0, j1, node.edge)
                        if cut == j0:
                            down = node.right
                        elif cut < j1:
                            stack[waiting, 0] = node.right
                            stack[waiting, 1], stack[waiting, 2] = i0, i1
                            stack[waiting, 3], stack[waiting, 4] = cut, j1
                            waiting += 1
                            j1 = cut
                    elif x[node.feature] > node.edge:
                        down = node.right
                    at = down
                    node = nodes[base + at]
                for w in range(many):
                    c = trees[t, 4] + w
                    amount = value[first_value + at * many + w] / divisor[c]
                    grid[i0, j0, c] += amount
                    grid[i1, j0, c] -= amount
                    grid[i0, j1, c] -= amount
                    grid[i1, j1, c] += amount
        for i in range(na):
            for c in range(outputs):
                along = 0.0
                for j in range(nb):
                    along += grid[i, j, c]
                    grid[i, j, c] = along + (grid[i - 1, j, c] if i > 0 else 0.0)
        for i in range(na):
            if ca[i] >= budget[p]:
                continue
            for j in range(nb):
                cost = ca[i] + (cb[j] if b >= 0 else 0.0)
                if cost >= budget[p]:
                    continue
                if mask_start[p] >= 0 and not allowed[mask_start[p] + i * nb + j]:
                    continue
                missed, preference, inside = 0.0, 0.0, margin
                for k in range(target_slot.size):
                    s = target_slot[k]
                    if target_wide[k] > 1:
                        other = -np.inf
                        for c in range(target_wide[k]):
                            if c != target_wanted[k]:
                                other = max(other, grid[i, j, s + c] + offset[s + c])
                        own = grid[i, j, s + target_wanted[k]] + offset[s + target_wanted[k]]
                        missed += max(other - own, 0.0)
                        continue
                    y = grid[i, j, s] + offset[s]
                    preference += target_sign[k] * y / target_scale[k]
                    missed += max(target_low[k] - y, 0.0) / target_scale[k]
                    missed += max(y - target_high[k], 0.0) / target_scale[k]
                    inside = min(inside, (y - target_low[k]) / target_scale[k])
                    inside = min(inside, (target_high[k] - y) / target_scale[k])
                last_key = -inside if margin > 0 else cost
                if missed > keys[3 * p]:
                    continue
                if missed == keys[3 * p]:
                    if preference > keys[3 * p + 1]:
                        continue
                    if preference == keys[3 * p + 1] and last_key >= keys[3 * p + 2]:
                        continue
                if not _obeys(kind, sums, ea[i], eb[j] if b >= 0 else 0.0):
                    continue
                keys[3 * p], keys[3 * p + 1], keys[3 * p + 2] = missed, preference, last_key
                position[2 * p], position[2 * p + 1] = i, j
