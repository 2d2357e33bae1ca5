"""Runs that were made and gave no usable outcome: what was tried, and what went wrong."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from compass.arrow import nulls_of
from compass.domain.base import Value
from compass.domain.origin import RowOrigin
from compass.domain.space import Category, Number, Role, Space
from compass.prepare import names
from compass.prepare.base import FailedRows, Rows
from compass.prepare.cells import coded, numbers
from compass.prepare.clean import remark
from compass.prepare.encode import Encoder
from compass.prepare.report import Dropped
from compass.readers import Table
from compass.readers.words import says_failed

# Columns that say whether a run succeeded, by the words of their names.
_GOOD = frozenset(
    [
        "valid",
        "success",
        "succeeded",
        "successful",
        "correct",
        "ok",
        "passed",
        "verified",
        "converged",
    ]
)
_BAD = frozenset(["failed", "failure", "crashed", "aborted"])
_CODES = frozenset(["exit", "exitcode", "returncode", "rc"])
_YES = frozenset(("1", "1.0", "true", "yes", "y"))
_NO = frozenset(("0", "0.0", "false", "no", "n"))
_FAILED = "the run failed"


@dataclass(frozen=True)
class Failures:
    """The configurations of failed runs and the reasons, in the order of the rows.

    A run whose class is known (`state`: FAILED) is also among the rows that are learnt from, there
    without its numbers; `row_id` tells which.
    """

    values: NDArray[np.float64]  # [m, d] encoded as those of `Prepared`; NaN: nothing known
    row_id: NDArray[np.int64]  # [m] row in the person's data, ascending
    reasons: tuple[str, ...]  # [m] in a few words: `runtime: timeout`

    def __len__(self) -> int:
        return len(self.row_id)


def no_failures(columns: int = 0) -> Failures:
    """No failed run, of tables with so many columns in use."""
    return Failures(np.empty((0, columns)), np.empty(0, dtype=np.int64), ())


def failed_rows(
    said: Sequence[FailedRows],
    table: Table,
    rows: Rows,
    space: Space,
    origin: NDArray[np.object_] | None,
) -> list[FailedRows]:
    """Which of the rows are failed runs and why: each row once, for the first reason.

    The origin that the study names, an outcome that says so in words, or a column such as `valid`
    or `status` in rows that lack every number.
    """
    outcomes = space.having(Role.OUTCOME)
    stated = () if origin is None else (np.flatnonzero(origin == RowOrigin.FAILED),)
    left = np.zeros(table.rows, dtype=np.bool_)
    left[rows] = True
    found: list[FailedRows] = []
    for one in (
        *(FailedRows(failed, _FAILED) for failed in stated),
        *(one for one in said if one.column in outcomes),
        *_by_class(table, space),
    ):
        mine = one.rows[left[one.rows]]
        if len(mine):
            left[mine] = False
            found.append(FailedRows(mine, one.reason, one.column))
    return found


def _by_class(table: Table, space: Space) -> Iterator[FailedRows]:
    """Rows in which a column says that the run failed and nothing else was measured."""
    numeric = [p for p in space if p.role is Role.OUTCOME and isinstance(p, Number)]
    measured = [p for p in numeric if not _tells_success(p.name)]
    if not measured or any(p.optional for p in measured):
        return
    nothing = np.logical_and.reduce([np.isnan(numbers(table.column(p.name))) for p in measured])
    if not nothing.any():
        return
    for name in table.names:
        if not _tells_success(name):
            continue
        codes, labels = coded(table.column(name))
        for code, label in enumerate(labels):
            if _is_failure(name, label):
                hit = np.flatnonzero(nothing & (codes == code))
                if len(hit):
                    yield FailedRows(hit, f"{name}: {label}", name)


def _tells_success(name: str) -> bool:
    found = frozenset(names.words(name))
    told = found <= _GOOD | _BAD | _CODES | {"is", "was", "run", "code"}
    return names.is_class(name) or (bool(found) and told)


def _is_failure(name: str, label: Value) -> bool:
    """Whether a label of such a column says that the run failed: `valid` 0, `exit_code` 137."""
    found = frozenset(names.words(name))
    text = str(label).strip().lower()
    if says_failed(text):
        return True
    if found & _GOOD:
        return text in _NO
    if found & _BAD:
        return text in _YES
    return bool(found & _CODES) and isinstance(label, int | float) and label != 0


def without_failed(
    table: Table, rows: Rows, space: Space, failed: Sequence[FailedRows]
) -> tuple[Table, Rows, tuple[Dropped, ...]]:
    """The table without the numbers of failed runs, the rows to learn from, and notes.

    A failed run stays only where its class is known: that can be learnt.
    """
    if not failed:
        return table, rows, ()
    hit, known = np.zeros(table.rows, dtype=np.bool_), np.zeros(table.rows, dtype=np.bool_)
    for parameter in space:
        if parameter.role is Role.OUTCOME and isinstance(parameter, Category):
            known |= ~nulls_of(table.column(parameter.name))
    notes = []
    for one in failed:
        if one.column is None:
            known[one.rows] = False  # the study says that such a row is none to learn from
        hit[one.rows] = True
        why = "" if one.column is None else f" ({one.reason})"
        for kept, then in ((False, ""), (True, "; its class is learnt, its numbers are not")):
            mine = one.rows[known[one.rows] == kept]
            if len(mine):
                notes.append(remark(f"{_FAILED}{why}{then}", mine, one.column, kept=kept))
    rows = rows[~(hit & ~known)[rows]]
    return _without_numbers(table, space, hit & known), rows, tuple(notes)


def _without_numbers(table: Table, space: Space, hit: NDArray[np.bool_]) -> Table:
    """The table without the number outcomes of some rows."""
    if not hit.any():
        return table
    arrow = table.arrow
    for parameter in space:
        if parameter.role is Role.OUTCOME and isinstance(parameter, Number):
            values = numbers(arrow.column(parameter.name))
            blank = pa.array(np.where(hit, np.nan, values), pa.float64(), from_pandas=True)
            place = arrow.column_names.index(parameter.name)
            field = arrow.schema.field(place).with_type(pa.float64())
            arrow = arrow.set_column(place, field, pa.chunked_array([blank]))
    return Table(arrow, table.parts, table.fingerprint)


def failures_of(table: Table, used: Space, failed: Sequence[FailedRows]) -> Failures:
    """The configurations of the failed rows over the columns in use."""
    if not failed:
        return no_failures(len(used))
    rows = np.concatenate([one.rows for one in failed])
    which = np.repeat(np.arange(len(failed)), [len(one.rows) for one in failed])
    order = np.argsort(rows, kind="stable")
    reasons = tuple(failed[place].reason for place in which[order].tolist())
    values = Encoder(used).encode_table(table, rows[order])
    for place, parameter in enumerate(used):
        if parameter.role is Role.OUTCOME and isinstance(parameter, Number):
            values[:, place] = np.nan  # what a failed run leaves behind is no result
    return Failures(values, rows[order], reasons)
