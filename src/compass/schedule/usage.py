"""Requested against used, by user, application and partition; what would free most; the trend."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compass.domain.advice import Advice
from compass.domain.errors import DataProblem
from compass.domain.usage import UsageChange, UsageReport, UsageShare, UsageWeek
from compass.schedule.advice.advisor import Advisor
from compass.schedule.advice.jobs import Floats, Jobs, application_of

_GIB, _HOUR, _WEEK = 2.0**30, 3600.0, 7 * 86400.0
_MOST_GROUPS = 20
_MOST_CHANGES = 10
_MOST_ASKED = 200  # kinds of jobs that an advice is made for: those with the most core-hours
_MOST_WEEKS = 520
_COUNTED = ("mem", "time")
Rows = NDArray[np.int64]


def usage(jobs: Jobs, risk: float = 0.05) -> UsageReport:
    """The report of these jobs; only those that ran count."""
    ran = jobs.take(np.flatnonzero(jobs.elapsed > 0))
    if not len(ran):
        raise DataProblem("no job of these ran", hint="more days: sacct:-a -S 2026-01-01")
    every = np.arange(len(ran))
    applications = np.array([application_of(name) for name in ran.name], dtype=object)
    remarks = []
    if np.isnan(ran.memory_used).all():
        remarks.append("no job tells the memory it used: the site gathers none, or reads 0")
    if np.isnan(ran.cores_used).all():
        remarks.append("no job tells its CPU time (TotalCPU)")
    return UsageReport(
        whole=_share("all jobs", ran, every),
        first=_day(float(ran.submit.min())),
        last=_day(float(ran.submit.max())),
        users=_groups(ran, ran.user),
        applications=_groups(ran, applications),
        partitions=_groups(ran, ran.partition),
        weeks=_weeks(ran),
        changes=_changes(jobs, risk),
        remarks=tuple(remarks),
    )


def _day(moment: float) -> str | None:
    """The day of a moment; None where the rows of accounting have none."""
    if moment < _WEEK:
        return None
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=moment)).date().isoformat()


def _share(name: str, jobs: Jobs, rows: Rows) -> UsageShare:
    elapsed = jobs.elapsed[rows] / _HOUR
    reserved = np.nan_to_num(jobs.cores[rows], nan=1.0) * elapsed
    states = jobs.state[rows]
    asked = jobs.memory_asked[rows] * jobs.nodes[rows] / _GIB * elapsed
    used = jobs.memory_used[rows] * jobs.nodes[rows] / _GIB * elapsed
    left = np.maximum(asked - used, 0.0)
    done = np.where(states == "COMPLETED", reserved, np.nan)
    limits = done * jobs.limit[rows] / np.maximum(jobs.elapsed[rows], 1e-9)
    return UsageShare(
        name=name,
        jobs=len(rows),
        core_hours=float(reserved.sum()),
        cores_busy=_ratio(jobs.cores_used[rows] * elapsed, reserved),
        memory_used=_ratio(used, asked),
        time_used=_ratio(done, limits),
        memory_gb_hours=float(np.nansum(left)),
        timeouts=int((states == "TIMEOUT").sum()),
        out_of_memory=int((states == "OUT_OF_MEMORY").sum()),
    )


def _ratio(part: Floats, whole: Floats) -> float | None:
    """Part of a whole over the jobs that tell both."""
    both = ~np.isnan(part) & ~np.isnan(whole)
    total = float(whole[both].sum())
    return float(part[both].sum()) / total if total > 0 else None


def _groups(jobs: Jobs, names: NDArray[Any]) -> tuple[UsageShare, ...]:
    """The groups with the most core-hours, the largest first."""
    known = np.flatnonzero([name is not None for name in names])
    if not len(known):
        return ()
    different, codes = np.unique(names[known].astype(str), return_inverse=True)
    hours = (np.nan_to_num(jobs.cores, nan=1.0) * jobs.elapsed)[known]
    largest = np.argsort(-np.bincount(codes, hours), kind="stable")[:_MOST_GROUPS]
    return tuple(_share(str(different[n]), jobs, known[codes == n]) for n in largest)


def _weeks(jobs: Jobs) -> tuple[UsageWeek, ...]:
    if _day(float(jobs.submit.min())) is None:
        return ()
    weeks = np.floor((jobs.submit - jobs.submit.min()) / _WEEK).astype(int)
    found = []
    for week in np.unique(weeks)[-_MOST_WEEKS:]:
        one = _share("", jobs, np.flatnonzero(weeks == week))
        found.append(
            UsageWeek(
                begins=_day(float(jobs.submit.min()) + week * _WEEK) or "",
                jobs=one.jobs,
                cores_busy=one.cores_busy,
                memory_used=one.memory_used,
                time_used=one.time_used,
            )
        )
    return tuple(found)


def _changes(jobs: Jobs, risk: float) -> tuple[UsageChange, ...]:
    """Advice on the latest job of each kind, times the jobs of that kind; what frees most first."""
    advisor = Advisor(jobs, risk)
    kinds = advisor.groups[0]
    hours = np.nan_to_num(np.nan_to_num(jobs.cores, nan=1.0) * jobs.elapsed)
    order = np.argsort(kinds, kind="stable")
    _, starts, counts = np.unique(kinds[order], return_index=True, return_counts=True)
    total = np.add.reduceat(hours[order], starts)
    largest = np.argsort(-total, kind="stable")[:_MOST_ASKED]
    latest = order[starts[largest] + counts[largest] - 1]
    found = [
        _change(advice, int(counts[kind]))
        for advice, kind in zip(advisor.of_rows(latest), largest, strict=True)
        if advice.edits and (advice.saved_gb_hours > 0 or advice.saved_core_hours > 0)
    ]
    found.sort(key=lambda one: -_weight(one, found))
    return tuple(found[:_MOST_CHANGES])


def _change(advice: Advice, count: int) -> UsageChange:
    """Memory and time: what fewer cores or nodes would free is not known, as the time changes."""
    edits = [edit for edit in advice.edits if edit.option in _COUNTED]
    return UsageChange(
        user=advice.request.user or "unknown",
        application=advice.application,
        jobs=count,
        directives=tuple(f"#SBATCH --{edit.option}={edit.new}" for edit in edits),
        core_hours=advice.saved_core_hours * count,
        gb_hours=advice.saved_gb_hours * count,
        why="; ".join(edit.why for edit in edits),
        label=advice.label.value,
    )


def _weight(one: UsageChange, every: Sequence[UsageChange]) -> float:
    """Its part of all that memory and all that limits would free."""
    memory = sum(max(other.gb_hours, 0.0) for other in every) or 1.0
    limits = sum(max(other.core_hours, 0.0) for other in every) or 1.0
    return max(one.gb_hours, 0.0) / memory + max(one.core_hours, 0.0) / limits
