"""A set of profiles as one table: a row per run, its metadata, and the chosen metrics."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from itertools import takewhile
from pathlib import Path, PurePath

import numpy as np
import pyarrow as pa

from compass.arrow import UNIT
from compass.domain.errors import DataProblem, unknown
from compass.readers.inflate import COMPRESSED
from compass.readers.profiles.base import OVER, Over, Profile, ProfileOptions, RunMetric, Scalar

NOTES = b"notes"  # metadata key of a table: what was kept and what was left out, a line each
LONGEST = 200  # characters; longer metadata (lists of libraries) says nothing to a model


def flatten(profiles: Sequence[Profile], options: ProfileOptions | None = None) -> pa.Table:
    """One row per run: `run`, the run's metadata, the total of each metric, and its regions.

    A region's column is `metric.region` and holds the inclusive value. What was left out stands
    in the table's notes (`notes_of`).
    """
    options = options or ProfileOptions()
    if not profiles:
        raise DataProblem("there is no profile to read", hint="name at least one run")
    names = _metrics(profiles, options)
    over = _over(profiles, names, options.ranks)
    regions, about_regions = _regions(profiles, names, over, options)
    values: dict[str, list[object]] = {}
    units: dict[str, str | None] = {}
    for name in names:
        columns = _columns(profiles, name, over, regions)
        values.update(columns)
        units.update(dict.fromkeys(columns, _unit(profiles, name)))
    about, left_out = _about(profiles, {"run", *values})
    notes = [*about_regions, f"ranks and threads are put together by {over}", *left_out]
    table = columns_of(
        {"run": [profile.run for profile in profiles], **about, **values},
        {name: unit for name, unit in units.items() if unit},
    )
    return table.replace_schema_metadata({NOTES: "\n".join(notes).encode()})


def notes_of(table: pa.Table) -> tuple[str, ...]:
    """What a reader says about the table it made."""
    found = (table.schema.metadata or {}).get(NOTES, b"").decode()
    return tuple(found.split("\n")) if found else ()


def telling(tables: Iterable[pa.Table], tell: Callable[[str], None]) -> Iterator[pa.Table]:
    """The tables that readers make, each after its notes were passed on; each note once."""
    known: set[str] = set()
    for table in tables:
        for note in notes_of(table):
            if note not in known:
                known.add(note)
                tell(note)
        yield table


def columns_of(columns: Mapping[str, Sequence[object]], units: Mapping[str, str]) -> pa.Table:
    """A table of plain types from Python values; a column of several types becomes text."""
    fields, arrays = [], []
    for name, values in columns.items():
        array = _typed(values)
        unit = units.get(name)
        fields.append(pa.field(name, array.type, metadata={UNIT: unit.encode()} if unit else None))
        arrays.append(array)
    return pa.table(arrays, schema=pa.schema(fields))


def _typed(values: Sequence[object]) -> pa.Array:
    kinds = {type(value) for value in values if value is not None}
    if not kinds:
        return pa.nulls(len(values))
    if kinds <= {datetime, date}:
        return pa.array([None if v is None else _moment(v) for v in values], pa.timestamp("us"))
    if kinds == {bool}:
        return pa.array(values, pa.bool_())
    if kinds == {int} and all(v is None or -(2**63) <= v < 2**63 for v in values):  # type: ignore[operator]
        return pa.array(values, pa.int64())
    if kinds <= {int, float}:
        return pa.array([_float(value) for value in values], pa.float64())
    return pa.array([None if v is None else _text(v) for v in values], pa.large_string())


def _float(value: object) -> float | None:
    try:
        number = None if value is None else float(value)  # type: ignore[arg-type]
    except OverflowError:
        return None
    return None if number is None or np.isnan(number) else number


def _moment(value: object) -> datetime:
    if not isinstance(value, datetime):
        assert isinstance(value, date)
        return datetime(value.year, value.month, value.day)
    return value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value


def _text(value: object) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text.encode("utf-8", "replace").decode()  # a lone surrogate cannot be stored


def run_names(paths: Sequence[Path]) -> list[str]:
    """A name for each run: its path below the folder that all have in common, without ending."""
    whole = [PurePath(path.absolute()).parts for path in paths]
    folders = zip(*(parts[:-1] for parts in whole), strict=False)
    shared = sum(1 for _ in takewhile(lambda level: len(set(level)) == 1, folders))
    names = [
        "/".join((*parts[shared:-1], parts[-1] if path.is_dir() else _stem(parts[-1])))
        for path, parts in zip(paths, whole, strict=True)
    ]
    if len(set(names)) < len(names):  # x.json beside x.yaml
        names = ["/".join(parts[shared:]) for parts in whole]
    return names


def _stem(name: str) -> str:
    whole = PurePath(name)
    if whole.suffix.lower() in COMPRESSED:
        whole = PurePath(whole.stem)
    return whole.stem.removesuffix(".tree")


def _metrics(profiles: Sequence[Profile], options: ProfileOptions) -> tuple[str, ...]:
    first = tuple(profiles[0].metrics)
    for profile in profiles[1:]:
        if tuple(profile.metrics) == first:
            continue
        both = [n for n in profiles[0].available if all(n in p.available for p in profiles)]
        raise DataProblem(
            f"the time of {profiles[0].run} is {', '.join(first)}, "
            f"but that of {profile.run} is {', '.join(profile.metrics)}",
            hint=f"name a metric that all runs have: {', '.join(both[:8])}"
            if both
            else "the runs have no metric in common; read them apart",
        )
    return options.metrics or first


def _over(profiles: Sequence[Profile], names: Sequence[str], asked: Over | None) -> Over:
    known = [
        way
        for way in OVER
        if all(way in p.metrics[name].inclusive for p in profiles for name in names)
    ]
    if asked is None and not known:
        raise DataProblem(
            "the runs do not share one way to put ranks together",
            hint="read the runs apart, or name another metric",
        )
    for profile in profiles:
        for name in names:
            has = [way for way in OVER if way in profile.metrics[name].inclusive]
            if asked is not None and asked not in has:
                raise DataProblem(
                    f"{profile.run} does not hold the {asked} of '{name}' over ranks",
                    hint=f"it holds: {', '.join(has)}",
                )
    return asked or known[0]


def _regions(
    profiles: Sequence[Profile], names: Sequence[str], over: Over, options: ProfileOptions
) -> tuple[list[str], list[str]]:
    everywhere = set.intersection(*(set(profile.regions) for profile in profiles))
    anywhere = set().union(*(profile.regions for profile in profiles))
    if options.regions:
        for region in options.regions:
            if region not in anywhere:
                raise unknown("region", region, sorted(anywhere), where="in these runs")
        return list(options.regions), []
    worth = _worth([profile.metrics[names[0]] for profile in profiles], profiles, over)
    ranked = sorted((r for r in everywhere if worth.get(r, 0) > 0), key=lambda r: (-worth[r], r))
    kept = ranked[: options.top]
    which = f": {', '.join(kept)}" if kept else ""
    notes = [f"columns for {len(kept)} of {len(anywhere)} regions{which}"]
    if len(everywhere) < len(anywhere):
        notes.append(f"{len(anywhere) - len(everywhere)} regions are not in every run")
    return kept, notes


def _worth(
    measured: Sequence[RunMetric], profiles: Sequence[Profile], over: Over
) -> dict[str, float]:
    """The share of each region's own cost, summed over runs; 0 where it only repeats the total."""
    worth: dict[str, float] = {}
    repeats: dict[str, bool] = {}
    for metric, profile in zip(measured, profiles, strict=True):
        own = metric.exclusive.get(over, metric.inclusive[over])
        inside = metric.inclusive[over]
        scale = float(np.nansum(np.abs(own))) or 1.0
        total = metric.total.get(over)
        same = np.isclose(inside, total, rtol=1e-9) if total is not None else np.zeros(len(own))
        for region, share, equal in zip(profile.regions, own / scale, same, strict=True):
            worth[region] = worth.get(region, 0.0) + (0.0 if np.isnan(share) else float(share))
            repeats[region] = repeats.get(region, True) and bool(equal)
    return {region: 0.0 if repeats[region] else share for region, share in worth.items()}


