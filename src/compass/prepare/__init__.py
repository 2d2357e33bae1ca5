"""Turns a table into arrays to learn from: `prepare(table, study) -> Prepared`."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from compass.arrow import nulls_of
from compass.domain.errors import BaselineProblem, StudyProblem
from compass.domain.origin import RowOrigin
from compass.domain.space import Role, Space
from compass.domain.study import ColumnChoice, Study
from compass.prepare.base import Rows, Step, StepResult
from compass.prepare.cells import coded, numbers
from compass.prepare.clean import AFTER, BEFORE, report_of, run_steps
from compass.prepare.encode import Encoder
from compass.prepare.failures import (
    Failures,
    failed_rows,
    failures_of,
    no_failures,
    without_failed,
)
from compass.prepare.infer import infer
from compass.prepare.origin import origins
from compass.prepare.patterns import spelled_out
from compass.prepare.report import CleaningReport, ColumnReport, Dropped
from compass.prepare.study import merge, study_from, weight_column
from compass.prepare.study_file import load_study, save_study
from compass.readers import Table
from compass.readers.sample import FILE, WEIGHT
from compass.rules.values import without_none

__all__ = [
    "CleaningReport",
    "ColumnChoice",
    "ColumnReport",
    "Dropped",
    "Encoder",
    "Failures",
    "Prepared",
    "Step",
    "StepResult",
    "Study",
    "infer",
    "load_study",
    "merge",
    "prepare",
    "save_study",
    "study_from",
]


_NO_COLUMNS = Space(parameters=())


@dataclass(frozen=True)
class Prepared:
    """Clean, encoded data and where every row of it came from."""

    space: Space  # the columns in use, in the table's order
    values: NDArray[np.float64]  # [n, d] encoded; NaN: an outcome that was not measured
    row_id: NDArray[np.int64]  # [n] row in the person's data
    group: NDArray[np.int64] | None  # [n] rows of one group stay together; -1: no group given
    time: NDArray[np.float64] | None  # [n] larger is later
    weight: NDArray[np.float64]  # [n] how much a row counts; of a sample: 1 / its chance
    table: Table  # the person's data, as read
    report: CleaningReport
    columns: tuple[ColumnReport, ...]  # every column of the table, ignored ones too
    comparable: tuple[str, ...] | None = None  # the same in comparable runs; None: not stated
    # Whether models learn all rows alike, whatever these stand for: they were chosen to be learnt.
    learns_alike: bool = False
    weighed_by: str | None = None  # the column of the weights; None: all rows count alike
    origin: NDArray[np.object_] | None = None  # [n] RowOrigin of each; None: all were measured
    constants: Space = _NO_COLUMNS  # ignored columns with one value in every row
    failures: Failures = field(default_factory=no_failures)  # runs that gave no usable outcome
    lacking: tuple[Table, Rows] | None = None  # measured rows that the last steps left out

    @property
    def rows(self) -> int:
        """How many rows are in use."""
        return len(self.values)

    @property
    def sample(self) -> str | None:
        """How the rows were sampled and what each counts, in words; None: they were not."""
        if self.table.sampled is None:
            return None
        counts = {WEIGHT: "each counts 1/chance", None: "all count alike"}
        counted = counts.get(self.weighed_by, f"each counts by {self.weighed_by}")
        return f"{self.table.sampled.words}, {counted}"

    @cached_property
    def measured(self) -> NDArray[np.bool_]:
        """Which rows are runs that were made, [n]; only these are ever cited."""
        if self.origin is None:
            return np.ones(self.rows, dtype=np.bool_)
        return np.asarray(self.origin == RowOrigin.MEASURED)

    @cached_property
    def incomplete(self) -> NDArray[np.float64]:
        """Encoded rows [k, d] that were left out as they lack a feature (NaN), and nothing else."""
        if self.lacking is None:
            return np.empty((0, len(self.space)))
        table, rows = self.lacking
        found = Encoder(self.space).encode_table(table, rows)
        empty = np.isnan(found)
        gaps = [nulls_of(table.column(parameter.name))[rows] for parameter in self.space]
        good = empty.any(axis=1) & ~(empty & ~np.column_stack(gaps)).any(axis=1)
        outcomes = [place for place, p in enumerate(self.space) if p.role is Role.OUTCOME]
        if outcomes:
            good &= ~empty[:, outcomes].all(axis=1)
        return np.asarray(found[good])

    @cached_property
    def with_constants(self) -> Space:
        """The columns in use, and behind them those that have one value in every row."""
        return Space(parameters=(*self.space.parameters, *self.constants.parameters))

    def citable(self, positions: Rows) -> Rows:
        """Those of the positions at which a run was made."""
        return positions if self.origin is None else positions[self.measured[positions]]

    def position(self, row: int) -> int:
        """Where a row of the person's data is in the arrays; an error if it was left out."""
        self.table.check_row(row)
        place = int(np.searchsorted(self.row_id, row))
        if place == self.rows or self.row_id[place] != row:
            reasons = [note.reason for note in self.report.reasons if row in note.first]
            why = f": {reasons[0]}" if reasons else ""
            raise BaselineProblem(
                f"{self.table.row_label(row)} was left out when the data was cleaned{why}",
                hint="choose another row, or give a configuration",
            )
        return place

    def column(self, name: str) -> NDArray[np.float64]:
        """One encoded column, [n]; an unknown name offers the nearest one."""
        self.space[name]
        values: NDArray[np.float64] = self.values[:, self.space.names.index(name)]
        return values

    def outcome(self, name: str) -> NDArray[np.float64]:
        """One outcome as it was measured, [n]; NaN where it was not, or was `none`."""
        return without_none(self.column(name), self.space[name])

    def columns_of(self, names: Sequence[str]) -> NDArray[np.float64]:
        """Some encoded columns in the order given, [n, len(names)]."""
        at = {name: place for place, name in enumerate(self.space.names)}
        places = [at[name] if name in at else at[self.space[name].name] for name in names]
        values: NDArray[np.float64] = self.values[:, places]
        return values


