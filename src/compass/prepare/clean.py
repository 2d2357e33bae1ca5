"""Leaves out the rows that cannot be learnt from, and says why for every one of them."""

import shlex
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from compass import registry
from compass.arrow import nulls_of, values_of
from compass.domain.errors import DataProblem
from compass.domain.space import Category, Number, Role, Space
from compass.domain.study import Study
from compass.prepare.base import FailedRows, Rows, Step, StepResult
from compass.prepare.cells import coded, label_key, numbers
from compass.prepare.legal import legal_mask, summary
from compass.prepare.mapping import changed, mapped
from compass.prepare.report import CleaningReport, Dropped
from compass.prepare.text_columns import read_texts
from compass.readers import Table

FIRST = 5  # row numbers shown per reason
FEATURES = (Role.KNOB, Role.CONTEXT)

BEFORE = ("map", "cells", "not-finite")  # steps that run before those a person names
AFTER = ("domain", "missing")  # and after: a person's step may fill in what is missing


def remark(
    reason: str, rows: Rows, column: str | None = None, *, kept: bool = False, hint: str = ""
) -> Dropped:
    """Rows that are left out, or kept all the same, and why."""
    first = tuple(int(row) for row in rows[:FIRST])
    return Dropped(reason=reason, count=len(rows), first=first, column=column, kept=kept, hint=hint)


@registry.add("step", "map")
class Map:
    """Rewrites labels as the study says."""

    name = "map"

    def __init__(self, study: Study) -> None:
        self.rules = study.map

    def apply(self, table: Table, rows: Rows, space: Space) -> StepResult:
        """The table with the labels of the mapped columns rewritten."""
        del space
        if not self.rules:
            return StepResult(table, rows)
        arrow = mapped(table.arrow, self.rules)
        notes = []
        for name in self.rules:
            touched = rows[changed(table.column(name), arrow.column(name))[rows]]
            if len(touched):
                notes.append(remark(f"{name} was rewritten by the study", touched, name, kept=True))
        return StepResult(Table(arrow, table.parts, table.fingerprint), rows, tuple(notes))


@registry.add("step", "cells")
class TextColumns:
    """Reads text columns that hold numbers or time stamps; the columns' reports say how."""

    name = "cells"

    def __init__(self, study: Study) -> None:
        self.study = study

    def apply(self, table: Table, rows: Rows, space: Space) -> StepResult:
        """The table with numbers in place of texts; drops rows with a word for a feature."""
        read = read_texts(table.arrow, self.study)
        if read.arrow is table.arrow:
            return StepResult(table, rows)
        notes = []
        for name in space.having(*FEATURES):
            # A word is no gap, which could be the level `none`.
            hit = np.isin(rows, read.no_numbers.get(name, ()))
            if hit.any():
                notes.append(remark(f"{name} is not a number", rows[hit], name))
                rows = rows[~hit]
        arrow = Table(read.arrow, table.parts, table.fingerprint)
        return StepResult(arrow, rows, tuple(notes), read.failed)


@registry.add("step", "not-finite")
class NotFinite:
    """Leaves out rows with an infinite feature; an infinite outcome counts as missing."""

    name = "not-finite"

    def __init__(self, study: Study) -> None:
        del study

    def apply(self, table: Table, rows: Rows, space: Space) -> StepResult:
        """Drops rows with infinite features and blanks other infinite cells."""
        arrow, notes = table.arrow, []
        for parameter in space:
            name = parameter.name
            if parameter.role is Role.IGNORED or not pa.types.is_floating(table.column(name).type):
                continue
            infinite = pc.is_inf(arrow.column(name))
            hit = values_of(infinite)[rows]
            if not hit.any():
                continue
            blank = pc.if_else(infinite, pa.scalar(None, pa.float64()), arrow.column(name))
            place = arrow.column_names.index(name)
            arrow = arrow.set_column(place, arrow.schema.field(name), blank)
            if parameter.role in FEATURES and not parameter.optional:
                notes.append(remark(f"{name} is infinite", rows[hit], name))
                rows = rows[~hit]
            else:
                meaning = "none" if parameter.optional else "missing"
                reason = f"{name} is infinite and counts as {meaning}"
                notes.append(remark(reason, rows[hit], name, kept=True))
        if arrow is table.arrow:
            return StepResult(table, rows)
        return StepResult(Table(arrow, table.parts, table.fingerprint), rows, tuple(notes))


@registry.add("step", "domain")
class OutsideDomain:
    """Leaves out rows with values that cannot be written in the study's terms."""

    name = "domain"

    def __init__(self, study: Study) -> None:
        self.study = study

    def apply(self, table: Table, rows: Rows, space: Space) -> StepResult:
        """Drops unlisted labels and text where a number is wanted; remarks on illegal numbers."""
        notes = []
        for parameter in space:
            if parameter.role is Role.IGNORED:
                continue
            column = table.column(parameter.name)
            if isinstance(parameter, Category):
                bad, reason = _unlisted(parameter, column)
            else:
                bad, reason = _not_a_number(parameter, column)
            if bad is not None and (hit := bad[rows]).any():
                notes.append(remark(reason, rows[hit], parameter.name))
                rows = rows[~hit]
        for parameter in space:
            if isinstance(parameter, Number) and parameter.name in self.study.columns:
                notes.extend(_outside(parameter, table, rows))
        return StepResult(table, rows, tuple(notes))


