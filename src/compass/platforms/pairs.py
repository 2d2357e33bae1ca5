"""Pairs: runs of one application, input and configuration on several machines, side by side."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from compass.arrow import nulls_of, values_of
from compass.domain.errors import DataProblem, QueryProblem, unknown
from compass.readers.table import Table

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
_LEVELS = 12  # labels of a text column that become columns of their own, at most


@dataclass(frozen=True)
class PairColumns:
    """What the columns of a table of runs mean."""

    machine: str
    application: str
    runtime: str
    configuration: tuple[str, ...] = ()  # what has to be equal on both machines
    counters: tuple[str, ...] = ()  # measured while it ran; may differ
    throughput: bool = False  # `runtime` holds work per second, not seconds

    def check(self, table: Table) -> None:
        """Refuse names that the table does not have, and one column in two places."""
        named = [self.machine, self.application, self.runtime, *self.configuration, *self.counters]
        for name in named:
            if name not in table.names:
                raise unknown("column", name, table.names)
        twice = sorted({name for name in named if named.count(name) > 1})
        if twice:
            raise QueryProblem(
                f"column '{twice[0]}' is named twice",
                hint="a column is the machine, the application, the runtime, part of the "
                "configuration or a counter",
            )


@dataclass(frozen=True, eq=False)
class MatchedRuns:
    """Runs matched across machines: a line per application, input and configuration.

    Repeated runs are one: their median. What was not run on a machine is nan.
    """

    machines: tuple[str, ...]
    applications: NDArray[np.str_]  # [n]
    configuration: Floats  # [n, c]
    configuration_names: tuple[str, ...]
    log_runtime: Floats  # [n, m]
    counters: Floats  # [n, m, d]
    counter_names: tuple[str, ...]
    rows: tuple[Mapping[int, tuple[int, ...]], ...] = field(default=())  # of the table, by machine

    def __len__(self) -> int:
        return len(self.applications)

    def place(self, machine: str) -> int:
        """The column of a machine; an unknown one offers the nearest name."""
        if machine not in self.machines:
            raise unknown("machine", machine, self.machines)
        return self.machines.index(machine)

    def log_ratio(self, source: str) -> Floats:
        """Logarithms of the runtime ratio target / source, [n, m]; below 0 is faster."""
        return np.asarray(self.log_runtime - self.log_runtime[:, [self.place(source)]])

    def some(self, chosen: NDArray[np.bool_] | Whole) -> "MatchedRuns":
        """These lines only."""
        lines = np.arange(len(self))[chosen]
        return replace(
            self,
            applications=self.applications[lines],
            configuration=self.configuration[lines],
            log_runtime=self.log_runtime[lines],
            counters=self.counters[lines],
            rows=tuple(self.rows[line] for line in lines) if self.rows else (),
        )

    def ran_on(self, machine: str) -> "MatchedRuns":
        """The lines that were run on this machine."""
        return self.some(np.isfinite(self.log_runtime[:, self.place(machine)]))

    def of(self, application: str) -> "MatchedRuns":
        """The lines of one application; an unknown one offers the nearest name."""
        chosen = self.applications == application
        if not chosen.any():
            raise unknown("application", application, sorted(set(self.applications.tolist())))
        return self.some(chosen)

    def others(self, application: str) -> "MatchedRuns":
        """The lines of all other applications."""
        return self.some(self.applications != application)

    def hidden(self, cells: NDArray[np.bool_]) -> "MatchedRuns":
        """As if what is marked in bool[n, m] had not been run."""
        return replace(
            self,
            log_runtime=np.where(cells, np.nan, self.log_runtime),
            counters=np.where(cells[:, :, None], np.nan, self.counters),
        )


def match(table: Table, columns: PairColumns, among: Whole | None = None) -> MatchedRuns:
    """The runs of a table, matched by application and configuration across its machines.

    `among`: the rows that count; None: all.
    """
    columns.check(table)
    runtime = _numbers(table.column(columns.runtime), columns.runtime)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_runtime = np.where(runtime > 0, np.log(runtime), np.nan)
    if columns.throughput:
        log_runtime = -log_runtime
    machine, application = (
        _labels(table.column(n)) for n in (columns.machine, columns.application)
    )
    usable = np.isfinite(log_runtime) & (machine != "") & (application != "")
    if among is not None:
        usable &= np.isin(np.arange(table.rows), among)
    if not usable.any():
        raise DataProblem(
            f"no run has a machine, an application and a positive '{columns.runtime}'",
            hint="name the columns of machine, application and runtime",
        )
    keys = [application] + [_labels(table.column(name)) for name in columns.configuration]
    rows = np.flatnonzero(usable)
    machines = tuple(sorted(set(machine[rows].tolist())))
    of_machine = np.searchsorted(np.array(machines), machine[rows])
    line = _lines([key[rows] for key in keys])
    counters = _columns(table, columns.counters)
    values = np.column_stack([log_runtime[rows], counters[rows]])
    cells, members = _medians(values, line * len(machines) + of_machine)
    n, m = int(line.max()) + 1, len(machines)
    grid = np.full((n * m, values.shape[1]), np.nan)
    grid[cells] = members.medians
    cube = grid.reshape(n, m, -1)
    first = np.full(n, len(rows))
    np.minimum.at(first, line, np.arange(len(rows)))
    configuration, names = _configuration(table, columns.configuration, rows[first])
    return MatchedRuns(
        machines=machines,
        applications=application[rows[first]].astype(np.str_),
        configuration=configuration,
        configuration_names=names,
        log_runtime=np.ascontiguousarray(cube[:, :, 0]),
        counters=np.ascontiguousarray(cube[:, :, 1:]),
        counter_names=columns.counters,
        rows=_past(cells, [rows[own] for own in members.places], n, m),
    )


def joined(runs: Sequence[MatchedRuns]) -> MatchedRuns:
    """Tables of runs as one; what a table does not have is missing.

    So a machine that the applications were never run on enters through its benchmark table. Rows
    are those of the first table.
    """
    machines = tuple(sorted({name for one in runs for name in one.machines}))
    counters = tuple(dict.fromkeys(name for one in runs for name in one.counter_names))
    configuration = tuple(dict.fromkeys(name for one in runs for name in one.configuration_names))
    n = sum(len(one) for one in runs)
    log_runtime = np.full((n, len(machines)), np.nan)
    counted = np.full((n, len(machines), len(counters)), np.nan)
    configured = np.full((n, len(configuration)), np.nan)
    start = 0
    for one in runs:
        lines = np.arange(start, start + len(one))
        places = _places(machines, one.machines)
        log_runtime[np.ix_(lines, places)] = one.log_runtime
        columns = _places(counters, one.counter_names)
        counted[np.ix_(lines, places, columns)] = one.counters
        named = _places(configuration, one.configuration_names)
        configured[np.ix_(lines, named)] = one.configuration
        start += len(one)
    first = runs[0]
    moved = _places(machines, first.machines).tolist()
    rows = [{moved[at]: own for at, own in line.items()} for line in first.rows]
    return MatchedRuns(
        machines=machines,
        applications=np.concatenate([one.applications for one in runs]),
        configuration=configured,
        configuration_names=configuration,
        log_runtime=log_runtime,
        counters=counted,
        counter_names=counters,
        rows=(*rows, *({} for _ in range(n - len(rows)))),
    )


def _places(among: Sequence[str], names: Sequence[str]) -> Whole:
    return np.array([among.index(name) for name in names], dtype=np.int64)


@dataclass(frozen=True)
class _Members:
    medians: Floats  # [cells, d]
    places: list[Whole]


def _lines(keys: Sequence[NDArray[np.str_]]) -> Whole:
    """A number per row that is the same where all keys are; numbered as they first appear."""
    number = np.zeros(len(keys[0]), dtype=np.int64)
    for key in keys:
        codes = np.unique(key, return_inverse=True)[1]
        number = np.unique(number * (int(codes.max()) + 1) + codes, return_inverse=True)[1]
    _, first, codes = np.unique(number, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return np.asarray(rank[codes], dtype=np.int64)


def _medians(values: Floats, cell: Whole) -> tuple[Whole, _Members]:
    """Medians of the rows of each cell, column by column; nan is left out."""
    order = np.argsort(cell, kind="stable")
    names, starts = np.unique(cell[order], return_index=True)
    places = np.split(order, starts[1:])
    medians = np.array(
        [values[own[0]] if len(own) == 1 else _median(values[own]) for own in places]
    )
    return names, _Members(medians, places)


def _median(values: Floats) -> Floats:
    known = np.isfinite(values)
    if known.all():
        return np.asarray(np.median(values, axis=0))
    columns = (values[known[:, j], j] for j in range(values.shape[1]))
    return np.array([np.median(column) if len(column) else np.nan for column in columns])


def _past(
    cells: Whole, places: Sequence[Whole], n: int, m: int
) -> tuple[Mapping[int, tuple[int, ...]], ...]:
    found: list[dict[int, tuple[int, ...]]] = [{} for _ in range(n)]
    for cell, own in zip(cells.tolist(), places, strict=True):
        found[cell // m][cell % m] = tuple(own.tolist())
    return tuple(found)


def _configuration(
    table: Table, names: Iterable[str], rows: Whole
) -> tuple[Floats, tuple[str, ...]]:
    """The configuration as numbers; a column of labels becomes a column per frequent label."""
    found: list[Floats] = []
    called: list[str] = []
    for name in names:
        column = table.column(name)
        if _is_number(column.type):
            found.append(_numbers(column, name)[rows])
            called.append(name)
            continue
        labels = _labels(column)[rows]
        known, counts = np.unique(labels, return_counts=True)
        for label in known[np.argsort(-counts, kind="stable")][:_LEVELS]:
            found.append((labels == label).astype(np.float64))
            called.append(f"{name} = {label}")
    empty = np.zeros((len(rows), 0))
    return (np.column_stack(found) if found else empty), tuple(called)


def _columns(table: Table, names: Sequence[str]) -> Floats:
    found = [_numbers(table.column(name), name) for name in names]
    return np.column_stack(found) if found else np.zeros((table.rows, 0))


def _is_number(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
    )


def _numbers(column: pa.ChunkedArray, name: str) -> Floats:
    if pa.types.is_null(column.type):
        return np.full(len(column), np.nan)
    if not _is_number(column.type):
        raise DataProblem(
            f"column '{name}' holds text where numbers are needed",
            hint="a column of labels can be the machine, the application or the configuration",
        )
    values = np.array(values_of(column), dtype=np.float64)
    values[nulls_of(column)] = np.nan
    return values


def _labels(column: pa.ChunkedArray) -> NDArray[np.str_]:
    """Cells as text; a missing one is empty."""
    return np.array(
        ["" if value is None else str(value) for value in column.to_pylist()], dtype=np.str_
    )
