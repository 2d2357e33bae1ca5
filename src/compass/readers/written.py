"""How the cells of a text column write numbers: marks, units, durations, sizes, shares.

A column is looked at as a whole once (`writing_of`), which decides what its signs and units mean;
any piece of it is then read alike (`Writing.numbers`).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from compass.arrow import nulls_of, values_of
from compass.domain.units import UNITS, canonical
from compass.readers.marks import Marks, marks_of, shapes
from compass.readers.words import says_failed, says_missing
from compass.slurm import units as slurm

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

_CELL = (  # a number, and what stands behind it
    r"^\s*(?P<number>[-+]?[0-9.,][0-9.,' \x{a0}\x{202f}]*(?:[eE][-+]?[0-9]+)?)"
    r"(?P<unit>[A-Za-zµμ%°][A-Za-z/]*|)\s*$"
)
_PLAIN = r"^-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$"  # as programs write numbers
_CLEARLY_DECIMAL = r"^-?(?:0\.[0-9]+|[0-9]+\.(?:[0-9]{1,2}|[0-9]{4,}))$"
_FEW = 1000  # cells in which a clear one is looked for
_INFINITE = r"(?i)^\s*(?P<sign>[-+]?)inf(?:inity)?\s*$"
_CLOCK = r"(?:[0-9]+ days?, *|[0-9]+-)?(?:[0-9]+:){1,2}[0-9]{1,2}(?:\.[0-9]+)?"
_SHORT_CLOCK = r"[0-9]+:[0-9]{1,2}(?:\.[0-9]+)?"  # without days and hours, or without seconds
_SPELLED = r"(?:[0-9]+(?:\.[0-9]+)?\s*[A-Za-zµμ]+[\s,]*)+"  # 1h 5min
_PIECE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([A-Za-zµμ]+)[\s,]*")
_DAYS = re.compile(r"([0-9]+) days?, *")
# Units that do not convert and are no words either: all cells must have the same.
_FIXED = ("%", "FLOPS", "MFLOPS", "GFLOPS", "TFLOPS", "PFLOPS", "IOPS", "V", "A", "C", "°C")
_COUNT = "count"  # the dimension of plain thousands and millions
_UNCLEAR = ("B", "d")  # bytes or billions, days or dimensions: other cells or the name tell
_POWERS = ("K", "M", "G", "T")
_THOUSANDS = {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


@dataclass(frozen=True)
class Writing:
    """How the numbers of one column are written."""

    marks: Marks = field(default_factory=Marks)
    unit: str | None = None  # of the numbers that are read
    factors: Mapping[str, float] = field(default_factory=lambda: {"": 1.0})  # by unit as written
    seconds: float | None = None  # what a second of a duration counts; None: there are none
    units: Mapping[str, int] = field(default_factory=dict)  # units as written, and their rows
    durations: bool = False  # whether there are any

    def numbers(self, texts: pa.Array) -> Floats:
        """What each text means, float64[n]; NaN where it is no number, or null."""
        cells = _split(texts, self.marks)
        factors = [self.factors.get(unit, np.nan) for unit in cells.units]
        found: Floats = cells.values * np.array([*factors, np.nan])[cells.codes]
        others = np.flatnonzero(np.isnan(found))
        left = texts.take(pa.array(others))
        for place in np.flatnonzero(_matches(left, _INFINITE)):
            found[others[place]] = -np.inf if "-" in left[place].as_py() else np.inf
        if self.seconds is not None:
            for place in np.flatnonzero(_matches(left, rf"^\s*(?:{_CLOCK}|{_SPELLED})\s*$")):
                found[others[place]] = self.seconds * duration(left[place].as_py())
        return found


def only_numbers_and_words(column: pa.ChunkedArray) -> bool:
    """Whether every text is a number or a known word that stands for one: `timeout`, `n/a`."""
    texts = pc.drop_null(pc.unique(column))
    found = writing_of(texts, np.ones(len(texts), dtype=np.int64))
    values = (found if isinstance(found, Writing) else Writing()).numbers(texts)
    others = np.flatnonzero(np.isnan(values))
    words = (texts[int(place)].as_py() for place in others)
    return all(says_failed(word) or says_missing(word) for word in words)


@dataclass(frozen=True)
class NotNumbers:
    """Why a column of text that looks like numbers is not read as such, in words."""

    reason: str


def writing_of(
    texts: pa.Array,
    rows: NDArray[np.int64],
    *,
    usual: str = ".",
    unit: str | None = None,
    memory: bool = False,
) -> Writing | NotNumbers | None:
    """How these different texts of a column, each in so many rows, write numbers.

    None: they write none. `usual` is the decimal mark of the file; `unit` the one that the numbers
    are to have, where that is known; `memory` says that single letters are sizes (4G), not
    thousands.
    """
    marks = marks_of(_shapes(texts), usual)
    if marks is None:
        return NotNumbers("some of its numbers have a decimal comma, others a decimal point")
    cells = _split(texts, marks)
    known = np.isfinite(cells.values)
    counts = np.bincount(cells.codes[known], rows[known], minlength=len(cells.units))
    units = {u: int(n) for u, n in zip(cells.units, counts, strict=True) if u and n}
    times = _durations(texts.filter(pa.array(~known)))
    if isinstance(times, NotNumbers):
        return times
    if not known.any() and not times:
        return None
    bare = np.array([unit == "" for unit in cells.units] + [False])[cells.codes]
    unsaid = int(rows[known & bare & (cells.values != 0)].sum())
    return _in_one_unit(marks, units, unsaid, times, unit, memory)


def _shapes(texts: pa.Array) -> list[str]:
    """The shapes of the numbers; where points are clearly decimal, only those of other cells."""
    plain = _matches(texts, _PLAIN)
    some = texts.filter(pa.array(plain)).slice(0, _FEW)
    clear = bool(pc.any(pc.match_substring_regex(some, _CLEARLY_DECIMAL)).as_py())
    left = texts.filter(pa.array(~plain)) if clear else texts
    number = pc.struct_field(pc.extract_regex(left, _CELL), "number")
    return [*shapes(number), *(["1.1"] if clear else [])]


@dataclass(frozen=True)
class _Cells:
    """Numbers as they are written, and what stands behind them."""

    values: Floats  # [n] NaN: no number
    codes: NDArray[np.int64]  # [n] place in `units`; -1: no number
    units: tuple[str, ...]  # as written; empty: nothing stands there


def _split(texts: pa.Array, marks: Marks) -> _Cells:
    """The numbers of the cells; those that programs write are read at once."""
    values, codes = np.full(len(texts), np.nan), np.full(len(texts), -1, dtype=np.int64)
    plain = _matches(texts, _PLAIN) if marks.decimal == "." else np.zeros(len(texts), dtype=bool)
    values[plain] = values_of(texts.filter(pa.array(plain)).cast(pa.float64()), np.nan)
    codes[plain] = 0
    left = np.flatnonzero(~plain)
    parts = pc.extract_regex(texts.take(pa.array(left)), _CELL)
    number, behind = (pc.struct_field(parts, name) for name in ("number", "unit"))
    written = pc.utf8_ltrim(marks.plain(number), characters="+")
    values[left] = values_of(written.cast(pa.float64()), np.nan)
    encoded = behind.dictionary_encode()
    codes[left] = np.append(np.arange(len(encoded.dictionary)) + 1, -1)[
        values_of(encoded.indices, -1)
    ]
    return _Cells(values, codes, ("", *encoded.dictionary.to_pylist()))


def _matches(texts: pa.Array, pattern: str) -> Mask:
    found = pc.match_substring_regex(texts, pattern)
    return np.asarray(values_of(found) & ~nulls_of(found), dtype=np.bool_)


def _durations(texts: pa.Array) -> bool | NotNumbers:
    """Whether some of these cells are durations; clocks that can be meant in two ways are told."""
    clocks = _matches(texts, rf"^\s*{_CLOCK}\s*$")
    spelled = _matches(texts, rf"^\s*{_SPELLED}\s*$")
    short = _matches(texts, rf"^\s*{_SHORT_CLOCK}\s*$")
    if short.any() and short.sum() == clocks.sum() and not spelled.any():
        shown = texts[int(np.flatnonzero(short)[0])].as_py().strip()
        return NotNumbers(
            f"'{shown}' can be hours and minutes or minutes and seconds: write 0:{shown}"
        )
    some = texts.filter(pa.array(spelled)).slice(0, 100).to_pylist()
    return bool(clocks.any()) or any(not np.isnan(duration(text)) for text in some)


def duration(text: str) -> float:
    """The seconds of `1-02:03:04`, `02:03:04`, `1 day, 2:03:04`, `3m20s` or `1h 5min`; or NaN."""
    text = text.strip()
    if ":" in text:
        days = _DAYS.match(text)
        clock = text[days.end() :] if days else text
        try:
            seconds = slurm.seconds(clock)
        except ValueError:
            return np.nan
        return np.nan if seconds is None else seconds + 86400.0 * int(days[1] if days else 0)
    total, place = 0.0, 0
    for piece in _PIECE.finditer(text):
        # A single m is a minute beside other parts of a duration.
        dimension, size = UNITS[(canonical(piece[2]) if piece[2] != "m" else "min") or "B"]
        if piece.start() != place or dimension != "time":
            return np.nan
        total, place = total + float(piece[1]) * size, piece.end()
    return total if text and place == len(text) else np.nan


def _meaning(unit: str, told: frozenset[str]) -> tuple[str, float, str | None] | None:
    """The dimension, size and symbol of a unit as it stands in a cell; None: it is none.

    `told` are the dimensions that the column is known to have: a letter alone may mean much.
    """
    if unit in _FIXED:
        return unit, 1.0, unit
    if "time" in told and unit == "m":
        return "time", 60.0, "min"
    if "memory" in told and unit[:1].upper() in _POWERS and unit[1:] in ("", "i"):
        symbol = f"{unit[:1].upper()}iB"
        return "memory", UNITS[symbol][1], symbol
    if unit in _THOUSANDS:
        return _COUNT, _THOUSANDS[unit], None
    if unit == "B" and _COUNT in told and "memory" not in told:
        return _COUNT, 1e9, None  # 350M, 7B
    known = _symbol(unit)
    if known is not None and (unit != "d" or "time" in told):  # 2d, 3d are no days
        return *UNITS[known], known
    return (unit, 1.0, unit) if "/" in unit else None


def _symbol(unit: str) -> str | None:
    """The unit that stands in a cell; a single letter in its own case only: 3D are no days."""
    return canonical(unit) if len(unit) > 1 or unit in UNITS else None


def _in_one_unit(
    marks: Marks, written: Mapping[str, int], bare: int, times: bool, unit: str | None, memory: bool
) -> Writing | NotNumbers:
    """One unit for all cells: the one that is wanted, seconds for durations, or the commonest."""
    wanted = (canonical(unit) or unit) if unit else None
    known = {_dimension(_symbol(one)) for one in written if one not in _UNCLEAR}
    known |= {_COUNT if any(one in _THOUSANDS for one in written) else None, _dimension(wanted)}
    known |= {"memory" if memory else None, "time" if times else None}
    told = frozenset(one for one in known if one is not None)
    found = {one: mean for one in written if (mean := _meaning(one, told)) is not None}
    dimensions = {dimension for dimension, _, _ in found.values()} | ({"time"} if times else set())
    if not dimensions:
        return Writing(marks)
    if len(dimensions) > 1:
        shown = " and ".join(sorted(found, key=lambda one: -written[one])[:2])
        return NotNumbers(f"its units do not go together ({shown or 'durations'})")
    dimension = dimensions.pop()
    if dimension == _COUNT:
        sizes = {"": 1.0} | {one: size for one, (_, size, _) in found.items()}
        return Writing(marks, None, sizes, units=written)
    own = _dimension(wanted) == dimension
    if bare and not own:
        some = next(iter(found), "durations")
        return NotNumbers(f"{bare} of its cells have no unit, others have ('{some}')")
    common = max(found, key=lambda one: written[one]) if found and not times else None
    target = wanted if own else found[common][2] if common is not None else "s"
    assert target is not None
    size = UNITS[target][1] if target in UNITS else 1.0
    factors = {"": 1.0} | {one: own_size / size for one, (_, own_size, _) in found.items()}
    seconds = 1.0 / size if dimension == "time" else None
    return Writing(marks, target, factors, seconds, {one: written[one] for one in found}, times)


def _dimension(unit: str | None) -> str | None:
    return None if unit is None else UNITS[unit][0] if unit in UNITS else unit
