"""Profiles of runs (HPCToolkit, Caliper, TAU, timemory) as tables: one row per run."""

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from compass.readers.profiles.base import Over, ProfileOptions

if TYPE_CHECKING:
    from compass.readers.table import Table

__all__ = ["ProfileOptions", "read_runs"]

Source = str | PathLike[str]


def read_runs(
    source: Source | Sequence[Source],
    *,
    metrics: Sequence[str] = (),
    regions: Sequence[str] = (),
    ranks: Over | None = None,
    top: int = 8,
    reader: str | None = None,
    tell: Callable[[str], None] | None = None,
) -> "Table":
    """One row per run of a profile, a folder, a tree of folders, a glob or a list of them.

    `metrics` names what to keep (default: the time), `regions` the regions that become columns
    (default: the `top` most expensive that all runs have), `ranks` how ranks and threads become
    one number (max, mean or sum). `tell` is called with each line about what was left out.
    """
    from compass.readers import files, read_files

    options = ProfileOptions(tuple(metrics), tuple(regions), ranks, top)
    given = [source] if isinstance(source, str | PathLike) else list(source)
    found = files.located_all(one if isinstance(one, str) else Path(one) for one in given)
    return read_files(found, reader, options=options, tell=tell)
