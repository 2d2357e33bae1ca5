"""Tables to reduce, and slow second opinions on what the fast code does."""

import hashlib
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

import compass as cp
from compass.reducers.columns import Binned
from compass.reducers.report import Report
from compass.reducers.score import Scorer

_ALL = 2**64 - 1
ROLES: dict[str, Any] = {
    "columns": {
        "app": {"role": "context"},
        "nodes": {"role": "knob"},
        "size": {"role": "context"},
        "runtime": {"role": "outcome"},
        "id": {"role": "ignored"},
    }
}
STUDY = cp.Study.model_validate(ROLES)


def jobs(rows: int = 6000, seed: int = 1) -> pa.Table:
    """Runs of four applications; one is rare, one noisy, some have no size, `id` names the row."""
    rng = np.random.default_rng([seed, 5])
    apps = np.array(["amg", "comd", "wild", "rare"])
    app = rng.choice(4, rows, p=[0.6, 0.27, 0.1, 0.03])
    nodes = 2 ** rng.integers(0, 6, rows)
    size = rng.uniform(1, 100, rows)
    noise = np.array([0.01, 0.02, 1.0, 0.3])[app]
    runtime = (size / nodes + 3 * app + 1) * np.exp(noise * rng.standard_normal(rows))
    return pa.table(
        {
            "app": pa.array(apps[app]),
            "nodes": pa.array(nodes.astype(np.int32)),
            "size": pa.array(size, mask=rng.random(rows) < 0.02),
            "runtime": pa.array(runtime),
            "id": pa.array(np.arange(rows) + 1_000_000 * seed),
        }
    )


def write(path: Path, table: pa.Table, group: int = 500) -> Path:
    parquet.write_table(table, path, row_group_size=group)
    return path


def reduced(source: Any, output: Path, **how: Any) -> tuple[Report, pa.Table]:
    """The report and the sample."""
    how = {"keep": 0.1, "study": STUDY, "executor": "threads:1"} | how
    report = cp.reduce(source, output, **how)
    return report, parquet.read_table(output)


def bare(sample: pa.Table) -> pa.Table:
    """A sample but for the names of the files, which may differ, and how it was made."""
    return sample.drop(["sample_file"]).replace_schema_metadata(None)


def mixed(x: int) -> int:
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _ALL
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _ALL
    return x ^ (x >> 31)


def number_of(row: int, *place: object) -> float:
    """The random number of a row, in whole numbers of Python."""
    text = "\x00".join(map(str, place)).encode()
    key = int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")
    counter = ((row + 1) * 0x9E3779B97F4A7C15) & _ALL
    return (mixed(mixed(key ^ counter)) >> 11) / 2**53


def bin_of(feature: Binned, cell: Any) -> int:
    if feature.borders is None:
        return dict(feature.labels).get(cell, feature.other)
    return 0 if cell is None else sum(cell > border for border in feature.borders.tolist())


def members_of(trees: Any, bins: Sequence[int]) -> list[float]:
    """What each member says of one row: every tree walked level by level."""
    sums = [0, 0, 0, 0]
    for features, borders, leaves in zip(
        trees.features.tolist(), trees.borders.tolist(), trees.leaves.tolist(), strict=True
    ):
        leaf = sum(
            2**level
            for level, (feature, border) in enumerate(zip(features, borders, strict=True))
            if bins[feature] > border
        )
        for member in range(4):
            sums[member] += (leaves[leaf] >> (16 * member)) % 65536
    return [trees.base + trees.step * total for total in sums]


def score_of(scorer: Scorer, row: Mapping[str, Any]) -> float:
    """The score of one row, with Python's own numbers."""
    bins = [bin_of(feature, row[feature.name]) for feature in scorer.features]
    total = 0.0
    for one in scorer.targets:
        predicted = members_of(one.trees, bins)
        cell = row[one.target.name]
        if one.target.label is not None:
            cell = None if cell is None else float(cell == one.target.label)
        if cell is not None and one.target.log:
            cell = math.log(cell) if cell > 0 else None
        if cell is None:
            total += 1.0
            continue
        mean = sum(predicted) / 4
        spread = sum((x - mean) ** 2 for x in predicted) / 3
        total += ((cell - mean) ** 2 + spread) / one.usual
    return math.sqrt(total / len(scorer.targets))
