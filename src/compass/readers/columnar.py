"""The built-in file formats: csv, tsv, jsonl, json, parquet, feather."""

import codecs
import csv
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from compass import registry
from compass.domain.errors import DataProblem
from compass.readers import files
from compass.readers.delimited import (
    TextLayout,
    layout_of,
    marked,
    named,
    ragged,
    ragged_problem,
)
from compass.readers.inflate import Shallow, limits, too_large
from compass.readers.json_mixed import read_lines

# What Arrow raises for a damaged file: by kind of damage, and a broken text as Python does.
DAMAGED = (pa.ArrowException, OSError, UnicodeDecodeError)


_BLOCK = 1 << 20  # bytes that Arrow reads at once, and the longest row that it can read


def _text_or_raise(path: Path, start: bytes) -> str:
    """The start of a file as text, or the error that says what it is instead."""
    if not start.strip():
        raise files.empty(path)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise DataProblem(f"{path} is UTF-16 text", hint=_to_utf8(path, "UTF-16"))
    binary = files.looks_like(path, start)
    if binary is not None or b"\x00" in start:
        readable = f"readable formats: {', '.join(files.readers())}"
        renamed = f"it looks like {binary}: give it the ending .{binary}"
        raise DataProblem(f"{path} is not text", hint=readable if binary is None else renamed)
    text = _decoded(start)
    if text is None:
        raise DataProblem(f"{path} is not UTF-8 text", hint=_to_utf8(path, "ISO-8859-1"))
    if not text.strip():  # nothing but a byte-order mark and blanks
        raise files.empty(path)
    return text


def _to_utf8(path: Path, encoding: str) -> str:
    return f"convert it: iconv -f {encoding} -t UTF-8 {path} > utf8-{path.name}"


def _decoded(start: bytes) -> str | None:
    """The bytes as text; the last character may be cut in half."""
    try:
        return codecs.getincrementaldecoder("utf-8-sig")().decode(start)
    except UnicodeDecodeError:
        return None


def _start_of_text(head: bytes) -> str:
    """The bytes as text without blanks before it; empty: they are none."""
    return "" if b"\x00" in head else (_decoded(head) or "").lstrip()


@registry.add("reader", "csv")
class CsvReader:
    """Comma-, semicolon- or pipe-separated text with a header line."""

    name = "csv"
    suffixes: tuple[str, ...] = (".csv", ".psv")
    separators = ",;|\t"

    def sniff(self, path: Path, head: bytes) -> bool:
        """Text whose first line holds a separator."""
        del path
        first = _start_of_text(head).partition("\n")[0]
        return any(mark in first for mark in self.separators)

    def read(self, path: Path) -> pa.Table:
        """The rows of a separated text file; empty, NA, NaN, null, None and n/a are missing."""
        layout = self.layout(path)
        table = self._parse(path, layout)
        if not table.num_rows:
            raise DataProblem(
                f"{path} holds a header but no rows", hint="was the run that writes it cut short?"
            )
        for field in table.schema:
            if pa.types.is_binary(field.type):
                raise DataProblem(
                    f"column '{field.name}' of {path} holds text that is not UTF-8",
                    hint=_to_utf8(path, "ISO-8859-1"),
                )
        return table

    def layout(self, path: Path) -> TextLayout:
        """How the file is laid out, from its first lines; an error if it is no table."""
        layout = self._layout(path)
        if len(layout.names) == 1:
            raise DataProblem(
                f"{path} has one column only: '{layout.names[0]}'",
                hint="columns are separated by comma, semicolon, pipe or tab",
            )
        if layout.headless:
            raise DataProblem(
                f"the first line of {path} holds numbers, not column names",
                hint="add a first line that names the columns",
            )
        return layout

    def _layout(self, path: Path) -> TextLayout:
        start = _text_or_raise(path, files.head(path))
        try:
            return layout_of(start, self.separators)
        except csv.Error as problem:
            long = "field limit" in str(problem)
            most = f"a cell of the header has more than {csv.field_size_limit():,} characters"
            raise DataProblem(
                f"cannot read {path}: {most if long else problem}",
                hint="is a quotation mark never closed?",
            ) from problem

    def read_named(self, path: Path, names: Sequence[str]) -> pa.Table:
        """The rows of a file whose header line is known to be wrong, under these names."""
        return self._parse(path, self._layout(path), names)

    def _parse(
        self, path: Path, layout: TextLayout, names: Sequence[str] | None = None
    ) -> pa.Table:
        from pyarrow import csv as arrow_csv  # only for text files

        header = (
            layout.read_options()
            if names is None
            else {"column_names": list(names), "skip_rows": 1}
        )
        with files.opened(path) as stream:
            try:
                table = arrow_csv.read_csv(
                    stream,
                    read_options=arrow_csv.ReadOptions(block_size=_BLOCK, **header),
                    parse_options=arrow_csv.ParseOptions(
                        delimiter=layout.separator, newlines_in_values=True
                    ),
                    convert_options=arrow_csv.ConvertOptions(
                        null_values=list(MISSING),
                        strings_can_be_null=True,
                        decimal_point=layout.decimal,
                    ),
                )
            except DAMAGED as problem:
                raise self._explain(path, layout, problem) from problem
        return marked(table.rename_columns(named(table.column_names)), layout)

    def _explain(self, path: Path, layout: TextLayout, problem: Exception) -> DataProblem:
        with files.opened(path) as stream:
            found = ragged(stream, layout)
        if found is None and "straddl" in str(problem):
            return DataProblem(
                f"cannot read {path}: a row has more than {_BLOCK >> 20} MB",
                hint="is a quotation mark never closed? leave out columns of long texts",
            )
        if found is None:
            return DataProblem(
                f"cannot read {path}: {problem}", hint="is every line written like the first?"
            )
        return ragged_problem(path, layout, *found)


