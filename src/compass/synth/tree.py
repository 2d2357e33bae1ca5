"""One tree whose leaves keep the rows that fell into them: the donors of new values."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compass.native import kernel
from compass.synth.base import Floats

_grow = kernel("grow_tree")
_find = kernel("find_leaves")
Places = NDArray[np.int32]
_PARTED = 20  # leaves that the rows of a label have to fill, for a tree of its own


@dataclass(frozen=True, eq=False)
class DonorTree:
    """A tree on some columns; node k holds the rows donors[start[k]:stop[k]]."""

    predictors: tuple[int, ...]  # columns that it looks at, in this order
    ranks: tuple[Floats | None, ...]  # of each predictor with labels: the rank of every label
    feature: Places  # [nodes] position in `predictors`; -1: leaf
    threshold: Floats  # [nodes] x <= threshold goes left
    left: Places  # [nodes] the right one follows it
    parent: Places  # [nodes] -1: the root
    start: Places
    stop: Places
    donors: Places  # [n] rows that it was grown on

    def leaves(self, X: Floats) -> Places:
        """The leaf of each row of X [m, d], of which only the predictors are looked at."""
        into = np.empty(len(X), dtype=np.int32)
        columns = _ranked([X[:, place] for place in self.predictors], self.ranks, len(X))
        _find(self.feature, self.threshold, self.left, columns, into)
        return into


@dataclass(frozen=True, eq=False)
class PartedTree:
    """A tree for each label of one column under a common root, which holds all rows.

    Node 0 is the root; the others are numbered one tree after the other.
    """

    column: int  # whose labels part the rows
    group: Places  # [labels] the tree of each label
    trees: tuple[DonorTree, ...]
    first: Places  # [trees] the number of each tree's own root
    parent: Places  # [nodes] -1: the root
    start: Places
    stop: Places
    donors: Places  # [n] rows that it was grown on

    @staticmethod
    def of(
        column: int, group: Places, trees: Sequence[DonorTree], rows: Sequence[Places]
    ) -> "PartedTree":
        """Trees that were grown on these rows each; `group` says which label is whose."""
        sizes = np.array([len(tree.start) for tree in trees])
        first = 1 + np.concatenate([[0], np.cumsum(sizes)[:-1]])
        before = np.concatenate([[0], np.cumsum([len(own) for own in rows])])
        each = list(zip(trees, first, before[:-1], strict=True))
        parent = [np.where(tree.parent < 0, 0, tree.parent + at) for tree, at, _ in each]
        start = [tree.start + place for tree, _, place in each]
        stop = [tree.stop + place for tree, _, place in each]
        donors = [own[tree.donors] for own, tree in zip(rows, trees, strict=True)]

        def joined(root: int, parts: Sequence[NDArray[np.generic]]) -> Places:
            return np.concatenate([[root], *parts]).astype(np.int32)

        return PartedTree(
            column,
            group,
            tuple(trees),
            first.astype(np.int32),
            joined(-1, parent),
            joined(0, start),
            joined(int(before[-1]), stop),
            np.concatenate(donors).astype(np.int32),
        )

    def leaves(self, X: Floats) -> Places:
        """The leaf of each row of X [m, d]."""
        into = np.empty(len(X), dtype=np.int32)
        owner = self.group[X[:, self.column].astype(np.int64)]
        for place, tree in enumerate(self.trees):
            own = np.flatnonzero(owner == place)
            into[own] = tree.leaves(X[own]) + self.first[place]
        return into


def grow_parted(
    X: Floats,
    target: int,
    predictors: Sequence[int],
    levels: Sequence[int],
    *,
    by: int | None,
    least: int,
    gain: float,
) -> DonorTree | PartedTree:
    """A tree for each label of column `by`, one of the predictors, that has enough rows.

    The other labels have one together; where that is all of them, or there is no such column, it is
    a tree like any other.
    """
    if by is None:
        return grow(X, target, predictors, levels, least=least, gain=gain)
    labels = X[:, by].astype(np.int64)
    counts = np.bincount(labels, minlength=levels[by])
    group = np.cumsum(counts >= _PARTED * least) * (counts >= _PARTED * least) - 1
    if not (group >= 0).any():
        return grow(X, target, predictors, levels, least=least, gain=gain)
    rare = group < 0
    group[rare] = group.max() + 1
    # A label that no row has is drawn by no tree of its own.
    most = int(group[counts > 0].max())
    group = np.minimum(group, most).astype(np.int32)
    rows = [np.flatnonzero(group[labels] == place).astype(np.int32) for place in range(most + 1)]
    trees = [grow(X[own], target, predictors, levels, least=least, gain=gain) for own in rows]
    return PartedTree.of(by, group, trees, rows)


def grow(
    X: Floats,
    target: int,
    predictors: Sequence[int],
    levels: Sequence[int],
    *,
    least: int,
    gain: float,
) -> DonorTree:
    """The tree that tells column `target` of X [n, d] from the predictors.

    `levels` are the labels of each column, 0 for numbers. Numbers are told by their ranks, so that
    no few large values decide. Labels of a predictor are put in the order in which the target
    changes most with them.
    """
    n = len(X)
    classes = levels[target]
    y = np.ascontiguousarray(X[:, target]) if classes else mean_ranks(X[:, target])
    ranks = tuple(
        _label_ranks(X[:, place], y, levels[place], classes) if levels[place] else None
        for place in predictors
    )
    columns = _ranked([X[:, place] for place in predictors], ranks, n)
    orders = np.argsort(columns, axis=1, kind="stable").astype(np.int32)
    # A leaf has at least one row, and `least` unless it is the only one.
    most = 2 * max(n // least, 1)
    feature, left, parent, start, stop = (np.empty(most, dtype=np.int32) for _ in range(5))
    threshold, donors = np.empty(most), np.empty(n, dtype=np.int32)
    count = np.zeros(1, dtype=np.int64)
    # Of a squared sum over a number of rows; that of classes counts the rows.
    smallest = gain * (float(n) if classes else max(float(np.sum(y * y)), 1e-300))
    _grow(columns, orders, y, classes, least, smallest,
          feature, threshold, left, parent, start, stop, donors, count)  # fmt: skip
    used = slice(0, int(count[0]))
    return DonorTree(
        tuple(predictors),
        ranks,
        feature[used].copy(),
        threshold[used].copy(),
        left[used].copy(),
        parent[used].copy(),
        start[used].copy(),
        stop[used].copy(),
        donors,
    )


def mean_ranks(values: Floats) -> Floats:
    """The ranks of numbers [n] from -1/2 to 1/2, equal ones with the mean of theirs."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    middle = ends - (counts + 1) / 2
    return np.asarray((middle[inverse] / max(len(values) - 1, 1)) - 0.5)


