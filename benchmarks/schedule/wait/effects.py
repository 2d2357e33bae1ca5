"""What a changed request does to a wait: predicted, and simulated with that one job changed.

The waits of a trace are those of our simulator (EASY), which can be asked what would have been.
Learnt are the waits of the first half. Of later jobs, one at a time asks for half as much, and the
whole queue is simulated again: the change of that job's start is the truth.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from compass.schedule.advice.jobs import Floats
from compass.schedule.read import read_trace
from compass.schedule.simulate import Schedule, simulate
from compass.schedule.wait.model import WaitModel
from compass.schedule.wait.queued import QueuedJobs, queued_of_trace

QUEUES = {
    "KTH": ("swf_kth/raw/KTH-SP2-1996-2.swf.gz", 1.0),
    "KTH, x 0.8": ("swf_kth/raw/KTH-SP2-1996-2.swf.gz", 0.8),
    "Theta": ("swf_theta/raw/train.swf", 1.0),
}
CHANGES = ("half the nodes", "half the limit")
_POLICY = "fcfs+easy"
_JOBS = 300  # that are changed, drawn from those that waited
_SEED = 41
_MINUTE = 60.0


def effects(folder: Path, name: str) -> dict[str, Any]:
    """Predicted against simulated changes of waits, by change."""
    path, arrivals = QUEUES[name]
    trace = read_trace(folder / path)
    trace = trace.only(trace.need[:, 0] <= trace.capacity["nodes"]).compressed(arrivals)
    before = simulate(trace, how=_POLICY)
    jobs = queued_of_trace(replace(before.trace, wait=before.wait, run=before.ran))
    half = len(jobs) // 2
    model = WaitModel(jobs, upto=float(jobs.queued[half]), everybody=True)
    rng = np.random.default_rng(_SEED)
    waited = np.flatnonzero((jobs.wait > _MINUTE) & (np.arange(len(jobs)) >= half))
    waited = waited[jobs.nodes[waited] >= 2]
    rows = np.sort(rng.permutation(waited)[:_JOBS])
    # The model may have left out the oldest jobs.
    order = rows - (len(jobs) - len(model.jobs))
    asked = model.predict(jobs.take(rows), order).middle
    found = {}
    for change in CHANGES:
        told = model.predict(_changed(jobs.take(rows), change), order).middle - asked
        truth = np.array([_resimulated(before, row, change) for row in rows.tolist()])
        found[change] = _figures(told, truth)
    return {"jobs": len(rows), "how": model.how, **found}


def _changed(jobs: QueuedJobs, change: str) -> QueuedJobs:
    if change == "half the limit":
        return replace(jobs, limit=jobs.limit / 2)
    return replace(jobs, cores=jobs.cores // 2, nodes=jobs.nodes // 2)


def _resimulated(before: Schedule, row: int, change: str) -> float:
    """How much later one job starts that asks for half as much (it runs on, or to its limit)."""
    trace = before.trace
    if change == "half the limit":
        limit = trace.limit.copy()
        limit[row] /= 2
        trace = replace(trace, limit=limit)
    else:
        need = trace.need.copy()
        need[row, 0] //= 2
        trace = replace(trace, need=need)
    return float(simulate(trace, how=_POLICY).start[row] - before.start[row])


def _figures(told: Floats, truth: Floats) -> dict[str, float]:
    sooner = told < -_MINUTE
    return {
        "said to start sooner": float(sooner.mean()),
        "of these, sooner": float((truth[sooner] < -1).mean()) if sooner.any() else np.nan,
        "of these, later": float((truth[sooner] > 1).mean()) if sooner.any() else np.nan,
        "of all, sooner": float((truth < -1).mean()),
        "mean said": float(told.mean()) / _MINUTE,
        "mean simulated": float(truth.mean()) / _MINUTE,
        "mean error": float(np.abs(told - truth).mean()) / _MINUTE,
        "mean error of no change": float(np.abs(truth).mean()) / _MINUTE,
    }
