"""What a reduced table carries beside its rows: weights, where each row came from, and how."""

import json
from typing import Any

import pyarrow as pa

WEIGHT = "sample_weight"  # how many rows of the source a row stands for: 1 / its chance
FILE = "sample_file"  # the file that the row came from
ROW = "sample_row"  # the row's number in that file, counted from 0, header not counted
COLUMNS = (WEIGHT, FILE, ROW)
MARK = b"compass.sample"  # key of the schema's metadata


def marked(schema: pa.Schema, how: dict[str, Any]) -> pa.Schema:
    """The schema of a sample, with how it was drawn in its metadata."""
    return schema.with_metadata({**(schema.metadata or {}), MARK: json.dumps(how).encode()})


def how_sampled(schema: pa.Schema) -> dict[str, Any] | None:
    """How the rows of a file were drawn; None if it is not a sample made by `compass reduce`."""
    text = (schema.metadata or {}).get(MARK)
    if text is None or any(name not in schema.names for name in COLUMNS):
        return None
    found: dict[str, Any] = json.loads(text)
    return found
