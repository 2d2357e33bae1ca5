"""Puts the rows of several files under one another."""

from collections.abc import Iterable, Sequence

import pyarrow as pa

from compass.domain.errors import DataProblem, nearest
from compass.readers.sample import together
from compass.readers.written import only_numbers_and_words

_WORDS = {
    pa.bool_(): "true/false",
    pa.int64(): "whole numbers",
    pa.float64(): "numbers",
    pa.large_string(): "text",
    pa.timestamp("us"): "time stamps",
    pa.null(): "nothing",
}


_FEW_ROWS = 10_000  # per file: smaller pieces cost more to walk over than to copy


def combine(tables: Sequence[pa.Table], files: Sequence[str], *, fill: bool = False) -> pa.Table:
    """One table of all rows, in the first file's order of columns (tables of plain types).

    A column that a file does not have is an error, or a column of missing cells with `fill`.
    """
    if len(tables) == 1:
        return tables[0]
    if fill:
        names = list(dict.fromkeys(name for table in tables for name in table.column_names))
        tables = [filled(table, names) for table in tables]
    first = tables[0]
    for table, file in zip(tables[1:], files[1:], strict=True):
        _same_names(first, table, files[0], file)
    ordered = [table.select(first.column_names) for table in tables]
    fields = []
    for name in first.column_names:
        kind, where = ordered[0].schema.field(name).type, files[0]
        for table, file in zip(ordered[1:], files[1:], strict=True):
            other = table.schema.field(name).type
            merged = _promote(kind, other)
            if merged is None and _words_among_numbers([t.column(name) for t in ordered]):
                merged = pa.large_string()
            if merged is None:
                raise DataProblem(
                    f"column '{name}' holds {words(kind)} in {where} but {words(other)} in {file}",
                    hint="write the column the same way in every file",
                )
            if pa.types.is_null(kind):
                where = file
            kind = merged
        fields.append(pa.field(name, kind, metadata=_metadata(ordered, name)))
    schema = pa.schema(fields, metadata=together([table.schema for table in tables]))
    whole = pa.concat_tables([table.cast(schema) for table in ordered])
    return whole.combine_chunks() if whole.num_rows < _FEW_ROWS * len(tables) else whole


def filled(table: pa.Table, names: Iterable[str]) -> pa.Table:
    """The table with all of these columns; those that were not there are without a value."""
    own = set(table.column_names)
    for name in names:
        if name not in own:
            table = table.append_column(name, pa.nulls(table.num_rows))
    return table


def _metadata(tables: Sequence[pa.Table], name: str) -> dict[bytes, bytes] | None:
    return next((m for t in tables if (m := t.schema.field(name).metadata)), None)


def _same_names(first: pa.Table, table: pa.Table, first_file: str, file: str) -> None:
    wanted, found = set(first.column_names), set(table.column_names)
    lacking = [name for name in first.column_names if name not in found]
    extra = [name for name in table.column_names if name not in wanted]
    if not lacking and not extra:
        return
    name = (lacking or extra)[0]
    with_it, without = (first_file, file) if lacking else (file, first_file)
    close = nearest(name, extra if lacking else [])
    raise DataProblem(
        f"{without} has no column '{name}', but {with_it} has",
        hint=f"is it called {close} there?"
        if close
        else "files that are read together need the same columns; compass read --fill "
        "leaves their cells empty",
    )


def _promote(one: pa.DataType, other: pa.DataType) -> pa.DataType | None:
    """The type that holds both without loss of meaning, or None."""
    if one == other or pa.types.is_null(other):
        return one
    if pa.types.is_null(one):
        return other
    if {one, other} == {pa.int64(), pa.float64()}:
        return pa.float64()
    return None


def _words_among_numbers(columns: Sequence[pa.ChunkedArray]) -> bool:
    """Whether all are numbers but for words such as `timeout`, which make a column text."""
    texts = [column for column in columns if pa.types.is_large_string(column.type)]
    others = {column.type for column in columns} - {pa.large_string(), pa.null()}
    numeric = others <= {pa.int64(), pa.float64()}
    return numeric and all(only_numbers_and_words(column) for column in texts)


def words(kind: pa.DataType) -> str:
    """A type in a person's words."""
    return _WORDS.get(kind, str(kind))
