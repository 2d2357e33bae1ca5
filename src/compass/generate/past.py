"""What past runs of a configuration are worth beside the model's prediction of it.

A model smooths: where a past run was better than its neighbours, the model does not believe it, and
what the model likes best is often worse than what is in the log. So a candidate that is the
configuration of past runs is valued by their mean, drawn towards the model as far as repeated runs
are seen to scatter, and a candidate that nobody tried counts as better than the best past run only
where the predicted gain is more than doubt.

Decision 0013 (docs/decisions).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from compass.generate.base import Bools, Floats
from compass.generate.objectives import objectives, preference, preference_deviation
from compass.generate.repair import restore_forced, rule_violation
from compass.generate.score import ScoredCandidates, score, score_targets
from compass.generate.task import SearchTask
from compass.learn.reliability import Reliability
from compass.prepare.legal import legal_mask
from compass.prepare.split import configurations

_ENOUGH = 0.5  # a predicted gain must be more than this share of the model's usual error
_TOP = 256  # past configurations, best first, that are candidates for sure


@dataclass(frozen=True, eq=False)
class PastRuns:
    """The past configurations of the context that is asked about, with what was measured."""

    key: NDArray[np.uint64]  # [m] ascending: `configurations` of X
    X: Floats  # [m, d]
    mean: Mapping[str, Floats]  # per outcome [m, outputs]: the measured mean, or share per class
    runs: Mapping[str, NDArray[np.int64]]  # per outcome [m]: how many runs that is the mean of
    reliability: Mapping[str, Reliability]
    relative: frozenset[str]  # outcomes whose errors are shares of their size
    positive: bool  # a single outcome is minimised or maximised, and it is always above 0
    doubts: Callable[[Floats], Floats]  # [n, k] one standard deviation per objective at X [n, d]
    top: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    scored: ScoredCandidates | None = None  # those of `top`
    best: int = -1  # the best of `top` that obeys the rules and meets the goals; -1: none does
    preference: float = np.inf  # of its values
    enough: float = 0.0  # how much less a predicted preference must be to count as better

    def doubt(self, X: Floats) -> Floats:
        """One standard deviation [n] of the preference at X [n, d]."""
        return preference_deviation(self.doubts(X) ** 2)

    def find(self, X: Floats) -> NDArray[np.int64]:
        """Which past configuration [n] each row of X [n, d] is; -1 where it is none."""
        if not len(self.key):
            return np.full(len(X), -1, dtype=np.int64)
        sought = configurations(X)
        at = np.minimum(np.searchsorted(self.key, sought), len(self.key) - 1)
        hit = np.flatnonzero(self.key[at] == sought)
        same = hit[(self.X[at[hit]] == X[hit]).all(axis=1)]
        found = np.full(len(X), -1, dtype=np.int64)
        found[same] = at[same]
        return found

    def believed(
        self, predicted: Mapping[str, Floats], run: NDArray[np.int64]
    ) -> dict[str, Floats]:
        """Predictions of the past configurations `run` [n], drawn to what was measured."""
        found = {}
        for name, values in predicted.items():
            share = self.reliability[name].weight(self.runs[name][run])[:, None]
            found[name] = values + share * (self.mean[name][run] - values)
        return found

    def cautious(self, preference: Floats, run: NDArray[np.int64]) -> Floats:
        """The preference [n], where an untried gain within the doubt counts as none."""
        within = (preference < self.preference) & (preference > self.preference - self.enough)
        return np.where((run < 0) & within, np.nextafter(self.preference, np.inf), preference)

    def ranked_for(self, task: SearchTask) -> "PastRuns":
        """These past runs with the best of them under the rules and goals of a task."""
        top = self._top(task)
        scored = score(replace(task, past_runs=self), self.X[top])
        ranked = replace(self, top=top, scored=scored)
        fine = np.flatnonzero((scored.violation == 0) & (scored.valid <= 0))
        if not len(fine):
            return ranked
        first = fine[int(np.argmin(scored.preference[fine]))]
        best, value = int(top[first]), float(scored.preference[first])
        return replace(ranked, best=best, preference=value, enough=self._enough(task, best))

    def _top(self, task: SearchTask) -> NDArray[np.int64]:
        """The best of its usable configurations as measured, rules and goals first."""
        rows = np.flatnonzero(self.counts(task))
        measured = {name: values[rows] for name, values in self.mean.items()}
        aims = score_targets(task, measured, len(rows))
        rows = rows[np.lexsort((preference(aims.values), aims.valid))]
        # Nearly all past runs obey the rules: those far behind are looked at only when none does.
        for some in (rows[: 2 * _TOP], rows[2 * _TOP :]):
            fine = some[usable(task, self.X[some])]
            if len(fine):
                return np.asarray(fine[:_TOP])
        return np.empty(0, dtype=np.int64)

    def counts(self, task: SearchTask) -> Bools:
        """Which configurations [m] were measured in all that is minimised."""
        counts = np.ones(len(self.X), dtype=np.bool_)
        for target in objectives(task.targets):
            counts &= self.runs[target.name] > 0
        return counts

    def _enough(self, task: SearchTask, best: int) -> float:
        """The gain in preference that is more than doubt."""
        variances = []
        for target in objectives(task.targets):
            size = abs(float(self.mean[target.name][best, 0]))
            size = size if target.name in self.relative else 1.0
            variances.append(self.reliability[target.name].error * (size / target.scale) ** 2)
        return _ENOUGH * float(preference_deviation(np.array(variances)))


def with_past_runs(task: SearchTask, scored: ScoredCandidates) -> ScoredCandidates:
    """Candidates scored by the model, and the best past runs, valued with what was measured.

    The search itself looks at the model only: the best past run would otherwise stop it early.
    """
    past_runs = task.past_runs
    if past_runs is None or past_runs.scored is None:
        return scored
    run = past_runs.find(scored.X)
    untried = scored.take(np.flatnonzero(run < 0))
    cautious = past_runs.cautious(untried.preference, np.full(len(untried), -1))
    others = np.flatnonzero((run >= 0) & ~np.isin(run, past_runs.top))
    parts = [replace(untried, preference=cautious), past_runs.scored]
    return ScoredCandidates.join([*parts, score(task, scored.X[others])] if len(others) else parts)


def usable(task: SearchTask, X: Floats) -> Bools:
    """Which past configurations are candidates.

    They obey the rules, are on the grids, and have no forced column moved that could stay.
    """
    fine = rule_violation(task, X) == 0
    for column in task.movable:
        fine &= legal_mask(task.space.parameters[column], X[:, column])
    if len(task.forced) and fine.any():
        fine[fine] &= (restore_forced(task, X[fine]) == X[fine]).all(axis=1)
    return np.asarray(fine)
