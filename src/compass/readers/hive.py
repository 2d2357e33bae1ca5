"""Folders whose names hold values: `year=2024/part=3/x.parquet` has columns `year` and `part`."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc

from compass.domain.errors import DataProblem

NOTHING = "__HIVE_DEFAULT_PARTITION__"  # what Hive and Spark write for a missing value

_WHOLE = re.compile(r"[-+]?[0-9]{1,18}")
_NUMBER = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]{1,3})?")

Values = Mapping[str, str | None]


def partition(path: Path, root: Path) -> dict[str, str | None]:
    """The values that the folders between `root` and a file stand for; a missing one is None."""
    found: dict[str, str | None] = {}
    for folder in path.relative_to(root).parts[:-1]:
        name, equals, value = folder.partition("=")
        if not (name and equals):
            continue
        key = unquote(name)
        if key in found:
            raise DataProblem(
                f"the folders of {path} name '{key}' twice", hint="give every column a name"
            )
        found[key] = None if value in (NOTHING, "") else unquote(value)
    return found


def partitions(paths: Sequence[Path], root: Path) -> list[Values]:
    """The partition of each file; all files must have the same keys."""
    found: list[Values] = [partition(path, root) for path in paths]
    first = found[0].keys() if found else set()
    for path, values in zip(paths, found, strict=True):
        if values.keys() != first:
            name = sorted(first ^ values.keys())[0]
            without, with_it = (path, paths[0]) if name in first else (paths[0], path)
            raise DataProblem(
                f"no folder of {without} gives '{name}', but one of {with_it} does",
                hint=f"put every file below a folder {name}=..., or name the files you mean",
            )
    return found


def types(found: Sequence[Values]) -> dict[str, pa.DataType]:
    """The type of each partition column: a number where every value is one."""
    return {name: _type([values[name] for values in found]) for name in (found[0] if found else ())}


def _type(texts: Sequence[str | None]) -> pa.DataType:
    known = [text for text in texts if text is not None]
    if not known:
        return pa.null()
    if all(_WHOLE.fullmatch(text) for text in known):
        return pa.int64()
    if all(_NUMBER.fullmatch(text) for text in known):
        return pa.float64()
    return pa.large_string()


def with_partition(
    table: pa.Table, values: Values, kinds: Mapping[str, pa.DataType], where: str
) -> pa.Table:
    """The table with its partition as columns; a column of that name must say the same."""
    for name, text in values.items():
        kind = kinds[name]
        cell = pa.scalar(_value(text, kind), kind)
        times = table.column_names.count(name)
        if times == 1:
            _agree(table.column(name), name, text, cell, where)
        if times:  # that it is there twice is an error later
            continue
        column = pa.repeat(cell, table.num_rows)
        table = table.append_column(pa.field(name, kind), column)
    return table


def _value(text: str | None, kind: pa.DataType) -> int | float | str | None:
    if text is None or pa.types.is_large_string(kind):
        return text
    return int(text) if pa.types.is_integer(kind) else float(text)


def _agree(
    column: pa.ChunkedArray, name: str, text: str | None, cell: pa.Scalar, where: str
) -> None:
    try:
        if not cell.is_valid:
            same = column.null_count == len(column)
        else:
            same = pc.all(pc.equal(column, cell), skip_nulls=False).as_py()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        same = {str(value) for value in column.unique().to_pylist()} == {text}
    if not same:
        raise DataProblem(
            f"{where} lies in a folder {name}={text} but has a column '{name}' of other values",
            hint="rename the folder or the column",
        )
