"""Turns the jobs that `sacct --json` lists into a table of jobs, as far as they say the same.

The layout differs between Slurm versions: a number may be plain, null, or
`{"set": true, "infinite": false, "number": N}`; a state may be a word or a list of words.
"""

import codecs
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from compass.domain.errors import DataProblem
from compass.slurm import units
from compass.slurm.accounting import Column, Columns, float_column, job_table, spread_resources
from compass.slurm.fields import FIELDS
from compass.slurm.owners import Ids, owners_of

_JOBS = re.compile(r'"jobs"\s*:\s*\[')
_OWN = re.compile(r'"(steps|association|allocation_nodes)"\s*:')
_CHUNK = 1 << 20
_LARGEST = 256 << 20  # characters of one job; a job of ten thousand steps has some 50 million
_MEGABYTE = float(1 << 20)

Json = Mapping[str, Any]
Row = dict[str, Any]


def is_job_list(head: str) -> bool:
    """Whether a text begins like a JSON object with a list of jobs that have steps."""
    found = _JOBS.search(head) if head.startswith("{") else None
    return found is not None and _OWN.search(head, found.end()) is not None


def jobs_of_json(stream: pa.NativeFile, where: str) -> pa.Table:
    """One row per job, times in seconds and memory in bytes."""
    rows = [row for job in _jobs(stream, where) for row in _rows_of(job)]
    if not rows:
        raise DataProblem(
            f"{where} lists no jobs", hint="sacct starts at midnight; say since when: -S"
        )
    columns = _columns(rows)
    clusters = columns.get("Cluster")
    ids = Ids()
    ids.add(columns["JobID"].values, None if clusters is None else clusters.values)
    return job_table(columns, owners_of(ids))


def _jobs(stream: pa.NativeFile, where: str) -> Iterator[Json]:
    """The jobs of the file one by one, so that a large file does not fill the memory."""
    decode = codecs.getincrementaldecoder("utf-8-sig")(errors="replace").decode
    scan = json.JSONDecoder().raw_decode
    text, at, inside, wanted = "", 0, False, _CHUNK
    while True:
        more = stream.read(wanted)
        text = text[at:] + decode(more, not more)
        at = 0
        if not inside and (found := _JOBS.search(text)):
            inside, at = True, found.end()
        while inside:
            at = _skip(text, at)
            if text[at : at + 1] == "]":
                return
            try:
                job, at = scan(text, at)
            except ValueError:  # the rest of the job is not there yet
                break
            except RecursionError:
                raise _damaged(where, "it is nested too deeply") from None
            if not isinstance(job, dict):
                raise _damaged(where, "a job is not an object")
            yield job
            wanted = _CHUNK
        if not more:
            raise _damaged(where, "it ends too early" if inside else "it has no list of jobs")
        if len(text) - at > _LARGEST:
            raise _damaged(where, "a job has no end")
        # Twice as much each time, so that a long job is not scanned again and again.
        wanted = max(_CHUNK, len(text) - at) if inside else _CHUNK
        at = at if inside else max(0, len(text) - 100)


def _skip(text: str, at: int) -> int:
    while text[at : at + 1] in (" ", "\t", "\n", "\r", ","):
        at += 1
    return at


def _damaged(where: str, why: str) -> DataProblem:
    return DataProblem(
        f"{where} is not what `sacct --json` prints: {why}", hint="is it complete? write it again"
    )