def _unlisted(parameter: Category, column: pa.ChunkedArray) -> tuple[NDArray[np.bool_] | None, str]:
    """Which rows have a label that the category does not list, bool[rows]."""
    known = {label_key(value) for value in parameter.values}
    codes, labels = coded(column)
    outside = [label_key(label) not in known for label in labels]
    if not any(outside):
        return None, ""
    shown = [str(label) for label, out in zip(labels, outside, strict=True) if out]
    some = ", ".join(shown[:3]) + (", ..." if len(shown) > 3 else "")
    return np.array([*outside, False])[codes], f"{parameter.name} is not one of its labels ({some})"


def _not_a_number(
    parameter: Number, column: pa.ChunkedArray
) -> tuple[NDArray[np.bool_] | None, str]:
    """Which rows have text that is no number, or the number that stands for `none`."""
    values = numbers(column)
    if pa.types.is_large_string(column.type):
        filled = ~nulls_of(column)
        return filled & ~np.isfinite(values), f"{parameter.name} is not a number"
    if parameter.optional:
        code = parameter.none_code
        return values == code, f"{parameter.name} is {code:g}, which stands for `none` here"
    return None, ""


def _outside(parameter: Number, table: Table, rows: Rows) -> list[Dropped]:
    if parameter.role not in FEATURES:
        return []
    values = numbers(table.column(parameter.name))[rows]
    illegal = np.isfinite(values) & ~legal_mask(parameter, values)
    if not illegal.any():
        return []
    reason = f"{parameter.name} is outside its legal values ({summary(parameter)})"
    hint = "they stay as evidence, but no answer will use such a value"
    return [remark(reason, rows[illegal], parameter.name, kept=True, hint=hint)]


@registry.add("step", "missing")
class Missing:
    """Leaves out rows without a feature, unless missing is a level, and rows without outcomes."""

    name = "missing"

    def __init__(self, study: Study) -> None:
        del study

    def apply(self, table: Table, rows: Rows, space: Space) -> StepResult:
        """Drops rows that lack a feature or every outcome; remarks on single lacking outcomes."""
        total = table.rows
        gaps = {p.name: _gaps(p, table) for p in space if p.role is not Role.IGNORED}
        notes = []
        features = [n for n in space.having(*FEATURES) if gaps[n][rows].any()]
        # The emptiest column first, so that it gets the blame for the rows it shares.
        for name in sorted(features, key=lambda n: -int(gaps[n][rows].sum())):
            hit = gaps[name][rows]
            choice = shlex.quote(f"{name}=none")
            told = f"{_percent(int(gaps[name].sum()), total)} of the rows have no {name}"
            keep = f"to keep them as the level `none`: --missing {choice}"
            gap = remark(f"{name} is missing", rows[hit], name, hint=f"{told}; {keep}")
            notes.append(gap.model_copy(update={"remark": told, "keepable": True}))
            rows = rows[~hit]
        outcomes = space.having(Role.OUTCOME)
        if outcomes:
            nothing = np.logical_and.reduce([gaps[name] for name in outcomes])[rows]
            if nothing.any():
                what = outcomes[0] if len(outcomes) == 1 else "every outcome"
                notes.append(remark(f"{what} is missing", rows[nothing]))
                rows = rows[~nothing]
        for name in outcomes:
            hit = gaps[name][rows]
            if hit.any():
                reason = f"{name} is missing, other outcomes are there"
                notes.append(remark(reason, rows[hit], name, kept=True))
        return StepResult(table, rows, tuple(notes))


def _gaps(parameter: Number | Category, table: Table) -> NDArray[np.bool_]:
    """Which rows lack a value that they need, bool[rows]."""
    optional = parameter.optional
    return np.zeros(table.rows, dtype=bool) if optional else nulls_of(table.column(parameter.name))


def _percent(part: int, whole: int) -> str:
    share = 100 * part / whole
    return f"{share:.0f} %" if share >= 1 else "less than 1 %"


def run_steps(
    names: Sequence[str], table: Table, rows: Rows, space: Space, study: Study
) -> StepResult:
    """Runs the named steps one after the other."""
    notes: list[Dropped] = []
    failed: list[FailedRows] = []
    for name in names:
        step: Step = registry.get("step", name)(study)
        result = step.apply(table, rows, space)
        if result.table.rows != table.rows or not np.isin(result.rows, rows).all():
            raise DataProblem(
                f"the step '{name}' changed the number or the order of the rows",
                hint="a step may drop rows from its list, but must keep the table's rows",
            )
        table, rows = result.table, result.rows
        notes.extend(result.notes)
        failed.extend(result.failed)
    return StepResult(table, rows, tuple(notes), tuple(failed))


def report_of(rows_in: int, rows_out: int, notes: Sequence[Dropped]) -> CleaningReport:
    """The report of a cleaning; no rows left is an error that names the column to blame."""
    dropped = tuple(note for note in notes if not note.kept)
    if not rows_out:
        worst = max(dropped, key=lambda note: note.count, default=None)
        if worst is None:
            raise DataProblem("the table has no rows", hint="was the file cut short?")
        hint = worst.hint or "look at that column"
        if worst.column is not None:
            hint += f", or leave the column out: --drop {shlex.quote(worst.column)}"
        raise DataProblem(
            f"no row can be used: in {worst.count} of {rows_in} rows {worst.reason}", hint=hint
        )
    kept = tuple(note for note in notes if note.kept)
    return CleaningReport(rows_in=rows_in, rows_out=rows_out, reasons=dropped, kept=kept)
