"""Choosing the answers: the best first, then different ones that cost little more.

Decision 0011 (docs/decisions).
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from compass.generate import loss
from compass.generate.base import Bools, Floats
from compass.generate.distinct import Distinct
from compass.generate.expected_improvement import choose_untried
from compass.generate.objectives import as_good_as, objective_values, objectives, preference
from compass.generate.score import ScoredCandidates, order
from compass.generate.supported import positions
from compass.generate.task import SearchTask
from compass.prepare.geometry import distances

_WORSE = 0.1  # a value worse by this share costs as much as a change by one standard deviation
# How much more a further answer may cost, in units of the budget; 0: as little as possible.
_BUDGETS = (0.0, 0.25, 1.0, 4.0, 16.0, 64.0)
_LOSS = 5.0  # what a candidate that likely can be run may cost more than the best: 50 % worse
_LOOKED_AT = 64  # candidates, best first, that are looked at in the first go; then twice as many
_USUAL = 24  # of them that are enough per answer that is wanted: different ones are among them
_SURER = 32  # answers without doubt beside the others, where something is in doubt about the first


def preferred(task: SearchTask, scored: ScoredCandidates) -> ScoredCandidates:
    """Candidates best first.

    Where something is minimised, all that come within the tolerance of the best value count as
    reaching it, and the smallest change among them comes first.
    """
    ranked = scored.take(order(task, scored))
    if not task.proximity or not objectives(task.targets) or not len(ranked):
        return ranked
    limit = as_good_as(float(ranked.preference[0]), task.settings.search.tolerance)
    reach = (
        (ranked.violation == ranked.violation[0])
        & (ranked.valid <= ranked.valid[0])
        & (ranked.preference <= limit)
    )
    inside = np.flatnonzero(reach)
    inside = inside[np.argsort(ranked.proximity[inside], kind="stable")]
    return ranked.take(np.concatenate([inside, np.flatnonzero(~reach)]))


def pick(task: SearchTask, scored: ScoredCandidates) -> NDArray[np.int64]:
    """Positions in `scored` (best first, as `preferred` gives it) of the answers to return.

    Of those that likely can be run, where they are known and cost little more; others only fill up
    the number that is wanted. The best one comes first whatever it is.
    """
    plain = _pick(task, scored)
    if task.usual is None or not len(plain) or task.usual(scored.X[plain]).all():
        return plain
    usual = _usual(task, scored)
    chosen = usual[_pick(task, scored.take(usual))] if len(usual) else usual
    if len(chosen) < task.count:
        chosen = np.concatenate([chosen, plain[~np.isin(plain, chosen)]])
    return chosen if chosen[0] == 0 else np.concatenate([[0], chosen[chosen != 0]])


def _usual(task: SearchTask, scored: ScoredCandidates) -> NDArray[np.int64]:
    """Positions of candidates that likely can be run and cost little more than the best."""
    assert task.usual is not None
    most = task.settings.search.budget if task.proximity else _LOSS
    cheap = np.flatnonzero(_cost(task, scored) <= most) if len(scored) > 1 else np.arange(1)
    found: list[NDArray[np.int64]] = []
    count, first, size = 0, 0, _LOOKED_AT
    while first < len(cheap) and count < _USUAL * task.count:
        some = cheap[first : first + size]
        some = some[task.usual(scored.X[some])]
        found.append(some)
        first, size, count = first + size, 2 * size, count + len(some)
    return np.concatenate(found) if found else np.empty(0, dtype=np.int64)


def _pick(task: SearchTask, scored: ScoredCandidates) -> NDArray[np.int64]:
    """The same, whether they can be run or not.

    Those that past runs support, where it is known which they are, and as many of which nothing
    is in doubt, where something is about the first. The best one comes first whatever it is: where
    it is unsupported, it is worth a run.
    """
    chosen = _choose(task, scored)
    if not len(chosen):
        return chosen
    if task.supported is not None and not task.supported(scored.X[chosen]).all():
        fine = positions(task, scored, task.supported)
        if not len(fine):
            return chosen
        chosen = fine[_choose(task, scored.take(fine))]
    if task.trusted is not None and not task.trusted(scored.X[chosen[:1]])[0]:
        sure = positions(task, scored, task.trusted)
        if len(sure):
            more = sure[_choose(task, scored.take(sure))]
            chosen = np.concatenate([chosen, more[~np.isin(more, chosen)][:_SURER]])
    return chosen if chosen[0] == 0 else np.concatenate([[0], chosen])


def _choose(task: SearchTask, scored: ScoredCandidates) -> NDArray[np.int64]:
    """Positions of the answers, of all that there are.

    The best one comes first whatever it is. The others are at least `distinct` away from each
    other; the diversity weight decides how much more they may cost for being different. Where that
    is known, they are near past runs: an alternative that nobody has come close to trying
    helps nobody. Where the best past run is known and nobody asks for more diversity, the expected
    improvement on that run decides.
    """
    if not len(scored):
        return np.empty(0, dtype=np.int64)
    past_runs = task.past_runs
    beatable = past_runs is not None and past_runs.best >= 0 and not task.proximity
    if past_runs is not None and beatable and task.settings.loss.diversity <= 1:
        return choose_untried(task, past_runs, scored)
    cost = _cost(task, scored)
    if task.count > 1 and task.familiar is not None:
        sets = _growing_sets(task, scored, cost, np.arange(len(scored)))
        pool = np.unique(np.concatenate([chosen for _, chosen in sets]))
        unfamiliar = ~task.familiar(scored.X[pool])
        unfamiliar[0] = False
        known = pool[~unfamiliar]
        if len(known) < task.count:
            known = np.sort(np.append(known, pool[unfamiliar][: task.count - len(known)]))
    else:
        known = np.arange(len(scored))
    chosen = _least_loss(task, scored, cost, _growing_sets(task, scored, cost, known))
    return np.concatenate([chosen[:1], np.sort(chosen[1:])])


def _least_loss(
    task: SearchTask,
    scored: ScoredCandidates,
    cost: Floats,
    sets: list[tuple[float, NDArray[np.int64]]],
) -> NDArray[np.int64]:
    """Of several sets of answers the one with the least loss: costs less the reward for diversity.

    A set is only considered if it is more diverse than all with a smaller budget. Then more weight
    on diversity never gives a less diverse set: of two sets the more diverse one gains more by it.
    """
    weight, limit = task.settings.loss.diversity, task.settings.search.budget
    best, least, widest = sets[0][1], np.inf, -np.inf
    for budget, chosen in sets:
        apart = loss.diversity(scored.X[chosen], task.geometry)
        if apart <= widest or budget > limit * max(weight, 1.0):
            continue
        widest = apart
        total = float(cost[chosen].sum()) - weight * apart
        if total <= least:
            best, least = chosen, total
    return best


def _growing_sets(
    task: SearchTask, scored: ScoredCandidates, cost: Floats, known: NDArray[np.int64]
) -> list[tuple[float, NDArray[np.int64]]]:
    """Sets of different answers under growing budgets for what each may cost more than the best."""
    budgets = task.settings.search.budget * np.array(_BUDGETS)
    own = _Beside(Distinct.of(task), scored.take(known))
    return [(float(b), known[_different(own, cost[known], b)]) for b in budgets]


@dataclass(frozen=True, eq=False)
class _Beside:
    """Candidates beside chosen ones; budgets often choose the same, which are compared once."""

    distinct: Distinct
    scored: ScoredCandidates
    _known: dict[int, tuple[Floats, Bools]] = field(default_factory=dict)

    def __call__(self, chosen: int) -> tuple[Floats, Bools]:
        """How far all candidates [n] are from one, and which are worth having beside it."""
        if chosen not in self._known:
            X, task = self.scored.X, self.distinct.task
            apart = distances(X, X[chosen], task.movable, task.geometry)
            self._known[chosen] = apart, self.distinct.another(self.scored, chosen)
        return self._known[chosen]


def _different(beside: _Beside, cost: Floats, budget: float) -> NDArray[np.int64]:
    """The best and then, one by one, what differs most from those before it within the budget.

    When nothing different is left within the budget, the cheapest of the others follow.
    """
    task = beside.distinct.task
    least = max(task.settings.search.distinct, 1e-12)
    chosen = [0]
    nearest, worth = beside(0)
    while len(chosen) < task.count:
        fits = worth & (nearest >= least)
        if not fits.any():
            break
        cheap = fits & (cost <= budget)
        if cheap.any():
            best = int(np.argmax(np.where(cheap, nearest, -np.inf)))
        else:
            best = int(np.argmin(np.where(fits, cost, np.inf)))
        chosen.append(best)
        apart, other = beside(best)
        nearest, worth = np.minimum(nearest, apart), worth & other
    return np.asarray(chosen, dtype=np.int64)


def _cost(task: SearchTask, scored: ScoredCandidates) -> Floats:
    """What a candidate costs more than the best one, [n].

    A change counts in standard deviations of its parameter, a missed goal in those of its outcome,
    and a worse value relative to the best: what is minimised may be small beside its deviation.
    """
    cost = np.maximum(scored.valid - scored.valid[0], 0.0)
    worse = np.maximum(scored.preference - scored.preference[0], 0.0)
    if worse.any():
        cost = cost + worse / (_WORSE * _size(task, scored.X[:1]))
    if task.proximity:
        weight = task.settings.loss.proximity
        cost = cost + weight * np.maximum(scored.proximity - scored.proximity[0], 0.0)
    return np.asarray(cost)


def _size(task: SearchTask, best: Floats) -> float:
    """How large the predicted values of the objectives are at the best candidate [1, d]."""
    predicted = {name: scores[:, 0] for name, scores in task.predict(best).items()}
    values = objective_values(task.targets, predicted, (1,))
    return max(float(preference(np.abs(values))[0]), 1e-12)
