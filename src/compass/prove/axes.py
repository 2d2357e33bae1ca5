"""The movable columns of a task as rows of cells: inside a cell every prediction is the same.

A cell holds the legal values between two neighbouring cuts of the models. What a proof needs of it
is its smallest and largest member and the member nearest to the start.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compass.domain.space import Category
from compass.generate.base import Floats
from compass.generate.task import SearchTask
from compass.model.trees.flat import FlatForest
from compass.prepare.geometry import column_costs
from compass.rules import Domain
from compass.rules.domains import grid, of_values

Cells = NDArray[np.int64]

_WIDE = 4e-9  # rules compare with a tolerance of 1e-9: bounds of real columns give way by more


@dataclass(frozen=True)
class Axis:
    """One movable column; the arrays have one entry per cell, in ascending order."""

    column: int
    name: str
    first: Floats
    last: Floats
    nearest: Floats  # the member that is nearest to the start
    cost: Floats  # its weighted distance to the start
    start_cell: int  # the cell of numbers that is nearest to the start
    none: bool  # whether the last cell is the level none
    domain: Domain  # the legal values, within the budget
    single: bool  # whether every cell has one member only

    def __len__(self) -> int:
        return len(self.first)

    def cheapest(self, low: Cells, high: Cells) -> Floats:
        """The least cost between two cells, both included; shape of `low`."""
        # Costs rise with the distance from start_cell, but for the level none, which is last.
        ends = np.minimum(self.cost[low], self.cost[high])
        at_start = (low <= self.start_cell) & (self.start_cell <= high)
        return np.where(at_start, np.minimum(self.cost[self.start_cell], ends), ends)


def boundaries(threshold: Floats, single: bool) -> Floats:
    """The largest float64 that a tree sends left at each threshold, [k].

    Where inputs are cast to float32 first, that is about half a float32 above the threshold.
    """
    if not single:
        return np.asarray(threshold, dtype=np.float64)
    with np.errstate(over="ignore"):
        edge = threshold.astype(np.float32)
        edge = np.where(edge.astype(np.float64) > threshold, _next(edge, -np.inf), edge)
        above = _next(edge, np.inf).astype(np.float64)
        middle = (edge.astype(np.float64) + above) / 2  # exact: both are float32
        stays = middle.astype(np.float32) == edge
    return np.asarray(np.where(stays, middle, np.nextafter(middle, -np.inf)), dtype=np.float64)


def _next(edge: NDArray[np.float32], towards: float) -> NDArray[np.float32]:
    return np.nextafter(edge, np.float32(towards))


def cuts_of(forests: Sequence[FlatForest], column: int) -> Floats:
    """Where the predictions of these forests can change along a column, ascending."""
    found = [
        boundaries(forest.threshold[forest.feature == column], forest.single) for forest in forests
    ]
    return np.unique(np.concatenate(found)) if found else np.empty(0)


def within(task: SearchTask, domain: Domain, column: int, budget: float) -> Domain:
    """The values of a column whose distance to the start is at most the budget.

    The start's own value of a column that gives way only when forced counts as legal: it stays
    where nothing forces it.
    """
    start, weight = float(task.start[column]), float(task.geometry.weight[column])
    domain = _with_start(task, domain, column)
    if weight <= 0 or not np.isfinite(budget):
        return domain
    labels = budget >= weight * (1 - 1e-12)
    if isinstance(task.space.parameters[column], Category):
        assert domain.values is not None
        return domain if labels else domain.keep(domain.values == start)
    if start == task.geometry.none[column]:
        return domain if labels else domain.only_none()
    if not labels:
        domain = domain.without_none()
    reach = budget / weight * float(task.geometry.scale[column])
    reach += 1e-9 * (reach + abs(start))
    return domain.clip((start - reach, start + reach))


def _with_start(task: SearchTask, domain: Domain, column: int) -> Domain:
    start = float(task.start[column])
    if column not in task.forced:
        return domain
    if domain.values is not None:
        legal = start in domain.values
        return domain if legal else of_values(np.union1d(domain.values, [start]), domain.none)
    inside = domain.low <= start <= domain.high
    on_grid = domain.step is None or float((start - domain.origin) / domain.step).is_integer()
    if start == domain.none or (inside and on_grid):
        return domain
    # Every number between is more than is legal, which a bound may allow for.
    low, high = min(domain.low, start), max(domain.high, start)
    return Domain(low, high, none=domain.none)


def axis_of(task: SearchTask, column: int, domain: Domain, cuts: Floats) -> Axis:
    """The cells of a column between these cuts."""
    numbers, none = domain.low <= domain.high, domain.none
    first, last = np.empty(0), np.empty(0)
    single = True
    if domain.values is not None:
        values = domain.numbers
        if len(values):
            first, last = _of_values(values, cuts)
            single = bool((first == last).all())
    elif numbers:
        make = _of_range if domain.step is None else _of_grid
        first, last = make(domain, cuts)
        single = domain.low == domain.high
    if none is not None:
        first, last = np.append(first, none), np.append(last, none)
    nearest = _nearest(task, column, domain, first, last)
    cost = column_costs(nearest, task.start, column, task.geometry)
    return Axis(
        column=column,
        name=task.space.names[column],
        first=first,
        last=last,
        nearest=nearest,
        cost=cost,
        start_cell=cheapest_number(cost, none is not None),
        none=none is not None,
        domain=domain,
        single=single,
    )


def cheapest_number(cost: Floats, none: bool) -> int:
    """The cheapest of the cells [k]; the level none, which is last, only where it is alone."""
    some = len(cost) - (none and len(cost) > 1)
    return int(np.argmin(cost[:some])) if some else 0


def _of_values(values: Floats, cuts: Floats) -> tuple[Floats, Floats]:
    cell = np.searchsorted(cuts, values, side="left")
    new = np.flatnonzero(np.diff(cell, prepend=-1))
    return values[new], values[np.append(new[1:], len(values)) - 1]


def _of_range(domain: Domain, cuts: Floats) -> tuple[Floats, Floats]:
    low = domain.low - _WIDE * abs(domain.low)
    high = domain.high + _WIDE * abs(domain.high)
    inner = cuts[(cuts >= low) & (cuts < high)]
    first = np.concatenate([[low], np.nextafter(inner, np.inf)])
    last = np.concatenate([inner, [high]])
    return first, last


def _of_grid(domain: Domain, cuts: Floats) -> tuple[Floats, Floats]:
    assert domain.step is not None
    ends = np.concatenate([cuts[(cuts >= domain.low) & (cuts < domain.high)], [domain.high]])
    index = np.floor((ends - domain.origin) / domain.step)
    # Rounding may put the last point at or below a cut one step off, either way.
    index += (grid(domain.origin, domain.step, index + 1) <= ends).astype(np.float64)
    index -= (grid(domain.origin, domain.step, index) > ends).astype(np.float64)
    index = np.unique(index)
    before = np.concatenate([[np.round((domain.low - domain.origin) / domain.step) - 1], index])
    first, last = before[:-1] + 1, index
    keep = first <= last
    ends_of = (grid(domain.origin, domain.step, side[keep]) for side in (first, last))
    return next(ends_of), next(ends_of)


def _nearest(task: SearchTask, column: int, domain: Domain, first: Floats, last: Floats) -> Floats:
    start = float(task.start[column])
    if isinstance(task.space.parameters[column], Category):
        assert domain.values is not None
        stays = (first <= start) & (start <= last) & (start in domain.values)
        return np.where(stays, start, first)
    near = np.clip(start, first, last)
    if domain.values is not None:
        index = np.clip(np.searchsorted(domain.values, near), 1, max(len(domain.values) - 1, 1))
        below, above = (
            domain.values[index - 1],
            domain.values[np.minimum(index, len(domain.values) - 1)],
        )
        near = np.where(near - below <= above - near, below, above)
        return np.asarray(np.clip(near, first, last))
    if domain.step is not None:
        near = grid(domain.origin, domain.step, np.round((near - domain.origin) / domain.step))
        return np.asarray(np.clip(near, first, last))
    return np.asarray(near)


def all_axes(
    task: SearchTask,
    domains: Mapping[str, Domain],
    forests: Sequence[FlatForest],
) -> tuple[Axis, ...]:
    """The axes of all movable columns; `domains` holds their legal values."""
    names = task.space.names
    return tuple(
        axis_of(task, j, domains[names[j]], cuts_of(forests, j))
        for j in map(int, np.sort(task.movable))
    )
