"""How Compass and the process that runs a model talk: a JSON header, then raw arrays.

A message is the length of its header (4 bytes), the header, and the bytes of the arrays that the
header's field `arrays` lists. Nothing is ever unpickled.
"""

import json
import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

HEADER = 4 * 2**20  # bytes that a header may have
QUESTION, ANSWER = 3 * 2**30, 2**29  # bytes that the arrays of a message may have
_TYPES = ("<f8", "<i8", "|u1")

Message = tuple[dict[str, Any], list[NDArray[Any]]]


class Garbled(Exception):
    """A message that follows no protocol."""


def encode(header: dict[str, Any], arrays: Sequence[NDArray[Any]] = ()) -> list[bytes]:
    """The pieces of a message, to be written one after another."""
    plain = [np.ascontiguousarray(array) for array in arrays]
    listed = [{"shape": array.shape, "type": array.dtype.str} for array in plain]
    head = json.dumps({**header, "arrays": listed}).encode()
    return [struct.pack(">I", len(head)) + head, *(array.tobytes() for array in plain)]


def decode(read: Callable[[int], bytes], most: int) -> Message:
    """The next message, with at most so many bytes of arrays; `read(n)` gives exactly n bytes."""
    (size,) = struct.unpack(">I", read(4))
    if size > HEADER:
        raise Garbled("a header is too long")
    try:
        header = json.loads(read(size))
        kinds = [(tuple(map(int, one["shape"])), str(one["type"])) for one in header["arrays"]]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise Garbled(str(error)) from None
    arrays, left = [], most
    for shape, kind in kinds:
        if kind not in _TYPES or len(shape) > 2 or any(extent < 0 for extent in shape):
            raise Garbled("an array of an unknown kind")
        size = int(np.dtype(kind).itemsize)
        for extent in shape:
            size *= extent
        left -= size
        if left < 0:
            raise Garbled("a message is too long")
        arrays.append(np.frombuffer(read(size), dtype=kind).reshape(shape))
    return header, arrays
