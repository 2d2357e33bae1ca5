"""Leaving out cells and leaves that no configuration within the budget and the goals can use.

Everything left out is impossible whatever the rest does: it would cost more than the budget, or
even the best leaves of all other trees could not make up for it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from compass.generate.base import Bools, Floats
from compass.prove.axes import Axis
from compass.prove.clock import Clock
from compass.prove.cover import cover
from compass.prove.leaves import Leaves
from compass.prove.outcomes import Band, Outcome

_ROUNDS = 8
_TABLE = 20_000_000  # entries of the table of one axis: cells x trees
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Reach:
    """What can still be used: cells of the axes and leaves of the trees."""

    axes: tuple[Axis, ...]
    leaves: Mapping[str, Leaves]
    empty: bool = False  # nothing can be used: the goals cannot be met within the budget


def shrink(
    reach: Reach,
    outcomes: Mapping[str, Outcome],
    bands: Sequence[Band],
    budget: float,
    clock: Clock,
) -> Reach:
    """Leave out what cannot take part, again and again while that helps."""
    reach = coarsen(reach)
    for _ in range(_ROUNDS):
        before = _size(reach)
        for band in bands:
            for sign in (1.0, -1.0):
                reach = _one_side(reach, outcomes, band, sign, budget, clock)
                if reach.empty:
                    return reach
        if _size(reach) > 0.9 * before:
            break
    return reach


def _size(reach: Reach) -> int:
    return sum(map(len, reach.axes)) + sum(map(len, reach.leaves.values()))


def _one_side(
    reach: Reach,
    outcomes: Mapping[str, Outcome],
    band: Band,
    sign: float,
    budget: float,
    clock: Clock,
) -> Reach:
    """Use one side of a band: sign * weights . raw <= bound."""
    bound = band.high if sign > 0 else -band.low
    if np.isinf(bound):
        return replace(reach, empty=bound < 0)
    leaves = reach.leaves[band.outcome]
    value = leaves.value @ band.weights * sign
    tree, trees = _numbered(leaves)
    least = np.full(trees, np.inf)
    np.minimum.at(least, tree, value)
    room = bound - float(outcomes[band.outcome].offset @ band.weights) * sign
    room += _ROUNDING * (abs(room) + float(np.abs(value).max(initial=0.0)) * trees)
    if least.sum() > room:
        return replace(reach, empty=True)
    kept = value - least[tree] + least.sum() <= room
    reach = _without_leaves(reach, band.outcome, kept)
    if not kept.all():
        reach = coarsen(reach)
    for place in range(len(reach.axes)):
        clock.check()
        alive = _cells(reach, band, sign, place, room, budget)
        if not alive.any():
            return replace(reach, empty=True)
        if not alive.all():
            reach = _without_cells(reach, place, alive)
            if any(not len(some) for some in reach.leaves.values()):
                return replace(reach, empty=True)
    return coarsen(reach)


def _numbered(leaves: Leaves) -> tuple[np.ndarray[tuple[int], np.dtype[np.int64]], int]:
    names, tree = np.unique(leaves.tree, return_inverse=True)
    return tree.astype(np.int64), len(names)


def _cells(reach: Reach, band: Band, sign: float, place: int, room: float, budget: float) -> Bools:
    """Which cells of an axis the best leaves of all trees could still make up for."""
    axis, leaves = reach.axes[place], reach.leaves[band.outcome]
    tree, trees = _numbered(leaves)
    if len(axis) == 1 or len(axis) * trees > _TABLE:
        return np.ones(len(axis), dtype=bool)
    low, high = leaves.low[:, place].copy(), leaves.high[:, place].copy()
    value = leaves.value @ band.weights * sign
    others = leaves.cost - axis.cheapest(low, high)
    limit = budget + _ROUNDING * max(1.0, abs(budget)) if np.isfinite(budget) else np.inf
    least = np.full((len(axis), trees), np.inf)
    cover(tree, value, low, high, others, axis.cost, limit, least)
    return np.asarray(least.sum(axis=1) <= room)


def _without_leaves(reach: Reach, name: str, kept: Bools) -> Reach:
    if kept.all():
        return reach
    return replace(reach, leaves={**reach.leaves, name: reach.leaves[name].take(kept)})


def _without_cells(reach: Reach, place: int, alive: Bools) -> Reach:
    """Drop cells of an axis; leaves that have none left go as well."""
    axis = reach.axes[place]
    position = np.cumsum(alive) - 1  # the last cell alive at or before each
    leaves = {}
    for name, some in reach.leaves.items():
        low, high = some.low.copy(), some.high.copy()
        before = np.where(some.low[:, place] > 0, position[some.low[:, place] - 1], -1)
        low[:, place], high[:, place] = before + 1, position[some.high[:, place]]
        leaves[name] = Leaves(some.tree, some.value, low, high, some.cost).take(
            low[:, place] <= high[:, place]
        )
    axes = list(reach.axes)
    axes[place] = chosen(axis, alive)
    return replace(reach, axes=tuple(axes), leaves=leaves)


def chosen(axis: Axis, alive: Bools) -> Axis:
    """The axis with these cells only."""
    none = axis.none and bool(alive[-1])
    cost = axis.cost[alive]
    some = len(cost) - (none and len(cost) > 1)
    return replace(
        axis,
        first=axis.first[alive],
        last=axis.last[alive],
        nearest=axis.nearest[alive],
        cost=cost,
        home=int(np.argmin(cost[:some])),
        none=none,
    )


def coarsen(reach: Reach) -> Reach:
    """Neighbouring cells that no leaf tells apart become one."""
    axes, lows, highs = [], {}, {}
    for name, some in reach.leaves.items():
        lows[name], highs[name] = some.low.copy(), some.high.copy()
    for place, axis in enumerate(reach.axes):
        cut = np.zeros(len(axis) + 1, dtype=bool)  # whether a cell begins something new
        for some in reach.leaves.values():
            cut[some.low[:, place]] = True
            cut[some.high[:, place] + 1] = True
        cut[0] = True
        if axis.none:
            cut[len(axis) - 1] = True
        begins = np.flatnonzero(cut[: len(axis)])
        position = np.cumsum(cut[: len(axis)]) - 1
        axes.append(_merged(axis, begins))
        for name, some in reach.leaves.items():
            lows[name][:, place] = position[some.low[:, place]]
            highs[name][:, place] = position[some.high[:, place]]
    leaves = {
        name: Leaves(some.tree, some.value, lows[name], highs[name], some.cost)
        for name, some in reach.leaves.items()
    }
    return replace(reach, axes=tuple(axes), leaves=leaves)


def _merged(axis: Axis, begins: np.ndarray[tuple[int], np.dtype[np.intp]]) -> Axis:
    if len(begins) == len(axis):
        return axis
    ends = np.append(begins[1:], len(axis)) - 1
    cost: Floats = np.minimum.reduceat(axis.cost, begins)
    # The nearest member of the cheapest of the merged cells.
    group = np.repeat(np.arange(len(begins)), ends - begins + 1)
    best = np.flatnonzero(axis.cost == cost[group])
    _, where = np.unique(group[best], return_index=True)
    some = len(cost) - (axis.none and len(cost) > 1)
    return replace(
        axis,
        first=axis.first[begins],
        last=axis.last[ends],
        nearest=axis.nearest[best[where]],
        cost=cost,
        home=int(np.argmin(cost[:some])),
        single=False,
    )
