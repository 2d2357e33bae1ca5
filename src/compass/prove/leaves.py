"""What is left of the trees: the leaves that legal values within the budget can reach.

Everything is in cells of the axes, so float rounding plays no part any more.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from compass.generate.base import Batch, Bools, Floats
from compass.model.trees.flat import FlatForest
from compass.native import kernel
from compass.prove.axes import Axis, boundaries
from compass.prove.deadline import Deadline
from compass.prove.outcomes import Band, OutcomeSum

Ints = NDArray[np.int64]

_ROUNDING = 1e-9  # of the budget: sums of costs are not exact

_below = kernel("below")


@dataclass(frozen=True)
class Leaves(Batch):
    """Reachable leaves of all trees; the arrays start with [m]."""

    tree: Ints  # which tree, counted over all forests
    value: Floats  # [m, outputs] what it adds to every raw output
    low: Ints  # [m, axes] first cell on every axis
    high: Ints  # [m, axes] last cell
    cost: Floats  # least cost of a configuration that ends in it


class TooMany(Exception):
    """More leaves can be reached than can be looked at."""


def leaves_of(
    outcome: OutcomeSum,
    bands: Sequence[Band],
    axes: Sequence[Axis],
    budget: float,
    *,
    limit: int,
    deadline: Deadline,
) -> Leaves:
    """The leaves of an outcome's trees that could meet its bands within the budget.

    Raises TooMany when there are more than `limit`, OutOfTime when the deadline says so.
    """
    most = budget + _ROUNDING * max(1.0, abs(budget)) if np.isfinite(budget) else np.inf
    caps = [cap for band in bands for cap in _caps(outcome, band)]
    found, trees, total = [], 0, 0
    for index, (forest, factor) in enumerate(outcome.parts):
        descent = _Descent(forest, axes, most, [cap[index] for cap in caps])
        grown = descent.run(factor, outcome.raws, limit - total, deadline)
        total += len(grown)
        found.append(replace(grown, tree=grown.tree + trees))
        trees += forest.trees
    return Leaves.join(found)


Cap = tuple[Floats, float]  # the best below every node; what a node of its tree may have, above it


def _caps(outcome: OutcomeSum, band: Band) -> list[list[Cap]]:
    """For each side of a band and each part: which nodes have something good enough below.

    A node helps only if its best leaf and the best leaves of all other trees reach the band.
    """
    found = []
    for bound, sign in ((band.high, 1.0), (-band.low, -1.0)):
        if np.isinf(bound):
            continue
        room = bound - sign * float(outcome.offset @ band.weights)
        best = [_best_below(*part, sign * band.weights) for part in outcome.parts]
        least = sum(
            float(value[forest.roots].sum())
            for value, forest in zip(best, outcome.forests, strict=True)
        )
        size = sum(float(np.abs(value).max(initial=0.0)) for value in best)
        spare = (
            room - least + _ROUNDING * (abs(room) + size * sum(f.trees for f in outcome.forests))
        )
        found.append([(value, spare) for value in best])
    return found


def _best_below(forest: FlatForest, factor: float, weights: Floats) -> Floats:
    """The smallest weighted value below every node, [m]."""
    tree = np.searchsorted(forest.roots, np.arange(forest.nodes), side="right") - 1
    value = np.zeros(forest.nodes)
    for w in range(forest.value.shape[1]):
        value += forest.value[:, w] * weights[forest.slot[tree] + w] * factor
    _below(forest.feature, forest.left, forest.right, value)
    return value


@dataclass(frozen=True)
class _Front(Batch):
    """Nodes that are looked at together, with what leads to them; arrays start with [n]."""

    node: Ints
    tree: Ints
    low: Ints  # [n, axes]
    high: Ints
    cost: Floats


class _Descent:
    """All trees of a forest at once, one level at a time."""

    def __init__(
        self, forest: FlatForest, axes: Sequence[Axis], budget: float, caps: Sequence[Cap]
    ) -> None:
        self.forest, self.axes, self.budget, self.caps = forest, axes, budget, caps
        self.axis_at = np.full(forest.width, -1)
        for index, axis in enumerate(axes):
            self.axis_at[axis.column] = index

    def run(self, factor: float, outputs: int, limit: int, deadline: Deadline) -> Leaves:
        forest, done, reached = self.forest, [], 0
        front = self._roots()
        while len(front.node):
            deadline.check()
            leaf = forest.feature[front.node] < 0
            ends = front.take(leaf)
            value = _spread_out(forest, ends.node, ends.tree, factor, outputs)
            done.append(Leaves(ends.tree, value, ends.low, ends.high, ends.cost))
            front = front.take(~leaf)
            reached += len(ends.node)
            if reached + len(front.node) > limit:
                raise TooMany
            front = self._good(self._step(front))
        return Leaves.join(done)

    def _roots(self) -> _Front:
        node, tree = self.forest.roots.astype(np.int64), np.arange(self.forest.trees)
        low = np.zeros((len(node), len(self.axes)), dtype=np.int64)
        last = np.array([[len(axis) - 1 for axis in self.axes]], dtype=np.int64)
        start_cell = sum(float(axis.cost.min()) for axis in self.axes)
        return _Front(
            node, tree, low, np.repeat(last, len(node), 0), np.full(len(node), start_cell)
        )

    def _good(self, front: _Front) -> _Front:
        """The nodes within the budget that have something good enough below."""
        keep = front.cost <= self.budget
        for value, spare in self.caps:
            best = value[self.forest.roots[front.tree]]
            keep &= value[front.node] - best <= spare
        return front if keep.all() else front.take(keep)

    def _step(self, front: _Front) -> _Front:
        """The children of inner nodes, with their cells and costs; empty ones left out."""
        forest, node, low, high = self.forest, front.node, front.low, front.high
        index = self.axis_at[forest.feature[node]]
        edge = boundaries(forest.threshold[node], forest.single)
        cut = np.empty(len(node), dtype=np.int64)  # cells below the cut go left
        for a, axis in enumerate(self.axes):
            mine = index == a
            cut[mine] = np.searchsorted(axis.last, edge[mine], side="right")
        rows = np.arange(len(node))
        left = low[rows, index] < cut
        right = cut <= high[rows, index]
        lower, upper = front.take(left), front.take(right)  # copies
        # Each row has one cut, so plain indexing reaches every cell once.
        at = np.arange(len(lower.node)), index[left]
        lower.high[at] = np.minimum(lower.high[at], cut[left] - 1)
        at = np.arange(len(upper.node)), index[right]
        upper.low[at] = np.maximum(upper.low[at], cut[right])
        lower.node[:] = forest.left[node[left]]
        upper.node[:] = forest.right[node[right]]
        self._charge(front, lower, left, index[left])
        self._charge(front, upper, right, index[right])
        return _Front.join([lower, upper])

    def _charge(self, front: _Front, child: _Front, which: Bools, index: Ints) -> None:
        """Add to the cost of children what their narrower cells cost more."""
        before = np.flatnonzero(which)
        for a, axis in enumerate(self.axes):
            mine = np.flatnonzero(index == a)
            old = before[mine]
            now = axis.cheapest(child.low[mine, a], child.high[mine, a])
            child.cost[mine] += now - axis.cheapest(front.low[old, a], front.high[old, a])


def _spread_out(forest: FlatForest, node: Ints, tree: Ints, factor: float, outputs: int) -> Floats:
    """What leaves add to every raw output, [m, outputs]."""
    value = np.zeros((len(node), outputs))
    rows = np.arange(len(node))
    for w in range(forest.value.shape[1]):
        value[rows, forest.slot[tree] + w] = forest.value[node, w] * factor
    return value
