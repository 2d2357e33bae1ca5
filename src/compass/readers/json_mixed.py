"""JSON lines in which a key holds a number here and a word there: `1.5` and `"timeout"`.

Arrow reads a key in one type. Such keys are text for all lines; what they mean is found out where
text columns are read.
"""

import json
import re
from collections.abc import Callable
from typing import Any

import pyarrow as pa

_CHANGED = re.compile(r"changed from (number to string|string to number)")


def read_lines(source: Any, again: Callable[[], bytes], *, block: int, threads: bool) -> pa.Table:
    """The table of JSON lines; `again()` gives all of their bytes once more, if they are needed."""
    from pyarrow import json as arrow_json  # only for JSON files

    options = arrow_json.ReadOptions(use_threads=threads, block_size=block)
    try:
        return arrow_json.read_json(source, read_options=options)
    except pa.ArrowInvalid as problem:
        if _CHANGED.search(str(problem)) is None:
            raise
        mended = with_texts(again())
        if mended is None:
            raise
        return arrow_json.read_json(pa.BufferReader(mended), read_options=options)


def with_texts(lines: bytes) -> bytes | None:
    """The lines with text in keys that hold numbers and texts; None: no key does."""
    rows = [json.loads(line) for line in lines.splitlines() if line.strip()]
    if not all(isinstance(row, dict) for row in rows):
        return None
    texts = {key for row in rows for key, value in row.items() if isinstance(value, str)}
    mixed = {key for row in rows for key, value in row.items() if key in texts and _number(value)}
    if not mixed:
        return None
    for row in rows:
        for key in mixed & row.keys():
            if _number(row[key]):
                row[key] = json.dumps(row[key])
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
