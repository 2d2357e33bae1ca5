"""Accounting that is kept night by night, so that it outlives what the site deletes.

A folder of Parquet files, one for each time something was kept; a file is there whole or not at
all. A job that was kept twice, first while it ran, counts as it was kept last.
"""

import hashlib
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from compass import files
from compass.arrow import array_of, values_of
from compass.domain.errors import BadInput, DataProblem
from compass.readers import read

_ENDING = ".parquet"
_KEY = ("JobID", "Submit", "Cluster")


def keep(table: pa.Table, folder: Path) -> Path | None:
    """Add jobs to what is kept; None: exactly these are there already."""
    import pyarrow.parquet as pq

    missing = [name for name in _KEY[:2] if name not in table.column_names]
    if missing:
        raise DataProblem(
            f"jobs without {' and '.join(missing)} cannot be kept: they look alike",
            hint="sacct --parsable2 --format=ALL",
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise BadInput(
            f"cannot make {folder}: {problem.strerror}", hint="name another folder"
        ) from None
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    content = sink.getvalue().to_pybytes()
    digest = hashlib.blake2b(content, digest_size=6).hexdigest()
    if next(folder.glob(f"*-{digest}{_ENDING}"), None) is not None:
        return None
    path = folder / f"{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}-{digest}{_ENDING}"
    files.write_bytes(path, content)
    return path


def kept(folder: Path) -> pa.Table:
    """All jobs that are kept, each once, in the order in which they were kept."""
    paths = sorted(folder.glob(f"*{_ENDING}"))
    if not paths:
        raise BadInput(f"nothing is kept in {folder}", hint="compass report SOURCE --keep FOLDER")
    whole = read(paths, fill=True).arrow
    columns = [name for name in _KEY if name in whole.column_names]
    codes = [
        values_of(
            pc.cast(whole.column(name), pa.string()).combine_chunks().dictionary_encode().indices,
            -1,
        )
        for name in columns
    ]
    keys = np.stack(codes, axis=1)[::-1]
    _, latest = np.unique(keys, axis=0, return_index=True)
    rows = np.sort(len(keys) - 1 - latest)
    return whole.take(array_of(rows))
