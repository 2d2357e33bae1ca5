"""The table that comes with Compass."""

import csv
import json
from pathlib import Path

from compass import embedded
from compass.collect.plan import (
    KERNELS,
    Configuration,
    is_sensible,
)
from compass.collect.sweep import (
    columns,
)


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_embedded_table_is_complete() -> None:
    rows = read(embedded.path())
    assert 2500 <= len(rows) <= 3500
    assert all(tuple(row) == columns(binding=False) for row in rows)
    assert all(value not in ("", None, "nan") for row in rows for value in row.values())
    for name in ("size_kib", "threads", "tile", "unroll", "runtime_ms", "gflops"):
        assert all(float(row[name]) > 0 for row in rows), name
    assert {row["kernel"] for row in rows} == set(KERNELS)
    assert embedded.path().stat().st_size < 400_000


def test_embedded_rows_obey_the_rules_of_the_plan() -> None:
    numbers = ("size_kib", "threads", "chunk", "tile", "unroll")
    names = ("kernel", "precision", "schedule", "flags", *numbers)
    keys = set()
    for row in read(embedded.path()):
        fields = {name: int(row[name]) if name in numbers else row[name] for name in names}
        configuration = Configuration(**fields)  # type: ignore[arg-type]
        assert is_sensible(configuration)
        keys.add(configuration)
    assert len(keys) == len(read(embedded.path()))


def test_embedded_machine_describes_but_does_not_name() -> None:
    about = embedded.machine()
    for name in ("cpu", "cores", "caches_kib", "compiler", "date", "command", "seed", "repeats"):
        assert about[name]
    assert "/" not in json.dumps(about).replace("p90 - p10) / median", "")
