"""What was known of similar jobs when a job was submitted: counts, the last, the largest ..."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compass.schedule.advice.jobs import Floats, Jobs, application_of

Codes = NDArray[np.int64]

_LAST, _LONG = 5, 30  # jobs that are looked back at


class Similarity:
    """Groups of similar jobs, from the narrowest to all; each job is in one group per level."""

    NAMES = (
        ("user", "application", "cores", "limit", "memory"),
        ("user", "application", "cores"),
        ("user", "application"),
        ("user", "cores", "limit"),
        ("user",),
        ("partition", "limit"),
        (),
    )
    OWN = 2  # the level of a user's application
    USER = 4

    def __init__(self) -> None:
        self._known: dict[str, dict[object, int]] = {}

    def groups(self, jobs: Jobs) -> Codes:
        """The group of each job on each level, [levels, n]."""
        columns = {
            "user": jobs.user.tolist(),
            "application": _applications(jobs),
            "partition": jobs.partition.tolist(),
        }
        numbers = {
            "cores": jobs.cores,
            "limit": jobs.limit,
            "memory": np.round(jobs.memory_asked / 2**20),
        }
        single = {name: self._coded(name, values) for name, values in columns.items()}
        for name, values in numbers.items():
            single[name] = self._coded_many(name, np.nan_to_num(values, nan=-1.0))
        levels = []
        for names in self.NAMES:
            whole = np.zeros(len(jobs), dtype=np.int64)
            for place, name in enumerate(names):
                # Numbers of groups stay below 2**31, so that two of them fit into one.
                pairs = whole * 2**31 + single[name]
                whole = self._coded_many(f"all of {names[: place + 1]}", pairs)
            levels.append(whole)
        return np.stack(levels)

    def _coded(self, name: str, values: Sequence[object]) -> Codes:
        known = self._known.setdefault(name, {})
        return np.array([known.setdefault(value, len(known)) for value in values], dtype=np.int64)

    def _coded_many(self, name: str, values: NDArray[Any]) -> Codes:
        different, rows = np.unique(values, return_inverse=True)
        return self._coded(name, different.tolist())[rows]


def _applications(jobs: Jobs) -> list[str | None]:
    found: dict[str | None, str | None] = {}
    return [
        found[name] if name in found else found.setdefault(name, application_of(name))
        for name in jobs.name.tolist()
    ]


def features(
    groups: Codes, end: Floats, need: Floats, wanted: Codes, at: Floats, asked: Floats
) -> Floats:
    """What past jobs told at moments `at` [m], in logarithms; one row per moment.

    `groups` [levels, n], `end` and `need` [n] are of past jobs whose need is known, `wanted`
    [levels, m] are the groups of the jobs that are asked about, `asked` [m, ...] numbers of their
    own. Only jobs that had ended by then are looked at.
    """
    columns = [np.log(np.maximum(asked, 1e-9))]
    logs = np.log(need)
    for level in range(len(groups)):
        order = np.lexsort((end, groups[level]))
        code, time, value = groups[level][order], end[order], logs[order]
        last = _largest(code, value, _LAST)
        longest = _largest(code, value, _LONG)
        total = np.concatenate([[0.0], np.cumsum(value)])
        place = _ended_before(code, time, wanted[level], at)
        start = np.searchsorted(code, wanted[level], side="left")
        count = place - start
        there = count > 0
        before = np.maximum(place - 1, 0)
        few = np.minimum(count, _LONG)
        mean = (total[place] - total[place - few]) / np.maximum(few, 1)
        told = (value[before], last[before], mean, longest[before])
        columns += [np.where(there, found, np.nan)[:, None] for found in told]
        columns.append(np.log1p(count)[:, None])
    return np.concatenate(columns, axis=1)


def _ended_before(code: Codes, time: Floats, wanted: Codes, at: Floats) -> Codes:
    """How many rows of (code, time), which are sorted, come before (wanted, at) and end by then."""
    ranks = np.unique(np.concatenate([time, at]), return_inverse=True)[1].astype(np.int64)
    own, asked = ranks[: len(time)], ranks[len(time) :]
    wide = np.int64(len(ranks) + 1)
    return np.searchsorted(code * wide + own, wanted * wide + asked, side="right")


def _largest(code: Codes, value: Floats, window: int) -> Floats:
    """The largest of the last `window` values of the same group, up to each row."""
    found, reach = value.copy(), 1
    while reach < window:
        step = min(reach, window - reach)
        same = code[step:] == code[:-step] if step < len(code) else np.zeros(0, bool)
        earlier = np.where(same, found[:-step], -np.inf) if len(same) else np.zeros(0)
        new = found.copy()
        if len(same):
            new[step:] = np.maximum(found[step:], earlier)
        found, reach = new, reach + step
    return found
