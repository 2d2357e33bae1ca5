"""What the names of Caliper's metrics mean, and the profile that its records make."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from compass.readers.profiles.base import (
    OVER,
    Floats,
    Folded,
    Over,
    Profile,
    ProfileOptions,
    RunMetric,
    Scalar,
    chosen,
    damaged,
    in_seconds,
    time_first,
)
from compass.readers.profiles.tree import Groups, OverRanks, Tree, sums

_TIME = re.compile(r"time(\.(inclusive\.)?duration(\.ns)?)?")
_WAYS: dict[str, Over] = {"sum": "sum", "avg": "mean", "max": "max"}
_CARRIED = ("scale", "iscale")  # the value in another unit


@dataclass(frozen=True)
class Meaning:
    """A column of Caliper's: which metric, inclusive or not, and over which ranks."""

    metric: str
    inclusive: bool
    way: Over | None  # None: a value of one process
    adds_up: bool  # whether values of regions may be summed


@dataclass
class Records:
    """The records of one file: values by region, rank and column, and the run's metadata."""

    tree: Tree
    about: dict[str, Scalar]
    units: dict[str, str]
    aliases: dict[str, str] = field(default_factory=dict)
    values: dict[str, dict[str, dict[int, float]]] = field(default_factory=dict)
    counts: dict[tuple[str, str, int], int] = field(default_factory=dict)
    ranks: set[str] = field(default_factory=set)

    def declare(self, column: str, unit: str | None, alias: str | None) -> None:
        """Notes the unit and the other name of a column."""
        if unit:
            self.units[column] = unit
        if alias:
            self.aliases[column] = alias

    def add(self, region: int, rank: str, values: Mapping[str, float]) -> None:
        """Takes in one record; the same region may come again."""
        if rank:
            self.ranks.add(rank)
        if region < 0:
            return
        for column, value in values.items():
            if not math.isfinite(value):
                continue
            cells = self.values.setdefault(column, {}).setdefault(rank, {})
            cells[region] = cells.get(region, 0.0) + value
            key = (column, rank, region)
            self.counts[key] = self.counts.get(key, 0) + 1


def meaning(column: str) -> Meaning:
    """`max#inclusive#sum#time.duration` is the inclusive time of the slowest rank."""
    *operations, base = column.split("#")
    inclusive = "inclusive" in operations or base.startswith("time.inclusive")
    done = [name for name in operations if name != "inclusive" and name not in _CARRIED]
    metric = "time" if _TIME.fullmatch(base) else base
    if "any" in done or "/" in base:
        return Meaning(metric, inclusive, None, False)
    if len(done) >= 2 and done[0] in _WAYS and done[-1] == "sum":
        return Meaning(metric, inclusive, _WAYS[done[0]], True)
    if done in ([], ["sum"]):
        return Meaning(metric, inclusive, None, True)
    return Meaning("#".join([*done, base]), inclusive, None, False)


def scalar(value: object, kind: str) -> Scalar:
    """A value of the run's metadata by the type that Caliper gives it."""
    text = str(value)
    try:
        if kind in ("int", "uint"):
            return int(text)
        if kind == "double":
            return float(text)
        if kind == "bool":
            return text.lower() in ("true", "1")
    except ValueError:
        pass
    return text


def guessed(text: str) -> Scalar:
    """A value whose type nobody gives: a number where it is one."""
    found = scalar(text, "int")
    return scalar(text, "double") if isinstance(found, str) else found


def profile_of(records: Records, path: Path, options: ProfileOptions) -> Profile:
    """The run that the records of a file describe."""
    columns = list(records.values)
    if not len(records.tree) or not columns:
        raise damaged(path, "caliper", "it holds no region with a metric")
    meanings = {column: meaning(column) for column in columns}
    metrics = time_first(list(dict.fromkeys(m.metric for m in meanings.values())))
    names = {name: name for name in metrics}
    for column in columns:
        for other in (records.aliases.get(column), column):
            if other:
                names.setdefault(other, meanings[column].metric)
    groups = Groups.of(records.tree, options.regions)
    measured = {}
    for asked, metric in chosen(options, names, path).items():
        mine = {column: m for column, m in meanings.items() if m.metric == metric}
        measured[asked] = _measured(records, groups, mine)
    about = {
        name: value
        for name, value in records.about.items()
        if not name.startswith(("spot.", "cali.")) and value != ""
    }
    if len(records.ranks) > 1 or not ({"mpi.world.size", "jobsize"} & set(about)):
        about["ranks"] = max(1, len(records.ranks))
    return Profile("", about, groups.labels, measured, tuple(metrics))


