"""Leaving out cells and leaves that no configuration within the budget and the goals can use.

Everything left out is impossible whatever the rest does: it would cost more than the budget, or
even the best leaves of all other trees could not make up for it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from compass.generate.base import Bools, Floats
from compass.native import kernel
from compass.prove.axes import Axis, cheapest_number
from compass.prove.deadline import Deadline
from compass.prove.leaves import Leaves
from compass.prove.outcomes import Band, OutcomeSum

_ROUNDS = 8
_TABLE = 20_000_000  # entries of the table of one axis: cells x trees
_ROUNDING = 1e-9

_cover = kernel("cover")


@dataclass(frozen=True)
class Region:
    """The cells of the axes and the leaves of the trees that a solution may still use."""

    axes: tuple[Axis, ...]
    leaves: Mapping[str, Leaves]
    empty: bool = False  # nothing can be used: the goals cannot be met within the budget


def shrink(
    region: Region,
    outcomes: Mapping[str, OutcomeSum],
    bands: Sequence[Band],
    budget: float,
    deadline: Deadline,
) -> Region:
    """Leave out what cannot take part, again and again while that helps."""
    region = coarsen(region)
    for _ in range(_ROUNDS):
        before = _size(region)
        for band in bands:
            for sign in (1.0, -1.0):
                region = _one_side(region, outcomes, band, sign, budget, deadline)
                if region.empty:
                    return region
        if _size(region) > 0.9 * before:
            break
    return region


def _size(region: Region) -> int:
    return sum(map(len, region.axes)) + sum(map(len, region.leaves.values()))


def _one_side(
    region: Region,
    outcomes: Mapping[str, OutcomeSum],
    band: Band,
    sign: float,
    budget: float,
    deadline: Deadline,
) -> Region:
    """Use one side of a band: sign * weights . raw <= bound."""
    bound = band.high if sign > 0 else -band.low
    if np.isinf(bound):
        return replace(region, empty=bound < 0)
    leaves = region.leaves[band.outcome]
    value = leaves.value @ band.weights * sign
    tree, trees = _numbered(leaves)
    least = np.full(trees, np.inf)
    np.minimum.at(least, tree, value)
    room = bound - float(outcomes[band.outcome].offset @ band.weights) * sign
    room += _ROUNDING * (abs(room) + float(np.abs(value).max(initial=0.0)) * trees)
    if least.sum() > room:
        return replace(region, empty=True)
    kept = value - least[tree] + least.sum() <= room
    if not kept.all():
        some = {**region.leaves, band.outcome: leaves.take(kept)}
        region = coarsen(replace(region, leaves=some))
    for index in range(len(region.axes)):
        deadline.check()
        alive = _cells(region, band, sign, index, room, budget)
        if not alive.any():
            return replace(region, empty=True)
        if not alive.all():
            region = _without_cells(region, index, alive)
            if any(not len(some) for some in region.leaves.values()):
                return replace(region, empty=True)
    return coarsen(region)


def _numbered(leaves: Leaves) -> tuple[np.ndarray[tuple[int], np.dtype[np.int64]], int]:
    names, tree = np.unique(leaves.tree, return_inverse=True)
    return tree.astype(np.int64), len(names)


def _cells(
    region: Region, band: Band, sign: float, index: int, room: float, budget: float
) -> Bools:
    """Which cells of an axis the best leaves of all trees could still make up for."""
    axis, leaves = region.axes[index], region.leaves[band.outcome]
    tree, trees = _numbered(leaves)
    if len(axis) == 1 or len(axis) * trees > _TABLE:
        return np.ones(len(axis), dtype=bool)
    low, high = leaves.low[:, index].copy(), leaves.high[:, index].copy()
    value = leaves.value @ band.weights * sign
    others = leaves.cost - axis.cheapest(low, high)
    limit = budget + _ROUNDING * max(1.0, abs(budget)) if np.isfinite(budget) else np.inf
    least = np.full((len(axis), trees), np.inf)
    _cover(tree, value, low, high, others, axis.cost, limit, least)
    return np.asarray(least.sum(axis=1) <= room)


def _without_cells(region: Region, index: int, alive: Bools) -> Region:
    """Drop cells of an axis; leaves that have none left go as well."""
    axis = region.axes[index]
    position = np.cumsum(alive) - 1  # the last cell alive at or before each
    leaves = {}
    for name, some in region.leaves.items():
        low, high = some.low.copy(), some.high.copy()
        before = np.where(some.low[:, index] > 0, position[some.low[:, index] - 1], -1)
        low[:, index], high[:, index] = before + 1, position[some.high[:, index]]
        kept = low[:, index] <= high[:, index]
        leaves[name] = replace(some, low=low, high=high).take(kept)
    axes = list(region.axes)
    axes[index] = chosen(axis, alive)
    return replace(region, axes=tuple(axes), leaves=leaves)


def chosen(axis: Axis, alive: Bools) -> Axis:
    """The axis with these cells only."""
    none = axis.none and bool(alive[-1])
    cost = axis.cost[alive]
    return replace(
        axis,
        first=axis.first[alive],
        last=axis.last[alive],
        nearest=axis.nearest[alive],
        cost=cost,
        start_cell=cheapest_number(cost, none),
        none=none,
    )


def coarsen(region: Region) -> Region:
    """Neighbouring cells that no leaf tells apart become one."""
    axes, lows, highs = [], {}, {}
    for name, some in region.leaves.items():
        lows[name], highs[name] = some.low.copy(), some.high.copy()
    for index, axis in enumerate(region.axes):
        cut = np.zeros(len(axis) + 1, dtype=bool)  # whether a cell begins something new
        for some in region.leaves.values():
            cut[some.low[:, index]] = True
            cut[some.high[:, index] + 1] = True
        cut[0] = True
        if axis.none:
            cut[len(axis) - 1] = True
        begins = np.flatnonzero(cut[: len(axis)])
        position = np.cumsum(cut[: len(axis)]) - 1
        axes.append(_merged(axis, begins))
        for name, some in region.leaves.items():
            lows[name][:, index] = position[some.low[:, index]]
            highs[name][:, index] = position[some.high[:, index]]
    leaves = {n: replace(some, low=lows[n], high=highs[n]) for n, some in region.leaves.items()}
    return replace(region, axes=tuple(axes), leaves=leaves)


def _merged(axis: Axis, begins: np.ndarray[tuple[int], np.dtype[np.intp]]) -> Axis:
    if len(begins) == len(axis):
        return axis
    ends = np.append(begins[1:], len(axis)) - 1
    cost: Floats = np.minimum.reduceat(axis.cost, begins)
    # The nearest member of the cheapest of the merged cells.
    group = np.repeat(np.arange(len(begins)), ends - begins + 1)
    best = np.flatnonzero(axis.cost == cost[group])
    _, where = np.unique(group[best], return_index=True)
    return replace(
        axis,
        first=axis.first[begins],
        last=axis.last[ends],
        nearest=axis.nearest[best[where]],
        cost=cost,
        start_cell=cheapest_number(cost, axis.none),
        single=False,
    )
