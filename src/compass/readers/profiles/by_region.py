"""Profiles as tables with a row per region: each kernel of a suite is a run of its own."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from compass.domain.errors import DataProblem
from compass.readers import files, hive
from compass.readers.plain import plain
from compass.readers.profiles.base import (
    OVER,
    Floats,
    Profile,
    ProfileOptions,
    ProfileReader,
    reading,
)
from compass.readers.profiles.flatten import columns_of, run_names
from compass.readers.table import Table

REGION = "region"
_OWN = 0.5  # of its time that a region spends itself; others only put regions together


def are_profiles(source: str) -> bool:
    """Whether a source is profiles of runs, and not a table."""
    paths = files.located(source).paths
    return bool(paths) and isinstance(files.reader_for(paths[0]), ProfileReader)


def read_regions(source: str) -> Table:
    """One row per region and run, with all metrics of the region and what is known of the run.

    Only regions that spend half of their time or more themselves: the others are groups.
    """
    found = files.located(source)
    folders = hive.partitions(found.paths, found.root) if found.root is not None else []
    rows: list[Mapping[str, object]] = []
    for place, (path, run) in enumerate(zip(found.paths, run_names(found.paths), strict=True)):
        reader = files.reader_for(path)
        if not isinstance(reader, ProfileReader):
            raise DataProblem(f"{path} is not a profile", hint=f"it was taken as {reader.name}")
        known = {"run": run, **(folders[place] if folders else {})}
        rows += [known | row for row in _rows(reader, path)]
    if not rows:
        raise DataProblem("no region has a time of its own", hint="is the profile complete?")
    names = dict.fromkeys(name for row in rows for name in row)
    table = columns_of({name: [row.get(name) for row in rows] for name in names}, {})
    return Table.of(plain(table))


def _rows(reader: ProfileReader, path: Path) -> list[dict[str, object]]:
    with reading(path, reader.name):
        first = reader.profile(path)
        every = reader.with_options(ProfileOptions(metrics=first.available)).profile(path)
    time = next(iter(first.metrics))
    inside, own = _values(first, time), _values(first, time, own=True)
    leaves = np.flatnonzero((inside > 0) & (own >= _OWN * inside))
    metrics = {name: _values(every, name) for name in every.metrics}
    found: list[dict[str, object]] = []
    for at in leaves.tolist():
        row: dict[str, object] = {n: v for n, v in every.about.items() if n not in metrics}
        row[REGION] = every.regions[at]
        known = (name for name in metrics if len(metrics[name]) and np.isfinite(metrics[name][at]))
        found.append(row | {name: float(metrics[name][at]) for name in known})
    return found


def _values(profile: Profile, name: str, *, own: bool = False) -> Floats:
    """A metric by region, by the first way over ranks that is known."""
    metric = profile.metrics[name]
    known = metric.exclusive if own else metric.inclusive
    return next((np.asarray(known[way]) for way in OVER if way in known), np.zeros(0))
