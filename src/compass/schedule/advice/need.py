"""How much memory or time a job will need, as amounts that hold with stated chances.

Boosted trees say the quantiles from what similar jobs needed before; what they get wrong on later
jobs corrects them, by user and application where there are enough of these, else by user, else
over all (conformalised quantile regression: Romano, Patterson and Candes 2019; groups: Vovk's
Mondrian predictors). With few jobs, the quantiles are those of the similar jobs themselves.

A job that was ended for it (timeout, out of memory) tells that it needed more, not how much. Such
jobs are not learnt from: amounts are those of jobs that come to their end. How many of the latest
similar jobs were cut off is told beside them.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from compass.schedule.advice.history import Codes, Similarity, features
from compass.schedule.advice.jobs import Floats, Jobs

LEVELS = (0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99)
_FEWEST_FOR_TREES = 400  # past jobs whose need is known
_MOST_LEARNT_FROM = 20_000  # the latest ones; a million jobs would take minutes and say the same
_CALIBRATED_ON = 0.3  # of the jobs, the latest ones
_TREES = {
    "num_leaves": 15,
    "learning_rate": 0.1,
    "min_data_in_leaf": 20,
}  # taken once, the same for all
_ROUNDS = 70
_COMPARED = 0.9  # the level at which needs and shares of what is asked are compared
_LATEST = 30  # jobs of an application, for how many are cut off

ENDED_FOR = {"time": ("TIMEOUT", "DEADLINE"), "memory": ("OUT_OF_MEMORY",)}


def needs(jobs: Jobs, of: str) -> Floats:
    """What jobs needed of `memory` (bytes on a node) or `time` (s); NaN: that is not known.

    Known are jobs that came to their end, not those that were ended for it.
    """
    used = jobs.memory_used if of == "memory" else np.where(jobs.elapsed > 0, jobs.elapsed, np.nan)
    done = (jobs.state == "COMPLETED") | (of == "memory") & np.isin(jobs.state, ENDED_FOR["time"])
    return np.where(done, used, np.nan)


@dataclass(frozen=True)
class Amounts:
    """For each job the amounts [n, levels] that suffice with the chances LEVELS; NaN: unknown.

    `highest` [n] is the largest chance that the past jobs allow to state, `cut_off` [n] the share
    of the latest jobs of the user's application that were ended for want of it.
    """

    values: Floats
    highest: Floats
    cut_off: Floats

    def row(self, row: int) -> "Amounts":
        """Those of one job."""
        one = slice(row, row + 1)
        return Amounts(self.values[one], self.highest[one], self.cut_off[one])

    def risk(self, amount: Floats) -> Floats:
        """The chance that a job needs more than this; at least half is told as a half."""
        found = np.full(len(amount), np.nan)
        for row, (values, own) in enumerate(zip(self.values, amount, strict=True)):
            if np.isnan(own) or np.isnan(values).any():
                continue
            chance = np.interp(np.log(own), _rising(np.log(values)), LEVELS, right=np.inf)
            found[row] = 1.0 - LEVELS[-1] if np.isinf(chance) else 1.0 - chance
        return found

    def amount(self, risk: float) -> Floats:
        """What suffices but for this chance."""
        level = min(max(1.0 - risk, LEVELS[0]), LEVELS[-1])
        return np.array([np.exp(np.interp(level, LEVELS, np.log(own))) for own in self.values])


def _rising(values: Floats) -> Floats:
    """The same with tiny steps, so that equal amounts have one place each."""
    return values + 1e-9 * np.arange(len(values))


class Needs:
    """What jobs will need of memory or of time, learnt from past ones."""

    def __init__(self, jobs: Jobs, groups: Codes, of: str, similarity: Similarity) -> None:
        self.of = of
        self.similarity = similarity
        self._relative = False
        self._trees: list[Any] = []
        self._offsets: list[tuple[dict[int, float], dict[int, float], float]] = []
        known = self.look_up_in(jobs, groups)
        if len(known) >= _FEWEST_FOR_TREES:
            self._learn(jobs.take(known[-_MOST_LEARNT_FROM:]))

    def look_up_in(self, jobs: Jobs, groups: Codes) -> Codes:
        """Take these as the past jobs that similar ones are looked up in; those of known need."""
        need = needs(jobs, self.of)
        known = np.flatnonzero(need > 0)  # not where it is NaN
        self.need = need[known]
        self.end = jobs.end[known]
        self.groups = groups[:, known]
        self.shares = self.need / self._asked(jobs)[known]  # NaN: nothing was asked for
        ended_for = np.isin(jobs.state, ENDED_FOR[self.of])
        told = np.flatnonzero((need > 0) | ended_for)
        told = told[np.lexsort((jobs.end[told], groups[Similarity.OWN, told]))]
        self._told = groups[Similarity.OWN, told], jobs.end[told], ended_for[told]
        return known

    @property
    def learnt(self) -> bool:
        """Whether trees were grown; else amounts are quantiles of similar jobs."""
        return bool(self._trees)

    def _learn(self, jobs: Jobs) -> None:
        """Grow the trees on these jobs, the latest of those whose need is known."""
        import lightgbm as lgb

        groups, logs = self.groups[:, -len(jobs) :], np.log(self.need[-len(jobs) :])
        inputs = self._inputs(jobs, groups, jobs.submit)
        cut = int(len(jobs) * (1.0 - _CALIBRATED_ON))
        rows = lgb.Dataset(inputs[:cut], logs[:cut], params={"verbose": -1}, free_raw_data=False)
        rows.construct()

        def grown(level: float, base: Floats) -> tuple[Any, Floats]:
            """A tree model, and how far it is below the later jobs."""
            settings = {
                "objective": "quantile",
                "alpha": level,
                "verbose": -1,
                "num_threads": 1,
                "seed": 7,
                "deterministic": True,
                **_TREES,
            }
            tree = lgb.train(settings, rows.set_label(logs[:cut] - base[:cut]), _ROUNDS)
            return tree, logs[cut:] - base[cut:] - tree.predict(inputs[cut:], num_threads=1)

        nothing, asked = np.zeros(len(jobs)), self._base(jobs)
        losses = [_pinball(grown(_COMPARED, base)[1], _COMPARED) for base in (nothing, asked)]
        self._relative = losses[1] < losses[0]
        for level in LEVELS:
            tree, over = grown(level, asked if self._relative else nothing)
            self._trees.append(tree)
            self._offsets.append(
                (
                    _by_group(groups[Similarity.OWN, cut:], over, level),
                    _by_group(groups[Similarity.USER, cut:], over, level),
                    _upper(over, level),
                )
            )

    def _asked(self, jobs: Jobs) -> Floats:
        return jobs.memory_asked if self.of == "memory" else jobs.limit

    def _base(self, jobs: Jobs) -> Floats:
        """The logarithm of what is asked for; 0 where nothing is."""
        asked = self._asked(jobs)
        return np.where(np.isnan(asked), 0.0, np.log(np.maximum(asked, 1e-9)))

    def _inputs(self, jobs: Jobs, groups: Codes, at: Floats) -> Floats:
        had = self._asked(jobs)
        other = jobs.limit if self.of == "memory" else jobs.memory_asked
        asked = np.stack([had, other, jobs.cores, jobs.nodes], axis=1)
        return features(self.groups, self.end, self.need, groups, at, asked)

    def amounts(self, jobs: Jobs, at: Floats) -> Amounts:
        """What these jobs will need, asked at these moments."""
        groups = self.similarity.groups(jobs)
        if not self.learnt:
            return self._of_similar(groups, at, self._asked(jobs))
        inputs = self._inputs(jobs, groups, at)
        values = []
        for tree, (own, user, everybody) in zip(self._trees, self._offsets, strict=True):
            offsets = [
                own.get(a, user.get(b, everybody))
                for a, b in zip(
                    groups[Similarity.OWN].tolist(), groups[Similarity.USER].tolist(), strict=True
                )
            ]
            values.append(tree.predict(inputs, num_threads=1) + np.array(offsets))
        base = self._base(jobs) if self._relative else np.zeros(len(jobs))
        rising = np.maximum.accumulate(np.stack(values, axis=1) + base[:, None], axis=1)
        highest = np.full(len(jobs), LEVELS[-1])
        return Amounts(np.exp(rising), highest, self._cut_off(groups, at))

    def _cut_off(self, groups: Codes, at: Floats) -> Floats:
        """The share of the latest jobs of each one's application that were ended for want of it."""
        own, end, ended_for = self._told
        shares = np.zeros(len(at))
        starts = np.searchsorted(own, groups[Similarity.OWN], side="left")
        stops = np.searchsorted(own, groups[Similarity.OWN], side="right")
        for row, (start, stop, moment) in enumerate(zip(starts, stops, at, strict=True)):
            place = start + np.searchsorted(end[start:stop], moment, side="right")
            latest = ended_for[max(start, place - _LATEST) : place]
            shares[row] = latest.mean() if len(latest) else 0.0
        return shares

    def _of_similar(self, groups: Codes, at: Floats, asked: Floats) -> Amounts:
        """Quantiles of what similar jobs needed, or of its share of what they asked for."""
        values = np.full((len(at), len(LEVELS)), np.nan)
        highest = np.full(len(at), np.nan)
        for row, moment in enumerate(at):
            near = self.similar(groups[:, row], moment)
            if not len(near):
                continue
            highest[row] = len(near) / (len(near) + 1.0)
            levels = [min(level, highest[row]) for level in LEVELS]
            logs, shares = np.log(self.need[near]), np.log(self.shares[near])
            told = [_upper(logs, level) for level in levels]
            if not np.isnan(asked[row]) and not np.isnan(shares).any():
                of_asked = [_upper(shares, level) for level in levels]
                if of_asked[-1] - of_asked[0] < told[-1] - told[0]:  # these lie closer together
                    told = [share + np.log(asked[row]) for share in of_asked]
            values[row] = np.exp(told)
        return Amounts(values, highest, self._cut_off(groups, at))

    def similar(self, groups: Codes, at: float, fewest: int = 19) -> Codes:
        """The past jobs of the narrowest group with enough, but not beyond those of the user."""
        ended = self.end <= at
        for level in range(Similarity.USER + 1):
            near = np.flatnonzero(ended & (self.groups[level] == groups[level]))
            if len(near) >= fewest or level == Similarity.USER:
                break
        return near[-100:]


def _upper(values: Floats, level: float) -> float:
    """The smallest of these that the next one is below with this chance; else the largest."""
    place = int(np.ceil((len(values) + 1) * level - 1e-9))
    return float(np.sort(values)[min(place, len(values)) - 1])


def _pinball(over: Floats, level: float) -> float:
    """The loss whose least value is that of the quantile; `over` is truth less prediction."""
    return float(np.maximum(level * over, (level - 1.0) * over).mean())


def _by_group(groups: Codes, over: Floats, level: float) -> dict[int, float]:
    """The corrections of groups that have enough jobs to tell one."""
    enough = int(np.ceil(3.0 / (1.0 - level)))
    order = np.argsort(groups, kind="stable")
    names, starts = np.unique(groups[order], return_index=True)
    parts = np.split(over[order], starts[1:])
    return {
        int(name): _upper(part, level)
        for name, part in zip(names, parts, strict=True)
        if len(part) >= enough
    }
