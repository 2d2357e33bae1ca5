"""How long jobs will wait: learnt from past waits, corrected by the latest ones, with its doubts.

Boosted trees say three quantiles of the wait from what the queue looked like when a job came into
it. They are grown on the earlier jobs. What they get wrong on the jobs since corrects them, always
by the latest thousand that were known at the moment of the question (a conformal correction that
follows the queue). A job that has waited for longer than it was said to counts before it starts;
otherwise the long waits of a queue that grows would be seen too late. Where the quantiles of the
latest waits of the partition alone predict better, they are taken.

The queue that a job meets is in the trace only where the trace is of everybody. Doubts say so, and
say where intervals did not hold lately, or where the queue is longer than any that was learnt from.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from compass.schedule.advice.history import Codes
from compass.schedule.advice.jobs import Floats, Mask
from compass.schedule.wait.load import LENGTHS, inputs, log_wait, wait_of
from compass.schedule.wait.queued import QueuedJobs

LEVELS = (0.05, 0.5, 0.95)
LEVEL = 0.9  # of the intervals between the first and the last of them
FEWEST = 50  # waits that are known; with fewer, nothing is predicted
_MOST = 30_000  # the latest jobs; older ones tell of another machine
_FEWEST_FOR_TREES = 400
_GROWN_ON = 0.7  # of the jobs, the earlier ones
_LATEST = 1000  # jobs that correct a prediction
_RECENT = 100  # waits of a partition whose quantiles are the plain prediction
_JUDGED = 300  # the latest predictions, for whether intervals hold
_FEWEST_JUDGED = 50
_HELD = 0.85  # of them, for an interval of 90 % to be relied on
_USERS = 3  # fewer see only their own part of the queue
_TREES = {"num_leaves": 15, "learning_rate": 0.1, "min_data_in_leaf": 20}  # those of `Needs`
_ROUNDS = 100

SOME = "the accounting is of one or two users: it does not show who else waits"
LONGER = "more jobs wait than ever did when past jobs were submitted"
UNSEEN = "hardly a past job of this partition tells how long it waited"
LARGER = "no past job asked for so much"


@dataclass(frozen=True)
class Waits:
    """Predicted waits of jobs [m] in s, and what speaks against each."""

    low: Floats
    middle: Floats
    high: Floats
    held: Floats  # share of the latest predictions whose intervals held; NaN: too few
    doubts: tuple[tuple[str, ...], ...]

    @property
    def trusted(self) -> Mask:
        """Those that nothing speaks against."""
        return np.array([not one for one in self.doubts], dtype=bool)


class WaitModel:
    """Predicts waits from the jobs of a queue."""

    def __init__(
        self, jobs: QueuedJobs, upto: float = np.inf, *, everybody: bool | None = None
    ) -> None:
        """`upto`: only waits that had ended by then are learnt; jobs since are only looked up.

        `everybody`: whether these are all jobs of the machine; None: if they are of three users.
        """
        known = np.flatnonzero(~np.isnan(jobs.wait) & (jobs.began < upto))
        if len(known) > _MOST:
            oldest = int(known[-_MOST])
            jobs, known = jobs.take(slice(oldest, None)), known[-_MOST:] - oldest
        self.jobs = jobs
        self.known = known
        self.logs = log_wait(jobs.wait)
        self.inputs = inputs(jobs, jobs, np.arange(len(jobs)))
        self._longest = self.inputs[known][:, LENGTHS].max(axis=0, initial=0.0)
        self._waits = _sorted_waits(jobs, np.ones(len(jobs), dtype=bool))
        self._of_partition = {
            name: _sorted_waits(jobs, jobs.partition == name) for name in set(jobs.partition)
        }
        users = {user for user in jobs.user.tolist() if user is not None}
        self.everybody = len(users) >= _USERS if everybody is None else everybody
        cut = int(len(known) * _GROWN_ON)
        self._first = int(known[cut]) if len(known) else 0  # of the jobs that correct
        self._trees = _grown(self.inputs[known[:cut]], self.logs[known[:cut]])
        self.how = "latest"
        if self._trees and self.learnt:
            losses = {how: self._loss(how) for how in ("trees", "latest")}
            self.how = min(losses, key=lambda how: losses[how])
        self._follow(self.how)

    @property
    def learnt(self) -> bool:
        """Whether there are enough past waits for a prediction."""
        return len(self.known) >= FEWEST

    def predict(self, asked: QueuedJobs, order: Codes | None = None) -> Waits:
        """The waits of jobs that come into the queue at `asked.queued`.

        `order` is the place among the past jobs before which each comes (default: after all).
        """
        places = np.full(len(asked), len(self.jobs)) if order is None else order
        given = inputs(self.jobs, asked, places)
        raw = self._raw(self.how, given, asked)
        logs = np.array(
            [
                self._corrected(raw[row], place, asked.queued[row])
                for row, place in enumerate(places.tolist())
            ]
        ).reshape(len(asked), len(LEVELS))
        held = np.array(
            [
                self._held(place, moment)
                for place, moment in zip(places.tolist(), asked.queued.tolist(), strict=True)
            ]
        )
        low, middle, high = (wait_of(logs[:, n]) for n in range(3))
        return Waits(low, middle, high, held, self._doubts(asked, given, held))

    def _doubts(
        self, asked: QueuedJobs, given: Floats, held: Floats
    ) -> tuple[tuple[str, ...], ...]:
        past = self.jobs.take(self.known)
        longer = (given[:, LENGTHS] > self._longest).any(axis=1)
        larger = np.zeros(len(asked), dtype=bool)
        for name in ("cores", "nodes", "limit", "gpus"):
            most = np.nanmax(np.append(getattr(past, name), -np.inf))
            larger |= getattr(asked, name) > most
        found = []
        for row, partition in enumerate(asked.partition.tolist()):
            doubts = [] if self.everybody else [SOME]
            doubts += [LONGER] if longer[row] else []
            doubts += [LARGER] if larger[row] else []
            own = self._of_partition.get(partition, _NOTHING)
            seen = np.searchsorted(own[0], asked.queued[row])
            doubts += [UNSEEN] if seen < FEWEST else []
            if np.isnan(held[row]):
                doubts.append(
                    f"fewer than {_FEWEST_JUDGED} past predictions tell whether they hold"
                )
            elif held[row] < _HELD:
                doubts.append(f"only {held[row]:.0%} of the latest waits were in their intervals")
            found.append(tuple(doubts))
        return tuple(found)

    def _raw(self, how: str, given: Floats, asked: QueuedJobs) -> Floats:
        """Quantiles of logarithms before they are corrected, [m, levels]."""
        if how == "trees":
            found = [tree.predict(given, num_threads=1) for tree in self._trees]
            return np.sort(np.stack(found, axis=1), axis=1)
        pairs = zip(asked.partition.tolist(), asked.queued.tolist(), strict=True)
        return np.array([self._of_latest(name, at) for name, at in pairs]).reshape(-1, len(LEVELS))

    def _of_latest(self, partition: str | None, at: float) -> Floats:
        for began, logs in (self._of_partition.get(partition, _NOTHING), self._waits):
            stop = int(np.searchsorted(began, at))
            if stop:
                found: Floats = np.quantile(logs[max(0, stop - _RECENT) : stop], LEVELS)
                return found
        return np.zeros(len(LEVELS))

    def _loss(self, how: str) -> float:
        """How badly the latest waits are predicted in this way, each by what was known before."""
        self._follow(how)
        rows = self.known[self.known >= self._first][-_LATEST:]
        self._issue(rows)
        over = self.logs[rows, None] - self.issued[rows - self._first]
        levels = np.array(LEVELS)
        return float(np.maximum(levels * over, (levels - 1.0) * over).mean())

    def _follow(self, how: str) -> None:
        """Predict the jobs that correct others; what was told of them is worked out as needed."""
        since = slice(self._first, None)
        self.raw = self._raw(how, self.inputs[since], self.jobs.take(since))
        self.issued = np.full_like(self.raw, np.nan)
        began = self.jobs.queued[since] + self.jobs.wait[since]
        self._began = np.where(np.isnan(began), np.inf, began)
        self._left = self.jobs.left[since]  # cancelled jobs leave without having started
        self._over = np.nan_to_num(self.logs[since])[:, None] - self.raw

    def _issue(self, rows: Codes) -> None:
        """What was told of these jobs when they came."""
        for row in (rows - self._first).tolist():
            if np.isnan(self.issued[row, 0]):
                moment = float(self.jobs.queued[self._first + row])
                self.issued[row] = self._corrected(self.raw[row], self._first + row, moment)

    def _before(self, place: int, count: int) -> slice:
        """The latest jobs before a place, among those that correct."""
        stop = max(place - self._first, 0)
        return slice(max(stop - count, 0), stop)

    def _corrected(self, raw: Floats, place: int, at: float) -> Floats:
        """Quantiles with what the latest known waits add to them."""
        near = self._before(place, _LATEST)
        known = self._began[near] < at
        over = self._over[near][known]
        if not len(over):
            return raw
        found = np.array([np.quantile(over[:, n], level) for n, level in enumerate(LEVELS)])
        # Who waits still, and for longer than these say already, will be above them.
        waits = self._left[near] > at
        late = log_wait(at - self.jobs.queued[self._first :][near][waits])[:, None]
        late = late - self.raw[near][waits]
        for n in (1, 2):
            beyond = late[:, n][late[:, n] > found[n]]
            if len(beyond):
                found[n] = np.quantile(np.append(over[:, n], beyond), LEVELS[n])
        corrected: Floats = np.maximum.accumulate(np.maximum(raw + found, 0.0))
        return corrected

    def _held(self, place: int, at: float) -> float:
        """The share of the latest predictions whose intervals held, as far as is known by then."""
        near = self._before(place, _JUDGED)
        self._issue(np.arange(near.start, near.stop) + self._first)
        low, high = self.issued[near, 0], self.issued[near, 2]
        known = self._began[near] < at
        logs = self.logs[self._first :][near]
        inside = (logs >= low) & (logs <= high) & known
        waits = self._left[near] > at
        late = waits & (log_wait(at - self.jobs.queued[self._first :][near]) > high)
        told = int((known | late).sum())
        return float(inside.sum()) / told if told >= _FEWEST_JUDGED else np.nan


_NOTHING = (np.zeros(0), np.zeros(0))


def _grown(given: Floats, logs: Floats) -> list[Any]:
    """One tree model for each level; none where there are too few jobs."""
    if len(logs) < _FEWEST_FOR_TREES * _GROWN_ON:
        return []
    import lightgbm as lgb

    data = lgb.Dataset(given, logs, params={"verbose": -1}, free_raw_data=False)
    settings = {"objective": "quantile", "verbose": -1, "num_threads": 1, "seed": 7} | _TREES
    settings["deterministic"] = True
    return [lgb.train(settings | {"alpha": level}, data, _ROUNDS) for level in LEVELS]


def _sorted_waits(jobs: QueuedJobs, which: Mask) -> tuple[Floats, Floats]:
    """When these jobs started, in that order, and their waits; those that did not are left out."""
    rows = np.flatnonzero(which & ~np.isnan(jobs.wait))
    rows = rows[np.argsort(jobs.began[rows], kind="stable")]
    return jobs.began[rows], log_wait(jobs.wait[rows])
