"""How a separated text file is laid out: separator, column names, decimal mark."""

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from compass.arrow import DECIMAL
from compass.domain.errors import DataProblem
from compass.readers.cell_notes import CellNotes, with_notes
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
    width: int | None = None  # cells of the rows in the sample, where all have as many
    skip: int = 0  # lines until the rows begin, where the header line cannot be used as it is
    mended: tuple[str, str] | None = None  # a column that the header line does not name, and why

    def read_options(self) -> dict[str, Any]:
        """What Arrow is to be told of the names; nothing where the header line has them."""
        return {"column_names": list(self.names), "skip_rows": self.skip} if self.skip else {}


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
    widths = {len(row) for row in rows[1:]}
    width = widths.pop() if len(widths) == 1 else None
    layout = TextLayout(best, names, decimal, headless, width)
    if width is None or width == len(header) or headless or len(rows) < 3:
        return layout
    begins = [line.lstrip()[:1] for line in lines[blank + 1 :]]
    return _mended(layout, rows, blank + 1, quoted=all(sign in ('"', "") for sign in begins))


def _mended(layout: TextLayout, rows: list[list[str]], skip: int, *, quoted: bool) -> TextLayout:
    """The layout with a name for each cell, where it is clear which one the header lacks."""
    header, wide = rows[0], layout.width
    if wide == len(header) + 1 and not any(row[-1].strip() for row in rows[1:]):
        extra = f"column_{wide}"
        why = (extra, "every row ends with a separator, the header line does not")
        return replace(layout, names=(*layout.names, extra), skip=skip, mended=why)
    firsts = [row[0].strip() for row in rows[1:]]
    if wide == len(header) + 1 and _are_row_names(firsts, quoted) and _single_words(header):
        names = tuple(named(["", *header]))
        why = (names[0], "row names: the header line has one name less than the rows have cells")
        return replace(layout, names=names, skip=skip, mended=why)
    if wide == len(header) - 1 and not header[-1].strip():
        return replace(layout, names=layout.names[:-1], skip=skip)
    return layout


def _are_row_names(firsts: list[str], quoted: bool) -> bool:
    """Whether the first cells are names of rows as R and data frames write them.

    Without a separator in the header line the rows are one cell too wide, too: so the cells must
    count the rows, or be quoted texts that are all different.
    """
    counted = [[str(n + first) for n in range(len(firsts))] for first in (0, 1)]
    texts = quoted and not any(_NUMBER.fullmatch(one) for one in firsts)
    return firsts in counted or (texts and len(set(firsts)) == len(firsts))


def _single_words(header: list[str]) -> bool:
    return not any(re.search(r"\s", name.strip()) for name in header)


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


def marked(table: pa.Table, layout: TextLayout) -> pa.Table:
    """The table with what its layout says of its cells in the metadata of the columns."""
    if layout.decimal == "." and layout.mended is None:
        return table
    fields = [_marked(field, layout) for field in table.schema]
    return table.cast(pa.schema(fields, metadata=table.schema.metadata))


def _marked(field: pa.Field, layout: TextLayout) -> pa.Field:
    if layout.mended is not None and field.name == layout.mended[0]:
        return with_notes(field, CellNotes(layout.mended[1]))
    if layout.decimal != "." and pa.types.is_floating(field.type):
        return with_notes(field, CellNotes("decimal commas"))
    return field.with_metadata({DECIMAL: layout.decimal.encode()})


def ragged(stream: pa.NativeFile, layout: TextLayout) -> tuple[int, int] | None:
    """The line and the number of cells of the first row that is not as wide as the names."""
    text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace", newline="")
    reader = csv.reader(text, delimiter=layout.separator)
    try:
        for row in reader:
            if row and len(row) != len(layout.names) and reader.line_num > layout.skip:
                return reader.line_num, len(row)
    except (csv.Error, OSError):
        return None
    finally:
        text.detach()
    return None


def ragged_problem(path: Path, layout: TextLayout, line: int, cells: int) -> DataProblem:
    """The error for a row that has other cells than the header has names."""
    names, sign = len(layout.names), repr(layout.separator)
    if layout.width == cells and not layout.skip:
        message = f"the header of {path} has {names} names, but its rows have {cells} cells"
        if cells == names + 1:
            hint = (
                f"is a {sign} missing between two names? if the first cells are row names, name "
                f"them: write row{layout.separator} before {layout.names[0]}"
            )
        elif cells > names:
            hint = f"write a name for each column into the first line, with {sign} between them"
        else:
            hint = "take the names without a column out of the first line, or fill in the cells"
        return DataProblem(f"{message} (line {line})", hint=hint)
    others = "the rows before it have" if layout.skip else "the header has"
    message = f"line {line} of {path} has {cells} cells, but {others} {names}"
    if cells > names:
        return DataProblem(
            message, hint=f"quote cells that contain the separator {sign}, or remove the line"
        )
    return DataProblem(
        message, hint=f"was the line cut short? fill it up with the separator {sign}, or remove it"
    )
