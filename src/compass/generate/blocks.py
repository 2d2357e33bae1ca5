"""Where a search may look: the values of each column, and groups of values that fit together."""

from dataclasses import dataclass
from math import prod

import numpy as np

from compass.domain.expression import Comparison
from compass.domain.space import Number
from compass.generate.base import Columns, Floats
from compass.generate.task import SearchTask
from compass.prepare.legal import snap
from compass.rules import (
    Domain,
    Rule,
    components,
    domains_of,
    explain_conflict,
    legal_tuples,
    propagate,
)
from compass.rules.domains import grid

_FINE = 4096  # values of one column that are tried as they are
_FEW = 48  # values of a column where all combinations would be too many
_TYPICAL = 256  # observed values of a column that are tried besides the cells


@dataclass(frozen=True)
class Block:
    """Columns that rules tie together, with every legal combination of their values.

    `table` is None when there are too many combinations: then values come from `values` and are
    repaired.
    """

    columns: Columns
    table: Floats | None
    values: tuple[Floats, ...]
    complete: bool = False  # the table holds every legal combination, or one of every cell


@dataclass(frozen=True, eq=False)
class ColumnValues:
    """The values that columns may take, one column after the other, for compiled loops."""

    start: Columns  # [d + 1] where the values of a column begin; none for columns that stay
    value: Floats  # ascending within a column

    @staticmethod
    def of(width: int, values: dict[int, Floats]) -> "ColumnValues":
        """The values by column in one array; `width` is the number of columns."""
        sizes = [len(values.get(column, ())) for column in range(width)]
        parts = [values[column] for column in sorted(values)]
        start = np.cumsum([0, *sizes]).astype(np.int64)
        return ColumnValues(start, np.concatenate(parts) if parts else np.empty(0))


def blocks(task: SearchTask) -> list[Block]:
    """The movable columns in groups; raises ConflictingRules when nothing can be legal."""
    names = task.space.names
    movable = [names[j] for j in task.movable]
    fixed = {name: float(v) for name, v in zip(names, task.start, strict=True)}
    for name in movable:
        del fixed[name]
    tight = propagate(task.rules, domains_of(task.space, names), fixed)
    values = {name: column_values(task, names.index(name), tight[name]) for name in movable}
    found = []
    for group in components(task.rules, movable):
        columns = np.array([names.index(name) for name in group], dtype=np.int64)
        own = tuple(values[name] for name in group)
        tied = [rule for rule in task.rules if set(rule.names) & set(group)]
        if len(group) > 1 and _easy(tied) and _many(task, own):
            found.append(Block(columns, None, own))
            continue
        listed = all(_listed(tight[name], values[name]) for name in group)
        table = _table(task, tied, group, values, fixed)
        complete = table is not None and (listed or _one_per_cell(task, group))
        if table is not None and listed and not len(table):
            raise explain_conflict(task.rules, {n: tight[n] for n in movable}, fixed)
        if table is None:
            few = {name: _thin(v, task.start[names.index(name)]) for name, v in values.items()}
            table = _table(task, tied, group, few, fixed)
        # Values chosen one column at a time rarely fit an equality: then repair finds what does.
        found_some = table is not None and len(table) > 0
        if not listed and all(map(len, own)) and (not found_some or _balanced(tied, group)):
            table = None
        small = all(len(v) < _FINE for v in own)
        found.append(Block(columns, table, own, complete and small))
    return found


def _easy(tied: list[Rule]) -> bool:
    """Whether only linear inequalities tie columns: moving one value repairs them."""
    return all(rule.linear is not None and rule.linear.op not in ("==", "!=") for rule in tied)


def _many(task: SearchTask, values: tuple[Floats, ...]) -> bool:
    """Whether there are more combinations than would all be tried."""
    return prod(map(len, values)) > task.settings.search.enumerate


def _listed(domain: Domain, values: Floats) -> bool:
    """Whether these are all legal values of a column."""
    return domain.values is not None and len(values) == len(domain.values)


