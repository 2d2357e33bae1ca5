"""The built-in file formats: csv, tsv, jsonl, parquet, feather."""

import codecs
from pathlib import Path

import pyarrow as pa

from compass import registry
from compass.domain.errors import DataProblem
from compass.readers import files
from compass.readers.delimited import Layout, layout_of, named, ragged


def _text_or_raise(path: Path, start: bytes) -> str:
    """The start of a file as text, or the error that says what it is instead."""
    if not start.strip():
        raise files.empty(path)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise DataProblem(f"{path} is UTF-16 text", hint=_to_utf8(path, "UTF-16"))
    binary = files.looks_like(path, start)
    if binary is not None or b"\x00" in start:
        hint = (
            f"it looks like {binary}: give it the ending .{binary}"
            if binary is not None
            else f"readable formats: {', '.join(files.readers())}"
        )
        raise DataProblem(f"{path} is not text", hint=hint)
    text = _decoded(start)
    if text is None:
        raise DataProblem(f"{path} is not UTF-8 text", hint=_to_utf8(path, "ISO-8859-1"))
    return text


def _to_utf8(path: Path, encoding: str) -> str:
    return f"convert it: iconv -f {encoding} -t UTF-8 {path} > utf8-{path.name}"


def _decoded(start: bytes) -> str | None:
    """The bytes as text; the last character may be cut in half."""
    try:
        return codecs.getincrementaldecoder("utf-8-sig")().decode(start)
    except UnicodeDecodeError:
        return None


def _is_text(start: bytes) -> bool:
    return bool(start.strip()) and b"\x00" not in start and _decoded(start) is not None


@registry.add("reader", "csv")
class Csv:
    """Comma-, semicolon- or pipe-separated text with a header line."""

    name = "csv"
    suffixes: tuple[str, ...] = (".csv", ".psv")
    separators = ",;|\t"

    def sniff(self, path: Path, head: bytes) -> bool:
        """Text whose first line holds a separator."""
        del path
        first = (_decoded(head) or "").lstrip().partition("\n")[0]
        return _is_text(head) and any(mark in first for mark in self.separators)

    def read(self, path: Path) -> pa.Table:
        """The rows of a separated text file; empty, NA, NaN, null, None and n/a are missing."""
        layout = layout_of(_text_or_raise(path, files.head(path)), self.separators)
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

    def _parse(self, path: Path, layout: Layout) -> pa.Table:
        from pyarrow import csv  # only for text files

        with files.opened(path) as stream:
            try:
                table = csv.read_csv(
                    stream,
                    parse_options=csv.ParseOptions(
                        delimiter=layout.separator, newlines_in_values=True
                    ),
                    convert_options=csv.ConvertOptions(
                        null_values=list(MISSING),
                        strings_can_be_null=True,
                        decimal_point=layout.decimal,
                    ),
                )
            except (pa.ArrowInvalid, OSError) as problem:
                raise self._explain(path, layout, problem) from problem
        return table.rename_columns(named(table.column_names))

    def _explain(self, path: Path, layout: Layout, problem: Exception) -> DataProblem:
        with files.opened(path) as stream:
            found = ragged(stream, layout)
        if found is None:
            return DataProblem(
                f"cannot read {path}: {problem}", hint="is every line written like the first?"
            )
        line, cells = found
        return DataProblem(
            f"line {line} of {path} has {cells} cells, but the header has {len(layout.names)}",
            hint="quote cells that contain the separator, or remove the line",
        )


# What stands for a missing cell in text files. `none` in lower case is a label: `affinity: none`.
MISSING = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "-nan", "-NaN", "null", "NULL", "None")


@registry.add("reader", "tsv")
class Tsv(Csv):
    """Tab-separated text with a header line."""

    name = "tsv"
    suffixes = (".tsv", ".tab")
    separators = "\t"


@registry.add("reader", "jsonl")
class JsonLines:
    """One JSON object per line."""

    name = "jsonl"
    suffixes: tuple[str, ...] = (".jsonl", ".ndjson")

    def sniff(self, path: Path, head: bytes) -> bool:
        """Text that starts with a brace."""
        del path
        return _is_text(head) and (_decoded(head) or "").lstrip().startswith("{")

    def read(self, path: Path) -> pa.Table:
        """The objects as rows; a key that a line does not have is a missing cell."""
        from pyarrow import json  # only for JSON files

        _text_or_raise(path, files.head(path))
        with files.opened(path) as stream:
            try:
                return json.read_json(stream, read_options=json.ReadOptions(block_size=8 << 20))
            except (pa.ArrowInvalid, OSError) as problem:
                raise DataProblem(
                    f"cannot read {path}: {problem}",
                    hint="each line must be one JSON object, and a key must keep its type "
                    "(lines are counted from 0)",
                ) from problem


@registry.add("reader", "feather")
class Feather:
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
                if self.sniff(path, files.head(path)):
                    return pa.ipc.open_file(source).read_all()
                return pa.ipc.open_stream(source).read_all()
            except (pa.ArrowInvalid, OSError) as problem:
                raise _unreadable(path, "an Arrow (Feather) file", problem) from problem


@registry.add("reader", "parquet")
class Parquet:
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
                return parquet.ParquetFile(source).read()
            except (pa.ArrowInvalid, OSError) as problem:
                raise _unreadable(path, "a Parquet file", problem) from problem


def _unreadable(path: Path, what: str, problem: Exception) -> DataProblem:
    if path.stat().st_size == 0:
        return files.empty(path)
    return DataProblem(
        f"{path} cannot be read as {what}: {problem}", hint="is it complete? copy it again"
    )
