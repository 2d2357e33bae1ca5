"""Numbers of many cells at once: cells of one shape (`00:00:00`, `00000K`) are read together."""

import re
from collections.abc import Callable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from compass.arrow import values_of
from compass.slurm import units

Floats = NDArray[np.float64]
Bytes = NDArray[np.uint8]

_MOST_SHAPES = 12  # of one length; what is left is read cell by cell
_FEWEST = 32  # cells for which the way over shapes is the shorter one
_LONGEST = 24
_EXACT_DIGITS = 15  # of a number that a float holds exactly
_DIGIT = 48

# What turns the digits of one shape into numbers, or None: read those cells one by one.
Reading = Callable[[Bytes], Floats]


def numbers(texts: pa.Array, parse: Callable[[str], float | None]) -> tuple[Floats, list[int]]:
    """The numbers of these texts, NaN where one is missing; and the places that were not read.

    `parse` is one of `units.seconds`, `units.size`, `units.amount`; the result is the same.
    """
    found = np.full(len(texts), np.nan)
    rest = np.ones(len(texts), dtype=bool)
    reading = _READINGS.get(parse)
    if reading is not None and len(texts) >= _FEWEST:
        offsets, data = offsets_and_data(texts)
        lengths = np.diff(offsets)
        rest[lengths == 0] = False
        for length in np.flatnonzero(np.bincount(np.minimum(lengths, _LONGEST + 1))):
            if 0 < length <= _LONGEST:
                places = np.flatnonzero(lengths == length)
                cells = data[offsets[places, None] + np.arange(length)]
                _read_shapes(cells, places, reading, found, rest)
    return found, [int(place) for place in np.flatnonzero(rest)]


def offsets_and_data(texts: pa.Array) -> tuple[NDArray[np.int64], Bytes]:
    """Where each text starts (and the last ends), and all their bytes."""
    _, starts, data = texts.buffers()
    wide = pa.types.is_large_string(texts.type)
    places = np.frombuffer(starts, np.int64 if wide else np.int32)
    offsets = places[texts.offset : texts.offset + len(texts) + 1].astype(np.int64)
    return offsets, np.frombuffer(data if data is not None else b"", np.uint8)


def _read_shapes(
    cells: Bytes,
    places: NDArray[np.int64],
    reading: Callable[[str], Reading | None],
    found: Floats,
    rest: NDArray[np.bool_],
) -> None:
    """Read cells [n, length] of one length, shape by shape, into `found`; `rest` is left."""
    shapes = np.where((cells >= _DIGIT) & (cells < _DIGIT + 10), np.uint8(_DIGIT), cells)
    left = np.arange(len(cells))
    for _ in range(_MOST_SHAPES):
        if not len(left):
            return
        shape = shapes[left[0]]
        same = (shapes[left] == shape).all(axis=1)
        mine, left = left[same], left[~same]
        read = reading(shape.tobytes().decode("latin-1"))
        if read is not None:
            found[places[mine]] = read(cells[mine])
            rest[places[mine]] = False


def _whole(cells: Bytes, span: tuple[int, int]) -> Floats:
    """The whole number that the digits of each row between two places are; no digits are 0."""
    total = np.zeros(len(cells))
    for place in range(*span):
        total = total * 10.0 + (cells[:, place] - np.uint8(_DIGIT))
    return total


def _decimal(span: tuple[int, int], shape: str) -> Reading | None:
    """The reading of digits with a point among them, if there are few enough to be exact."""
    start, stop = span
    digits, point, fraction = shape[start:stop].partition(".")
    if len(digits) + len(fraction) > _EXACT_DIGITS:
        return None
    split, tens = start + len(digits), 10.0 ** len(fraction)

    def read(cells: Bytes) -> Floats:
        whole = _whole(cells, (start, split))
        if not point:
            return whole
        # One division of exact numbers is the nearest float, as reading the text is.
        return (whole * tens + _whole(cells, (split + 1, stop))) / tens

    return read


def _seconds(shape: str) -> Reading | None:
    found = units.TIME.fullmatch(shape)
    if found is None or (found["days"] is not None and shape.count(":") != 2):
        return None
    rest = _decimal(found.span("seconds"), shape)
    if rest is None:
        return None
    scales = {"days": 86400.0, "hours": 3600.0, "minutes": 60.0}
    spans = [(found.span(name), scale) for name, scale in scales.items() if found[name] is not None]

    def read(cells: Bytes) -> Floats:
        whole = np.zeros(len(cells))
        for span, scale in spans:
            whole += _whole(cells, span) * scale
        return whole + rest(cells)

    return read


def _scaled(base: int) -> Callable[[str], Reading | None]:
    def reading(shape: str) -> Reading | None:
        found: re.Match[str] | None = units.NUMBER.fullmatch(shape)
        if found is None:
            return None
        read = _decimal(found.span(1), shape)
        scale = units.scale(found[2], base=base)
        return None if read is None else lambda cells: read(cells) * scale

    return reading


_READINGS: dict[Callable[[str], float | None], Callable[[str], Reading | None]] = {
    units.seconds: _seconds,
    units.size: _scaled(1024),
    units.amount: _scaled(1000),
}


def codes_and_texts(column: pa.Array) -> tuple[NDArray[np.integer], pa.Array]:
    """Which of the different texts each row has, and these texts."""
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    return values_of(encoded.indices), encoded.dictionary
