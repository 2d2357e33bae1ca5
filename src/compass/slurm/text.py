"""Cuts what `sacct --parsable2` (or `--parsable`) printed into cells of text."""

import csv
import io
import itertools
import re
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from compass.arrow import array_of, texts_of, values_of
from compass.domain.errors import DataProblem
from compass.slurm import units
from compass.slurm.cells import fits
from compass.slurm.fields import FIELDS, FREE_TEXT, LAYOUTS
from compass.slurm.owners import JOB_IDS

_SEPARATORS = "|,\t;\x1f"
_QUOTED = ",\t;"  # written by other programs, which quote; sacct does not
_JOB = re.compile(r"\d+([_+](\d+|\[[^\]|]*\]))?(\.[\w+]+)?")
_BLOCK = 1 << 20  # bytes that are cut at once
_BATCH = 20_000  # rows that are cut one by one
_MOST_LINES = 100  # that one cell may have
_MOST_SPLITS = 5000  # that are tried for a line with separators inside cells


@dataclass(frozen=True)
class DumpLayout:
    """How the lines of a dump are cut."""

    separator: str
    names: tuple[str, ...]
    skip: int  # lines up to the end of the header
    trailing: bool  # `--parsable` ends each line with the separator
    wanted: frozenset[str] | None = None  # columns that are read, where lines are all alike


def layout_of(start: str) -> DumpLayout | None:
    """The layout of a dump that starts with this text; None if it is none of sacct's."""
    lines = start.lstrip("\ufeff").splitlines()
    place = next((i for i, line in enumerate(lines) if line.strip()), None)
    if place is None:
        return None
    for separator in _SEPARATORS:
        cells, trailing = cut(lines[place], separator)
        known = [name for name in cells if name.lower() in FIELDS]
        if len(known) >= 2 and 2 * len(known) >= len(cells):
            names = tuple(_spelled(name) for name in cells)
            return DumpLayout(separator, names, place + 1, trailing)
    cells = lines[place].split("|")
    for names, trailing in itertools.product(LAYOUTS, (False, True)):
        # Without a header, an empty last cell may also be a job without a name.
        own = cells[: len(cells) - trailing]
        if len(own) == len(names) and _fits(names, own):
            return DumpLayout("|", names, place, trailing)
    return None


def cut(line: str, separator: str) -> tuple[list[str], bool]:
    """The cells of a line, and whether it ends with a separator."""
    try:
        cells = next(csv.reader([line], delimiter=separator)) if separator in _QUOTED else []
    except csv.Error:
        cells = []  # a line of another format, which may be one very long cell
    cells = cells or line.split(separator)
    trailing = len(cells) > 1 and not cells[-1].strip()
    return [cell.strip() for cell in (cells[:-1] if trailing else cells)], trailing


def _spelled(name: str) -> str:
    field = FIELDS.get(name.lower())
    return name if field is None else field.name


def _fits(names: Sequence[str], cells: Sequence[str]) -> bool:
    """Whether these cells are written as Slurm writes these columns."""
    for name, cell in zip(names, cells, strict=True):
        field = FIELDS.get(name.lower())
        if field is None:
            continue
        if not fits(field, cell) or (field.name in JOB_IDS and not _JOB.fullmatch(cell.strip())):
            return False
    return True


def is_slurm_form(name: str, cell: str) -> bool:
    """Whether a cell is written in a way that is Slurm's own."""
    field = FIELDS.get(name.lower())
    if field is None or units.is_missing(cell) or not fits(field, cell):
        return False
    if field.name in JOB_IDS:
        return not cell.isdecimal() and _JOB.fullmatch(cell) is not None
    if field.kind == "number":
        return ":" in cell or cell[-1:] in ("K", "M", "G", "T")
    if field.kind == "state":
        return " by " in cell
    return field.kind == "exit" or (field.kind in ("memory", "resources") and not cell.isdecimal())


class NotAlike(Exception):
    """The lines of a dump are not all cut alike, so they are to be read one by one."""


def cells_quickly(
    stream: pa.NativeFile, layout: DumpLayout
) -> Generator[pa.RecordBatch, None, None]:
    """The cells as text, some thousand lines at a time; what repeats as dictionaries.

    Raises:
        NotAlike: `cells_carefully` has to read the lines, from the first one on.
    """
    from pyarrow import csv as arrow_csv  # only for text files

    _check_names(layout.names)
    names = [*layout.names, *([""] if layout.trailing else [])]
    options = arrow_csv.ConvertOptions(
        column_types={name: _cell_type(name) for name in names},
        include_columns=[n for n in layout.names if layout.wanted is None or n in layout.wanted],
        null_values=[],
        strings_can_be_null=False,
    )
    try:
        reader = arrow_csv.open_csv(
            stream,
            read_options=arrow_csv.ReadOptions(
                column_names=names, skip_rows=layout.skip, block_size=_BLOCK
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=layout.separator,
                quote_char='"' if layout.separator in _QUOTED else False,
                newlines_in_values=layout.separator in _QUOTED,
            ),
            convert_options=options,
        )
        for batch in reader:
            yield _without_headers(batch)
    except (pa.ArrowInvalid, OSError):
        raise NotAlike from None


