"""Predicted waits against those of later jobs, beside plain predictions.

The first half of a trace is only learnt from; settings were chosen on it. Then, eight times, all
waits that had ended are learnt, and the waits of the next jobs are predicted, each by what was
known when it came into the queue. Plain are quantiles of the latest waits of the partition.
"""

import itertools
from typing import Any

import numpy as np

from compass.schedule.advice.history import Codes
from compass.schedule.advice.jobs import Floats
from compass.schedule.wait.load import codes, log_wait, wait_of
from compass.schedule.wait.model import LEVELS, WaitModel, Waits
from compass.schedule.wait.queued import QueuedJobs

_WARM, _BLOCKS = 0.5, 8
TRUSTED = "trusted"
PLAIN = (30, 1000)  # the latest waits whose quantiles are plain predictions


def predicted(jobs: QueuedJobs) -> tuple[Codes, Waits, list[str]]:
    """The rows that were predicted, what was predicted, and how in each block."""
    edges = np.linspace(_WARM * len(jobs), len(jobs), _BLOCKS + 1).astype(int)
    rows, found, how = [], [], []
    for first, stop in itertools.pairwise(edges):
        model = WaitModel(jobs.take(slice(0, stop)), upto=float(jobs.queued[first]), everybody=True)
        here = np.arange(first, stop)
        here = here[~np.isnan(jobs.wait[here])]
        # The model may have left out the oldest jobs.
        left_out = stop - len(model.jobs)
        found.append(model.predict(jobs.take(here), here - left_out))
        rows.append(here)
        how.append(model.how)
    whole = Waits(
        low=np.concatenate([one.low for one in found]),
        middle=np.concatenate([one.middle for one in found]),
        high=np.concatenate([one.high for one in found]),
        held=np.concatenate([one.held for one in found]),
        doubts=tuple(doubts for one in found for doubts in one.doubts),
    )
    return np.concatenate(rows), whole, how


def plain(jobs: QueuedJobs, rows: Codes, kinds: Codes, count: int) -> Floats:
    """Quantiles of the latest waits of the same kind that were known, [m, levels]; NaN: none."""
    found = np.full((len(rows), len(LEVELS)), np.nan)
    logs = log_wait(jobs.wait)
    for kind in np.unique(kinds[rows]):
        past = np.flatnonzero((kinds == kind) & ~np.isnan(jobs.wait))
        past = past[np.argsort(jobs.began[past], kind="stable")]
        own = np.flatnonzero(kinds[rows] == kind)
        stops = np.searchsorted(jobs.began[past], jobs.queued[rows[own]])
        for place, stop in zip(own, stops, strict=True):
            if stop:
                found[place] = np.quantile(logs[past[max(0, stop - count) : stop]], LEVELS)
    return found


def figures(wait: Floats, low: Floats, middle: Floats, high: Floats) -> dict[str, float]:
    """Coverage, errors and the width of intervals; times in minutes."""
    logs, told = log_wait(wait), np.stack([log_wait(one) for one in (low, middle, high)], axis=1)
    over, levels = logs[:, None] - told, np.array(LEVELS)
    off = np.abs(wait - middle)
    return {
        "jobs": len(wait),
        "held": float(((over[:, 0] >= -1e-9) & (over[:, 2] <= 1e-9)).mean()),
        "above": float((over[:, 2] > 1e-9).mean()),
        "loss": float(np.maximum(levels * over, (levels - 1.0) * over).mean()),
        "mean error": float(off.mean()) / 60,
        "median error": float(np.median(off)) / 60,
        "factor": float(np.exp(np.abs(over[:, 1]).mean())),
        "width": float(np.median(high - low)) / 60,
    }


def judged(jobs: QueuedJobs) -> dict[str, Any]:
    """The figures of one trace: all predictions, trusted ones, the others, plain ones."""
    rows, waits, how = predicted(jobs)
    truth = jobs.wait[rows]

    def of(which: Any) -> dict[str, float] | None:
        if not which.any():
            return None
        told = (waits.low[which], waits.middle[which], waits.high[which])
        return figures(truth[which], *told)

    result: dict[str, Any] = {
        "blocks by trees": how.count("trees"),
        "compass": of(np.ones(len(rows), dtype=bool)),
        TRUSTED: of(waits.trusted),
        "not trusted": of(~waits.trusted),
    }
    partition = codes([jobs.partition], [jobs.partition])[0]
    for count in PLAIN:
        told = plain(jobs, rows, partition, count)
        known = ~np.isnan(told[:, 0])
        for name, which in (
            (f"last {count}", known),
            (f"{TRUSTED}, last {count}", known & waits.trusted),
        ):
            if which.any():
                seconds = (wait_of(told[which, n]) for n in range(3))
                result[name] = figures(truth[which], *seconds)
    return result
