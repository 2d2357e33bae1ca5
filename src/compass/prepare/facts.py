"""What the cells of a column tell, before anybody decides what the column is for."""

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from compass.arrow import UNIT
from compass.domain.base import Value
from compass.prepare.cells import coded, numbers
from compass.readers.cell_notes import CellNotes, notes_of

FEW = 64  # at most this many different values can be a list of legal values
_EXACT = 2**53  # whole numbers beyond this are not exact as floats


@dataclass(frozen=True)
class ColumnFacts:
    """Counts and values of one column."""

    name: str
    type: pa.DataType
    rows: int
    missing: int  # null, NaN and infinite cells
    distinct: int
    low: float | None = None  # of numbers and time stamps
    high: float | None = None
    whole: bool = False  # every value is a whole number
    exact: bool = True  # every value is exact as a float
    running: bool = False  # each row's value is the one before plus one
    few: tuple[float, ...] | None = None  # the different numbers, when there are at most FEW
    labels: tuple[tuple[Value, int], ...] = ()  # of text and true/false: labels and their rows
    unit: str | None = None  # where the type, the file or the cells tell it
    cells: CellNotes | None = None  # how text cells were read, where that is worth saying

    @property
    def present(self) -> int:
        """Rows with a value."""
        return self.rows - self.missing

    @property
    def text(self) -> bool:
        """Whether the cells are labels: text or true/false."""
        return bool(pa.types.is_large_string(self.type) or pa.types.is_boolean(self.type))

    @property
    def moment(self) -> bool:
        """Whether the cells are time stamps."""
        return bool(pa.types.is_timestamp(self.type))


def facts_of(field: pa.Field, column: pa.ChunkedArray) -> ColumnFacts:
    """The facts of one column of plain type."""
    return replace(_facts(field, column), cells=notes_of(field))


def _facts(field: pa.Field, column: pa.ChunkedArray) -> ColumnFacts:
    kind, rows = field.type, len(column)
    stored = (field.metadata or {}).get(UNIT)
    unit = stored.decode() if stored else None
    if pa.types.is_null(kind):
        return ColumnFacts(field.name, kind, rows, rows, 0, unit=unit)
    if pa.types.is_large_string(kind) or pa.types.is_boolean(kind):
        return _of_labels(field.name, column)
    values = numbers(column)
    finite = values[np.isfinite(values)]
    if not len(finite):
        return ColumnFacts(field.name, kind, rows, rows, 0, unit=unit)
    few, distinct = _different(column, len(finite) < rows)
    low, high = float(finite.min()), float(finite.max())
    whole = pa.types.is_int64(kind) or bool((finite == np.floor(finite)).all())
    return ColumnFacts(
        field.name,
        kind,
        rows,
        rows - len(finite),
        distinct,
        low=low,
        high=high,
        whole=whole,
        exact=not pa.types.is_int64(kind) or max(abs(low), abs(high)) <= _EXACT,
        running=whole and len(finite) == rows > 1 and bool((np.diff(values) == 1).all()),
        few=few,
        unit=unit,
    )


def _different(column: pa.ChunkedArray, gaps: bool) -> tuple[tuple[float, ...] | None, int]:
    """The different finite numbers (None when more than FEW), and how many there are."""
    found: NDArray[np.float64] = numbers(pa.chunked_array([pc.unique(column)]))
    if gaps:
        found = found[np.isfinite(found)]
    return (tuple(np.sort(found).tolist()) if len(found) <= FEW else None), len(found)


def _of_labels(name: str, column: pa.ChunkedArray) -> ColumnFacts:
    codes, labels = coded(column)
    counts = np.bincount(codes[codes >= 0], minlength=len(labels)).tolist()
    ordered = sorted(zip(labels, counts, strict=True), key=lambda pair: str(pair[0]))
    missing = int((codes < 0).sum())
    return ColumnFacts(name, column.type, len(column), missing, len(labels), labels=tuple(ordered))