def _label_ranks(labels: Floats, y: Floats, count: int, classes: int) -> Floats:
    """The rank [count] of each label by the target: its mean, or the main direction of shares."""
    codes = labels.astype(np.int64)
    seen = np.maximum(np.bincount(codes, minlength=count), 1)
    if not classes:
        score = np.bincount(codes, weights=y, minlength=count) / seen
    else:
        table = np.zeros((count, classes))
        np.add.at(table, (codes, y.astype(np.int64)), 1.0)
        shares = table / seen[:, None]
        weight = np.bincount(codes, minlength=count)
        apart = shares - np.average(shares, axis=0, weights=np.maximum(weight, 1e-12))
        _, _, axes = np.linalg.svd(apart * np.sqrt(weight)[:, None], full_matrices=False)
        score = apart @ axes[0]
    ranks = np.empty(count)
    ranks[np.argsort(score, kind="stable")] = np.arange(count, dtype=np.float64)
    return ranks


def _ranked(columns: Sequence[Floats], ranks: Sequence[Floats | None], rows: int) -> Floats:
    """Predictors as the kernels take them, [p, rows]: labels by their ranks."""
    found = np.empty((len(columns), rows))
    for place, (column, order) in enumerate(zip(columns, ranks, strict=True)):
        found[place] = column if order is None else order[column.astype(np.int64)]
    return found