# What stands for a missing cell in text files. `none` in lower case is a label: `affinity: none`.
MISSING = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "-nan", "-NaN", "null", "NULL", "None")


@registry.add("reader", "tsv")
class TsvReader(CsvReader):
    """Tab-separated text with a header line."""

    name = "tsv"
    suffixes = (".tsv", ".tab")
    separators = "\t"


@registry.add("reader", "jsonl")
class JsonLinesReader:
    """One JSON object per line."""

    name = "jsonl"
    suffixes: tuple[str, ...] = (".jsonl", ".ndjson")

    def sniff(self, path: Path, head: bytes) -> bool:
        """Text that starts with a brace."""
        del path
        return _start_of_text(head).startswith("{")

    def read(self, path: Path) -> pa.Table:
        """The objects as rows; a key that a line does not have is a missing cell."""
        _text_or_raise(path, files.head(path))
        return _objects(path, lambda: files.opened(path))


def _objects(path: Path, opened: Callable[[], Any]) -> pa.Table:
    """The table of a stream of JSON lines, which can be opened once more."""

    def again() -> bytes:
        with opened() as stream:
            return bytes(Shallow(stream, path).read())

    try:
        with opened() as stream:
            source = pa.PythonFile(Shallow(stream, path), "r")
            return read_lines(source, again, block=8 << 20, threads=True)
    except (*DAMAGED, ValueError) as problem:
        raise DataProblem(
            f"cannot read {path}: {problem}",
            hint="each line must be one JSON object, and a key must keep its type "
            "(lines are counted from 0)",
        ) from problem


@registry.add("reader", "json")
class JsonReader:
    """A JSON file that holds one list of objects."""

    name = "json"
    suffixes: tuple[str, ...] = (".json",)

    def sniff(self, path: Path, head: bytes) -> bool:
        """Text that starts with a bracket and a brace."""
        del path
        text = _start_of_text(head)
        return text.startswith("[") and text[1:].lstrip()[:1] in ("{", "")

    def read(self, path: Path) -> pa.Table:
        """The objects as rows; a key that an object does not have is a missing cell."""
        _text_or_raise(path, files.head(path))
        with files.content(path) as source:
            text = source.read()
        try:
            found = json.loads(text.decode("utf-8-sig"), parse_constant=lambda _: None)
        except (ValueError, RecursionError) as problem:
            raise DataProblem(
                f"cannot read {path}: {problem}", hint="it must be one list of JSON objects"
            ) from problem
        if not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
            raise DataProblem(
                f"{path} is not a list of JSON objects", hint='write it as [{"nodes": 4, ...}, ...]'
            )
        if not found:
            raise DataProblem(f"{path} holds no objects", hint="was its program cut short?")
        # One way from objects to columns, so that a list and lines of the same objects are alike.
        lines = "".join(json.dumps(row) + "\n" for row in found).encode()
        return _objects(path, lambda: io.BytesIO(lines))


@registry.add("reader", "feather")
class FeatherReader:
    """Arrow files, also known as Feather."""

    name = "feather"
    suffixes: tuple[str, ...] = (".feather", ".arrow", ".ipc")

    def sniff(self, path: Path, head: bytes) -> bool:
        """Files that start with Arrow's mark."""
        del path
        return head.startswith(b"ARROW1")

    def read(self, path: Path) -> pa.Table:
        """The rows of an Arrow file, or of an Arrow stream written to a file."""
        with files.content(path) as source:
            try:
                is_file = self.sniff(path, files.head(path))
                opened = (pa.ipc.open_file if is_file else pa.ipc.open_stream)(source)
                return _validated(opened.read_all())
            except DAMAGED as problem:
                raise _unreadable(path, "an Arrow (Feather) file", problem) from problem


@registry.add("reader", "parquet")
class ParquetReader:
    """Parquet files."""

    name = "parquet"
    suffixes: tuple[str, ...] = (".parquet", ".pq", ".parq")

    def sniff(self, path: Path, head: bytes) -> bool:
        """Files that start with Parquet's mark."""
        del path
        return head.startswith(b"PAR1")

    def read(self, path: Path) -> pa.Table:
        """The rows of a Parquet file."""
        from pyarrow import parquet  # only for Parquet files

        with files.content(path) as source:
            try:
                file = parquet.ParquetFile(source)
                cells = file.metadata.num_rows * file.metadata.num_columns
                allowed = limits().allowed(path.stat().st_size)
                if 8 * cells > allowed:  # a small file that says that it holds what it cannot mean
                    raise too_large(path, allowed)
                return _validated(file.read())
            except DAMAGED as problem:
                raise _unreadable(path, "a Parquet file", problem) from problem


def _validated(table: pa.Table) -> pa.Table:
    """The table, once it is sure that its buffers hold what they say.

    Arrow trusts them: a damaged file would make it read and write beyond their ends.
    """
    table.validate(full=True)
    return table


def _unreadable(path: Path, what: str, problem: Exception) -> DataProblem:
    if path.stat().st_size == 0:
        return files.empty(path)
    return DataProblem(
        f"{path} cannot be read as {what}: {problem}", hint="is it complete? copy it again"
    )
