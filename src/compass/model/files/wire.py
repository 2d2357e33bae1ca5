"""What Compass and the process that runs a model say to each other: a JSON header and raw arrays.

A message is the length of its header (4 bytes), the header, and the bytes of the arrays that the
header's field `arrays` lists. Nothing is ever unpickled.
"""

import json
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compass.execute.child import Garbled

HEADER = 4 * 2**20  # bytes that a header may have
QUESTION, ANSWER = 3 * 2**30, 2**29  # bytes that a message may have
KIND = b"M"  # of the frames that messages travel in
_LENGTH = struct.Struct(">I")
_ALIGNED = 8  # numbers stand in a message where processors read them fastest
_TYPES = ("<f8", "<i8", "|u1")

Message = tuple[dict[str, Any], list[NDArray[Any]]]


def encode(header: dict[str, Any], arrays: Sequence[NDArray[Any]] = ()) -> list[bytes]:
    """The pieces of a message, to be sent one after another."""
    plain = [np.ascontiguousarray(array) for array in arrays]
    listed = [{"shape": array.shape, "type": array.dtype.str} for array in plain]
    head = json.dumps({**header, "arrays": listed}).encode()
    head += b" " * (-(_LENGTH.size + len(head)) % _ALIGNED)
    return [_LENGTH.pack(len(head)) + head, *(array.tobytes() for array in plain)]


def decode(content: bytes) -> Message:
    """The header and the arrays of a message; Garbled if it is none."""
    if len(content) < _LENGTH.size:
        raise Garbled("a message without a header")
    (size,) = _LENGTH.unpack_from(content)
    start = _LENGTH.size + size
    if size > HEADER or start > len(content):
        raise Garbled("a header is too long")
    try:
        header = json.loads(content[_LENGTH.size : start])
        kinds = [(tuple(map(int, one["shape"])), str(one["type"])) for one in header["arrays"]]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise Garbled(str(error)) from None
    arrays = []
    for shape, kind in kinds:
        if kind not in _TYPES or len(shape) > 2 or any(extent < 0 for extent in shape):
            raise Garbled("an array of an unknown kind")
        count = 1
        for extent in shape:
            count *= extent
        end = start + count * int(np.dtype(kind).itemsize)
        if end > len(content):
            raise Garbled("an array is longer than its message")
        arrays.append(_array(content, kind, start, shape))
        start = end
    if start < len(content):
        raise Garbled("a message is longer than its arrays")
    return header, arrays


def _array(content: bytes, kind: str, start: int, shape: tuple[int, ...]) -> NDArray[Any]:
    try:
        array = np.ndarray(shape, kind, content, start)
    except ValueError as error:  # such as nothing times more than can be counted
        raise Garbled(str(error)) from None
    return array if array.flags.aligned else array.copy()