def _columns(
    profiles: Sequence[Profile], name: str, over: Over, regions: Sequence[str]
) -> dict[str, list[object]]:
    totals = [profile.metrics[name].total.get(over) for profile in profiles]
    columns: dict[str, list[object]] = {}
    if any(total is not None for total in totals):
        columns[name] = [_float(total) for total in totals]
    places = [{region: n for n, region in enumerate(p.regions)} for p in profiles]
    for region in regions:
        columns[f"{name}.{region}"] = [
            _float(p.metrics[name].inclusive[over][place[region]]) if region in place else None
            for p, place in zip(profiles, places, strict=True)
        ]
    return columns


def _unit(profiles: Sequence[Profile], name: str) -> str | None:
    units = {profile.metrics[name].unit: profile.run for profile in profiles}
    if len(units) > 1:
        (one, first_run), (other, second_run) = list(units.items())[:2]
        raise DataProblem(
            f"'{name}' is in {one or 'an unknown unit'} in {first_run} "
            f"but in {other or 'an unknown unit'} in {second_run}",
            hint="read these runs apart",
        )
    return next(iter(units))


def _about(
    profiles: Sequence[Profile], taken: set[str]
) -> tuple[dict[str, list[Scalar | None]], list[str]]:
    """The metadata as columns, in the order of the first run; what only later runs have follows."""
    names = dict.fromkeys(name for profile in profiles for name in profile.about)
    columns, long = {}, []
    for name in names:
        cells = [profile.about.get(name) for profile in profiles]
        if any(isinstance(cell, str) and len(cell) > LONGEST for cell in cells):
            long.append(name)
            continue
        free = name
        while free in taken or free in columns:
            free = f"{free} (metadata)"
        columns[free] = cells
    note = f"metadata longer than {LONGEST} characters left out: {', '.join(long)}"
    return columns, [note] if long else []
