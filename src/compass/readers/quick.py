"""Reads only some columns of separated text, several times faster than all of them.

For a score it is enough to know a few numbers and labels of every line; the lines that are kept
are read again with all care (a number with more than 22 decimals may be off by one in its last
place here). Whatever is not plain (quotes, blanks around numbers, numbers of more
than 19 digits, words among numbers, lines of another width) is not guessed at: the whole piece is
then read the careful way, which also finds the words for what is wrong with it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from compass.execute.kernel import i8, integer, kernel, to_f8_2d, to_i8

Bytes = NDArray[np.uint8]
Floats = NDArray[np.float64]
Codes = NDArray[np.int32]

ROWS = 1 << 16  # lines at a time: their numbers stay in the cache
_LABELS = 1 << 10  # different labels of a column at most
_SLOTS = 4 * _LABELS
_SKIP, _NUMBER, _LABEL = 0, 1, 2
_TENS: Floats = np.power(10.0, np.arange(23.0))  # exact as floats
_u1 = types.Array(types.uint8, 1, "C", readonly=True)
_u8 = types.Array(types.uint64, 1, "C", readonly=True)
_to_i4_2d = types.int32[:, ::1]
_to_i8_2d = types.int64[:, ::1]
_FAILED = -1
_ONE, _TEN, _ZERO = np.uint64(1), np.uint64(10), np.uint8(48)


@dataclass(frozen=True)
class Lines:
    """Some lines of a text: where each begins and ends, and the cells of the wanted columns."""

    begin: NDArray[np.int64]  # [n]
    end: NDArray[np.int64]  # [n] after the line end
    numbers: dict[str, Floats]  # [n]; NaN where a cell is missing
    codes: dict[str, Codes]  # [n]; -1 where a cell is missing
    labels: dict[str, list[str]]


class NotPlain(Exception):
    """Text that has to be read the careful way."""


def lines_of(
    text: bytes,
    names: Sequence[str],
    separator: str,
    numbers: Sequence[str],
    labels: Sequence[str],
    missing: Sequence[str],
) -> Iterator[Lines]:
    """The lines of a text without header, some thousand at a time; raises `NotPlain`."""
    if not text.endswith(b"\n"):
        text += b"\n"
    data = np.frombuffer(text, dtype=np.uint8)
    kinds, slots = np.zeros(len(names), dtype=np.int64), np.zeros(len(names), dtype=np.int64)
    for kind, wanted in ((_NUMBER, numbers), (_LABEL, labels)):
        for slot, name in enumerate(wanted):
            kinds[names.index(name)] = kind
            slots[names.index(name)] = slot
    empty = np.sort(np.array([_packed(word) for word in missing], dtype=np.uint64))
    table = np.full((max(len(labels), 1), _SLOTS), -1, dtype=np.int32)
    first = np.zeros((max(len(labels), 1), _LABELS), dtype=np.int64)
    known = np.zeros(max(len(labels), 1), dtype=np.int64)
    texts: list[list[str]] = [[] for _ in labels]
    place = 0
    while place < len(data):
        values = np.empty((max(len(numbers), 1), ROWS))
        codes = np.empty((max(len(labels), 1), ROWS), dtype=np.int32)
        begin, end = np.empty(ROWS, dtype=np.int64), np.empty(ROWS, dtype=np.int64)
        rows, place = _scan(
            data,
            place,
            ord(separator),
            kinds,
            slots,
            empty,
            values,
            codes,
            begin,
            end,
            table,
            first,
            known,
        )
        if rows == _FAILED:
            raise NotPlain
        for slot in range(len(labels)):
            for code in range(len(texts[slot]), int(known[slot])):
                texts[slot].append(_cell(text, int(first[slot, code]), separator))
            gone = [code for code, label in enumerate(texts[slot]) if label in missing]
            for code in gone:
                codes[slot, :rows][codes[slot, :rows] == code] = -1
        if rows:
            yield Lines(
                begin[:rows],
                end[:rows],
                {name: values[slot, :rows] for slot, name in enumerate(numbers)},
                {name: codes[slot, :rows] for slot, name in enumerate(labels)},
                {name: texts[slot] for slot, name in enumerate(labels)},
            )


def _cell(text: bytes, start: int, separator: str) -> str:
    end = text.index(b"\n", start)
    cell = text[start:end].partition(separator.encode())[0].rstrip(b"\r")
    try:
        return cell.decode()
    except UnicodeDecodeError:
        raise NotPlain from None


def _packed(word: str) -> int:
    return int.from_bytes(word.encode()[:8].ljust(8, b"\0"), "little")


def chosen(text: bytes, lines: Lines, rows: NDArray[np.int64]) -> bytes:
    """The bytes of some of the lines."""
    begin, end = lines.begin[rows], lines.end[rows]
    found = np.empty(int((end - begin).sum()), dtype=np.uint8)
    _copy(np.frombuffer(text, dtype=np.uint8), begin, np.minimum(end, len(text)), found)
    return found.tobytes()


@kernel(_u1, i8, i8, types.uint8[::1])
def _copy(data: Bytes, begin: NDArray[np.int64], end: NDArray[np.int64], into: Bytes) -> None:
    place = 0
    for i in range(len(begin)):
        for p in range(begin[i], end[i]):
            into[place] = data[p]
            place += 1
    for p in range(place, len(into)):  # the last line may have had no line end
        into[p] = 10


@kernel()
def _rest(value: float, divisor: float, quotient: float) -> Any:
    """value - quotient * divisor without rounding (Dekker)."""
    split = 134217729.0
    a = quotient * split
    high_a = a - (a - quotient)
    low_a = quotient - high_a
    b = divisor * split
    high_b = b - (b - divisor)
    low_b = divisor - high_b
    product = quotient * divisor
    error = ((high_a * high_b - product) + high_a * low_b + low_a * high_b) + low_a * low_b
    return (value - product) - error


@kernel()
def _number(mantissa: np.uint64, power: int, tens: Floats) -> Any:
    """mantissa * 10**power: the nearest float for powers of -22 to 0, else nearly."""
    whole = np.float64(mantissa)
    while power < -22:
        whole /= tens[22]
        power += 22
        mantissa = np.uint64(0)  # rounded already: nothing is left to correct
    while power > 22:
        whole *= tens[22]
        power -= 22
    if power >= 0:
        return whole * tens[power]
    divisor = tens[-power]
    quotient = whole / divisor
    if mantissa < np.uint64(9007199254740992) or whole >= 1.8446744073709552e19:
        return quotient
    # The mantissa does not fit a float: what is left of it goes into the correction.
    left = np.float64(np.int64(mantissa - np.uint64(whole)))
    return quotient + (_rest(whole, divisor, quotient) + left) / divisor


@kernel()
def _leading_zeros(data: Bytes, place: Any) -> Any:
    zeros = 0
    while data[place] == 48 or data[place] == 46:
        zeros += data[place] == 48
        place += 1
    return zeros


@kernel()
def _is_missing(data: Bytes, start: int, end: int, empty: NDArray[np.uint64]) -> Any:
    if end - start > 8:
        return False
    word = np.uint64(0)
    for p in range(start, end):
        word |= np.uint64(data[p]) << np.uint64(8 * (p - start))
    for known in empty:  # noqa: SIM110 - compiled; a handful: a search costs more
        if known == word:
            return True
    return False


@kernel()
def _hash(data: Bytes, start: int, end: int) -> Any:
    """Of the length and the eight bytes at each end."""
    head, tail = np.uint64(0), np.uint64(0)
    for p in range(start, min(start + 8, end)):
        head = (head << np.uint64(8)) | np.uint64(data[p])
    for p in range(max(start + 8, end - 8), end):
        tail = (tail << np.uint64(8)) | np.uint64(data[p])
    mixed = head * np.uint64(0x9E3779B97F4A7C15) + tail * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed += np.uint64(end - start)
    return mixed ^ (mixed >> np.uint64(29)) ^ (mixed >> np.uint64(47))


@kernel()
def _same(data: Bytes, one: int, other: int, length: int, separator: int) -> Any:
    """Whether a cell that begins at `one` has the bytes of the cell at `other`, and no more."""
    for p in range(length):
        if data[one + p] != data[other + p]:
            return False
    after = data[one + length]
    return after == separator or after == 10 or after == 13  # noqa: PLR1714 - compiled


@kernel()
def _label(
    data: Bytes,
    start: int,
    end: int,
    last: int,
    table: Codes,
    first: NDArray[np.int64],
    known: NDArray[np.int64],
    slot: int,
    separator: int,
) -> Any:
    """The number of a label; a new one is put down with where it was seen first. -1: too many."""
    # Labels come in runs: most often it is that of the line before.
    if last >= 0 and _same(data, first[slot, last], start, end - start, separator):
        return last
    place = np.int64(_hash(data, start, end) & np.uint64(_SLOTS - 1))
    while table[slot, place] >= 0:
        code = table[slot, place]
        if _same(data, first[slot, code], start, end - start, separator):
            return code
        place = (place + 1) & (_SLOTS - 1)
    if known[slot] == _LABELS:
        return -1
    code = known[slot]
    table[slot, place] = code
    first[slot, code] = start
    known[slot] += 1
    return code


@kernel()
def _parse(data: Bytes, start: int, separator: int, tens: Floats) -> tuple[Any, float]:
    """The number that begins at a place, and where it ends; -1: no plain number."""
    # An unsigned place needs no look whether it counts from the end, byte for byte.
    p = np.uint64(start)
    negative = data[p] == 45
    if negative or data[p] == 43:
        p += _ONE
    mantissa = np.uint64(0)
    power: Any = 0
    signed, since = p, p
    digit = np.uint8(data[p] - _ZERO)
    while digit <= 9:
        mantissa = mantissa * _TEN + np.uint64(digit)
        p += _ONE
        digit = np.uint8(data[p] - _ZERO)
    digits: Any = np.int64(p - since)
    if data[p] == 46:
        p += _ONE
        since = p
        digit = np.uint8(data[p] - _ZERO)
        while digit <= 9:
            mantissa = mantissa * _TEN + np.uint64(digit)
            p += _ONE
            digit = np.uint8(data[p] - _ZERO)
        digits += np.int64(p - since)
        power = -np.int64(p - since)
    if digits == 0 or (digits > 19 and digits - _leading_zeros(data, np.int64(signed)) > 19):
        return -1, 0.0
    if data[p] == 101 or data[p] == 69:
        p += _ONE
        down = data[p] == 45
        if down or data[p] == 43:
            p += _ONE
        since = p
        tenth: Any = 0
        while np.uint8(data[p] - _ZERO) <= 9 and p - since < 3:
            tenth = tenth * 10 + np.int64(data[p] - _ZERO)
            p += _ONE
        if p == since:
            return -1, 0.0
        power += -tenth if down else tenth
    if data[p] != separator and data[p] != 10 and data[p] != 13:
        return -1, 0.0
    found = _number(mantissa, power, tens)
    return np.int64(p), -found if negative else found


@kernel()
def _cell_end(data: Bytes, start: int, ends: Bytes) -> Any:
    p = np.uint64(start)
    while not ends[data[p]]:
        p += _ONE
    return np.int64(p)


@kernel(
    _u1,
    integer,
    integer,
    i8,
    i8,
    _u8,
    to_f8_2d,
    _to_i4_2d,
    to_i8,
    to_i8,
    _to_i4_2d,
    _to_i8_2d,
    to_i8,
)
def _scan(
    data: Bytes,
    place: int,
    separator: int,
    kinds: NDArray[np.int64],
    slots: NDArray[np.int64],
    empty: NDArray[np.uint64],
    values: Floats,
    codes: Codes,
    begin: NDArray[np.int64],
    end: NDArray[np.int64],
    table: Codes,
    first: NDArray[np.int64],
    known: NDArray[np.int64],
) -> tuple[int, int]:
    """Reads lines from a place on until the arrays are full: how many (-1: not plain), where."""
    size, columns = len(data), len(kinds)
    tens = _TENS
    ends = np.zeros(256, dtype=np.uint8)  # one look at a table beats three comparisons
    ends[separator], ends[10], ends[13] = 1, 1, 1
    row, p = 0, place
    while p < size and row < len(begin):
        if data[p] == 10 or (data[p] == 13 and data[p + 1] == 10):  # an empty line is no row
            p += 1 if data[p] == 10 else 2
            continue
        begin[row] = p
        for column in range(columns):
            start, kind, slot = p, kinds[column], slots[column]
            number = 0.0
            if kind == _NUMBER:
                p, number = _parse(data, start, separator, tens)
            if kind != _NUMBER or p < 0:
                p = _cell_end(data, start, ends)
                number = np.nan
                if kind == _NUMBER and not _is_missing(data, start, p, empty):
                    return _FAILED, p
            if kind == _NUMBER:
                values[slot, row] = number
            elif kind == _LABEL:
                last = codes[slot, row - 1] if row else -1
                code = _label(data, start, p, last, table, first, known, slot, separator)
                if code < 0:
                    return _FAILED, p
                codes[slot, row] = code
            p += data[p] == 13
            if (column == columns - 1) != (data[p] == 10):
                return _FAILED, p
            p += 1
        end[row] = p
        row += 1
    return row, p
