"""Which files may be read: the paths that people may name, and a look at a file before parsing."""

import mmap
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from compass.domain.errors import DataProblem
from compass.server.problems import Refused, too_large

_SEPARATORS = b",;\t|"
_FIRST_LINE = 32 * 1024 * 1024  # a header longer than this is none
_PARQUET = b"PAR1"
_MOST_FILES = 10_000  # they are looked at whenever the folder is used


def check_shape(path: Path, limits: Mapping[str, Any]) -> None:
    """Refuse a file that says itself, or whose first line says, that it is too large."""
    if not path.is_file():
        return  # a folder or a public dataset: its table is checked once it is read
    with path.open("rb") as file:
        start = file.read(4)
    if start == _PARQUET:
        _check_parquet(path, limits)
    elif path.stat().st_size:
        _check_text(path, limits)


def _check_parquet(path: Path, limits: Mapping[str, Any]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        about = pq.read_metadata(path)
        groups = [about.row_group(place) for place in range(about.num_row_groups)]
        inflated = sum(group.total_byte_size for group in groups)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise DataProblem(
            f"the Parquet file is damaged: {str(error).splitlines()[0][:200]}",
            hint="write it again and upload it again",
        ) from None
    check_table(about.num_rows, about.num_columns, limits)
    # What reading it takes is at least this, and a bomb is made of pages that inflate a lot.
    if inflated > limits["memory_bytes"] // 2:
        raise too_large(
            f"the file inflates to {inflated / 2**30:.1f} GiB, more than the server can hold",
            "upload fewer rows or columns: compass reduce makes a sample that stands for all rows",
        )


def _check_text(path: Path, limits: Mapping[str, Any]) -> None:
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
        end = text.find(b"\n", 0, _FIRST_LINE)
        if end < 0 and len(text) > _FIRST_LINE:
            raise too_large(
                "the first line of the file is longer than a header can be",
                "upload a table with one row per line",
            )
        first = text[: end if end >= 0 else len(text)]
    widest = 1 + max(first.count(sign) for sign in _SEPARATORS)
    if widest > limits["columns"]:
        raise _too_wide(widest, limits)


def check_table(rows: int, columns: int, limits: Mapping[str, Any]) -> None:
    """Refuse a table with more rows or columns than the server allows."""
    if columns > limits["columns"]:
        raise _too_wide(columns, limits)
    if rows > limits["rows"]:
        raise too_large(
            f"the table has {rows:,} rows, and the server takes {limits['rows']:,}",
            "compass reduce makes a sample that stands for all rows",
        )
    if rows * columns > limits["cells"]:
        raise too_large(
            f"the table has {rows * columns:,} cells, and the server takes {limits['cells']:,}",
            "leave out columns, or make a sample with compass reduce",
        )


def _too_wide(columns: int, limits: Mapping[str, Any]) -> Exception:
    return too_large(
        f"the table has {columns:,} columns, and the server takes {limits['columns']:,}",
        "leave out the columns that are not needed",
    )


def allowed(path: str, folders: Sequence[Path]) -> Path:
    """A path inside one of the folders; links are followed before it is judged."""
    if not folders:
        raise Refused(
            403,
            "no-folders",
            "this server reads no files by path",
            hint="upload the file; an operator can allow a folder with --allow",
        )
    denied = Refused(
        403,
        "not-allowed",
        "this path is not in a folder that the operator allows",
        hint="upload the file, or ask the operator",
    )
    try:
        real = Path(os.path.realpath(path, strict=True))
    except (OSError, ValueError):
        raise denied from None  # whether it exists is not told either
    if not _inside(real, folders) or not (real.is_file() or real.is_dir()):
        raise denied
    seen = 0
    for base, below, files in os.walk(real):
        seen += len(below) + len(files)
        if seen > _MOST_FILES:
            raise too_large(
                f"the folder has more than {_MOST_FILES:,} files and folders below it",
                "name a folder further down, or a file",
            )
        links = [one for name in (*below, *files) if (one := Path(base, name)).is_symlink()]
        if not all(_inside(Path(os.path.realpath(link)), folders) for link in links):
            raise denied
    return real


def _inside(real: Path, folders: Sequence[Path]) -> bool:
    return any(real.is_relative_to(os.path.realpath(one)) for one in folders)