def _measured(records: Records, groups: Groups, mine: Mapping[str, Meaning]) -> RunMetric:
    factors = {column: _unit(column, records.units.get(column)) for column in mine}
    unit = next(iter(factors.values()))[1]
    by_kind: dict[tuple[Over | None, bool], str] = {}
    for column, m in mine.items():
        by_kind.setdefault((m.way, m.inclusive), column)
    if not all(m.adds_up for m in mine.values()):
        return _averaged(records, groups, by_kind, unit)
    folded: dict[Over, Folded] = {}
    for way in OVER:
        inside, own = by_kind.get((way, True)), by_kind.get((way, False))
        # The time that the slowest rank spends below a region does not follow from maxima.
        if inside is None and (own is None or way == "max"):
            continue
        one = None if inside is None else _nodes(records, inside, "") * factors[inside][0]
        other = None if own is None else _nodes(records, own, "") * factors[own][0]
        if one is None:
            assert other is not None
            one = groups.inclusive(other)
        other = groups.exclusive(one) if other is None else other
        folded[way] = groups.fold(one, other)
    inside, own = by_kind.get((None, True)), by_kind.get((None, False))
    if not folded or inside is not None:
        folded = {**_over_ranks(records, groups, inside, own, factors), **folded}
    return RunMetric.of(unit, folded)


def _over_ranks(
    records: Records,
    groups: Groups,
    inside: str | None,
    own: str | None,
    factors: Mapping[str, tuple[float, str | None]],
) -> dict[Over, Folded]:
    """Values that each process recorded by itself, put together here."""
    if inside is None and own is None:
        return {}
    added = OverRanks(groups)
    ranks = sorted({r for c in (inside, own) if c is not None for r in records.values[c]})
    for rank in ranks:
        one, other = (
            None if column is None else _nodes(records, column, rank) * factors[column][0]
            for column in (inside, own)
        )
        added.add(one, other)
    folded = added.folded()
    size = records.about.get("mpi.world.size", 1)
    if ranks == [""] and isinstance(size, int) and size > 1:
        # Summed over the processes already when it was recorded.
        total, inclusive, exclusive = folded["sum"]
        return {"sum": folded["sum"], "mean": (total / size, inclusive / size, exclusive / size)}
    return folded


def _averaged(
    records: Records,
    groups: Groups,
    by_kind: Mapping[tuple[Over | None, bool], str],
    unit: str | None,
) -> RunMetric:
    """A metric that cannot be summed (a size, a rate): the mean over a region's records."""
    column = next(iter(by_kind.values()))
    added, counts = np.zeros(len(records.tree)), np.zeros(len(records.tree))
    for rank, cells in records.values[column].items():
        for region, value in cells.items():
            added[region] += value
            counts[region] += records.counts[column, rank, region]
    node, group = groups.members
    size = len(groups.labels)
    above, below = sums(group, added[node], size), sums(group, counts[node], size)
    mean = np.divide(above, below, out=np.full(size, np.nan), where=below > 0)
    every: dict[Over, Floats] = {"max": mean, "mean": mean, "sum": mean}
    return RunMetric(unit, {}, every, every)


def _nodes(records: Records, column: str, rank: str) -> Floats:
    values = np.zeros(len(records.tree))
    for node, value in records.values[column].get(rank, {}).items():
        values[node] = value
    return values


def _unit(column: str, unit: str | None) -> tuple[float, str | None]:
    if unit is None and column.endswith(".ns"):
        unit = "ns"
    return in_seconds(unit)
