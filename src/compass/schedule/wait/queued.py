"""Jobs as a queue sees them: from when on they could start, what they asked for, their wait."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from compass.schedule.advice.jobs import Floats, Jobs, Texts
from compass.schedule.trace import JobTrace

_WAITING = ("PENDING", "REQUEUED", "CONFIGURING")


@dataclass(frozen=True)
class QueuedJobs:
    """Jobs in the order in which they could have started; NaN is what is not known.

    `queued` is when a job was submitted, or when nothing but the queue kept it any more; `left`
    when it left the queue (inf: it waits), `end` when it left the machine (inf: it runs, or waits).
    """

    queued: Floats
    wait: Floats  # s; NaN: it waits still, or never started
    left: Floats
    end: Floats
    limit: Floats
    cores: Floats
    nodes: Floats
    gpus: Floats
    memory: Floats
    user: Texts
    partition: Texts

    def __len__(self) -> int:
        return len(self.queued)

    def take(self, rows: Any) -> "QueuedJobs":
        """These jobs."""
        return QueuedJobs(**{one.name: getattr(self, one.name)[rows] for one in fields(self)})

    @property
    def began(self) -> Floats:
        """When each started; NaN: it did not."""
        return self.queued + self.wait


def queued_jobs(jobs: Jobs) -> QueuedJobs:
    """The jobs of accounting that were in a queue."""
    waits = np.isin(jobs.state, _WAITING)
    began = jobs.eligible + jobs.wait
    # A job that never started left the queue when it was cancelled.
    left = np.where(waits, np.inf, np.where(np.isnan(began), jobs.end, began))
    found = QueuedJobs(
        queued=jobs.eligible,
        wait=np.where(waits, np.nan, jobs.wait),
        left=left,
        end=np.where(waits | (jobs.state == "RUNNING"), np.inf, np.fmax(jobs.end, left)),
        limit=jobs.limit,
        cores=jobs.cores,
        nodes=jobs.nodes,
        gpus=jobs.gpus,
        memory=jobs.memory_asked,
        user=jobs.user,
        partition=jobs.partition,
    )
    known = np.flatnonzero(~np.isnan(found.queued) & ~np.isnan(found.left))
    return found.take(known[np.argsort(found.queued[known], kind="stable")])


def queued_of_trace(trace: JobTrace) -> QueuedJobs:
    """The jobs of a trace of a queue; those whose wait it does not tell have left at once."""
    need = dict(zip(trace.resources, trace.need.T.astype(float), strict=True))
    nothing = np.full(len(trace), np.nan)
    cores = need.get("cores", need.get("nodes", nothing))
    wait = np.where(trace.wait >= 0, trace.wait, np.nan)
    left = trace.submit + np.nan_to_num(wait)
    return QueuedJobs(
        queued=trace.submit,
        wait=wait,
        left=left,
        end=left + trace.run,
        limit=trace.limit,
        cores=cores,
        nodes=need.get("nodes", np.ones(len(trace))),
        gpus=need.get("gpus", nothing),
        memory=need.get("memory", nothing),
        user=_names(trace.user.code, trace.user.known),
        partition=_names(trace.partition.code, trace.partition.known),
    )


def _names(code: Any, known: tuple[str, ...]) -> Texts:
    return np.array(known, dtype=object)[code] if known else np.full(len(code), None, dtype=object)
