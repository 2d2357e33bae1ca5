"""How a separated text file is laid out: separator, column names, decimal mark."""

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from compass.readers.marks import marks_of, shape

_SAMPLE_LINES = 20
_NUMBER = re.compile(r"\s*[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?\s*")
_MARKED = re.compile(r"\s*[-+]?[0-9][0-9.,]*[.,][0-9.,]*\s*")  # a number that is not whole


@dataclass(frozen=True)
class TextLayout:
    """What the first lines of a separated text file tell about the rest."""

    separator: str
    names: tuple[str, ...]
    decimal: str
    headless: bool


def layout_of(start: str, separators: str) -> TextLayout:
    """The layout of a file that starts with this text.

    The separator is the one that cuts most of the sample into rows as wide as the header; among
    equals, the one that gives the widest.
    """
    lines = start.splitlines(keepends=True)
    blank = next((i for i, line in enumerate(lines) if line.strip()), 0)
    sample = "".join(lines[blank : blank + _SAMPLE_LINES])
    best, rows = separators[0], _rows(sample, separators[0])
    score = _score(rows)
    for separator in separators[1:]:
        other = _rows(sample, separator)
        if _score(other) > score:
            best, rows, score = separator, other, _score(other)
    header = rows[0] if rows else next(csv.reader(io.StringIO(sample), delimiter=best))
    names = tuple(named(header))
    headless = all(_NUMBER.fullmatch(name) for name in header)
    decimal = "." if best == "," else _decimal(rows[1:])
    return TextLayout(best, names, decimal, headless)


def named(header: Sequence[str]) -> list[str]:
    """The column names of a header line; a column without a name is called by its place."""
    return [name.strip() or f"column_{place}" for place, name in enumerate(header, start=1)]


def _rows(sample: str, separator: str) -> list[list[str]]:
    """The cells, if this is the separator; quotes that another one opens may make no sense."""
    try:
        return [row for row in csv.reader(io.StringIO(sample), delimiter=separator) if row]
    except csv.Error:
        return []


def _score(rows: list[list[str]]) -> tuple[int, int]:
    width = len(rows[0]) if rows else 0
    return (sum(len(row) == width for row in rows) if width > 1 else 0, width)


def _decimal(rows: list[list[str]]) -> str:
    """The decimal mark of the numbers in the sample; a point unless they say otherwise."""
    marks = marks_of(shape(cell) for row in rows for cell in row if _MARKED.fullmatch(cell))
    return "." if marks is None else marks.decimal


def ragged(stream: pa.NativeFile, layout: TextLayout) -> tuple[int, int] | None:
    """The line and the number of cells of the first row that is not as wide as the header."""
    text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace", newline="")
    reader = csv.reader(text, delimiter=layout.separator)
    try:
        for row in reader:
            if row and len(row) != len(layout.names):
                return reader.line_num, len(row)
    except (csv.Error, OSError):
        return None
    finally:
        text.detach()
    return None