def prepare(table: Table, study: Study | None = None, steps: Sequence[str] = ()) -> Prepared:
    """Infers the columns, cleans the rows and encodes what is left.

    `steps` names extra preprocessing steps; they run in this order, after labels are rewritten and
    before rows with missing values are left out.
    """
    study = study or Study()
    alike = study.weight is None and table.sampled is not None and table.sampled.near_front
    if study.weight is None and table.sampled is not None:
        # Said aloud, because a person's step may return a table without the mark of a sample.
        study = study.model_copy(update={"weight": WEIGHT})
    # What is said of columns that a step adds waits until they are there.
    early = spelled_out(study, table.names, partly=bool(steps))
    study = study if steps else early
    space, columns = infer(table, early)
    rows = np.arange(table.rows, dtype=np.int64)
    first = run_steps(BEFORE, table, rows, space, study)
    extra = run_steps(steps, first.table, first.rows, space, study)
    if extra.table is not first.table or early != study:
        # A step may have changed cells or added columns; labels are already rewritten.
        study = spelled_out(study, extra.table.names)
        space, columns = infer(extra.table, study.model_copy(update={"map": {}}))
    origin = None if study.origin is None else origins(extra.table.column(study.origin))
    said = (*first.failed, *extra.failed)
    failed = failed_rows(said, extra.table, extra.rows, space, origin)
    made, rows, left_out = without_failed(extra.table, extra.rows, space, failed)
    last = run_steps(AFTER, made, rows, space, study)
    notes = [*first.notes, *extra.notes, *left_out, *last.notes]
    report = report_of(table.rows, len(last.rows), notes)
    used = space.select(p.name for p in space if p.role is not Role.IGNORED)
    return Prepared(
        space=used,
        values=Encoder(used).encode_table(last.table, last.rows),
        row_id=last.rows,
        group=None if study.group is None else coded(last.table.column(study.group))[0][last.rows],
        time=None if study.time is None else numbers(last.table.column(study.time))[last.rows],
        weight=_weights(weight_column(study, table), last.table, last.rows),
        learns_alike=alike,
        table=table,
        report=report,
        columns=columns,
        comparable=study.comparable,
        weighed_by=weight_column(study, table),
        origin=None if origin is None else origin[last.rows],
        constants=_constants(space, columns),
        failures=failures_of(extra.table, used, failed),
        lacking=_lacking(last.table, np.setdiff1d(rows, last.rows), origin),
    )


def _lacking(
    table: Table, rows: Rows, origin: NDArray[np.object_] | None
) -> tuple[Table, Rows] | None:
    if origin is not None:
        rows = rows[np.asarray(origin[rows] == RowOrigin.MEASURED)]
    return (table, rows) if len(rows) else None


def _constants(space: Space, columns: Sequence[ColumnReport]) -> Space:
    """The ignored columns that have the same value in every row of the table."""
    single = [
        report.name
        for report in columns
        if report.role is Role.IGNORED and report.distinct == 1 and not report.missing
    ]
    return space.select(single)


def _weights(name: str | None, table: Table, rows: Rows) -> NDArray[np.float64]:
    if name is None:
        return np.ones(len(rows))
    weights = numbers(table.column(name))[rows]
    if name == WEIGHT and FILE in table.names:
        # Runs that were added to a sample were not sampled: they stand for themselves.
        added = nulls_of(table.column(FILE))[rows]
        weights = np.where(added & np.isnan(weights), 1.0, weights)
    bad = rows[~(np.isfinite(weights) & (weights > 0))]
    if len(bad):
        raise StudyProblem(
            f"the weight column '{name}' is not a positive number in row {bad[0]}",
            hint="weights must be positive; drop such rows, or choose another column",
        )
    return weights