def _cell_type(name: str) -> pa.DataType:
    """Text for what is different in most rows, else a dictionary of the different texts."""
    field = FIELDS.get(name.lower())
    single = field is not None and (field.kind == "moment" or field.name in JOB_IDS)
    return pa.string() if single else pa.dictionary(pa.int32(), pa.string())


def _without_headers(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Without header lines that repeat: several dumps in one file."""
    import pyarrow.compute as pc

    first = batch.schema.names[0]
    cells = batch.column(0)
    texts = cells.dictionary if pa.types.is_dictionary(cells.type) else cells
    again = pc.is_in(pc.ascii_lower(pc.utf8_trim_whitespace(texts)), texts_of([first.lower()]))
    if not values_of(again).any():
        return batch
    again = again.take(cells.indices) if pa.types.is_dictionary(cells.type) else again
    rest = np.flatnonzero(~values_of(again))
    kept = batch.take(array_of(rest))
    # The dictionaries still hold the cells of the header.
    columns = [c.dictionary_decode() if pa.types.is_dictionary(c.type) else c for c in kept.columns]
    return pa.RecordBatch.from_arrays(columns, names=kept.schema.names)


def cells_carefully(
    stream: pa.NativeFile, layout: DumpLayout, where: str
) -> Generator[pa.RecordBatch, None, None]:
    """The same line by line: a job's name may hold the separator or a line break."""
    text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace", newline="\n")
    try:
        lines = itertools.islice(text, layout.skip, None)
        rows = _rows(lines, layout, where)
        while True:
            some = list(itertools.islice(rows, _BATCH))
            cells = zip(*some, strict=True) if some else ([] for _ in layout.names)
            arrays = [texts_of(list(column)) for column in cells]
            batch = pa.RecordBatch.from_arrays(arrays, names=list(layout.names))
            yield _without_headers(batch)
            if len(some) < _BATCH:
                return
    except (OSError, csv.Error) as problem:
        raise DataProblem(
            f"cannot read {where}: {problem}", hint="is it complete? copy it again"
        ) from problem
    finally:
        text.detach()


def _rows(lines: Iterator[str], layout: DumpLayout, where: str) -> Iterator[list[str]]:
    width = len(layout.names) + layout.trailing
    if layout.separator in _QUOTED:
        reader = csv.reader(lines, delimiter=layout.separator)
        for cells in reader:
            if cells and len(cells) != width:
                raise _ragged(where, reader.line_num + layout.skip, len(cells), width)
            if cells:
                yield cells[: len(layout.names)]
        return
    number, row = layout.skip, None
    for first in lines:
        number += 1
        line, start = first.rstrip("\r\n"), number
        if not line.strip():
            continue
        if row is not None and _goes_on(line, layout):
            row[-1] += "\n" + line
            continue
        while line.count(layout.separator) + 1 < width and number - start < _MOST_LINES:
            more = next(lines, None)
            if more is None:
                break
            number += 1
            line += "\n" + more.rstrip("\r\n")
        cells = line.split(layout.separator)
        found = _refitted(cells[: len(cells) - layout.trailing], layout)
        if found is None or (number > start and not _fits(layout.names, found)):
            raise _ragged(where, start, first.count(layout.separator) + 1, width)
        if row is not None:
            yield row
        row = found
    if row is not None:
        yield row


def _goes_on(line: str, layout: DumpLayout) -> bool:
    """Whether a line is the rest of the last cell of the row above it, which is free text."""
    cells = line.split(layout.separator)
    if layout.names[-1] not in FREE_TEXT or layout.trailing or len(cells) >= len(layout.names):
        return False
    return not _fits(layout.names[: len(cells)], cells)


def _refitted(cells: list[str], layout: DumpLayout) -> list[str] | None:
    """As many cells as columns: separators inside free text are put back where all else fits."""
    names = layout.names
    extra = len(cells) - len(names)
    if extra <= 0:
        return cells if extra == 0 else None
    places = [place for place, name in enumerate(names) if name in FREE_TEXT]
    splits = itertools.combinations_with_replacement(places, extra)
    for chosen in itertools.islice(splits, _MOST_SPLITS if extra < 50 else 0):
        row, at = [], 0
        for place in range(len(names)):
            wide = 1 + chosen.count(place)
            row.append(layout.separator.join(cells[at : at + wide]))
            at += wide
        if _fits(names, row):
            return row
    return None


def _ragged(where: str, line: int, cells: int, width: int) -> DataProblem:
    return DataProblem(
        f"line {line} of {where} has {cells} cells, but there are {width} columns",
        hint="was the file cut short? remove the line, or print fewer free texts (--format)",
    )


def _check_names(names: Sequence[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise DataProblem(
            f"there are several columns named {', '.join(twice)}",
            hint="ask sacct for each column once",
        )
