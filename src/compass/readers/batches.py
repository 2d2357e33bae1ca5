"""The rows of one fragment, a bounded number at a time."""

import re
from collections.abc import Iterator, Mapping, Sequence
from csv import reader
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from compass import registry
from compass.domain.errors import DataProblem
from compass.readers import files, hive, quick
from compass.readers.columnar import DAMAGED, MISSING
from compass.readers.delimited import TextLayout, marked, named
from compass.readers.fragments import CSV, JSONL, PARQUET, Fragment
from compass.readers.inflate import Shallow
from compass.readers.json_mixed import read_lines

ROWS = 1 << 16  # of Parquet at a time: what the score needs of them stays in the cache
_LONGEST = 64 << 20  # bytes of one line
_WIDER = {pa.int64(): pa.float64(), pa.bool_(): pa.large_string(), pa.null(): pa.large_string()}
_PLACE = re.compile(r"In CSV column #(\d+)")


class QuotesFound(DataProblem):
    """A text file that seemed to have no quotes has some: its lines have to be cut anew."""

    def __init__(self, message: str, *, hint: str = "", file: str = "") -> None:
        super().__init__(message, hint=hint)
        self.file = file


class TypesChanged(DataProblem):
    """A column of text holds something else than the rows so far: start the fragment again."""

    def __init__(
        self, message: str, *, hint: str = "", types: Mapping[str, pa.DataType] | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.types = types or {}


@dataclass(frozen=True)
class Shape:
    """What is already known about the columns of a source when its fragments are read."""

    types: Mapping[str, pa.DataType] = field(default_factory=dict)  # of text files
    labels: frozenset[str] = frozenset()  # columns to read as codes of labels
    folders: Mapping[str, pa.DataType] = field(default_factory=dict)  # of Hive partitions


def batches(fragment: Fragment, shape: Shape, rows: int = ROWS) -> Iterator[pa.Table]:
    """The rows of a fragment in order, at most about `rows` in each table."""
    try:
        for table in _read(fragment, shape, rows):
            _check_names(table, fragment)
            if fragment.folders:
                values = dict(fragment.folders)
                yield hive.with_partition(table, values, shape.folders, fragment.file)
            else:
                yield table
    except DAMAGED as problem:
        raise DataProblem(
            f"cannot read {fragment}: {_on_one_line(str(problem))}",
            hint="is the file complete? copy it again, or leave it out: --skip-unreadable",
        ) from problem


def _on_one_line(text: str) -> str:
    """What Arrow says of a damaged file, without the bytes of it that a terminal might obey."""
    shown = "".join(letter if letter.isprintable() else " " for letter in text)
    return " ".join(shown.split())[:300]


def _check_names(table: pa.Table, fragment: Fragment) -> None:
    names = [name.strip() for name in table.column_names]
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise DataProblem(
            f"{fragment.file} has several columns named {', '.join(twice)}",
            hint="give every column a name of its own",
        )


def _read(fragment: Fragment, shape: Shape, rows: int) -> Iterator[pa.Table]:
    path = Path(fragment.file)
    if fragment.kind == PARQUET:
        return _parquet(fragment, shape, rows)
    if fragment.kind == CSV:
        layout = _layout(fragment.file, fragment.reader, path.stat().st_mtime_ns)
        kinds = {name: kind for name, kind in shape.types.items() if name in layout.names}
        tables = (_csv_stream if fragment.packed else _csv_range)(fragment, kinds, layout)
        return _typed(tables, fragment, shape, layout)
    if fragment.kind == JSONL:
        return _json_range(fragment)
    return iter([registry.get("reader", fragment.reader)().read(path)])


@lru_cache(maxsize=256)
def _layout(file: str, reader: str, modified: int) -> TextLayout:
    """How a separated text file is laid out; looked up once for all of its fragments."""
    del modified
    found: TextLayout = registry.get("reader", reader)().layout(Path(file))
    return found


def _parquet(fragment: Fragment, shape: Shape, rows: int) -> Iterator[pa.Table]:
    from pyarrow import parquet

    facts = parquet.read_metadata(fragment.file)
    # Arrow stops at a name that this file does not have, or that is not a column of text.
    texts = [one.name for one in facts.schema.to_arrow_schema() if _is_text(one.type)]
    with parquet.ParquetFile(
        fragment.file,
        metadata=facts,
        read_dictionary=[name for name in texts if name in shape.labels],
        pre_buffer=False,
        buffer_size=1 << 20,
    ) as file:
        groups = list(range(fragment.start, fragment.stop))
        for batch in file.iter_batches(batch_size=rows, row_groups=groups, use_threads=False):
            _check_texts(batch)
            yield pa.Table.from_batches([batch])


def _check_texts(batch: pa.RecordBatch) -> None:
    """Arrow trusts what a damaged file says of its own sizes; numbers can do no harm."""
    batch.validate()
    for column in batch.columns:
        if not pa.types.is_primitive(column.type):
            column.validate(full=True)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


@dataclass(frozen=True)
class QuickText:
    """A range of plain text of which only some columns are looked at."""

    text: bytes
    layout: TextLayout
    kinds: Mapping[str, pa.DataType]

    def lines(self, numbers: Sequence[str], labels: Sequence[str]) -> Iterator[quick.Lines]:
        """Some columns of its lines; raises `quick.NotPlain` where more care is needed."""
        names, separator = self.layout.names, self.layout.separator
        return quick.lines_of(self.text, names, separator, numbers, labels, MISSING)

    def chosen(self, lines: quick.Lines, rows: NDArray[np.int64]) -> bytes:
        """The text of some lines."""
        return quick.chosen(self.text, lines, rows)

    def read(self, text: bytes) -> pa.Table:
        """All columns of chosen lines, read with care."""
        try:
            return _parsed(text, self.kinds, self.layout, quoted=False)
        except pa.ArrowInvalid:
            raise quick.NotPlain from None


def quick_text(fragment: Fragment, shape: Shape, wanted: Sequence[str]) -> QuickText | None:
    """A fragment as quick text; None: it has to be read with care from the start."""
    path = Path(fragment.file)
    if fragment.kind != CSV or fragment.quoted or fragment.folders or fragment.packed:
        return None
    layout = _layout(fragment.file, fragment.reader, path.stat().st_mtime_ns)
    names = layout.names
    if layout.decimal != "." or len(set(names)) < len(names) or not set(wanted) <= set(names):
        return None
    text = _lines(fragment)
    if fragment.start == 0:
        cut = text.find(b"\n") + 1
        first = text[:cut].decode("utf-8-sig", errors="replace")
        header = next(reader([first], delimiter=layout.separator), [])
        if not cut or tuple(named(header)) != names:
            return None
        text = text[cut:]
    if b'"' in text:
        raise QuotesFound(f"{fragment} has quotes", file=fragment.file)
    kinds = {name: kind for name, kind in shape.types.items() if name in names}
    return QuickText(text, layout, kinds)


def _typed(
    tables: Iterator[pa.Table], fragment: Fragment, shape: Shape, layout: TextLayout
) -> Iterator[pa.Table]:
    """The tables as they come; a column that holds something else is to get a wider type."""
    try:
        yield from tables
    except pa.ArrowInvalid as problem:
        place = _PLACE.search(str(problem))
        name = layout.names[int(place.group(1))] if place else None
        kind = shape.types.get(name) if name else None
        if name is None or kind == pa.large_string():
            raise
        wider = {**shape.types, name: _wider(kind)}
        raise TypesChanged(f"{fragment}: {problem}", types=wider) from problem


def _wider(kind: pa.DataType | None) -> pa.DataType:
    if kind is not None and pa.types.is_timestamp(kind) and kind.unit == "s":
        return pa.timestamp("ns", kind.tz)
    return _WIDER.get(kind, pa.large_string())


def _options(kinds: Mapping[str, pa.DataType], layout: TextLayout):  # type: ignore[no-untyped-def]
    from pyarrow import csv

    return csv.ConvertOptions(
        column_types=dict(kinds),
        null_values=list(MISSING),
        strings_can_be_null=True,
        decimal_point=layout.decimal,
    )


def _csv_range(
    fragment: Fragment, kinds: Mapping[str, pa.DataType], layout: TextLayout
) -> Iterator[pa.Table]:
    text = _lines(fragment)
    header = text.find(b"\n") + 1 if fragment.start == 0 else 0
    if not fragment.quoted and b'"' in text[header:]:
        raise QuotesFound(f"{fragment} has quotes", file=fragment.file)
    if not text or text.isspace():
        return
    yield _parsed(text, kinds, layout, quoted=fragment.quoted, header=fragment.start == 0)


def _parsed(
    text: bytes,
    kinds: Mapping[str, pa.DataType],
    layout: TextLayout,
    *,
    quoted: bool,
    header: bool = False,
) -> pa.Table:
    from pyarrow import csv

    table = csv.read_csv(
        pa.BufferReader(text),
        read_options=csv.ReadOptions(
            use_threads=False,
            block_size=len(text) + 1,
            **(layout.read_options() if header else {"column_names": list(layout.names)}),
        ),
        parse_options=csv.ParseOptions(delimiter=layout.separator, newlines_in_values=quoted),
        convert_options=_options(kinds, layout),
    )
    return marked(table.rename_columns(named(table.column_names)) if header else table, layout)


def _csv_stream(
    fragment: Fragment, kinds: Mapping[str, pa.DataType], layout: TextLayout
) -> Iterator[pa.Table]:
    """The rows of a compressed file, which cannot be entered in the middle."""
    from pyarrow import csv

    with files.opened(Path(fragment.file)) as source:
        for batch in csv.open_csv(
            source,
            read_options=csv.ReadOptions(
                use_threads=False, block_size=8 << 20, **layout.read_options()
            ),
            parse_options=csv.ParseOptions(delimiter=layout.separator, newlines_in_values=True),
            convert_options=_options(kinds, layout),
        ):
            table = pa.Table.from_batches([batch])
            yield marked(table.rename_columns(named(table.column_names)), layout)


def _json_range(fragment: Fragment) -> Iterator[pa.Table]:
    text = _lines(fragment)
    if text and not text.isspace():
        harmless = Shallow(pa.BufferReader(text), Path(fragment.file))
        source = pa.PythonFile(harmless, "r")
        yield read_lines(source, lambda: text, block=len(text) + 1, threads=False)


def _lines(fragment: Fragment) -> bytes:
    """The lines that begin inside a range of bytes."""
    with Path(fragment.file).open("rb") as file:
        begin = _line_start(file, fragment.start)
        end = _line_start(file, fragment.stop)
        file.seek(begin)
        return file.read(max(end - begin, 0))


def _line_start(file: BinaryIO, place: int) -> int:
    """Where the first line that does not begin before this place begins."""
    if place == 0:
        return 0
    # The byte before tells whether a line begins right here.
    file.seek(place - 1)
    if len(file.readline(_LONGEST)) >= _LONGEST:
        raise pa.ArrowInvalid(f"a line is longer than {_LONGEST >> 20} MB")
    return file.tell()
