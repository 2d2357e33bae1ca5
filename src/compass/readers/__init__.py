"""Reads tables of past runs from files and from memory: `read(source) -> Table`.

Decisions 0002 and 0026 (docs/decisions).
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import pyarrow as pa

from compass import registry
from compass.domain.errors import DataProblem
from compass.readers import files, hive
from compass.readers.base import Reader
from compass.readers.combine import combine
from compass.readers.plain import plain
from compass.readers.table import Table, TablePart

__all__ = ["Reader", "Table", "TablePart", "read"]


def read(
    source: Any,
    *,
    reader: str | None = None,
    fill: bool = False,
    tell: Callable[[str], None] | None = None,
) -> Table:
    """The table that a path, glob, folder, list of paths, data frame or mapping of columns holds.

    Several files are read as one table, in order; they must have the same columns, unless `fill`
    lets the cells of columns that a file does not have be missing. Folders `year=2024` give a
    column `year`. `reader` names the file format where the ending does not tell it.
    `dataset:NAME` is a public dataset of the catalogue. `tell` is called with each line of what a
    reader says about what it kept and left out.
    """
    if isinstance(source, Table):
        return source
    if isinstance(source, str) and (fetched := _fetched(source)) is not None:
        return fetched
    if isinstance(source, str | PathLike):
        return read_files(files.located(_path(source)), reader, fill, tell=tell)
    if _is_list_of_paths(source):
        found = files.located_all(_path(one) for one in source)
        if not found.paths:
            raise DataProblem("the list of files is empty", hint="name at least one file")
        return read_files(found, reader, fill, tell=tell)
    return Table.of(_checked(_from_memory(source), "the table"))


def _path(source: str | PathLike[str]) -> str | Path:
    # A text may be an address, which a path would not survive: file:///data becomes file:/data.
    return source if isinstance(source, str) else Path(source)


def _fetched(source: str) -> Table | None:
    """The table behind `scheme:text` if a reader has that scheme and no file that name."""
    known = files.with_scheme(source)
    if known is None:
        return None
    found = known.fetch(source.partition(":")[2])  # type: ignore[attr-defined]
    if isinstance(found, Table):
        return found
    return Table.of(_checked(found, source), [TablePart(source, found.num_rows)])


def _is_list_of_paths(source: Any) -> bool:
    return (
        isinstance(source, Sequence)
        and not isinstance(source, bytes)
        and all(isinstance(one, str | PathLike) for one in source)
    )


def read_files(
    found: files.Located,
    reader: str | None = None,
    fill: bool = False,
    options: Any = None,
    tell: Callable[[str], None] | None = None,
) -> Table:
    """One table of all these files; `options` go to the reader, and its notes to `tell`."""
    paths = found.paths
    values = hive.partitions(paths, found.root) if found.root is not None else [{}] * len(paths)
    kinds = hive.types(values)
    tables = []
    raw = _raw(paths, reader, options)
    if tell is not None:
        from compass.readers.profiles.flatten import telling  # only for those who want to know

        raw = telling(raw, tell)
    for path, folders, table in zip(paths, values, raw, strict=True):
        one = hive.with_partition(plain(table), folders, kinds, str(path))
        tables.append(_checked(one, str(path), several=len(paths) > 1))
    names = [str(path) for path in paths]
    parts = [TablePart(name, table.num_rows) for name, table in zip(names, tables, strict=True)]
    return Table.of(_checked(combine(tables, names, fill=fill), "the source"), parts)


def _raw(paths: Sequence[Path], reader: str | None, options: Any) -> Iterator[pa.Table]:
    """What each path holds; a reader of sets of runs gets all of its paths at once."""
    chosen: list[Any] = [
        registry.get("reader", reader)() if reader else files.reader_for(path) for path in paths
    ]
    if options is not None:
        for path, one in zip(paths, chosen, strict=True):
            if not hasattr(one, "with_options"):
                raise DataProblem(
                    f"{path} is not a profile: there are no metrics or regions to choose",
                    hint=f"it was taken as {one.name}; read it without these options",
                )
        chosen = [one.with_options(options) for one in chosen]
    together = len({one.name for one in chosen}) == 1 and hasattr(chosen[0], "read_together")
    if together:
        yield from chosen[0].read_together(paths)
        return
    for path, one in zip(paths, chosen, strict=True):
        try:
            yield one.read(path)
        except (PermissionError, FileNotFoundError, IsADirectoryError) as problem:
            raise files.cannot_open(path, problem) from problem


def _checked(table: pa.Table, where: str, *, several: bool = False) -> pa.Table:
    """The table with stripped column names, or the reason why it cannot be used."""
    names = [str(name).strip() for name in table.column_names]
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
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
    # Of many files some may be empty: those who write in parallel leave such ones behind.
    if not table.num_rows and not several:
        raise DataProblem(f"{where} has no rows", hint="was the run that writes it cut short?")
    return table.rename_columns(names).replace_schema_metadata(table.schema.metadata)


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
        except (
            pa.ArrowInvalid,
            pa.ArrowTypeError,
            TypeError,
            ValueError,
            OverflowError,
        ) as problem:
            raise DataProblem(
                f"column '{name}' cannot be used: {problem}",
                hint="a column is a list or array of values of one kind",
            ) from problem
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{name}: {length}" for name, length in lengths.items())
        raise DataProblem(
            f"the columns are not of one length ({shown})", hint="every column needs every row"
        )
    return pa.table(columns)
