"""Intervals of a change: how far two new runs of two configurations may lie apart.

An error that a model makes at both configurations cancels in their difference. The interval of a
change is therefore calibrated on pairs of runs, and normalised by how far the trees of a target
disagree about the difference, tree by tree, beside the model's own spread at both.
"""

from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np

from compass.domain.space import Category, Number, Role, Space
from compass.model.trees import flat
from compass.model.trees.flat import FlatForest
from compass.prepare.split import configurations
from compass.trust.interval import Conformal, Labels, of_residuals
from compass.trust.rank import Floats, Rows


def by_tree(forest: FlatForest, X: Floats, *, log: bool = False) -> list[Floats]:
    """What each tree of a forest says [n] of rows X float64[n, d]; `log`: the logarithm of it."""
    # Every tree adds to a column of its own, so that one walk tells them all.
    count = forest.trees
    apart = replace(forest, slot=np.arange(count), offset=np.zeros(count), divisor=1.0)
    apart.__dict__["packed"] = forest.packed
    predicted = flat.mean(apart, X)
    return list((np.log(predicted) if log else predicted).T)


def deviation(predicted: list[Floats]) -> Floats:
    """Standard deviation [n] over what the trees say, each [n]."""
    # One array at a time: the same row has to be judged the same in every batch.
    centre = reduce(add, predicted) / len(predicted)
    return np.asarray(
        np.sqrt(reduce(add, [(one - centre) ** 2 for one in predicted]) / len(predicted))
    )


def disagreement(forest: FlatForest, before: Floats, after: Floats, *, log: bool) -> Floats:
    """How far the trees disagree [n] about the change from rows `before` to `after`, [n, d] each.

    `before` may be one row [1, d]. `log`: about the logarithm of the ratio.
    """
    old, new = by_tree(forest, before, log=log), by_tree(forest, after, log=log)
    return deviation([b - a for a, b in zip(old, new, strict=True)])


def spread_of_change(
    forest: FlatForest,
    before: Floats,
    after: Floats,
    own: tuple[Floats, Floats],
    *,
    log: bool = False,
) -> Floats:
    """How uncertain the change from rows `before` to `after`, [n, d] each, is: float64[n].

    `own` is the spread of the model at both, [n] each. Trees that agree about a change say nothing
    about what two runs of the very same configuration differ by: that is in the model's spread.
    With `log` it is about the logarithm of the ratio, and `own` are shares of the predictions.
    """
    return disagreement(forest, before, after, log=log) + np.hypot(*own)


def pairs(X: Floats, space: Space, group: Labels | None = None) -> Rows:
    """Disjoint pairs [p, 2] of rows X float64[n, d] such as questions compare.

    Half of the rows are paired with the nearest one of the same labels, as when little changes; the
    other half with any of the nearest context, as when all knobs move. Both rows of a pair have
    different configurations and, where groups [n] are given, the same group. Which rows are paired
    depends on X only.
    """
    key, rows = np.unique(configurations(X), return_index=True)  # in an order that means nothing
    near = key % 2 == 0
    found = [
        _paired(X, space, rows[half], None if group is None else group[rows[half]], context)
        for half, context in ((near, False), (~near, True))
    ]
    return np.asarray(np.concatenate(found), dtype=np.int64)


def _paired(X: Floats, space: Space, rows: Rows, group: Labels | None, only_context: bool) -> Rows:
    """Pairs [p, 2] of these rows that are alike in all columns, or in those of the context only."""
    alike = [
        (j, parameter)
        for j, parameter in enumerate(space)
        if not only_context or parameter.role is Role.CONTEXT
    ]
    labels = [X[rows, j] for j, parameter in alike if isinstance(parameter, Category)]
    if group is not None:
        labels.insert(0, np.unique(group, return_inverse=True)[1].astype(np.float64))
    numbers = [_scaled(X[rows, j]) for j, parameter in alike if isinstance(parameter, Number)]
    place = np.column_stack(numbers) if numbers else np.zeros((len(rows), 1))
    found = [np.empty((0, 2), dtype=np.int64)]
    left: list[int] = []
    for members in _cells(labels, len(rows)):
        ordered = _neighbours(place, members)
        even = len(ordered) - len(ordered) % 2
        found.append(ordered[:even].reshape(-1, 2))
        left += ordered[even:].tolist()
    if group is None:
        # Cells are in the order of their labels, so that those next to each other share the first.
        found.append(np.array(left[: len(left) - len(left) % 2], dtype=np.int64).reshape(-1, 2))
    return np.asarray(rows[np.concatenate(found)])


def calibrate_change(
    y: Floats,
    predicted: Floats,
    spread: Floats,
    weight: Floats,
    *,
    usual: float,
    group: Labels | None = None,
    log: bool = False,
) -> Conformal:
    """The intervals of changes from pairs of validation rows.

    `y`, `predicted` and `weight` are [p, 2], `spread` [p] is as `spread_of_change` tells it,
    `usual` a usual one of pairs of training rows, `group` [p] what both rows belong to. `log`: the
    changes are logarithms of ratios.
    """
    if log:
        with np.errstate(divide="ignore", invalid="ignore"):
            y = np.where(y > 0, np.log(y), -np.inf)
            predicted = np.log(predicted)
    with np.errstate(invalid="ignore"):
        miss = np.abs((y[:, 1] - y[:, 0]) - (predicted[:, 1] - predicted[:, 0]))
    miss = np.where(np.isnan(miss), np.inf, miss)
    # There are as many near pairs somewhere as half the rows that are there.
    mass = np.sqrt(weight[:, 0] * weight[:, 1])
    return of_residuals(
        miss, spread, mass, usual=usual, unit=group, groups=group is not None, log=log
    )


def ends_of_change(
    known: Conformal, before: Floats, after: Floats, spread: Floats, level: float
) -> tuple[Floats, Floats]:
    """Both ends [n] of the change from prediction `before` to `after`, [n] each.

    `spread` is as `spread_of_change` tells it. Where logarithms are learnt the interval is one of
    ratios, told in units of the outcome for a run that takes as long as predicted before.
    """
    half = known.half_width(spread, level)
    if not known.log:
        return after - before - half, after - before + half
    with np.errstate(over="ignore"):
        return after * np.exp(-half) - before, after * np.exp(half) - before


def _scaled(x: Floats) -> Floats:
    deviation = float(np.std(x)) if len(x) else 0.0
    return x / (deviation or 1.0)


def _cells(labels: list[Floats], rows: int) -> list[Rows]:
    """The rows that agree in all labels [n], cell by cell in the order of the labels."""
    order = np.lexsort(labels[::-1]) if labels else np.arange(rows)
    changes = np.zeros(max(rows - 1, 0), dtype=bool)
    for column in labels:
        changes |= np.diff(column[order]) != 0
    return np.split(order, np.flatnonzero(changes) + 1)


def _neighbours(numbers: Floats, members: Rows) -> Rows:
    """The members in an order in which the first two are near each other, the next two, ...

    They are halved along the column in which they differ most, and the halves again.
    """
    ready: list[Rows] = []
    waiting = [members]
    while waiting:
        part = waiting.pop()
        if len(part) <= 3:
            ready.append(part)
            continue
        values = numbers[part]
        widest = int(np.argmax(values.max(axis=0) - values.min(axis=0)))
        part = part[np.argsort(values[:, widest], kind="stable")]
        middle = len(part) // 4 * 2
        waiting += [part[middle:], part[:middle]]
    return np.concatenate(ready)
