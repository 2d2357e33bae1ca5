"""A person's data in memory: plain columns, the files they came from, and a fingerprint."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

import numpy as np
import pyarrow as pa

from compass.arrow import nulls_of, values_of
from compass.domain.base import Config, Value
from compass.domain.errors import BaselineProblem, unknown
from compass.readers.plain import plain
from compass.readers.sample import FILE, ROW, Sampled, sampled


@dataclass(frozen=True)
class TablePart:
    """The rows that came from one file (or from memory, when `file` is None)."""

    file: str | None
    rows: int


@dataclass(frozen=True)
class Table:
    """Rows of past runs. Rows are counted from 0 over all files in order, headers not counted."""

    arrow: pa.Table
    parts: tuple[TablePart, ...]
    fingerprint: str

    @classmethod
    def of(cls, arrow: pa.Table, parts: Iterable[TablePart] | None = None) -> "Table":
        """A table of these columns, brought to plain types (see `compass.readers.plain`)."""
        arrow = plain(arrow)
        sampled(arrow.schema)  # a damaged mark is an error at once
        given = tuple(parts) if parts is not None else (TablePart(None, arrow.num_rows),)
        return cls(arrow, given, fingerprint(arrow))

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.arrow.num_rows)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The column names, in order."""
        return tuple(self.arrow.column_names)  # Arrow makes them anew: kept for wide tables

    def column(self, name: str) -> pa.ChunkedArray:
        """One column; an unknown name offers the nearest one."""
        if name not in self._places:
            raise unknown("column", name, self.names)
        return self.arrow.column(self._places[name])

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.names)}

    def row(self, n: int) -> Config:
        """One row as plain Python values; a missing cell is None, a time stamp its ISO text."""
        self.check_row(n)
        return {name: _scalar(self.arrow.column(name)[n].as_py()) for name in self.names}

    @cached_property
    def sampled(self) -> Sampled | None:
        """How the rows were drawn from a larger table; None: they were not."""
        return sampled(self.arrow.schema)

    def part_of(self, n: int) -> tuple[str | None, int]:
        """The file that was read for row `n`, and the row's number within that file."""
        self.check_row(n)
        start = 0
        for part in self.parts:
            if n < start + part.rows:
                return part.file, n - start
            start += part.rows
        raise AssertionError("the parts of a table cover all of its rows")

    def source_of(self, n: int) -> str | None:
        """Where row `n` of a sample was before, as `row 40213 of jobs.parquet`; None for others."""
        self.check_row(n)
        if self.sampled is None or FILE not in self.names or ROW not in self.names:
            return None
        file, row = (self.arrow.column(name)[n].as_py() for name in (FILE, ROW))
        return None if file is None or row is None else f"row {row} of {file}"

    def row_label(self, n: int) -> str:
        """A row as people know it: `row 12`, or `row 12 (row 40213 of jobs.parquet)`."""
        source = self.source_of(n)
        return f"row {n}" if source is None else f"row {n} ({source})"

    def drop(self, names: Iterable[str]) -> "Table":
        """This table without the named columns."""
        gone = tuple(names)
        for name in gone:
            if name not in self.names:
                raise unknown("column", name, self.names)
        return Table.of(self.arrow.drop_columns(list(gone)), self.parts)

    def check_row(self, n: int) -> None:
        """Raises the error that says which rows there are, if `n` is not one of them."""
        if not 0 <= n < self.rows:
            numbered = f"rows are numbered 0 to {self.rows - 1} (the header is not counted)"
            hint = numbered if self.rows else "the table has no rows"
            raise BaselineProblem(f"there is no row {n}", hint=hint)


def fingerprint(arrow: pa.Table) -> str:
    """A short hash of names, types and values; file names, order of files and chunks do not count.

    Expects plain types, so that the same values read from CSV and from Parquet are the same data.
    """
    digest = hashlib.blake2b(digest_size=16)
    for field, column in zip(arrow.schema, arrow.columns, strict=True):
        header = f"{field.name}\x00{field.type}\x00{len(column)}\x00{column.null_count}\x00"
        digest.update(header.encode())
        array = column.combine_chunks()
        if column.null_count:
            digest.update(np.packbits(nulls_of(array)).data)
        for buffer in _buffers(array):
            digest.update(buffer.data)
    return digest.hexdigest()


def _buffers(array: pa.Array) -> list[np.ndarray]:
    """The values of a plain column as contiguous bytes; what lies under a null does not count."""
    kind = array.type
    if pa.types.is_null(kind):
        return []
    if pa.types.is_large_string(kind):
        return _text_buffers(array)
    if pa.types.is_timestamp(kind):
        array = array.cast(pa.int64())
    return [np.ascontiguousarray(values_of(array)).view(np.uint8)]


def _text_buffers(array: pa.Array) -> list[np.ndarray]:
    """The lengths of all texts, and the texts themselves."""
    _, starts, data = array.buffers()
    places = np.frombuffer(starts, np.int64)[array.offset : array.offset + len(array) + 1]
    text = np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)
    used = text[places[0] : places[-1]] if len(places) else text[:0]
    lengths = np.diff(places)
    if array.null_count:
        missing = nulls_of(array)
        used = used[np.repeat(~missing, lengths)]
        lengths[missing] = 0
    return [lengths, np.ascontiguousarray(used)]


def _scalar(value: object) -> Value:
    if isinstance(value, datetime):
        return value.isoformat()
    assert value is None or isinstance(value, bool | int | float | str)
    return value
