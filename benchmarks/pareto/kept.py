"""What the studies of fronts measured, kept beside the code: study -> records, one on each line.

A study that is measured again replaces its records of the same key and leaves the others, so that
`python -m benchmarks.pareto` prints all tables without measuring anything.
"""

import fcntl
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from compass.files import write_text

FILE = Path(__file__).with_name("figures.json")
Record = dict[str, Any]

# What tells the records of a study apart.
KEYS: Mapping[str, tuple[str, ...]] = {
    "oneshot": ("space", "seed"),
    "replay": ("space",),
    "learning": ("space", "way", "keep", "seed"),
    "embedding": ("space", "seed"),
    "speed": ("rows", "outcomes", "parameters"),
}


def records(study: str, path: Path = FILE) -> list[Record]:
    """The kept records of a study."""
    if not path.is_file():
        return []
    found = json.loads(path.read_text(encoding="utf-8"))[study]
    return [dict(zip(found["fields"], row, strict=True)) for row in found["rows"]]


def keep(study: str, new: Sequence[Record], path: Path = FILE) -> None:
    """Add records, or put them in the place of those of the same key.

    What is kept by contestant is replaced for those that were measured again.
    """
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)  # other processes may measure other cases meanwhile
        known = {name: records(name, path) for name in KEYS}
        own = {_key(study, one): one for one in known[study]}
        for one in new:
            key = _key(study, one)
            own[key] = _merged(own.get(key, {}), _rounded(one))
        known[study] = [own[key] for key in sorted(own)]
        write_text(path, _text(known))
    finally:
        os.close(folder)


def _merged(old: Record, new: Record) -> Record:
    both = {name: value for name, value in new.items() if isinstance(value, Mapping)}
    return {**new, **{name: {**(old.get(name) or {}), **value} for name, value in both.items()}}


def _key(study: str, record: Record) -> tuple[Any, ...]:
    return tuple(record[name] for name in KEYS[study])


def _text(known: Mapping[str, Sequence[Record]]) -> str:
    """One record on each line, so that a change can be read."""
    parts = []
    for study, own in known.items():
        fields = list(dict.fromkeys(field for one in own for field in one))
        lines = ",\n".join(f"  {json.dumps([one.get(f) for f in fields])}" for one in own)
        head = f' {json.dumps(study)}: {{"fields": {json.dumps(fields)}, "rows": ['
        parts.append(f"{head}\n{lines}\n ]}}" if own else f"{head}]}}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _rounded(value: Any) -> Any:
    """The same with four digits: what is kept can be read, and is no noise of the last bit."""
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, Mapping):
        return {key: _rounded(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(one) for one in value]
    return value
