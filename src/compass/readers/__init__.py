"""Reads tables of past runs from files and from memory: `read(source) -> Table`."""

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import pyarrow as pa

from compass import registry
from compass.domain.errors import DataProblem
from compass.readers import files
from compass.readers.base import Reader
from compass.readers.combine import combine
from compass.readers.plain import plain
from compass.readers.table import Part, Table

__all__ = ["Part", "Reader", "Table", "read"]


def read(source: Any, *, reader: str | None = None) -> Table:
    """The table that a path, glob, folder, list of paths, data frame or mapping of columns holds.

    Several files are read as one table, in order; they must have the same columns. `reader` names
    the file format where the ending does not tell it.
    """
    if isinstance(source, Table):
        return source
    if isinstance(source, str | PathLike):
        return _read_files(files.expand(Path(source)), reader)
    if _is_list_of_paths(source):
        paths = [path for one in source for path in files.expand(Path(one))]
        if not paths:
            raise DataProblem("the list of files is empty", hint="name at least one file")
        return _read_files(paths, reader)
    return Table.of(_checked(_from_memory(source), "the table"))


def _is_list_of_paths(source: Any) -> bool:
    return (
        isinstance(source, Sequence)
        and not isinstance(source, bytes)
        and all(isinstance(one, str | PathLike) for one in source)
    )


def _read_files(paths: Sequence[Path], reader: str | None) -> Table:
    tables = []
    for path in paths:
        chosen: Reader = registry.get("reader", reader)() if reader else files.reader_for(path)
        try:
            table = chosen.read(path)
        except (PermissionError, FileNotFoundError, IsADirectoryError) as problem:
            raise files.cannot_open(path, problem) from problem
        tables.append(plain(_checked(table, str(path))))
    names = [str(path) for path in paths]
    parts = [Part(name, table.num_rows) for name, table in zip(names, tables, strict=True)]
    return Table.of(combine(tables, names), parts)


def _checked(table: pa.Table, where: str) -> pa.Table:
    """The table with stripped column names, or the reason why it cannot be used."""
    names = [str(name).strip() for name in table.column_names]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise DataProblem(
            f"{where} has several columns named {', '.join(twice)}",
            hint="give every column a name of its own",
        )
    if len(names) < 2:
        only = f"one column only: '{names[0]}'" if names else "no columns"
        raise DataProblem(
            f"{where} has {only}", hint="a table needs something to set and something measured"
        )
    if not table.num_rows:
        raise DataProblem(f"{where} has no rows", hint="was the run that writes it cut short?")
    return table.rename_columns(names)


def _from_memory(source: Any) -> pa.Table:
    if isinstance(source, pa.Table):
        return source
    if isinstance(source, pa.RecordBatch):
        return pa.Table.from_batches([source])
    if isinstance(source, Mapping):
        return _from_mapping(source)
    kind = type(source)
    try:
        if kind.__module__.partition(".")[0] == "pandas" and kind.__name__ == "DataFrame":
            # Before the generic door: only here can the row labels be left out.
            return pa.Table.from_pandas(source, preserve_index=False)
        if hasattr(source, "__arrow_c_stream__"):
            return pa.table(source)
        if hasattr(source, "__dataframe__"):
            from pyarrow import interchange  # only for foreign data frames

            return interchange.from_dataframe(source)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as problem:
        raise DataProblem(
            f"this {kind.__name__} cannot be used: {problem}",
            hint="each column must hold values of one kind",
        ) from problem
    raise DataProblem(
        f"a {kind.__name__} is not a table",
        hint="give a path, a list of paths, a data frame, an Arrow table or a dict of columns",
    )


def _from_mapping(source: Mapping[Any, Any]) -> pa.Table:
    columns = {}
    for name, values in source.items():
        try:
            columns[str(name)] = pa.array(values)
        except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError) as problem:
            raise DataProblem(
                f"column '{name}' cannot be used: {problem}",
                hint="a column is a list or array of values of one kind",
            ) from problem
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name}: {length}" for name, length in lengths.items())
        raise DataProblem(
            f"the columns are not of one length ({told})", hint="every column needs every row"
        )
    return pa.table(columns)
