"""A reader: logs with one run per line, written as `nodes=4 app=lammps runtime=12.5`."""

import re
from pathlib import Path

import pyarrow as pa

from compass import registry
from compass.domain.errors import DataProblem
from compass.readers.files import opened

_PAIR = re.compile(r'(\w[\w.-]*)=("[^"]*"|\S+)')
_LINE = re.compile(r'\s*\w[\w.-]*=("[^"]*"|\S+)(\s+\w[\w.-]*=("[^"]*"|\S+))+\s*')


@registry.add("reader", "keyvalue")
class KeyValue:
    """Logs with `key=value` pairs, one run per line."""

    name = "keyvalue"
    suffixes = (".kv", ".runlog")

    def sniff(self, path: Path, head: bytes) -> bool:
        """Text whose first line holds nothing but two or more pairs."""
        del path  # the content tells enough
        first = head.lstrip().partition(b"\n")[0].decode("utf-8", errors="replace")
        return _LINE.fullmatch(first) is not None

    def read(self, path: Path) -> pa.Table:
        """One row per line; a key that a line does not have is a missing cell."""
        rows = []
        for number, line in enumerate(_text(path).splitlines(), start=1):
            if not line.strip():
                continue
            if not _LINE.fullmatch(line):
                raise DataProblem(
                    f"line {number} of {path} is not made of key=value pairs",
                    hint="write every run as: nodes=4 app=lammps runtime=12.5",
                )
            rows.append({key: value.strip('"') for key, value in _PAIR.findall(line)})
        if not rows:
            raise DataProblem(f"{path} holds no runs", hint="was the log cut short?")
        names = list(dict.fromkeys(name for row in rows for name in row))
        return pa.table({name: _column([row.get(name) for row in rows]) for name in names})


def _text(path: Path) -> str:
    try:
        with opened(path) as stream:
            return str(stream.read().decode("utf-8"))
    except (UnicodeDecodeError, OSError):
        raise DataProblem(f"{path} is not text", hint="is it really a log of runs?") from None


def _column(cells: list[str | None]) -> pa.Array:
    """Whole numbers, else numbers, else text."""
    for kind in (int, float):
        try:
            return pa.array([None if cell is None else kind(cell) for cell in cells])
        except (ValueError, OverflowError, pa.ArrowInvalid):
            continue
    return pa.array(cells, pa.string())