def _get(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _number(value: Any) -> float | None:
    """A number that may be wrapped; unset and infinite ones are missing."""
    if isinstance(value, dict):
        if value.get("set") is False or value.get("infinite") is True:
            return None
        value = value.get("number")
    if isinstance(value, str) and value.isdecimal():
        value = float(value[:300])
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def _duration(value: Any) -> float | None:
    whole, micro = _number(_get(value, "seconds")), _number(_get(value, "microseconds"))
    return None if whole is None and micro is None else (whole or 0.0) + (micro or 0.0) / 1e6


def _moment(value: Any) -> float | None:
    found = _number(value)
    return found if found is not None and 0 < found < 1e11 else None  # 0 and -1: not yet


def _label(value: Any) -> str | None:
    if isinstance(value, list):
        value = value[0] if value else None
    return None if value is None or isinstance(value, dict) else str(value).strip() or None


def _resources(value: Any, memory: float = 1.0, cpu: float = 1.0) -> dict[str, float]:
    """A list of TRES by name; the factors bring memory to bytes and CPU time to seconds."""
    found = {}
    for one in value if isinstance(value, list) else ():
        kind, name, count = _get(one, "type"), _get(one, "name"), _number(_get(one, "count"))
        if kind is None or count is None:
            continue
        key = (f"{kind}/{name}" if name else str(kind)).lower()
        found[key] = count * {"mem": memory, "cpu": cpu}.get(key, 1.0)
    return found


def _rows_of(job: Json) -> Iterator[Row]:
    """The row of the job, then those of its steps."""
    number, task = _label(_get(job, "job_id")), _number(_get(job, "array", "task_id"))
    name = number
    if (array := _number(_get(job, "array", "job_id"))) and task is not None:
        name = f"{array:.0f}_{task:.0f}"
    elif array and (waiting := _label(_get(job, "array", "task"))):
        name = f"{array:.0f}_[{waiting}]"
    offset = _number(_get(job, "het", "job_offset"))
    if (first := _number(_get(job, "het", "job_id"))) and offset is not None:
        name = f"{first:.0f}+{offset:.0f}"
    listed = job.get("steps")
    steps = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    yield {"JobID": name, "JobIDRaw": number, **_job(job, steps)}
    for place, step in enumerate(steps):
        yield {"JobID": f"{name}.{place}", "JobIDRaw": f"{number}.{place}", **_step(step)}


def _cpu_times(job: Json, steps: list[Any]) -> Row:
    row: Row = {}
    for column, key in (("TotalCPU", "total"), ("UserCPU", "user"), ("SystemCPU", "system")):
        own = _duration(_get(job, "time", key))
        # Some versions leave the job's times at 0; sacct's own text adds the steps up.
        of_steps = [_duration(_get(step, "time", key)) or 0.0 for step in steps]
        row[column] = own or (sum(of_steps) if of_steps else own)
    return row


def _job(job: Json, steps: list[Any]) -> Row:
    time = _get(job, "time")
    limit = _number(_get(time, "limit"))
    allocated = _resources(_get(job, "tres", "allocated"), memory=_MEGABYTE)
    requested = _resources(_get(job, "tres", "requested"), memory=_MEGABYTE)
    elapsed, asked = _number(_get(time, "elapsed")), _number(_get(job, "required", "CPUs"))
    # As sacct's text does: a job that never ran shows what it asked for.
    cpus = allocated.get("cpu") or asked or 0.0
    state = units.state(_label(_get(job, "state", "current")) or "")
    ended = _exit("ExitCode", "exit_signal", _get(job, "exit_code"))
    if state == "FAILED" and not any(ended.values()):
        ended = dict.fromkeys(ended)  # Slurm 22.05 writes 0 for every job
    return {
        **{column: _label(_get(job, key)) for column, key in _LABELS.items()},
        **_cpu_times(job, steps),
        **ended,
        **_exit("DerivedExitCode", "derived_exit_signal", _get(job, "derived_exit_code")),
        "State": state,
        "Reason": _label(_get(job, "state", "reason")),
        "Submit": _moment(_get(time, "submission")),
        "Eligible": _moment(_get(time, "eligible")),
        "Start": _moment(_get(time, "start")),
        "End": _moment(_get(time, "end")),
        "Elapsed": elapsed,
        "CPUTimeRAW": None if elapsed is None else elapsed * cpus,
        "Suspended": _number(_get(time, "suspended")),
        "Timelimit": None if limit is None else limit * 60,
        "Priority": _number(_get(job, "priority")),
        "AllocCPUS": cpus,
        "ReqCPUS": asked,
        "ReqNodes": requested.get("node"),
        "AllocNodes": _number(_get(job, "allocation_nodes")),
        "ReqMem": requested.get("mem"),
        "AllocTRES": allocated,
        "ReqTRES": requested,
    }


_SAME = ("Account", "Cluster", "Partition", "QOS", "User", "Group")
_LABELS = {"JobName": "name", **{name: name.lower() for name in _SAME}, "NodeList": "nodes"}
_LABELS |= {"Constraints": "constraints"}


def _exit(code: str, signal: str, value: Any) -> Row:
    killed = _number(_get(value, "signal", "id"))
    killed = _number(_get(value, "signal", "signal_id")) if killed is None else killed
    number = _number(_get(value, "return_code"))
    return {code: number, signal: killed or (None if number is None and killed is None else 0.0)}


def _step(step: Json) -> Row:
    row: Row = {
        "Cluster": None,
        "NTasks": _number(_get(step, "tasks", "count")),
        "ConsumedEnergyRaw": _number(_get(step, "statistics", "energy", "consumed")),
        "AveCPUFreq": _number(_get(step, "statistics", "CPU", "actual_frequency")) or None,
    }
    # What Slurm's JSON calls requested is what went in, and consumed what came out.
    for key, way in (("requested", "In"), ("consumed", "Out")):
        parts = (("max", "Max"), ("average", "Ave"), ("min", "Min"), ("total", "Tot"))
        for part, name in parts[: 4 if way == "In" else 2]:
            row[f"TRESUsage{way}{name}"] = _resources(_get(step, "tres", key, part), cpu=1e-3)
    return row


def _columns(rows: list[Row]) -> Columns:
    names = list(dict.fromkeys(name for row in rows for name in row))
    cluster = None
    for row in rows:  # a step is where its job is
        cluster = row["Cluster"] = row.get("Cluster") if "JobName" in row else cluster
    columns: Columns = {}
    for name in names:
        field = FIELDS.get(name.lower())
        kind = "number" if field is None else field.kind
        values = [row.get(name) for row in rows]
        if kind == "resources":
            found = [one or {} for one in values]
            columns.update(spread_resources(name, found, np.arange(len(rows)), set(columns)))
        elif kind == "moment":
            seconds = pa.array([None if v is None else int(v) for v in values], pa.int64())
            columns[name] = Column(seconds.cast(pa.timestamp("s")).cast(pa.timestamp("us")))
        elif kind in ("number", "exit", "memory"):
            floats = np.array([np.nan if v is None else v for v in values], dtype=float)
            join = "own" if field is None else field.join
            columns[name] = float_column(floats, None if field is None else field.unit, join)
        else:
            columns[name] = Column(pa.array(values, pa.string()))
    return columns
