"""One JSON or YAML file per run: nested keys become columns, and each file is a row."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from compass import registry
from compass.domain.errors import DataProblem
from compass.readers.profiles.base import reading
from compass.readers.profiles.flatten import columns_of, run_names
from compass.readers.profiles.json_text import load_json, whole_text

_YAML = (".yaml", ".yml")
_LARGEST_YAML = 2 << 20  # bytes; YAML is slow to read, and a run's results are short
_MOST = 200_000  # values in one file; references in YAML can make a few lines into billions
_COLUMNS = 5_000  # of one run
_DEEPEST = 200  # levels of YAML; the time to read it grows with their square
_SHORT = 8  # numbers in a list that become a column each


@registry.add("reader", "json-runs")
class JsonRuns:
    """One JSON or YAML file per run, also in a folder per run: nested keys become `outer.inner`."""

    name = "json-runs"
    suffixes = (".json", *_YAML)
    shy = True

    def sniff(self, path: Path, head: bytes) -> bool:
        """A .json file that holds one object, or a YAML file."""
        endings = [suffix.lower() for suffix in path.suffixes]
        if any(ending in _YAML for ending in endings):
            return True
        return ".json" in endings and head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")

    def read(self, path: Path) -> pa.Table:
        """The run as a table of one row."""
        return self.read_together([path])[0]

    def read_together(self, paths: Sequence[Path]) -> list[pa.Table]:
        """One row per file; a key that a run does not have is a missing cell."""
        rows: list[dict[str, Any]] = []
        for path, name in zip(paths, run_names(paths), strict=True):
            with reading(path, "one run"):
                found = _loaded(path)
                if not isinstance(found, dict):
                    raise DataProblem(
                        f"{path} does not hold the keys and values of one run",
                        hint="a run is written as {...}; a list of runs is a table",
                    )
                _affordable(found, path)
                rows.append({"run": name, **_row(found, path)})
        names = list(dict.fromkeys(name for row in rows for name in row))
        table = columns_of({name: [row.get(name) for row in rows] for name in names}, {})
        return [table.slice(n, 1) for n in range(len(rows))]


def _loaded(path: Path) -> Any:
    if not any(suffix.lower() in _YAML for suffix in path.suffixes):
        return load_json(path)
    import yaml  # only for YAML files

    text = whole_text(path, _LARGEST_YAML)
    if _is_deep(text):
        raise DataProblem(
            f"{path} is nested more than {_DEEPEST} deep", hint="a file of one run is simple"
        )
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as problem:
        raise DataProblem(
            f"{path} is not YAML: {' '.join(str(problem).split())}",
            hint="is it complete? copy it again",
        ) from problem


def _is_deep(text: str) -> bool:
    """Whether a YAML text may be nested deeper than any run; brackets in texts count too."""
    depth = 0
    for mark in re.findall(r"[\[\]{}]", text):
        depth = depth + 1 if mark in "[{" else max(0, depth - 1)
        if depth > _DEEPEST:
            return True
    starts = (row[0] for row in re.finditer(r"^[-?: \t]+", text, re.MULTILINE))
    return any(len(s) > 5 * _DEEPEST or sum(map(s.count, "-?:")) > _DEEPEST for s in starts)


def _affordable(found: Any, path: Path) -> None:
    """Raises when a file stands for more values than a run has, however short it is."""
    count = 0
    waiting = [found]
    while waiting:
        value = waiting.pop()
        count += 1
        if count > _MOST:
            raise DataProblem(
                f"{path} holds more than {_MOST} values, or refers to itself",
                hint="a file of one run is short; is it a table?",
            )
        if isinstance(value, Mapping):
            waiting.extend(value.values())
        elif isinstance(value, list | tuple | set):
            waiting.extend(value)


def _row(found: Mapping[Any, Any], path: Path) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for name, value in _cells(found):
        free = f"{name} (file)" if name == "run" else name
        if free in row:
            raise DataProblem(
                f"{path} has several values for '{free}'", hint="give every key a name of its own"
            )
        row[free] = value
        if len(row) > _COLUMNS:
            raise DataProblem(
                f"{path} has more than {_COLUMNS} keys", hint="a file of one run is short"
            )
    if not row:
        raise DataProblem(f"{path} holds no values", hint="was the run that writes it cut short?")
    return row


def _cells(found: Mapping[Any, Any]) -> Iterator[tuple[str, Any]]:
    """Names and values in the order of the file, `outer.inner` for what is nested."""
    waiting = [(str(name).strip(), value) for name, value in reversed(list(found.items()))]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, Mapping):
            inner = reversed(list(value.items()))
            waiting.extend((f"{name}.{str(key).strip()}", one) for key, one in inner)
        elif isinstance(value, list) and _is_short(value):
            waiting.extend((f"{name}.{n}", one) for n, one in reversed(list(enumerate(value))))
        else:
            yield name, _plain(value)


def _is_short(values: list[Any]) -> bool:
    numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)
    return numbers and 0 < len(values) <= _SHORT


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str | datetime | date):
        return value
    if isinstance(value, set):
        value = sorted(map(str, value))
    return json.dumps(value, default=str) if isinstance(value, list | tuple) else str(value)
