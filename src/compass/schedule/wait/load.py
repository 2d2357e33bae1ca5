"""What a queue looked like when a job came into it: who waited, who ran, how long they would."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from compass.schedule.advice.history import Codes, features
from compass.schedule.advice.jobs import Floats
from compass.schedule.wait.queued import QueuedJobs

_HOUR, _DAY = 3600.0, 86400.0
_USUAL_LIMIT = 3600.0  # of jobs without a limit, where no job has one
_LATEST = 20  # columns about the latest waits
_MOMENT = 1e-3  # s: a wait that ends in the very second of a submission is not known yet
SCALE = 60.0  # s: waits below a minute are all the same to people

# Of every group of `_GROUPS`, in this order.
_TOLD = (
    *("waiting jobs", "waiting cores", "waiting core-seconds", "mean age", "running jobs"),
    *(
        "busy cores",
        "core-seconds left",
        "core-seconds in all",
        "arrived in an hour",
        "ended in an hour",
    ),
    *("arrived in a day", "ended in a day"),
)
_GROUPS = ("machine", "partition", "user")
# Columns of `inputs` that say how long the queue is, for the machine and for the partition.
LENGTHS = tuple(
    _GROUPS.index(group) * len(_TOLD) + _TOLD.index(name)
    for group in ("machine", "partition")
    for name in ("waiting jobs", "waiting core-seconds")
)


def log_wait(wait: Floats) -> Floats:
    """Waits on the scale on which they are learnt and judged."""
    logs: Floats = np.log1p(np.maximum(wait, 0.0) / SCALE)
    return logs


def wait_of(logs: Floats) -> Floats:
    """The seconds of `log_wait`; below nothing is nothing."""
    seconds: Floats = SCALE * np.expm1(np.maximum(logs, 0.0))
    return seconds


def inputs(jobs: QueuedJobs, asked: QueuedJobs, order: Codes) -> Floats:
    """What was known of the queue when each of `asked` came into it; one row each.

    `order` [m] is the place among `jobs` before which each came: of one moment, earlier ones are
    in the queue and later ones are not.
    """
    limits = jobs.limit[~np.isnan(jobs.limit)]
    usual = float(np.median(limits)) if len(limits) else _USUAL_LIMIT
    columns: list[Floats] = []
    for group, wanted in _groups(jobs, asked):
        columns += _state(jobs, asked.queued, order, group, wanted, usual)
    asks = asked.cores * np.where(np.isnan(asked.limit), usual, asked.limit)
    columns += [asked.queued % _DAY, (asked.queued // _DAY) % 7, asks]
    columns += [asked.cores, asked.limit, asked.nodes, asked.gpus, asked.memory]
    own: Floats = np.log1p(np.maximum(np.stack(columns, axis=1), 0.0))
    return np.concatenate([own, _latest(jobs, asked)], axis=1)


def codes(jobs: list[NDArray[Any]], asked: list[NDArray[Any]]) -> tuple[Codes, Codes]:
    """The same number for the same values of these columns, among both."""
    whole = np.zeros(len(jobs[0]) + len(asked[0]), dtype=np.int64)
    for one, other in zip(jobs, asked, strict=True):
        values = np.concatenate([one, other])
        if values.dtype == object:
            values = values.astype(str)
        single = np.unique(values, return_inverse=True)[1].astype(np.int64)
        whole = np.unique(whole * 2**31 + single, return_inverse=True)[1].astype(np.int64)
    return whole[: len(jobs[0])], whole[len(jobs[0]) :]


def _groups(jobs: QueuedJobs, asked: QueuedJobs) -> list[tuple[Codes, Codes]]:
    nothing = [np.zeros(len(one), dtype=np.int64) for one in (jobs, asked)]
    return [
        (nothing[0], nothing[1]),
        codes([jobs.partition], [asked.partition]),
        codes([jobs.user], [asked.user]),
    ]


def _state(
    jobs: QueuedJobs, at: Floats, order: Codes, group: Codes, wanted: Codes, usual: float
) -> list[Floats]:
    """Who waits and who runs in a group of jobs at these moments."""
    cores = np.nan_to_num(jobs.cores, nan=1.0)
    limit = np.where(np.isnan(jobs.limit), usual, jobs.limit)
    first = jobs.queued[0] if len(jobs) else 0.0
    since = at - first
    began = np.where(np.isnan(jobs.wait), np.inf, jobs.began)
    ran = ~np.isinf(began)
    waits = np.stack([np.ones(len(jobs)), cores, cores * limit, jobs.queued - first], axis=1)
    until = np.where(ran, began - first, 0.0) + limit
    runs = np.stack([np.ones(len(jobs)), cores, cores * until], axis=1)

    def before(moments: Floats, values: Floats, by: Floats, places: Codes) -> Floats:
        return sums_before(group, moments, values, wanted, by, places)

    arrived = before(jobs.queued, waits, at, order)
    waiting = np.maximum(arrived - before(jobs.left, waits, at, order), 0.0)
    started = before(began, runs, at, order)
    gone = np.where(ran, jobs.end, np.inf)  # those that never ran have no end on the machine
    ended = before(gone, runs, at, order)
    running = np.maximum(started - ended, 0.0)
    left = np.maximum(running[:, 2] - running[:, 1] * since, 0.0)
    age = np.where(waiting[:, 0] > 0, since - waiting[:, 3] / np.maximum(waiting[:, 0], 1.0), 0.0)
    found = [*waiting.T[:3], age, running[:, 0], running[:, 1], left, left + waiting[:, 2]]
    for back in (_HOUR, _DAY):
        earlier, none = at - back, np.full(len(at), -1)
        found.append(arrived[:, 2] - before(jobs.queued, waits, earlier, none)[:, 2])
        found.append(ended[:, 1] - before(gone, runs, earlier, none)[:, 1])
    return found


def sums_before(
    group: Codes, moments: Floats, values: Floats, wanted: Codes, at: Floats, order: Codes
) -> Floats:
    """Sums of `values` [n, k] over the rows of the wanted group whose moment is before `at` [m].

    Of the rows of that very moment, those before `order` [m] count; moments at infinity never do.
    """
    count = len(moments)
    places = np.concatenate([np.arange(count), order])
    asks = np.concatenate([np.ones(count), np.zeros(len(at))])
    row = np.lexsort((asks, places, np.concatenate([moments, at])))
    rank = np.empty(len(row), dtype=np.int64)
    rank[row] = np.arange(len(row))
    wide = np.int64(len(row) + 1)
    keys = group * wide + rank[:count]
    sort = np.argsort(keys)
    total = np.concatenate([np.zeros((1, values.shape[1])), np.cumsum(values[sort], axis=0)])
    stop = np.searchsorted(keys[sort], wanted * wide + rank[count:])
    start = np.searchsorted(keys[sort], wanted * wide)
    found: Floats = total[stop] - total[start]
    return found


def _latest(jobs: QueuedJobs, asked: QueuedJobs) -> Floats:
    """The waits of the latest jobs that had started, of like size, of the user, of all."""
    known = np.flatnonzero(~np.isnan(jobs.wait))
    if not len(known):
        return np.full((len(asked), _LATEST), np.nan)
    past = jobs.take(known)

    def sizes(one: QueuedJobs) -> list[NDArray[Any]]:
        return [one.partition, _doublings(one.cores), _doublings(one.limit)]

    pairs = [
        codes(sizes(past), sizes(asked)),
        codes([past.partition, past.user], [asked.partition, asked.user]),
        codes([past.partition], [asked.partition]),
        (np.zeros(len(past), dtype=np.int64), np.zeros(len(asked), dtype=np.int64)),
    ]
    groups, wanted = (np.stack([pair[n] for pair in pairs]) for n in (0, 1))
    nothing = np.ones((len(asked), 1))
    at = asked.queued - _MOMENT
    return features(groups, past.began, past.wait + 1.0, wanted, at, nothing)[:, 1:]


def _doublings(values: Floats) -> Codes:
    """How often one is doubled to give about these; -1 where nothing is known."""
    logs = np.log2(np.maximum(np.nan_to_num(values, nan=0.5), 0.5))
    rounded: Codes = np.round(logs).astype(np.int64)
    return rounded
