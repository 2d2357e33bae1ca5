"""What is left of the trees: the leaves that legal values within the budget can reach.

Everything here is told in cells of the axes, so float rounding plays no part any more.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compass.generate.base import Bools, Floats
from compass.generate.prove.axes import Axis, boundaries
from compass.model.flat import FlatForest

Ints = NDArray[np.int64]

_ROUNDING = 1e-9  # of the budget: sums of costs are not exact


@dataclass(frozen=True)
class Leaves:
    """Reachable leaves of all trees; the arrays start with [m]."""

    tree: Ints  # which tree, counted over all forests
    value: Floats  # [m, outputs] what it adds to every raw output
    low: Ints  # [m, axes] first cell on every axis
    high: Ints  # [m, axes] last cell
    cost: Floats  # least cost of a configuration that ends here

    def __len__(self) -> int:
        return len(self.tree)

    def take(self, which: Bools) -> "Leaves":
        """The marked leaves."""
        return Leaves(
            self.tree[which],
            self.value[which],
            self.low[which],
            self.high[which],
            self.cost[which],
        )


class TooMany(Exception):
    """More leaves can be reached than can be looked at."""


def leaves_of(
    parts: Sequence[tuple[FlatForest, float]],
    outputs: int,
    axes: Sequence[Axis],
    budget: float,
    limit: int,
) -> Leaves:
    """The leaves of these forests, each with the factor of its values.

    Raises TooMany when there are more than `limit`.
    """
    limit_cost = budget + _ROUNDING * max(1.0, abs(budget)) if np.isfinite(budget) else np.inf
    found, trees = [], 0
    total = 0
    for forest, factor in parts:
        grown = _descend(forest, factor, outputs, axes, limit_cost, limit - total)
        total += len(grown)
        found.append(_renumbered(grown, trees))
        trees += forest.trees
    return _joined(found)


def _renumbered(leaves: Leaves, first: int) -> Leaves:
    return Leaves(leaves.tree + first, leaves.value, leaves.low, leaves.high, leaves.cost)


def _joined(parts: Sequence[Leaves]) -> Leaves:
    names = ("tree", "value", "low", "high", "cost")
    return Leaves(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def _descend(
    forest: FlatForest,
    factor: float,
    outputs: int,
    axes: Sequence[Axis],
    budget: float,
    limit: int,
) -> Leaves:
    """All trees of a forest at once, one level at a time."""
    axis_at = np.full(forest.width, -1)
    for place, axis in enumerate(axes):
        axis_at[axis.column] = place
    node, tree = forest.roots.astype(np.int64), np.arange(forest.trees)
    low = np.zeros((len(node), len(axes)), dtype=np.int64)
    high = np.repeat(np.array([[len(axis) - 1 for axis in axes]], dtype=np.int64), len(node), 0)
    home = sum(float(axis.cost.min()) for axis in axes)
    cost = np.full(len(node), home)
    done: list[Leaves] = []
    reached = 0
    while len(node):
        leaf = forest.feature[node] < 0
        value = _spread_out(forest, node[leaf], tree[leaf], factor, outputs)
        done.append(Leaves(tree[leaf], value, low[leaf], high[leaf], cost[leaf]))
        reached += int(leaf.sum())
        node, tree, low, high, cost = (
            node[~leaf],
            tree[~leaf],
            low[~leaf],
            high[~leaf],
            cost[~leaf],
        )
        if reached + len(node) > limit:
            raise TooMany
        node, tree, low, high, cost = _step(forest, axis_at, axes, node, tree, low, high, cost)
        keep = cost <= budget
        node, tree, low, high, cost = node[keep], tree[keep], low[keep], high[keep], cost[keep]
    return _joined(done)


def _step(
    forest: FlatForest,
    axis_at: Ints,
    axes: Sequence[Axis],
    node: Ints,
    tree: Ints,
    low: Ints,
    high: Ints,
    cost: Floats,
) -> tuple[Ints, Ints, Ints, Ints, Floats]:
    """The children of inner nodes, with their cells and costs; empty ones left out."""
    place = axis_at[forest.feature[node]]
    edge = boundaries(forest.threshold[node], forest.single)
    cut = np.empty(len(node), dtype=np.int64)  # cells below the cut go left
    for a, axis in enumerate(axes):
        mine = place == a
        cut[mine] = np.searchsorted(axis.last, edge[mine], side="right")
    rows = np.arange(len(node))
    to_left, to_right = high.copy(), low.copy()
    to_left[rows, place] = np.minimum(high[rows, place], cut - 1)
    to_right[rows, place] = np.maximum(low[rows, place], cut)
    node = np.concatenate([forest.left[node], forest.right[node]]).astype(np.int64)
    new_low, new_high = np.concatenate([low, to_right]), np.concatenate([to_left, high])
    tree, place, cost = np.tile(tree, 2), np.tile(place, 2), np.tile(cost, 2)
    before = np.concatenate([low, low]), np.concatenate([high, high])
    rows = np.arange(len(node))
    keep = new_low[rows, place] <= new_high[rows, place]
    node, tree, place, cost = node[keep], tree[keep], place[keep], cost[keep]
    new_low, new_high = new_low[keep], new_high[keep]
    old_low, old_high = before[0][keep], before[1][keep]
    for a, axis in enumerate(axes):
        mine = np.flatnonzero(place == a)
        now = axis.cheapest(new_low[mine, a], new_high[mine, a])
        cost[mine] += now - axis.cheapest(old_low[mine, a], old_high[mine, a])
    return node, tree, new_low, new_high, cost


def _spread_out(forest: FlatForest, node: Ints, tree: Ints, factor: float, outputs: int) -> Floats:
    """What leaves add to every raw output, [m, outputs]."""
    value = np.zeros((len(node), outputs))
    rows = np.arange(len(node))
    for w in range(forest.value.shape[1]):
        value[rows, forest.slot[tree] + w] = forest.value[node, w] * factor
    return value
