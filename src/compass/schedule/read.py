"""Reads a job trace from the Standard Workload Format, from accounting, or from a table of jobs."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from compass.arrow import UNIT
from compass.domain.errors import DataProblem, unknown
from compass.readers import Table, read, workload
from compass.schedule.trace import RESOURCES, Floats, JobTrace, job_trace

# What a column of a table of jobs means, by the names that traces use: the Standard Workload
# Format, Slurm's accounting, PM100, NREL's Eagle. The first one that says
# anything of a job counts.
COLUMNS: dict[str, tuple[str, ...]] = {
    "job": ("job", "JobID", "JobIDRaw", "job_id", "jobid", "id"),
    "submit": ("submit_s", "Submit", "submit_time", "submit", "eligible_time"),
    "start": ("Start", "start_time", "start"),
    "end": ("End", "end_time", "end"),
    "wait": ("wait_s", "wait"),
    "run": ("run_s", "Elapsed", "ElapsedRaw", "run_time", "elapsed_s", "elapsed", "run", "runtime"),
    "limit": (
        *("requested_s", "Timelimit", "TimelimitRaw", "time_limit", "timelimit_s", "timelimit"),
        *("wallclock_req", "time_req", "limit"),
    ),
    "nodes": (
        *("req_nodes", "ReqNodes", "num_nodes_req", "nodes_req", "NNodes", "AllocNodes"),
        *("num_nodes_alloc", "nodes_alloc", "nnodes", "nodes"),
    ),
    "cores": (
        *("req_cpus", "ReqCPUS", "num_cores_req", "cores_req", "processors_req", "NCPUS"),
        *("AllocCPUS", "num_cores_alloc", "cores_alloc", "ncpus", "cores"),
    ),
    "processors": ("requested_processors", "processors", "procs_req", "procs_alloc"),
    "gpus": ("req_gpus", "num_gpus_req", "gpus_req", "num_gpus_alloc", "gpus_alloc", "gpus"),
    "memory": ("req_mem", "ReqMem", "mem_req", "requested_memory", "mem_alloc", "memory"),
    "user": ("user", "User", "user_id", "uid", "UID"),
    "application": ("application", "app", "JobName", "job_name", "name"),
    "partition": ("partition", "Partition", "queue"),
    "power": ("node_power_consumption", "power_w", "power"),
    "energy": ("ConsumedEnergyRaw", "ConsumedEnergy", "energy_j"),
    "state": ("status", "State", "job_state", "state"),
}


def read_trace(
    source: Any,
    *,
    columns: Mapping[str, str] | None = None,
    tell: Callable[[str], None] | None = None,
) -> JobTrace:
    """The jobs of a file, several files or a table in memory.

    `columns` names the column that holds the submission, limit, nodes, ... where its name does not
    tell. Jobs that never ran, or of which the time of submission, the runtime or the size is not
    known, are left out; a note says how many.
    """
    table = read(source, tell=tell)
    found = _Columns(table, dict(columns or {}))
    known = np.isfinite(found.submit) & np.isfinite(found.run) & (found.run >= 0)
    known &= ~((found.run == 0) & found.cancelled)
    need = found.need
    known &= next(iter(need.values())) >= 1
    if not known.any():
        raise DataProblem(
            "the trace has no job that ran",
            hint="a job needs a time of submission, a runtime and a size",
        )
    given = np.isfinite(found.limit) & (found.limit > 0)
    limit = np.where(given, found.limit, np.maximum(found.run, 1.0))
    trace = job_trace(
        found.submit[known],
        found.run[known],
        limit[known],
        {name: values[known].astype(np.int64) for name, values in need.items()},
        job=_some(found.text("job"), known),
        user=_some(found.text("user"), known),
        application=_some(found.text("application"), known),
        partition=_some(found.text("partition"), known),
        wait=found.wait[known],
        power=found.power[known],
        capacity=_capacity(source, next(iter(need))),
    )
    return trace.noted(*_notes(known, given[known]))


class _Columns:
    """The columns of a table of jobs by what they mean; what is missing is NaN."""

    def __init__(self, table: Table, named: dict[str, str]) -> None:
        for meaning in named:
            if meaning not in COLUMNS:
                raise unknown("part of a job", meaning, COLUMNS)
        self.table = table
        self.named = named
        start, end = self._times("start"), self._times("end")
        self.submit = self._times("submit")
        wait = self.number("wait")
        self.wait = np.where(np.isfinite(wait) & (wait >= 0), wait, start - self.submit)
        run = self.number("run")
        self.run = np.where(np.isfinite(run), run, end - start)
        self.limit = self.number("limit")
        if not np.isfinite(self.submit).any():
            raise DataProblem(
                "this is no job trace: no column holds the time of submission",
                hint=f"say which: --column submit=queued_at; there are: {_shown(table)}",
            )

    @property
    def need(self) -> dict[str, Floats]:
        """What jobs ask for; what a job does not say of another resource than the first is 0."""
        found = {name: self.number(name) for name in RESOURCES}
        if not np.isfinite(found["nodes"]).any() and not np.isfinite(found["cores"]).any():
            # Processors of the Standard Workload Format: what the machine was shared out in. It
            # counts memory per processor.
            found["nodes"] = self.number("processors")
            found["memory"] = found["memory"] * found["nodes"]
        known = {name: values for name, values in found.items() if np.isfinite(values).any()}
        if not known.keys() & {"nodes", "cores"}:
            raise DataProblem(
                "this is no job trace: no column holds how many nodes or cores jobs asked for",
                hint=f"say which: --column nodes=n; there are: {_shown(self.table)}",
            )
        return {name: np.where(np.isfinite(v) & (v >= 0), v, 0.0) for name, v in known.items()}

    @property
    def power(self) -> Floats:
        """Watts, where the power or the energy of jobs was measured; 0 is no measurement."""
        power = self.number("power")
        with np.errstate(invalid="ignore", divide="ignore"):
            power = np.where(power > 0, power, self.number("energy") / self.run)
        return np.where(np.isfinite(power) & (power > 0), power, np.nan)

    @property
    def cancelled(self) -> np.ndarray:
        """Whether a job was cancelled (before it ran, where its runtime is 0)."""
        states = self.text("state") or [""] * self.table.rows
        return np.array([state.lower().startswith("cancelled") for state in states])

    def number(self, meaning: str) -> Floats:
        """Numbers, times in s and memory in B: of each job from the first column that has one."""
        found = np.full(self.table.rows, np.nan)
        for name in self._candidates(meaning):
            column = self.table.column(name)
            if not _is_number(column.type):
                continue
            unit = (self.table.arrow.schema.field(name).metadata or {}).get(UNIT, b"")
            factor = {b"KiB": 1024.0, b"min": 60.0, b"h": 3600.0, b"MiB": 2.0**20}.get(unit, 1.0)
            values = pc.cast(column, pa.float64()).to_numpy() * factor
            found = np.where(np.isfinite(found), found, values)
        return found

    def text(self, meaning: str) -> list[str] | None:
        """A column of names; None: there is none."""
        for name in self._candidates(meaning):
            column = self.table.column(name)
            if column.null_count < len(column):
                filled = pc.fill_null(pc.cast(column, pa.string()), "")
                return [str(one) for one in filled.to_pylist()]
        return None

    def _times(self, meaning: str) -> Floats:
        """Moments in s since 1970, or since whatever the trace counts from."""
        for name in self._candidates(meaning):
            column = self.table.column(name)
            if pa.types.is_timestamp(column.type):
                micros = pc.cast(pc.cast(column, pa.timestamp("us", column.type.tz)), pa.int64())
                return np.asarray(pc.cast(micros, pa.float64()).to_numpy() / 1e6)
            if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
                return np.array([_moment(one) for one in column.to_pylist()])
        return self.number(meaning)

    def _candidates(self, meaning: str) -> list[str]:
        if meaning in self.named:
            self.table.column(self.named[meaning])  # an unknown name offers the nearest one
            return [self.named[meaning]]
        return [name for name in COLUMNS[meaning] if name in self.table.names]


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _moment(text: str | None) -> float:
    try:
        return datetime.fromisoformat(text or "").timestamp()
    except ValueError:
        return float("nan")


def _some(texts: list[str] | None, rows: np.ndarray) -> list[str] | None:
    return None if texts is None else np.asarray(texts, dtype=np.str_)[rows].tolist()


def _shown(table: Table) -> str:
    more = ", ..." if len(table.names) > 12 else ""
    return ", ".join(table.names[:12]) + more


def _capacity(source: Any, resource: str) -> dict[str, int]:
    """What the header of a trace in the Standard Workload Format says of its machine."""
    if not isinstance(source, str | PathLike) or not Path(source).is_file():
        return {}
    facts = workload.header(Path(source))
    for name in ("MaxProcs", "MaxNodes"):
        words: Sequence[str] = facts.get(name, "").split()
        if words and words[0].isdigit() and int(words[0]) > 0:
            return {resource: int(words[0])}
    return {}


def _notes(known: np.ndarray, given: np.ndarray) -> list[str]:
    left, without = int((~known).sum()), int((~given).sum())
    notes = []
    if left:
        notes.append(f"left out, never run or too little said: {left} of {len(known)} jobs")
    if without:
        notes.append(
            f"without a limit, their runtime stands for it: {without} of {len(given)} jobs"
        )
    return notes
