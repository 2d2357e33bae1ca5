"""Which rows of a table somebody looks for, and in which order: by rules, a text, a column."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from compass.domain.constraint import Constraint
from compass.domain.errors import unknown
from compass.engine.rules import compiled
from compass.language.bind import bind_constraint
from compass.prepare import Prepared

Rows = NDArray[np.int64]


def find_rows(
    prepared: Prepared,
    *,
    where: Sequence[str] = (),
    text: str = "",
    sort: str | None = None,
    down: bool = False,
) -> Rows:
    """The numbers of the rows that obey all rules and have the text in some cell.

    Rules are about rows that are in use: those that were left out have no clean values. By
    `sort` they are ordered, cells without a value last; without it they stay as in the table.
    """
    table = prepared.table
    rows: Rows = np.arange(table.rows, dtype=np.int64)
    if where:
        bound = [bind_constraint(Constraint(text=rule), prepared.space) for rule in where]
        fine = np.ones(prepared.rows, dtype=np.bool_)
        for check in compiled(bound, prepared.space, prepared.space.names):
            fine &= check.holds(prepared.values)
        rows = prepared.row_id[fine]
    if text:
        rows = rows[_having(table.arrow.take(rows), text)]
    if sort is None:
        return rows
    if sort not in table.names:
        raise unknown("column", sort, table.names)
    order = "descending" if down else "ascending"
    keys = pa.table({"cell": table.arrow.column(sort).take(rows), "row": rows})
    # Of equal cells those stay in front that come first in the table.
    by = [("cell", order, "at_end"), ("row", "ascending", "at_end")]
    return np.asarray(rows[pc.sort_indices(keys, sort_keys=by).to_numpy()])


def _having(table: pa.Table, text: str) -> NDArray[np.bool_]:
    """Which rows [n] have the text in some cell, in capitals or not."""
    found = np.zeros(table.num_rows, dtype=np.bool_)
    for column in table.columns:  # of plain types: numbers, texts, moments, true or false
        hit = pc.match_substring(column.cast(pa.large_string()), text, ignore_case=True)
        known = hit.combine_chunks().fill_null(fill_value=False)
        found |= np.asarray(known.to_numpy(zero_copy_only=False))
    return found
