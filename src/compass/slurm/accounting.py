"""Turns rows of Slurm accounting into one row per job: steps joined, efficiencies derived."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from compass.arrow import UNIT, array_of, nulls_of, values_of
from compass.domain.errors import DataProblem
from compass.slurm.fields import FIELDS, USAGE_NAMES
from compass.slurm.owners import Owners, id_column

_MOST_RESOURCES = 200  # kinds of resources; clusters have some ten
_RESOURCE_UNITS = {"mem": "B", "vmem": "B", "gres/gpumem": "B", "fs/disk": "B", "energy": "J"}
_PREFIX = {"AllocTRES": "alloc", "ReqTRES": "req"}

Floats = NDArray[np.float64]
Rows = NDArray[np.integer[Any]]


@dataclass(frozen=True)
class Column:
    """The cells of one column, and their unit."""

    values: pa.Array
    unit: str | None = None
    join: str = "own"
    of_jobs: bool = False  # the rows of jobs alone; else those of steps, too

    @property
    def floats(self) -> Floats:
        """The cells as numbers; a missing one is NaN."""
        return values_of(self.values.cast(pa.float64()), np.nan)


Columns = dict[str, Column]

# Damaged files hold numbers whose product is no number: it is missing or infinite then.
_careless = np.errstate(all="ignore")


def float_column(
    values: Floats, unit: str | None = None, join: str = "own", of_jobs: bool = False
) -> Column:
    """A column of these numbers; NaN is a missing cell."""
    return Column(array_of(np.asarray(values, np.float64), np.isnan(values)), unit, join, of_jobs)


def spread_resources(
    name: str,
    found: Sequence[Mapping[str, float]],
    rows: Rows,
    taken: Iterable[str],
    of_jobs: bool = False,
) -> Columns:
    """The columns that a TRES column stands for; row i of the table has resources `found[rows[i]]`.

    A counted thing (GPU, licence) that a text does not name is 0 of it; other things are unknown.
    What has a column in `taken` is left out. Of usage, what `sacct` has a column for gets that
    name, the rest of it is left out but for devices (`gres/gpuutil`).
    """
    usage = name not in _PREFIX
    named = {key for one in found for key in one}
    if named and not usage:
        named.add("gres/gpu")  # no job of this file had any, but those of the next may
    keys = sorted(named)
    if len(keys) > _MOST_RESOURCES:
        raise DataProblem(
            f"{name} names {len(keys)} kinds of resources",
            hint=f"at most {_MOST_RESOURCES} can be read; is the file damaged?",
        )
    columns: Columns = {}
    for key in keys:
        own = USAGE_NAMES.get((name, key))
        column = own or _resource_name(name, key)
        wanted = own is not None or not usage or key.startswith("gres/")
        if not wanted or column in taken or column in columns:
            continue
        counted = not usage and key.startswith(("gres/", "license/"))
        values = np.array(
            [one.get(key, 0.0 if counted and one else np.nan) for one in found], dtype=float
        )
        unit = "s" if usage and key == "cpu" else _RESOURCE_UNITS.get(key)
        if own and own.lower() in FIELDS:
            unit = FIELDS[own.lower()].unit
        values = np.round(values) if unit == "B" else values
        join = FIELDS[name.lower()].join
        columns[column] = float_column(values[rows], unit, join, of_jobs)
    return columns


def _resource_name(name: str, key: str) -> str:
    usage = re.fullmatch(r"TRESUsage(In|Out)(\w+)", name)
    prefix = f"usage_{usage[1]}_{usage[2]}".lower() if usage else _PREFIX[name]
    if key.startswith("gres/gpu") and not key.startswith(("gres/gpum", "gres/gpuu")):
        key = key.replace("gres/gpu", "gpus", 1)
    plural = {"cpu": "cpus", "node": "nodes"}
    key = key if usage else plural.get(key, key)
    short = re.sub(r"[^a-z0-9]+", "_", re.sub(r"^(gres|fs)/", "", key)).strip("_")
    return f"{prefix}_{short}"


@_careless
def join_steps(columns: Columns, owners: Owners | None) -> Columns:
    """One row per job: the steps' maxima (minima, sums) go to the row of their job.

    Without `owners` every row is a job.
    """
    columns = _with_memory_used(columns)
    if owners is None:
        return columns
    if not len(owners.jobs):
        raise DataProblem(
            "there are only steps, no jobs", hint="keep the lines whose JobID has no point"
        )
    steps = np.flatnonzero(owners.owner >= 0)
    result: Columns = {}
    for name in list(columns):
        column = columns.pop(name)  # so that not all of them are there twice
        if column.join == "own" or not len(steps):
            own = column.values if column.of_jobs else column.values.take(array_of(owners.jobs))
            result[name] = Column(own, column.unit)
        else:
            values = _with_steps(column, owners.jobs, steps, owners.owner[steps])
            result[name] = float_column(values, column.unit)
    return _once(result, id_column(result))


def _with_steps(column: Column, jobs: Rows, steps: Rows, owner: Rows) -> Floats:
    values = column.floats
    if column.join == "sum":
        total = np.full(len(jobs), np.nan)
        known = ~np.isnan(values[steps])
        total[owner[known]] = 0.0
        np.add.at(total, owner[known], values[steps][known])
        # Slurm adds the steps up itself where it knows them.
        return np.asarray(np.where(np.isnan(values[jobs]), total, values[jobs]))
    found = np.array(values[jobs])
    (np.fmax if column.join == "max" else np.fmin).at(found, owner, values[steps])
    return found


def _once(columns: Columns, names: str | None) -> Columns:
    """Without the second copy of a job row: two dumps of overlapping days in one file."""
    if names is None:
        return columns
    ids = columns[names].values
    encoded = ids.dictionary_encode()
    codes = values_of(encoded.indices, -1)
    if not (np.bincount(codes + 1) > 1).any():
        return columns
    rows = np.flatnonzero((np.bincount(codes + 1) > 1)[codes + 1])
    chosen = array_of(rows)
    listed = [one.values.take(chosen).dictionary_encode() for one in columns.values()]
    whole = np.stack([values_of(one.indices, -1) for one in listed], axis=1)
    _, first = np.unique(whole, axis=0, return_index=True)
    kept = np.ones(len(ids), dtype=bool)
    kept[rows] = False
    kept[rows[first]] = True
    places = array_of(np.flatnonzero(kept))
    return {name: Column(one.values.take(places), one.unit) for name, one in columns.items()}


def _with_memory_used(columns: Columns) -> Columns:
    """The columns with the memory of a step: the sum of the peaks of its tasks, as in `seff`.

    Where Slurm does not tell that sum, it is the largest task times the tasks.
    """
    total = columns.get("memory_used")
    if "MaxRSS" not in columns or (total is not None and total.join == "own"):
        return columns
    used = columns["MaxRSS"].floats
    if "NTasks" in columns:
        tasks = columns["NTasks"].floats
        used = used * np.where(np.isnan(tasks), 1.0, np.maximum(tasks, 1.0))
    if total is not None:
        used = np.where(np.isnan(total.floats), used, total.floats)
    return {**columns, "memory_used": float_column(used, "B", "max")}


@_careless
def with_efficiencies(columns: Columns) -> Columns:
    """The columns with waiting time and efficiencies, as far as the facts are there."""
    result = dict(columns)

    def floats(*names: str) -> Floats | None:
        found = [columns[name].floats for name in names if name in columns]
        if not found:
            return None
        first = found[0]
        for other in found[1:]:
            first = np.where(np.isnan(first), other, first)
        return first

    def add(name: str, values: Floats | None, unit: str | None = None) -> None:
        if values is not None and name not in columns:
            result[name] = float_column(values, unit)

    elapsed, cpus = floats("ElapsedRaw", "Elapsed"), floats("AllocCPUS", "NCPUS", "alloc_cpus")
    paid = floats("CPUTimeRAW", "CPUTime")
    if paid is None and elapsed is not None and cpus is not None:
        paid = elapsed * cpus
    limit = floats("Timelimit")
    if limit is None and (minutes := floats("TimelimitRaw")) is not None:
        limit = minutes * 60
    asked = columns.get("ReqMem")
    by_text = asked is None or bool(pa.types.is_large_string(asked.values.type))
    memory = floats("req_mem") if by_text else floats("ReqMem")
    add("cpu_efficiency", _share(floats("TotalCPU"), paid))
    add("memory_efficiency", _share(floats("memory_used"), memory))
    add("wall_efficiency", _share(elapsed, limit))
    add("wait_s", _between(columns.get("Submit"), columns.get("Start")), "s")
    return result


def _share(part: Floats | None, whole: Floats | None) -> Floats | None:
    if part is None or whole is None:
        return None
    return np.where(whole > 0, part / whole, np.nan)


def _between(earlier: Column | None, later: Column | None) -> Floats | None:
    if earlier is None or later is None:
        return None
    if not all(pa.types.is_timestamp(one.values.type) for one in (earlier, later)):
        return None
    waited = pc.subtract(later.values, earlier.values).cast(pa.int64())
    return np.where(nulls_of(waited), np.nan, values_of(waited).astype(float)) / 1e6


@_careless
def job_table(columns: Columns, owners: Owners | None) -> pa.Table:
    """A table with one row per job, from columns with a row for each job and each step.

    A step belongs to the job row above it: a requeued job has several. Steps whose job is not
    there are left out; so is a second copy of the very same job row. Columns carry their units;
    numbers without a fraction are whole numbers.
    """
    columns = with_efficiencies(join_steps(columns, owners))
    fields, arrays = [], []
    for name in list(columns):
        column = columns.pop(name)
        values = column.values
        if pa.types.is_floating(values.type):
            known = column.floats
            known = known[~np.isnan(known)]
            if bool((known == np.floor(known)).all()) and bool((np.abs(known) < 2**53).all()):
                values = values.cast(pa.int64())
        unit = {UNIT: column.unit.encode()} if column.unit else None
        fields.append(pa.field(name, values.type, metadata=unit))
        arrays.append(values)
    return pa.table(arrays, schema=pa.schema(fields))
