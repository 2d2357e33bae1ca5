"""When a job would start: as asked, as advised, and with half and twice the cores or nodes."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from compass.domain.advice import PredictedWait, RequestEdit, WaitAdvice
from compass.domain.answer import Label
from compass.schedule.advice.jobs import Jobs
from compass.schedule.wait.model import FEWEST, LEVEL, WaitModel
from compass.schedule.wait.queued import QueuedJobs, queued_jobs
from compass.slurm import units

# Changes of one job, simulated: those who are told to start sooner mostly do, by another time.
_NOT_TRIED = "going by other jobs of this size and limit: what a change does was never tried"
_FIRST_DAY = 7 * 86400.0  # earlier moments are numbers of rows, and not of time
_TOLD = {
    "time": "limit",
    "mem": "memory",
    "cpus-per-task": "cores",
    "ntasks": "cores",
    "nodes": "nodes",
}


class WaitAdviser:
    """Predicts when the next jobs would start, from the queue that past jobs tell."""

    def __init__(self, past: Jobs) -> None:
        self.jobs = queued_jobs(past)
        self.model = WaitModel(self.jobs)
        # What was submitted last tells of the queue; later on, ended jobs alone are left in it.
        self.at = float(self.jobs.queued.max(initial=0.0)) + 1.0

    @property
    def missing(self) -> str | None:
        """Why nothing can be said; None: something can."""
        known = len(self.model.known)
        if self.model.learnt:
            return None
        if not known:
            return "no past job tells when it was submitted and when it started"
        return f"{known} past jobs tell how long they waited; {FEWEST} and more are needed"

    def of(self, job: Jobs, edits: Sequence[RequestEdit]) -> WaitAdvice:
        """When a job like this one would start if it were submitted now."""
        if self.missing is not None:
            return WaitAdvice(missing=self.missing)
        names, asked = _variants(job, edits, self.at)
        if self.model.how != "trees":  # what is asked for tells nothing of the wait
            names, asked = names[:1], asked.take(slice(0, 1))
        found = self.model.predict(asked)
        first = float(found.middle[0])
        sizes = (asked.cores != asked.cores[0]) | (asked.nodes != asked.nodes[0])
        return WaitAdvice(
            at=_moment(self.at),
            waits=tuple(
                PredictedWait(
                    of=name,
                    cores=_known(asked.cores[row]),
                    nodes=_known(asked.nodes[row]),
                    limit=_known(asked.limit[row]),
                    wait=float(found.middle[row]),
                    low=float(found.low[row]),
                    high=float(found.high[row]),
                    level=LEVEL,
                    may_run_longer=first - float(found.middle[row]) if sizes[row] else None,
                    label=Label.CAUTION if row or found.doubts[row] else Label.TRUSTED,
                    reason=_reason(found.doubts[row], float(found.held[row]), changed=row > 0),
                )
                for row, name in enumerate(names)
            ),
        )


def _reason(doubts: tuple[str, ...], held: float, *, changed: bool) -> str:
    told = [_NOT_TRIED] if changed else []
    return "; ".join([*told, *doubts]) or f"{held:.0%} of the latest waits were in their intervals"


def _variants(job: Jobs, edits: Sequence[RequestEdit], at: float) -> tuple[list[str], QueuedJobs]:
    """Names of requests, and the requests: as asked first."""
    asked = replace(
        queued_jobs(replace(job, eligible=np.array([at]), state=np.array(["PENDING"]))),
        queued=np.array([at]),
    )
    found: list[tuple[str, QueuedJobs]] = [("as asked", asked)]
    changed = _edited(asked, edits)
    if changed is not asked:
        found.append(("as advised", changed))
    several = asked.nodes[0] > 1
    what, size = ("nodes", asked.nodes) if several else ("cores", asked.cores)
    for name, factor in (("half", 0.5), ("twice", 2.0)):
        if size[0] * factor >= 1.0:  # not where it is unknown
            share = np.floor(size * factor) / size
            other = replace(asked, cores=asked.cores * share)
            other = replace(other, nodes=asked.nodes * share) if several else other
            found.append((f"{name} the {what}", other))
    fields = QueuedJobs.__dataclass_fields__
    joined: dict[str, Any] = {
        name: np.concatenate([getattr(one, name) for _, one in found]) for name in fields
    }
    return [name for name, _ in found], QueuedJobs(**joined)


def _edited(asked: QueuedJobs, edits: Sequence[RequestEdit]) -> QueuedJobs:
    """The request with its edits; itself, if none of them is about the queue."""
    changed: dict[str, Any] = {}
    for edit in edits:
        name = _TOLD.get(edit.option)
        if name == "limit":
            changed[name] = np.array([units.seconds(edit.new) or np.nan])
        elif name == "memory":
            changed[name] = np.array([units.size(edit.new) or np.nan])
        elif name == "cores":
            changed[name] = np.array([float(edit.new)])
        elif name == "nodes":
            changed[name] = np.array([float(edit.new)])
            changed["cores"] = asked.cores * changed[name] / asked.nodes
    return replace(asked, **changed) if changed else asked


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _moment(at: float) -> str | None:
    if at < _FIRST_DAY:
        return None
    return datetime.fromtimestamp(at, UTC).replace(tzinfo=None).isoformat(timespec="seconds")
