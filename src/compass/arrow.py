"""Columns of Arrow as arrays of NumPy, and where a column says its unit.

Arrow's own `to_numpy` and `fill_null` are not used: both import pandas where it is installed, which
takes half a second in every process that reads a table or answers. (Arrow's `array` and `scalar`
of Python values do, too; readers that need these pay for it.)
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

# Metadata keys of a field.
UNIT = b"unit"  # its unit, where the type, the file or the cells tell it
DECIMAL = b"decimal"  # of text: the decimal mark of its file, where that is not the point
CELLS = b"cells"  # how its cells were read, as JSON


def values_of(column: pa.Array | pa.ChunkedArray, missing: float = 0) -> NDArray[Any]:
    """Numbers or truth values in the type of the column, [n]; `missing` where a cell is null.

    Where no copy is made, what is in the column cannot be changed through it.
    """
    array = _whole(column)
    kind = array.type
    _, data = array.buffers()
    if data is None:
        found = np.zeros(len(array), dtype=bool if pa.types.is_boolean(kind) else _dtype(kind))
    elif pa.types.is_boolean(kind):
        found = _bits(data, array.offset, len(array))
    else:
        whole: NDArray[Any] = np.frombuffer(data, _dtype(kind))
        found = whole[array.offset : array.offset + len(array)]
        found.flags.writeable = False
    return (
        np.where(nulls_of(array), found.dtype.type(missing), found) if array.null_count else found
    )


def array_of(values: NDArray[Any], nulls: NDArray[np.bool_] | None = None) -> pa.Array:
    """Numbers or truth values as a column; a cell where `nulls` is true is missing."""
    count = len(values)
    if values.dtype == bool:
        kind, data = pa.bool_(), np.packbits(values, bitorder="little")
    else:
        kind, data = pa.from_numpy_dtype(values.dtype), np.ascontiguousarray(values)
    there = None
    if nulls is not None and nulls.any():
        there = pa.py_buffer(np.packbits(~nulls, bitorder="little"))
    return pa.Array.from_buffers(kind, count, [there, pa.py_buffer(data)])


def texts_of(texts: Sequence[str | None]) -> pa.Array:
    """Texts as a column; None is a missing cell."""
    coded = [b"" if text is None else text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, coded)], dtype=np.int64)
    nulls = np.array([text is None for text in texts], dtype=bool)
    there = pa.py_buffer(np.packbits(~nulls, bitorder="little")) if nulls.any() else None
    buffers = [there, pa.py_buffer(ends), pa.py_buffer(b"".join(coded))]
    return pa.Array.from_buffers(pa.large_string(), len(coded), buffers).cast(pa.string())


def nulls_of(column: pa.Array | pa.ChunkedArray) -> NDArray[np.bool_]:
    """Which cells are null, bool[n]."""
    array = _whole(column)
    valid = array.buffers()[0]
    if pa.types.is_null(array.type):
        return np.ones(len(array), dtype=bool)
    if valid is None or not array.null_count:
        return np.zeros(len(array), dtype=bool)
    return ~_bits(valid, array.offset, len(array))


def _whole(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    if isinstance(column, pa.Array):
        return column
    if column.num_chunks == 1:
        return column.chunk(0)
    whole = column.combine_chunks()
    return pa.concat_arrays(whole.chunks) if isinstance(whole, pa.ChunkedArray) else whole


def _dtype(kind: pa.DataType) -> np.dtype[Any]:
    found: np.dtype[Any] = np.dtype(kind.to_pandas_dtype())
    return found


def _bits(data: pa.Buffer, start: int, count: int) -> NDArray[np.bool_]:
    first = start // 8
    there = np.frombuffer(data, np.uint8)[first : (start + count + 7) // 8]
    found: NDArray[np.bool_] = np.unpackbits(there, bitorder="little").view(np.bool_)
    return found[start - 8 * first :][:count]
