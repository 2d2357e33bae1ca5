"""Writes a table to a file, whole or not at all."""

import json
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from compass import files
from compass.domain.errors import BadInput, EnvironmentProblem
from compass.readers.inflate import COMPRESSED, ending
from compass.readers.table import Table

_BATCH = 65536  # rows


def write(table: Table | pa.Table, path: str | Path) -> Path:
    """Write a table; the ending says how: .parquet, .csv, .tsv, .feather or .jsonl, also .gz ...

    The file that was there stays whole until the new one is. Parquet and Feather keep units and
    types; text formats keep the cells only.
    """
    path = Path(path)
    check_name(path)
    arrow = table.arrow if isinstance(table, Table) else table
    if _writer(path) is _jsonl:
        _check_numbers(arrow, path)
    try:
        with files.replacing(path) as temporary:
            _fill(arrow, path, temporary)
    except (OSError, pa.ArrowException) as problem:
        raise _cannot(path, problem) from problem
    return path


def check_name(path: Path) -> None:
    """Say before the work, not after it, that the ending names no format."""
    if _writer(path) is None:
        raise BadInput(
            f"cannot tell from its name how to write {path}",
            hint=f"name it *{', *'.join(_WRITERS)}; text also with {', '.join(COMPRESSED)}",
        )


def _writer(path: Path) -> Callable[[pa.Table, Any], None] | None:
    return _WRITERS.get(ending(path))


def _fill(arrow: pa.Table, path: Path, fresh: Path) -> None:
    writer = _WRITERS[ending(path)]
    codec = COMPRESSED.get(path.suffix.lower())
    if codec is None:
        with fresh.open("wb") as file:
            writer(arrow, file)
    elif codec == "xz":
        import lzma  # Arrow has no codec for it

        with lzma.open(fresh, "wb") as packed:
            writer(arrow, packed)
    else:
        with pa.CompressedOutputStream(pa.OSFile(str(fresh), "wb"), codec) as packed:
            writer(arrow, packed)


def _parquet(arrow: pa.Table, file: Any) -> None:
    from pyarrow import parquet

    parquet.write_table(arrow, file, compression="zstd")


def _feather(arrow: pa.Table, file: Any) -> None:
    with pa.ipc.new_file(file, arrow.schema) as out:
        out.write_table(arrow)


def _csv(arrow: pa.Table, file: Any, separator: str = ",") -> None:
    from pyarrow import csv

    csv.write_csv(arrow, file, csv.WriteOptions(delimiter=separator))


def _jsonl(arrow: pa.Table, file: Any) -> None:
    for batch in arrow.to_batches(max_chunksize=_BATCH):
        lines = (json.dumps(row, ensure_ascii=False, default=_text) for row in batch.to_pylist())
        file.write("".join(f"{line}\n" for line in lines).encode())


def _text(value: Any) -> str:
    return str(value.isoformat() if hasattr(value, "isoformat") else value)


def _check_numbers(arrow: pa.Table, path: Path) -> None:
    import pyarrow.compute as pc

    for field, column in zip(arrow.schema, arrow.columns, strict=True):
        if pa.types.is_floating(field.type) and pc.any(pc.is_inf(column)).as_py():
            raise BadInput(
                f"cannot write {path}: column '{field.name}' holds {math.inf}, which JSON has not",
                hint="write Parquet instead",
            )


_WRITERS: dict[str, Callable[[pa.Table, Any], None]] = {
    ".parquet": _parquet,
    ".pq": _parquet,
    ".csv": _csv,
    ".tsv": partial(_csv, separator="\t"),
    ".feather": _feather,
    ".arrow": _feather,
    ".jsonl": _jsonl,
    ".ndjson": _jsonl,
}


def _cannot(path: Path, problem: Exception) -> EnvironmentProblem:
    why = getattr(problem, "strerror", None) or str(problem)
    return EnvironmentProblem(
        f"cannot write {path}: {why}", hint="check the folder, its permissions and the disk's space"
    )