def _balanced(tied: list[Rule], group: tuple[str, ...]) -> bool:
    """Whether a linear equality ties two or more of these columns."""
    return any(
        rule.linear is not None
        and isinstance(rule.expression, Comparison)
        and rule.expression.op == "=="
        and len(set(rule.names) & set(group)) > 1
        for rule in tied
    )


def _one_per_cell(task: SearchTask, group: tuple[str, ...]) -> bool:
    """Whether a value of every cell of the models stands for all others of a column.

    It does not where a rule tells values of one cell apart, nor where the cells are not known.
    """
    named = {name for rule in (*task.rules, *task.outcome_rules) for name in rule.names}
    columns = [task.space.names.index(name) for name in group]
    return not named & set(group) and all(
        task.predict.edges(column) is not None for column in columns
    )


def _thin(values: Floats, start: float) -> Floats:
    """At most a few dozen of the values, the start's among them if it is one."""
    return np.union1d(at_most(_FEW, values), values[values == start])


def at_most(count: int, values: Floats) -> Floats:
    """All of the values [k], or as many as `count` that are spread over them."""
    if len(values) <= count:
        return values
    return np.asarray(values[np.linspace(0, len(values) - 1, count).astype(np.int64)])


def _table(
    task: SearchTask,
    tied: list[Rule],
    group: tuple[str, ...],
    values: dict[str, Floats],
    fixed: dict[str, float],
) -> Floats | None:
    if not tied:  # a column of its own group
        return values[group[0]][:, None]
    domains = {
        name: Domain(low=float(v[0]), high=float(v[-1]), values=v)
        for name, v in values.items()
        if name in group and len(v)
    }
    if len(domains) < len(group):
        return np.empty((0, len(group)))
    return legal_tuples(tied, group, domains, fixed, task.settings.search.tuples)


def column_values(task: SearchTask, column: int, domain: Domain) -> Floats:
    """The values worth trying for one column, ascending: all legal ones, or one per cell."""
    parameter = task.space.parameters[column]
    if domain.values is not None and len(domain.values) <= _FINE:
        return domain.values
    assert isinstance(parameter, Number)
    low, high = domain.low, domain.high
    start = float(task.start[column])
    edges = task.predict.edges(column)
    observed = task.observed[:, column]
    typical = at_most(_TYPICAL, np.unique(observed[(observed >= low) & (observed <= high)]))
    if edges is None:
        found = np.concatenate([typical, np.linspace(low, high, _TYPICAL)])
    else:
        cells = np.concatenate([[low], edges[(edges > low) & (edges < high)], [high]])
        members = _members(at_most(_FINE, cells), start, parameter, task.proximity)
        found = np.concatenate([members, typical])
    found = snap(parameter, np.concatenate([found, [low, high, start]]))
    legal = found[(found >= low) & (found <= high)]
    if domain.values is not None:
        legal = np.intersect1d(legal, domain.values)
    if domain.none is not None:
        legal = np.append(legal, domain.none)
    return np.unique(legal)


def _members(cells: Floats, start: float, parameter: Number, near: bool) -> Floats:
    """One member of every cell (a, b]: the nearest to the start, or the middle.

    Trees compare float32(x) <= threshold, so the members of a cell lie between the first float32
    above `a` and the last one that is not above `b`.
    """
    above, upto = cells[:-1], cells[1:]
    if parameter.step is not None:
        before, last_step = (np.floor((a - parameter.low) / parameter.step) for a in (above, upto))
        first = grid(parameter.low, parameter.step, before + 1)
        last = grid(parameter.low, parameter.step, last_step)
    else:
        single = above.astype(np.float32)
        first = np.where(single > above, single, np.nextafter(single, np.float32(np.inf)))
        single = upto.astype(np.float32)
        last = np.where(single <= upto, single, np.nextafter(single, np.float32(-np.inf)))
        first, last = first.astype(np.float64), last.astype(np.float64)
    keep = first <= last
    first, last = first[keep], last[keep]
    wanted = np.clip(start, first, last) if near else (first + last) / 2
    return np.asarray(wanted, dtype=np.float64)
