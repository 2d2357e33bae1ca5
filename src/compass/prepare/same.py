"""Columns that say the same: a copy, another unit, a label and its code. One of them is enough."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from compass.domain.space import Category, Number, Role
from compass.domain.units import UNITS, canonical
from compass.prepare import names
from compass.prepare.cells import coded, numbers
from compass.prepare.report import ColumnReport

Floats = NDArray[np.float64]

_ROWS = 10  # fewer rows can agree by chance
_COPIED = 20  # rows from which on a column of another name is a copy, too
_VALUES = 3  # of numbers: two of them lie on a line with any other two
_FIRST = 1000  # rows that most pairs fail on
_SKETCH = 64  # rows from all over the table that tell which numbers are worth comparing
_CLOSE = 1e-9  # of the largest value
# Words of a name that tell of the writing, not of the thing.
_WRITING = frozenset(["raw", "code", "codes", "id", "idx", "no", "num", "label", "name", "str"])


@dataclass(frozen=True)
class Follower:
    """A column that says the same as another: numbers are `factor` times those plus `offset`."""

    name: str
    kept: str
    factor: float | None = None  # None: labels, one for each of the other's
    offset: float = 0.0

    @property
    def relation(self) -> str:
        """How it follows, in words: `1000 * runtime_s`."""
        if self.factor is None:
            return f"one label for each of {self.kept}"
        inverse = 1 / self.factor
        if 0 < self.factor < 1 and abs(inverse - round(inverse)) < _CLOSE * inverse:
            scaled = f"{self.kept} / {round(inverse)}"
        else:
            scaled = self.kept if self.factor == 1 else f"{self.factor:.10g} * {self.kept}"
        sign = "-" if self.offset < 0 else "+"
        return scaled + (f" {sign} {abs(self.offset):.10g}" if self.offset else "")


def without_followers(
    found: Sequence[tuple[Number | Category, ColumnReport]], arrow: pa.Table
) -> list[tuple[Number | Category, ColumnReport]]:
    """The columns of a table with what is known of them; those that follow another are ignored."""
    stated = frozenset(report.name for _, report in found if report.stated)
    same = {one.name: one for one in followers(arrow, [p for p, _ in found], stated)}
    return [_ignored(*one, same[one[0].name]) if one[0].name in same else one for one in found]


def _ignored(
    parameter: Number | Category, report: ColumnReport, follower: Follower
) -> tuple[Number | Category, ColumnReport]:
    role: dict[str, object] = {"role": Role.IGNORED}
    how = "" if follower.relation == follower.kept else f" ({follower.relation})"
    note = f"says the same as {follower.kept}{how}"
    told = {**role, "note": note, "same_as": follower.kept, "question": None}
    return parameter.model_copy(update=role), report.model_copy(update=told)


def followers(
    arrow: pa.Table, parameters: Sequence[Number | Category], stated: frozenset[str] = frozenset()
) -> tuple[Follower, ...]:
    """The columns that say the same as another one, which is kept.

    Over all rows, and for the same purpose: features among themselves, outcomes among themselves.
    Kept is what the study states (such columns never follow), then a label before its code, what
    can be set, a request, a number in a basic unit (s, J, B), in another one, and the first.
    """
    if arrow.num_rows < _ROWS:
        return ()
    used = sorted(
        (p for p in parameters if p.role is not Role.IGNORED), key=lambda p: _rank(p, stated)
    )
    found: dict[str, Follower] = {}
    for group in _alike(arrow, used):
        kept: list[Number | Category] = []
        for one in group:
            if one.name in found:
                continue
            same = None
            if one.name not in stated:
                same = next((f for k in kept if (f := _follows(arrow, one, k)) is not None), None)
            if same is None:
                kept.append(one)
            else:
                found[one.name] = same
    known = {p.name: p for p in used}
    direct = (_direct(arrow, follower, found, known) for follower in found.values())
    return tuple(follower for follower in direct if follower is not None)


def _direct(
    arrow: pa.Table,
    follower: Follower,
    found: Mapping[str, Follower],
    known: Mapping[str, Number | Category],
) -> Follower | None:
    """The same follower of a column that follows no other itself."""
    kept = follower.kept
    while kept in found:
        kept = found[kept].kept
    if kept == follower.kept:
        return follower
    return _follows(arrow, known[follower.name], known[kept])


def _alike(arrow: pa.Table, used: Sequence[Number | Category]) -> Iterator[list[Number | Category]]:
    """Columns among which some may say the same: by their names, and by ratios of their values.

    In this way the work grows with the columns, not with their pairs.
    """
    places = np.unique(np.linspace(0, arrow.num_rows - 1, _SKETCH).astype(np.int64))
    groups: dict[object, list[Number | Category]] = {}
    for parameter in used:
        measured = parameter.role is Role.OUTCOME
        missing = arrow.column(parameter.name).null_count
        groups.setdefault((measured, missing, _thing(parameter.name)), []).append(parameter)
        if isinstance(parameter, Number):
            ratios = _ratios(numbers(arrow.column(parameter.name))[places])
            groups.setdefault((measured, missing, ratios), []).append(parameter)
    yield from (group for group in groups.values() if len(group) > 1)


def _ratios(values: Floats) -> bytes:
    """The values in units of the largest, to nine digits: the same whatever their unit."""
    largest = np.abs(values[np.isfinite(values)]).max(initial=0.0)
    return bytes((np.round(values / (largest or 1.0), 9) + 0.0).tobytes())


def _rank(parameter: Number | Category, stated: frozenset[str]) -> tuple[bool, ...]:
    """What is kept rather, as a key to sort by."""
    unit = canonical(parameter.unit or "") if isinstance(parameter, Number) else None
    return (
        parameter.name not in stated,
        isinstance(parameter, Number),
        parameter.role is not Role.KNOB,  # what can be set, and what asks for something
        not names.SETTINGS & {*names.words(parameter.name)},
        unit is None,
        unit is None or UNITS[unit][1] != 1,
    )


def _follows(arrow: pa.Table, one: Number | Category, kept: Number | Category) -> Follower | None:
    """How one column follows from another; None: it does not."""
    alike = _thing(one.name) == _thing(kept.name)
    first, second = arrow.column(kept.name), arrow.column(one.name)
    if isinstance(one, Number) and isinstance(kept, Number):
        if not alike and not _same_dimension(one, kept) and arrow.num_rows < _COPIED:
            return None
        line = next(_lines(first, second), None)
        if line is None:
            return None
        factor, offset = line
        copied = factor == 1 and offset == 0 and arrow.num_rows >= _COPIED
        if alike or copied or (offset == 0 and _converts(one, kept, factor)):
            return Follower(one.name, kept.name, factor, offset)
        return None
    return Follower(one.name, kept.name) if alike and _one_to_one(first, second) else None


def _thing(name: str) -> frozenset[str]:
    """The words and numbers of a name without units and ways of writing: runtime_ms -> runtime."""
    found = [w for w in names.words(name) if w not in _WRITING and canonical(w) is None]
    return frozenset([*found, *re.findall(r"[0-9]+", name)] if found else [name])


def _same_dimension(one: Number, other: Number) -> bool:
    units = [canonical(p.unit or "") for p in (one, other)]
    known = [UNITS[unit][0] for unit in units if unit is not None]
    return len(known) == 2 and known[0] == known[1]


def _converts(one: Number, kept: Number, factor: float) -> bool:
    """Whether the factor is the one between the units of the two."""
    if not _same_dimension(one, kept):
        return False
    sizes = [UNITS[canonical(p.unit or "") or ""][1] for p in (kept, one)]
    return bool(abs(sizes[0] / sizes[1] - factor) <= _CLOSE * abs(factor))


def _lines(first: pa.ChunkedArray, second: pa.ChunkedArray) -> Iterator[tuple[float, float]]:
    """Factor and offset of second = factor * first + offset, if that holds in all rows."""
    for rows in (min(_FIRST, len(first)), len(first)):
        x, y = numbers(first.slice(0, rows)), numbers(second.slice(0, rows))
        known = np.isfinite(x)
        if not np.array_equal(known, np.isfinite(y)) or not known.any():
            return
        x, y = x[known], y[known]
        line = _line(x, y)
        if line is None and rows < len(first) and len(np.unique(x[:_FIRST])) < _VALUES:
            continue  # too few values to tell: all rows do
        if line is None:
            return
    assert line is not None
    yield line


def _line(x: Floats, y: Floats) -> tuple[float, float] | None:
    """The line through the points with the smallest and the largest x, if all are on it."""
    low, high = int(x.argmin()), int(x.argmax())
    if x[low] == x[high] or len(np.unique(x)) < _VALUES:
        return None
    factor = float((y[high] - y[low]) / (x[high] - x[low]))
    close = _CLOSE * float(np.abs(y).max())
    # The quotient of two values is a rounder number than that of two differences.
    plain = float(y[high] / x[high]) if x[high] else factor
    for slope, offset in ((1.0, 0.0), (plain, 0.0), (factor, float(y[low] - factor * x[low]))):
        rounded = float(f"{slope:.12g}")
        if rounded and (np.abs(y - (rounded * x + offset)) <= close).all():
            return rounded, float(f"{offset:.12g}")
    return None


def _one_to_one(first: pa.ChunkedArray, second: pa.ChunkedArray) -> bool:
    """Whether each label of the one goes with one of the other; codes count first occurrences."""
    for rows in (min(_FIRST, len(first)), len(first)):
        codes, labels = coded(first.slice(0, rows))
        others, _ = coded(second.slice(0, rows))
        if not np.array_equal(codes, others):
            return False
    # Where nearly every row has a label of its own, any two columns go together.
    return 1 < len(labels) <= len(first) / 2
