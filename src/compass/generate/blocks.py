"""Where a search may look: the values of each column, and groups of values that fit together."""

from dataclasses import dataclass

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
        if _easy(task, group) and _many(task, [values[name] for name in group]):
            columns = np.array([names.index(name) for name in group], dtype=np.int64)
            found.append(Block(columns, None, tuple(values[name] for name in group)))
            continue
        columns = np.array([names.index(name) for name in group], dtype=np.int64)
        own = tuple(values[name] for name in group)
        listed = all(_listed(tight[name], values[name]) for name in group)
        table = _table(task, group, values, fixed)
        complete = table is not None and (listed or _one_per_cell(task, group))
        if table is not None and listed and not len(table):
            raise explain_conflict(task.rules, {n: tight[n] for n in movable}, fixed)
        if table is None:
            few = {name: _thin(v, task.start[names.index(name)]) for name, v in values.items()}
            table = _table(task, group, few, fixed)
        # Values chosen one column at a time rarely fit an equality: then repair finds what does.
        if not listed and all(map(len, own)) and (not _any(table) or _balanced(task, group)):
            table = None
        small = all(len(v) < _FINE for v in own)
        found.append(Block(columns, table, own, complete and small))
    return found


def _easy(task: SearchTask, group: tuple[str, ...]) -> bool:
    """Whether only linear inequalities tie these columns: moving one value repairs them."""
    tied = [rule for rule in task.rules if set(rule.names) & set(group)]
    return len(group) > 1 and all(
        rule.linear is not None and rule.linear.op not in ("==", "!=") for rule in tied
    )


def _many(task: SearchTask, values: list[Floats]) -> bool:
    """Whether there are more combinations than would all be tried."""
    return all(map(len, values)) and (
        float(np.prod([float(len(v)) for v in values])) > task.settings.search.enumerate
    )


def _listed(domain: Domain, values: Floats) -> bool:
    """Whether these are all legal values of a column."""
    return domain.values is not None and len(values) == len(domain.values)


def _any(table: Floats | None) -> bool:
    return table is not None and len(table) > 0


def _balanced(task: SearchTask, group: tuple[str, ...]) -> bool:
    """Whether a linear equality ties two or more of these columns."""
    return any(
        rule.linear is not None
        and isinstance(rule.expression, Comparison)
        and rule.expression.op == "=="
        and len(set(rule.names) & set(group)) > 1
        for rule in task.rules
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
    if len(values) <= _FEW:
        return values
    kept = values[np.linspace(0, len(values) - 1, _FEW).astype(np.int64)]
    return np.union1d(kept, values[values == start])


def _tied(task: SearchTask, group: tuple[str, ...]) -> bool:
    """Whether any rule speaks of these columns; a column of its own group may have none."""
    return any(set(group) & set(rule.names) for rule in task.rules)


def _table(
    task: SearchTask, group: tuple[str, ...], values: dict[str, Floats], fixed: dict[str, float]
) -> Floats | None:
    if not _tied(task, group):
        return values[group[0]][:, None]
    domains = {
        name: Domain(low=float(v[0]), high=float(v[-1]), values=v)
        for name, v in values.items()
        if name in group and len(v)
    }
    if len(domains) < len(group):
        return np.empty((0, len(group)))
    tied: list[Rule] = [rule for rule in task.rules if set(rule.names) & set(group)]
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
    typical = _typical(task.observed[:, column], low, high)
    if edges is None:
        found = np.concatenate([typical, np.linspace(low, high, _TYPICAL)])
    else:
        cells = np.concatenate([[low], edges[(edges > low) & (edges < high)], [high]])
        if len(cells) > _FINE:
            cells = cells[np.linspace(0, len(cells) - 1, _FINE).astype(np.int64)]
        found = np.concatenate([_members(cells, start, parameter, task.proximity), typical])
    found = np.concatenate([found, [low, high, start]])
    found = snap(parameter, found)
    legal = found[(found >= low) & (found <= high)]
    if domain.values is not None:
        legal = np.intersect1d(legal, domain.values)
    if domain.none is not None:
        legal = np.append(legal, domain.none)
    return np.unique(legal)


def _typical(observed: Floats, low: float, high: float) -> Floats:
    """Values that past runs really used, at most a few hundred spread over them."""
    seen = np.unique(observed[(observed >= low) & (observed <= high)])
    if len(seen) <= _TYPICAL:
        return seen
    return np.asarray(seen[np.linspace(0, len(seen) - 1, _TYPICAL).astype(np.int64)])


def _members(cells: Floats, start: float, parameter: Number, near: bool) -> Floats:
    """One member of every cell (a, b]: the nearest to the start, or the middle.

    Trees compare float32(x) <= threshold, so the members of a cell lie between the first float32
    above `a` and the last one that is not above `b`.
    """
    above, upto = cells[:-1], cells[1:]
    if parameter.step is not None:
        before = np.floor((above - parameter.low) / parameter.step)
        first = grid(parameter.low, parameter.step, before + 1)
        upto_step = np.floor((upto - parameter.low) / parameter.step)
        last = grid(parameter.low, parameter.step, upto_step)
    else:
        first = _next_float32(above)
        last = _last_float32(upto)
    keep = first <= last
    first, last = first[keep], last[keep]
    wanted = np.clip(start, first, last) if near else (first + last) / 2
    return np.asarray(wanted, dtype=np.float64)


def _next_float32(threshold: Floats) -> Floats:
    single = threshold.astype(np.float32)
    above = np.where(single.astype(np.float64) > threshold, single, _up(single))
    return above.astype(np.float64)


def _last_float32(threshold: Floats) -> Floats:
    single = threshold.astype(np.float32)
    below = np.where(single.astype(np.float64) <= threshold, single, _down(single))
    return below.astype(np.float64)


def _up(single: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> Floats:
    return np.asarray(np.nextafter(single, np.float32(np.inf)))


def _down(single: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> Floats:
    return np.asarray(np.nextafter(single, np.float32(-np.inf)))
