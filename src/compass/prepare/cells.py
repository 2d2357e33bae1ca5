"""Columns of a table as arrays: numbers, or positions in a list of labels."""

from collections.abc import Sequence
from datetime import datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from compass.arrow import values_of
from compass.domain.base import Value


def numbers(column: pa.ChunkedArray) -> NDArray[np.float64]:
    """The column as float64[rows]; missing cells and text that is no number are NaN.

    Time stamps become seconds since 1970, true/false 1 and 0; infinite values stay.
    """
    kind = column.type
    if pa.types.is_null(kind):
        return np.full(len(column), np.nan)
    if pa.types.is_timestamp(kind):
        return numbers(column.cast(pa.int64())) / 1e6
    if pa.types.is_large_string(kind):
        codes, labels = coded(column)
        values = np.array([*map(_parsed, labels), np.nan])
        return values[codes]
    return values_of(column.cast(pa.float64(), safe=False), np.nan)


def _parsed(text: Value) -> float:
    try:
        return float(str(text))
    except ValueError:
        return float("nan")


def coded(column: pa.ChunkedArray) -> tuple[NDArray[np.int64], list[Value]]:
    """The column as int64[rows] positions in the list of its labels; -1 where a cell is missing."""
    if pa.types.is_null(column.type):
        return np.full(len(column), -1, dtype=np.int64), []
    encoded = pc.dictionary_encode(column.combine_chunks())
    codes: NDArray[np.int64] = values_of(encoded.indices, -1).astype(np.int64)
    labels = encoded.dictionary.to_pylist()
    return codes, [v.isoformat() if isinstance(v, datetime) else v for v in labels]


def label_key(value: Value) -> tuple[str, Value]:
    """A key under which equal labels meet: 1 and 1.0 do, 1 and true do not, 1 and '1' do not."""
    if value is None or isinstance(value, bool | str):
        return type(value).__name__, value
    return "number", value


def positions(column: pa.ChunkedArray, values: Sequence[Value]) -> NDArray[np.float64]:
    """The column as float64[rows] positions in `values`; NaN for missing and unlisted labels.

    Where `values` has the label None, a missing cell is that label.
    """
    place = {label_key(value): float(i) for i, value in enumerate(values)}
    codes, labels = coded(column)
    found = [place.get(label_key(label), np.nan) for label in labels]
    missing = place.get(label_key(None), np.nan)
    return np.array([*found, missing])[codes]
