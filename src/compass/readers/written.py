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
_INFINITE = r"(?i)^\s*(?P<sign>[-+]?)inf(?:inity)?\s*$"
_CLOCK = r"(?:[0-9]+ days?, *|[0-9]+-)?(?:[0-9]+:){1,2}[0-9]{1,2}(?:\.[0-9]+)?"
_SHORT_CLOCK = r"[0-9]+:[0-9]{1,2}(?:\.[0-9]+)?"  # without days and hours, or without seconds
_SPELLED = r"(?:[0-9]+(?:\.[0-9]+)?\s*[A-Za-zµμ]+[\s,]*)+"  # 1h 5min
_PIECE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([A-Za-zµμ]+)[\s,]*")
_DAYS = re.compile(r"([0-9]+) days?, *")
# Units that do not convert and are no words either: all cells must have the same.
_FIXED = ("%", "FLOPS", "MFLOPS", "GFLOPS", "TFLOPS", "PFLOPS", "IOPS", "V", "A", "C", "°C")
_COUNT = "count"  # the dimension of plain thousands and millions
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
        values, behind = _split(texts, self.marks)
        encoded = behind.dictionary_encode()
        factors = [self.factors.get(unit, np.nan) for unit in encoded.dictionary.to_pylist()]
        found: Floats = values * np.array([*factors, np.nan])[values_of(encoded.indices, -1)]
        for place in np.flatnonzero(_matches(texts, _INFINITE)):
            found[place] = -np.inf if "-" in texts[place].as_py() else np.inf
        if self.seconds is not None:
            lasting = _matches(texts, rf"^\s*(?:{_CLOCK}|{_SPELLED})\s*$") & np.isnan(found)
            for place in np.flatnonzero(lasting):
                found[place] = self.seconds * duration(texts[place].as_py())
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
    cells = pc.struct_field(pc.extract_regex(texts, _CELL), "number")
    marks = marks_of(shapes(cells), usual)
    if marks is None:
        return NotNumbers("some of its numbers have a decimal comma, others a decimal point")
    values, behind = _split(texts, marks)
    known = np.isfinite(values)
    units = _counted(behind.filter(pa.array(known)), rows[known])
    units.pop("", None)
    times = _durations(texts, values)
    if isinstance(times, NotNumbers):
        return times
    if not known.any() and not times:
        return None
    bare = int(rows[known & (values != 0) & _matches(behind, "^$")].sum())
    return _in_one_unit(marks, units, bare, times, unit, memory)


def _split(texts: pa.Array, marks: Marks) -> tuple[Floats, pa.Array]:
    """The number of each cell (NaN: none) and what stands behind it."""
    parts = pc.extract_regex(texts, _CELL)
    number, behind = (pc.struct_field(parts, name) for name in ("number", "unit"))
    plain = pc.utf8_ltrim(marks.plain(number), characters="+")
    return np.array(values_of(plain.cast(pa.float64()), np.nan)), behind


def _matches(texts: pa.Array, pattern: str) -> Mask:
    found = pc.match_substring_regex(texts, pattern)
    return np.asarray(values_of(found) & ~nulls_of(found), dtype=np.bool_)


def _counted(labels: pa.Array, rows: NDArray[np.int64]) -> dict[str, int]:
    """How many rows each label has."""
    encoded = labels.dictionary_encode()
    counts = np.bincount(values_of(encoded.indices), rows, minlength=len(encoded.dictionary))
    return dict(zip(encoded.dictionary.to_pylist(), counts.astype(int).tolist(), strict=True))


def _durations(texts: pa.Array, values: Floats) -> bool | NotNumbers:
    """Whether some cells are durations; clocks that can be read in two ways are told."""
    clocks = _matches(texts, rf"^\s*{_CLOCK}\s*$")
    spelled = _matches(texts, rf"^\s*{_SPELLED}\s*$") & np.isnan(values)
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


def _meaning(unit: str, memory: bool, time: bool) -> tuple[str, float, str | None] | None:
    """The dimension, size and symbol of a unit as it stands in a cell; None: it is none."""
    if unit == "m" and time:
        return "time", 60.0, "min"
    if unit in _FIXED:
        return unit, 1.0, unit
    letter = unit[:1].upper()
    if memory and letter and letter in "KMGT" and unit[1:] in ("", "i"):
        symbol = f"{letter}iB"
        return "memory", UNITS[symbol][1], symbol
    if unit in _THOUSANDS:
        return _COUNT, _THOUSANDS[unit], None
    symbol_of = canonical(unit)
    if symbol_of is not None:
        return *UNITS[symbol_of], symbol_of
    return (unit, 1.0, unit) if "/" in unit else None


def _in_one_unit(
    marks: Marks, written: Mapping[str, int], bare: int, times: bool, unit: str | None, memory: bool
) -> Writing | NotNumbers:
    """One unit for all cells: the one that is wanted, seconds for durations, or the commonest."""
    wanted = (canonical(unit) or unit) if unit else None
    told = {_dimension(canonical(one)) for one in written} | {_dimension(wanted)}
    memory, time = memory or "memory" in told, times or "time" in told
    found = {one: mean for one in written if (mean := _meaning(one, memory, time)) is not None}
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
