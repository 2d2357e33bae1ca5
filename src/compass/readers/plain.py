"""Brings columns of any Arrow type to the few that the rest of Compass knows.

bool, int64, float64, large_string, timestamp[us] without zone (UTC), and null for an empty column.
NaN becomes a missing value. Durations and times of day become seconds, and the field says so in
its metadata (`unit`). Nested records become columns named `outer.inner`; lists become text.
Of a file's own metadata only the mark of a sample stays.
"""

import pyarrow as pa
import pyarrow.compute as pc

from compass.arrow import CELLS, DECIMAL, UNIT
from compass.domain.errors import DataProblem
from compass.readers.sample import MARK

_KEPT = (UNIT, DECIMAL, CELLS)  # of the metadata of a field
_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


def plain(table: pa.Table) -> pa.Table:
    """The same rows with plain types only."""
    marks = {key: value for key, value in (table.schema.metadata or {}).items() if key == MARK}
    table = flat(table)
    fields, columns = [], []
    for field, column in zip(table.schema, table.columns, strict=True):
        try:
            values, unit = plain_column(column)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as problem:
            raise DataProblem(
                f"the values of column '{field.name}' ({field.type}) cannot be used: {problem}",
                hint="write the column as numbers, text or true/false, or leave it out",
            ) from problem
        told = {key: one for key, one in (field.metadata or {}).items() if key in _KEPT}
        if unit is not None:
            told.setdefault(UNIT, unit)
        fields.append(pa.field(field.name, values.type, metadata=told or None))
        columns.append(values)
    return pa.table(columns, schema=pa.schema(fields, metadata=marks or None))


def flat(table: pa.Table) -> pa.Table:
    """The same rows with nested records as columns named `outer.inner`."""
    while any(pa.types.is_struct(kind) for kind in table.schema.types):
        table = table.flatten()
    return table


def plain_column(column: pa.ChunkedArray) -> tuple[pa.ChunkedArray, bytes | None]:
    """The column in a plain type, and its unit when the type tells it."""
    kind = column.type
    is_a = pa.types
    if is_a.is_dictionary(kind):
        return plain_column(column.cast(kind.value_type))
    if is_a.is_null(kind) or is_a.is_boolean(kind) or is_a.is_int64(kind):
        return column, None
    if is_a.is_integer(kind):
        # Whole numbers above 2**63 do not fit; as floats they are at least comparable.
        wide = is_a.is_uint64(kind) and (pc.max(column).as_py() or 0) >= 2**63
        return column.cast(pa.float64() if wide else pa.int64(), safe=not wide), None
    if is_a.is_floating(kind) or is_a.is_decimal(kind):
        return _without_nan(column.cast(pa.float64())), None
    if is_a.is_timestamp(kind) or is_a.is_date(kind):
        return column.cast(pa.timestamp("us"), safe=False), None
    if is_a.is_duration(kind) or is_a.is_time(kind):
        whole = pa.int32() if is_a.is_time32(kind) else pa.int64()
        seconds = pc.multiply(column.cast(whole).cast(pa.float64()), _SECONDS[kind.unit])
        return seconds, b"s"
    texts = (is_a.is_string, is_a.is_large_string, is_a.is_string_view)
    if any(is_one(kind) for is_one in (*texts, is_a.is_binary, is_a.is_large_binary)):
        return column.cast(pa.large_string()), None
    cells = [None if value is None else str(value) for value in column.to_pylist()]
    return pa.chunked_array([pa.array(cells, pa.large_string())]), None


def _without_nan(column: pa.ChunkedArray) -> pa.ChunkedArray:
    nan = pc.is_nan(column)
    if not pc.any(nan).as_py():
        return column
    return pc.if_else(nan, pa.scalar(None, pa.float64()), column)
