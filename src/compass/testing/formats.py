"""Small files of the built-in formats, and files that are no table at all."""

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

ROWS: dict[str, list[object]] = {
    "app": ["amg", "comd", "amg", "comd"],
    "nodes": [1, 2, 4, 8],
    "runtime": [10.5, 6.25, 3.5, 2.75],
}


def _separated(mark: str) -> bytes:
    lines = [mark.join(ROWS)]
    lines += [mark.join(str(cell) for cell in row) for row in zip(*ROWS.values(), strict=True)]
    return ("\n".join(lines) + "\n").encode()


def _objects() -> list[dict[str, object]]:
    return [dict(zip(ROWS, row, strict=True)) for row in zip(*ROWS.values(), strict=True)]


def _json() -> bytes:
    import json

    return json.dumps(_objects(), indent=1).encode()


def _json_lines() -> bytes:
    import json

    return "".join(json.dumps(row) + "\n" for row in _objects()).encode()


def _parquet() -> bytes:
    from pyarrow import parquet

    sink = pa.BufferOutputStream()
    parquet.write_table(pa.table(ROWS), sink)
    return bytes(sink.getvalue())


def _feather() -> bytes:
    from pyarrow import feather

    sink = pa.BufferOutputStream()
    feather.write_feather(pa.table(ROWS), sink)
    return bytes(sink.getvalue())


# By the reader that owns the format.
SAMPLES: dict[str, Callable[[], bytes]] = {
    "csv": lambda: _separated(","),
    "tsv": lambda: _separated("\t"),
    "jsonl": _json_lines,
    "json": _json,
    "parquet": _parquet,
    "feather": _feather,
}

JUNK: dict[str, bytes] = {
    "an empty file": b"",
    "blank lines": b"\n \n\n",
    "bytes without meaning": bytes(range(256)) * 8,
    "zeros": bytes(4096),
    "one word": b"hello\n",
}


def file_in(folder: Path, name: str, content: bytes) -> Path:
    """A new file with this content."""
    path = folder / name
    path.write_bytes(content)
    return path
