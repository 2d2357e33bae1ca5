"""Past jobs as arrays: who ran what, what it asked for and what it used."""

import re
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from compass.arrow import UNIT, nulls_of, values_of
from compass.domain.errors import DataProblem

Floats = NDArray[np.float64]
Texts = NDArray[np.object_]
Mask = NDArray[np.bool_]

# Columns that advice reads; others need not be kept in memory.
_COLUMNS = (
    "JobID JobName User Partition State Submit Eligible Start End Elapsed ElapsedRaw Timelimit "
    "TimelimitRaw Planned Reserved AllocCPUS NCPUS ReqCPUS NNodes AllocNodes NTasks ReqMem MaxRSS "
    "TotalCPU TRESUsageInTot TRESUsageInAve AllocTRES Cluster"
)
COLUMNS = tuple(_COLUMNS.split())
_WRITTEN_HASH = re.compile(r"[0-9a-f]{32,}")
_NUMBERS = re.compile(r"\d{3,}")  # shorter ones tell applications apart: app1, app2
_LEAST_SECONDS = 10.0  # a job that ran for less may have no CPU time in accounting


@dataclass(frozen=True)
class Jobs:
    """Past jobs in the order of submission; NaN or None is what is not known.

    Memory is in bytes on each node. `eligible` is when nothing but the queue kept a job any more,
    `wait` how long it was in the queue from then on; unknown where it has not started.
    """

    id: Texts
    user: Texts
    name: Texts
    partition: Texts
    state: Texts
    submit: Floats
    start: Floats
    end: Floats
    elapsed: Floats
    limit: Floats
    cores: Floats
    cores_asked: Floats
    nodes: Floats
    gpus: Floats
    tasks: Floats
    memory_asked: Floats
    memory_used: Floats
    cores_used: Floats
    gpus_used: Floats
    eligible: Floats
    wait: Floats

    def __len__(self) -> int:
        return len(self.id)

    def take(self, rows: NDArray[Any]) -> "Jobs":
        """These jobs."""
        return Jobs(**{one.name: getattr(self, one.name)[rows] for one in fields(self)})


def application_of(name: str | None) -> str | None:
    """The name of a job without what changes from run to run: numbers, hashes."""
    if not name or _WRITTEN_HASH.fullmatch(name):
        return None
    return _NUMBERS.sub("#", name)


def jobs_of_table(table: pa.Table) -> Jobs:
    """The jobs of a table of accounting, as the readers of `sacct` give it."""
    names = set(table.column_names)
    if not names & {"Elapsed", "ElapsedRaw", "MaxRSS", "memory_used"}:
        raise DataProblem(
            "this table does not tell what jobs used",
            hint="it needs columns of sacct: JobID, User, JobName, State, Submit, Elapsed, "
            "Timelimit, AllocCPUS, ReqMem, MaxRSS",
        )
    count = table.num_rows

    def numbers(*wanted: str) -> Floats:
        found = np.full(count, np.nan)
        for name in wanted:
            if name not in names:
                continue
            column = table.column(name)
            if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
                own = np.where(nulls_of(column), np.nan, values_of(column).astype(float))
                unit = (table.schema.field(name).metadata or {}).get(UNIT)
                found = np.where(np.isnan(found), own * (60.0 if unit == b"min" else 1.0), found)
        return found

    def moments(name: str) -> Floats:
        column = table.column(name) if name in names else None
        if column is None or not pa.types.is_timestamp(column.type):
            return np.full(count, np.nan)
        micros = column.cast(pa.timestamp("us")).cast(pa.int64())
        return np.where(nulls_of(micros), np.nan, values_of(micros).astype(float) / 1e6)

    def texts(name: str) -> Texts:
        if name not in names:
            return np.full(count, None, dtype=object)
        cells = table.column(name).cast(pa.string()).combine_chunks().dictionary_encode()
        cells = cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells
        # One text for all jobs that share it; the last one is that of a missing cell.
        different = np.array([*cells.dictionary.to_pylist(), None], dtype=object)
        found: Texts = different[values_of(cells.indices, -1)]
        return found

    elapsed, submit = numbers("Elapsed", "ElapsedRaw"), moments("Submit")
    start, end, states = moments("Start"), moments("End"), texts("State")
    eligible = np.where(np.isnan(moments("Eligible")), submit, moments("Eligible"))
    if "Eligible" in names:  # something else than the queue keeps them: a hold, another job
        kept = np.isnan(moments("Eligible")) & (states == "PENDING")
        eligible = np.where(kept, np.nan, eligible)
    told = numbers("Planned", "Reserved")
    wait = np.maximum(np.where(np.isnan(start), told, start - eligible), 0.0)
    ran = (elapsed > 0) | np.isin(states, ("RUNNING", "COMPLETED"))
    if np.isnan(submit).all():
        submit = np.arange(count, dtype=float)  # rows of accounting are in the order of time
        start, end = submit, submit
    start = np.where(np.isnan(start), submit, start)
    end = np.where(np.isnan(end), start + np.nan_to_num(elapsed), end)
    nodes = np.maximum(np.nan_to_num(numbers("NNodes", "AllocNodes", "alloc_nodes"), nan=1.0), 1.0)
    used = np.fmax(numbers("memory_used") / nodes, numbers("MaxRSS"))
    cpu = numbers("TotalCPU")
    cores = numbers("AllocCPUS", "NCPUS", "alloc_cpus", "ReqCPUS")
    busy = np.where((cpu > 0) & (elapsed >= _LEAST_SECONDS), cpu / np.maximum(elapsed, 1.0), np.nan)
    found = Jobs(
        id=texts("JobID"),
        user=texts("User"),
        name=texts("JobName"),
        partition=texts("Partition"),
        state=states,
        submit=submit,
        start=start,
        end=end,
        elapsed=elapsed,
        limit=numbers("Timelimit", "TimelimitRaw"),
        cores=cores,
        cores_asked=numbers("ReqCPUS"),
        nodes=nodes,
        gpus=numbers("alloc_gpus"),
        tasks=numbers("NTasks"),
        memory_asked=_positive(numbers("ReqMem", "req_mem")) / nodes,
        memory_used=_positive(used),  # no job uses none: the site gathers nothing
        cores_used=busy,
        gpus_used=numbers("usage_in_ave_gpuutil"),
        eligible=eligible,
        wait=np.where(ran, wait, np.nan),  # who was cancelled before has a start, too
    )
    known = np.flatnonzero(~np.isnan(submit))
    return found.take(known[np.argsort(submit[known], kind="stable")])


def _positive(values: Floats) -> Floats:
    return np.where(values > 0, values, np.nan)
