"""Columns of a batch as the pilot model sees them: one byte per cell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from compass.arrow import values_of
from compass.domain.base import Value
from compass.native import kernel
from compass.prepare import cells
from compass.readers.plain import plain_column

Bins = NDArray[np.uint8]
Floats = NDArray[np.float64]

_BIN = {np.dtype(kind): kernel(f"bin_numbers_{kind}") for kind in ("i4", "i8", "f8")}


@dataclass(frozen=True)
class Binned:
    """How the cells of one column become bins: borders of numbers, or places of labels."""

    name: str
    borders: Floats | None  # a number is in the bin of how many borders it exceeds
    labels: tuple[tuple[Value, int], ...] = ()
    other: int = 0  # the bin of labels that the pilot has not seen, and of missing ones

    def fill(self, cells_of: "Cells", into: Bins) -> None:
        """Writes the bins of a column of a batch, uint8[n]."""
        if self.borders is None:
            codes, found = cells_of.codes()
            places = dict(self.labels)
            table = [places.get(label, self.other) for label in found]
            np.take(np.array([*table, self.other], dtype=np.uint8), codes, out=into)
        else:
            bin_numbers(cells_of.numbers(), self.borders, into)


def is_label(kind: pa.DataType) -> bool:
    """Whether a column of this type holds labels rather than numbers."""
    is_a = pa.types
    kind = kind.value_type if is_a.is_dictionary(kind) else kind
    labels = (is_a.is_string, is_a.is_large_string, is_a.is_string_view, is_a.is_boolean)
    return any(is_one(kind) for is_one in labels)


class Cells:
    """One column of a batch, turned into arrays once however often they are needed.

    Without a column, its numbers, or codes and labels, are there already.
    """

    def __init__(
        self,
        column: pa.ChunkedArray | None = None,
        numbers: NDArray[Any] | None = None,
        codes: tuple[NDArray[Any], list[Value]] | None = None,
        failed: NDArray[np.bool_] | None = None,
    ) -> None:
        self.column: Any = column
        self.failed = failed  # cells with a word that says that the run failed, bool[n]
        self._numbers = numbers
        self._codes = codes

    def numbers(self) -> NDArray[Any]:
        """The cells as int32, int64 or float64; NaN where there is no number."""
        if self._numbers is None:
            self._numbers = _numbers(self.column)
        return self._numbers

    def codes(self) -> tuple[NDArray[Any], list[Value]]:
        """The cells as positions in a list of labels; -1, which is the last, where missing."""
        if self._codes is None:
            self._codes = _codes(self.column)
        return self._codes

    def present(self, *, number: bool) -> NDArray[np.bool_] | None:
        """Which cells have a value, bool[n]; None: all of them."""
        if number and self.numbers().dtype.kind != "f":
            return None
        if not number and self.column is not None and not self.column.null_count:
            return None
        found: NDArray[np.bool_] = np.isfinite(self.numbers()) if number else self.codes()[0] >= 0
        return None if found.all() else found

    def told(self, *, number: bool) -> NDArray[np.bool_] | None:
        """Which cells say how the run went, bool[n]: a value, or that it failed."""
        present = self.present(number=number)
        return present if present is None or self.failed is None else present | self.failed


def cells_of(table: pa.Table, failed: Mapping[str, NDArray[np.bool_]]) -> dict[str, Cells]:
    """The columns of a batch, with the cells that tell of failed runs."""
    return {n: Cells(table.column(n), failed=failed.get(n)) for n in table.column_names}


def _numbers(column: pa.ChunkedArray) -> NDArray[Any]:
    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        if column.null_count and pa.types.is_integer(kind):
            column = column.cast(pa.float64(), safe=False)  # missing cells are NaN
        values = values_of(column, 0 if pa.types.is_integer(column.type) else np.nan)
        if values.dtype in (np.int32, np.int64, np.float64):
            return np.ascontiguousarray(values)
        wide = np.int64 if values.dtype.kind in "iu" and values.dtype != np.uint64 else np.float64
        widened: NDArray[Any] = values.astype(wide)
        return widened
    return cells.numbers(plain_column(column)[0])


def _codes(column: pa.ChunkedArray) -> tuple[NDArray[Any], list[Value]]:
    if not pa.types.is_dictionary(column.type):
        return cells.coded(plain_column(column)[0])
    array = column.combine_chunks()
    if isinstance(array, pa.ChunkedArray):  # an empty column
        array = array.chunk(0) if array.num_chunks else pa.array([], column.type)
    codes = values_of(array.indices, -1)
    if codes.dtype not in (np.int32, np.int64):
        codes = codes.astype(np.int64)
    return codes, array.dictionary.to_pylist()


def numbers_binned(name: str, values: Floats, most: int) -> Binned:
    """Bins of about equally many numbers each; one for each number where there are few."""
    finite = values[np.isfinite(values)]
    distinct = np.unique(finite)
    if len(distinct) <= most:
        borders = (distinct[1:] + distinct[:-1]) / 2
    else:
        borders = np.unique(np.quantile(finite, np.arange(1, most) / most, method="lower"))
    return Binned(name, borders.astype(np.float64))


def labels_binned(
    name: str, codes: NDArray[Any], labels: Sequence[Value], y: Floats, most: int
) -> Binned:
    """Labels in the order of the mean outcome y [n], so that one border tells good from bad."""
    known = codes >= 0
    count = np.bincount(codes[known], minlength=len(labels))
    total = np.bincount(codes[known], y[known], minlength=len(labels))
    mean = np.where(count > 0, total / np.maximum(count, 1), y.mean())
    order = np.argsort(mean, kind="stable")
    wide = max(1.0, len(labels) / most)
    places = tuple((labels[code], int(rank / wide)) for rank, code in enumerate(order))
    middle = int(np.searchsorted(mean[order], y.mean()) / wide)
    return Binned(name, None, places, min(middle, 254))


def bin_numbers(values: NDArray[Any], borders: Floats, into: Bins) -> None:
    """Writes how many borders each number exceeds, uint8[n]."""
    _BIN[values.dtype](values, borders, into)


def bins_of(columns: Mapping[str, Cells], features: Sequence[Binned], rows: int) -> Bins:
    """The bins of a batch, uint8[d, n]."""
    found = np.empty((len(features), rows), dtype=np.uint8)
    for place, feature in enumerate(features):
        feature.fill(columns[feature.name], found[place])
    return found
