"""The front of a search task: legal configurations that nothing found dominates.

Everything that is tried obeys the rules. What past runs measured is among it, and counts with what
was measured. From a baseline the change counts as one more outcome: a point is on the front if
nothing as good is a smaller change.

Decision 0047 (docs/decisions).
"""

from dataclasses import dataclass, replace

import numpy as np

from compass.domain.target import Target
from compass.generate.base import Bools, Candidates, Floats
from compass.generate.blocks import Block, blocks
from compass.generate.certain import reached
from compass.generate.objectives import objectives
from compass.generate.pairwise import PairwiseSearch, pairwise_search
from compass.generate.past import usable
from compass.generate.repair import restore_forced
from compass.generate.score import ScoredCandidates, order, score, score_targets
from compass.generate.search import (
    combinations,
    every_combination,
    first_of_each,
    plain_numbers,
    population_size,
    seeds,
    unique,
)
from compass.generate.supported import towards_past_runs
from compass.generate.task import SearchTask
from compass.generate.variation import children, variation_of
from compass.pareto.front import Positions, nondominated, reference_of, representatives
from compass.pareto.improvement import expected_improvement

_LOOKED_AT = 600  # tried points, front by front, whose chance and support are worked out
_LAYERS = 6  # fronts that are looked at for that
_PATIENCE = 3  # generations that add nothing to the front end the search
_HELD = 256  # measured configurations on the front of their own, at most
_BETWEEN = 3  # points of the front from where each outcome is improved, the others held
_DOUBTED = 8  # points of the front that are moved towards past runs where none support them
_SLACK = 1e-9
_POINTS = 12  # trade-offs that are told, where nobody says how many


@dataclass(frozen=True, eq=False)
class FoundFront:
    """The front that a search found; all of it is legal and obeys every rule."""

    task: SearchTask  # as it was searched: its targets are shifted to keep the chance
    scored: ScoredCandidates  # [m] points, by the first outcome
    on_front: Bools  # [m] nothing else dominates it; others were measured, or are promising
    promising: Bools  # [m] it is there for what it may be
    supported: Bools  # [m] past runs support it
    exhaustive: bool
    evaluated: int
    meets: bool  # whether the goals beside the extremes are met; else these come closest

    def __len__(self) -> int:
        return len(self.scored)

    @property
    def values(self) -> Floats:
        """What is minimised, [m, k], in standard deviations."""
        return self.scored.values

    def take(self, index: Positions) -> "FoundFront":
        """The points at these positions."""
        return replace(
            self,
            scored=self.scored.take(index),
            on_front=self.on_front[index],
            promising=self.promising[index],
            supported=self.supported[index],
        )

    def candidates(self) -> Candidates:
        """The points as candidates of the search, in their order."""
        late = self.task.timed_out and not self.exhaustive
        found = self.scored.candidates(
            exhaustive=self.exhaustive, evaluated=self.evaluated, timed_out=late
        )
        return replace(found, meets=np.full(len(self), self.meets))


def find_front(task: SearchTask, more: Floats | None = None) -> FoundFront:
    """The front of a task with two or more objectives; `more` [n, d] are tried as well.

    Raises ConflictingRules when nothing can be legal. Empty when nothing legal was found.
    """
    searched = task
    if task.chances is not None:
        searched = replace(task, targets=task.chances.shifted(task.start))
    tried, exhaustive = _tried(searched)
    if more is not None and len(more):
        tried = ScoredCandidates.join([tried, score(searched, more)])
    evaluated = len(tried)
    legal = tried.take(np.flatnonzero(tried.violation == 0))
    legal = legal.take(first_of_each(legal.X, np.arange(len(legal)))) if len(legal) else legal
    return _front_of(task, searched, legal, exhaustive=exhaustive, evaluated=evaluated)


def costs(task: SearchTask, scored: ScoredCandidates) -> Floats:
    """What has to be small, [n, k]: the values, and from a baseline the change as well."""
    if not task.proximity:
        return scored.values.copy()
    return np.column_stack([scored.values, scored.proximity])


def measured_front(task: SearchTask) -> Positions:
    """Positions among the past runs of the context: usable ones that none dominates as measured.

    Nothing where only the model counts.
    """
    past = task.past_runs
    if past is None:
        return np.empty(0, dtype=np.int64)
    rows = np.flatnonzero(past.counts(task))
    measured = {name: values[rows] for name, values in past.mean.items()}
    aims = score_targets(task, measured, len(rows))
    rows, values = rows[aims.valid <= 0], aims.values[aims.valid <= 0]
    # Nearly all past runs obey the rules: those behind the first fronts are looked at if none does.
    first = _near(values, _HELD)
    for some in (first, np.arange(len(rows))):
        fine = some[usable(task, past.X[rows[some]])] if len(some) else some
        if len(fine):
            return np.asarray(rows[fine[nondominated(values[fine])]][:_HELD])
    return np.empty(0, dtype=np.int64)


def layers(values: Floats, enough: int) -> list[Positions]:
    """Positions of the front [n, k], of the front of the rest, and so on until there are enough."""
    left = np.arange(len(values))
    found: list[Positions] = []
    for _ in range(_LAYERS):
        if not len(left) or sum(len(some) for some in found) >= enough:
            break
        first = nondominated(values[left])
        found.append(left[first])
        left = left[~first]
    return found


def _near(values: Floats, enough: int) -> Positions:
    """The same in one array."""
    return np.concatenate([*layers(values, enough), np.empty(0, dtype=np.int64)])


def _tried(task: SearchTask) -> tuple[ScoredCandidates, bool]:
    """What was tried, valued with what was measured, and whether that is all there is."""
    bare = replace(task, past_runs=None)
    if not len(task.movable):
        return score(task, task.start[None, :]), True
    groups = blocks(bare)
    if any(block.table is not None and not len(block.table) for block in groups):
        return score(bare, task.start[None, :][:0]), False
    few = combinations(groups) <= task.settings.search.enumerate
    exhaustive = few and all(block.complete for block in groups)
    found = score(bare, restore_forced(bare, every_combination(bare, groups))) if few else None
    if not exhaustive:
        found = _search(bare, groups, found)
        found = ScoredCandidates.join([found, _nearer_past_runs(bare, found)])
    assert found is not None
    return _with_measured(task, found), exhaustive


def _with_measured(task: SearchTask, tried: ScoredCandidates) -> ScoredCandidates:
    """The same with past runs of the context counted as measured, their own front among them."""
    past = task.past_runs
    if past is None:
        return tried
    own = past.X[measured_front(task)]
    known = past.find(tried.X) >= 0
    again = score(task, np.concatenate([own, tried.X[known]]))
    return ScoredCandidates.join([again, tried.take(~known)])


def _search(
    task: SearchTask, groups: list[Block], tried: ScoredCandidates | None
) -> ScoredCandidates:
    """Seeds, a population that is kept along the front, and descents to the ends and between."""
    rng = np.random.default_rng(task.seed)
    size = population_size(task)
    variation = variation_of(task, groups)
    archive = [score(task, unique(restore_forced(task, seeds(variation, rng))))]
    if tried is not None:
        archive.append(tried.take(_near(costs(task, tried), size)))
    population = _kept(task, ScoredCandidates.join(archive), size)
    unchanged, before = 0, _front_sum(task, population)
    for _ in range(2 * task.settings.search.generations):
        offspring = children(variation, population.X, size, rng)
        fresh = score(task, unique(restore_forced(task, offspring)))
        population = _kept(task, ScoredCandidates.join([population, fresh]), size)
        archive.append(fresh)
        now = _front_sum(task, population)
        unchanged, before = (unchanged + 1 if now == before else 0), now
        if task.timed_out or unchanged >= _PATIENCE:
            break
    return ScoredCandidates.join([*archive, *_descents(task, groups, population)])


def _front_sum(task: SearchTask, population: ScoredCandidates) -> float:
    """A number that changes when the front of a population does."""
    fine = population.take((population.violation == 0) & (population.valid <= 0))
    return float(fine.values[nondominated(costs(task, fine))].sum()) if len(fine) else np.inf


def _kept(task: SearchTask, scored: ScoredCandidates, size: int) -> ScoredCandidates:
    """Different candidates, best first: front by front, those with more room first."""
    scored = scored.take(first_of_each(scored.X, np.arange(len(scored))))
    fine = (scored.violation == 0) & (scored.valid <= 0)
    good = np.flatnonzero(fine)
    values = costs(task, scored.take(good))
    fronts = layers(values, size)
    ranked = [front[np.argsort(-_room(values[front]), kind="stable")] for front in fronts]
    best = good[np.concatenate([*ranked, np.empty(0, dtype=np.int64)])]
    poor = np.flatnonzero(~fine)
    poor = poor[order(task, scored.take(poor))] if len(best) < size else poor[:0]
    return scored.take(np.concatenate([best, poor])[:size])


def _room(values: Floats) -> Floats:
    """The distance [n] between the neighbours of each point, over all outcomes; ends: infinite."""
    room = np.zeros(len(values))
    for column in values.T:
        by = np.argsort(column, kind="stable")
        size = float(np.ptp(column)) or 1.0
        gaps = np.full(len(column), np.inf)
        gaps[by[1:-1]] = (column[by[2:]] - column[by[:-2]]) / size
        room += gaps
    return room


def _descents(
    task: SearchTask, groups: list[Block], population: ScoredCandidates
) -> list[ScoredCandidates]:
    """The ends of the front improved, and points between: one outcome, the others no worse."""
    found: list[ScoredCandidates] = []
    for problem, start in _problems(task, population):
        pairwise = pairwise_search(problem, groups)
        if pairwise is None or task.timed_out:
            break
        found.append(_descended(task, pairwise, start))
    return found


def _problems(
    task: SearchTask, population: ScoredCandidates
) -> list[tuple[SearchTask, ScoredCandidates]]:
    """Problems with one objective each, and where to start."""
    fine = population.take((population.violation == 0) & (population.valid <= 0))
    if not len(fine):
        return []
    front = fine.take(nondominated(costs(task, fine)))
    aims = objectives(task.targets)
    ends = [int(np.argmin(column)) for column in front.values.T]
    found = [(_only(task, k), _one(front, place)) for k, place in enumerate(ends)]
    whole = reference_of(front.values, front.values)
    some = representatives(front.values, whole, _BETWEEN + len(aims))
    between = [int(place) for place in some if place not in ends]
    for turn, place in enumerate(between[:_BETWEEN]):
        found.append((_only(task, turn % len(aims), front.values[place]), _one(front, place)))
    return found


def _one(scored: ScoredCandidates, place: int) -> ScoredCandidates:
    return scored.take(np.array([place], dtype=np.int64))


def _only(task: SearchTask, place: int, values: Floats | None = None) -> SearchTask:
    """The task with one objective; the others no worse than `values` [k], where these are given."""
    aims = objectives(task.targets)
    targets: list[Target] = [t for t in task.targets if t.direction is None]
    for k, target in enumerate(aims):
        if k == place:
            targets.append(target)
        elif values is not None:
            slack = _SLACK * max(abs(float(values[k])), 1.0)
            bound = (float(values[k]) + slack) * target.scale
            limit = {"high": bound} if target.direction == "minimize" else {"low": -bound}
            targets.append(target.model_copy(update={"direction": None, **limit}))
    return replace(task, targets=tuple(targets), proximity=False)


def _descended(
    task: SearchTask, pairwise: PairwiseSearch, start: ScoredCandidates
) -> ScoredCandidates:
    """What a descent from there leads to, valued for all objectives."""
    own = score(pairwise.task, start.X)
    return score(task, restore_forced(task, pairwise.descend(own).X))


def _nearer_past_runs(task: SearchTask, tried: ScoredCandidates) -> ScoredCandidates:
    """Points between the front and past runs, where nothing supports points of the front."""
    fine = task.supported
    legal = tried.take((tried.violation == 0) & (tried.valid <= 0))
    if fine is None or not len(legal):
        return tried.take(np.empty(0, dtype=np.int64))
    front = legal.take(nondominated(costs(task, legal)))
    some = front.take(representatives(front.values, reference_of(front.values, front.values), 24))
    doubted = some.X[~fine(some.X)][:_DOUBTED]
    if not len(doubted):
        return tried.take(np.empty(0, dtype=np.int64))
    return score(task, restore_forced(task, towards_past_runs(task, doubted)))


def _front_of(
    task: SearchTask,
    searched: SearchTask,
    legal: ScoredCandidates,
    *,
    exhaustive: bool,
    evaluated: int,
) -> FoundFront:
    """The front of legal candidates: of what past runs support, and what would be beyond that."""
    near = _near_front(task, searched, legal)
    sure = _sure(task, near) if len(near) else np.zeros(0, dtype=np.bool_)
    about = exhaustive, evaluated, bool(sure.any())
    if not sure.any():
        closest = near.take(order(searched, near)[: task.count]) if len(near) else near
        whole = np.ones(len(closest), dtype=np.bool_)
        return FoundFront(searched, closest, whole, ~whole, _fine(task, closest), *about)
    near = near.take(sure)
    fine, values = _fine(task, near), costs(task, near)
    first, own = np.zeros(len(near), dtype=np.bool_), np.zeros(len(near), dtype=np.bool_)
    inside = np.flatnonzero(fine)
    first[inside] = nondominated(values[inside])
    if task.past_runs is not None:
        own = fine & np.isin(task.past_runs.find(near.X), measured_front(searched))
    beyond = ~fine & nondominated(values)
    more = _promising(task, near, values, fine, first | own)
    keep = np.flatnonzero(first | own | beyond | more)
    keep = keep[np.lexsort(values[keep].T[::-1])]
    chosen = _in_plain_numbers(searched, near.take(keep))
    return FoundFront(searched, chosen, (first | beyond)[keep], more[keep], fine[keep], *about)


def _promising(
    task: SearchTask, near: ScoredCandidates, values: Floats, fine: Bools, there: Bools
) -> Bools:
    """Which candidates [n] fill up the points to tell: untried ones that may extend the front.

    One by one, the one with the largest expected gain in volume; each is taken to turn out a
    standard deviation better than predicted, so that the next one is of another part.
    """
    chosen = np.zeros(len(near), dtype=np.bool_)
    past, wanted = task.past_runs, points_to_tell(task) - int(there.sum())
    if past is None or task.proximity or wanted <= 0 or not there.any():
        return chosen
    pool = np.flatnonzero(fine & ~there & (past.find(near.X) < 0))
    if not len(pool):
        return chosen
    deviations = past.doubts(near.X[pool])
    front = values[there]
    reference = reference_of(front[nondominated(front)], front)
    open_ = np.ones(len(pool), dtype=np.bool_)
    for _ in range(min(wanted, len(pool))):
        gains = expected_improvement(values[pool], deviations, front, reference)
        best = int(np.argmax(np.where(open_, gains, -1.0)))
        if gains[best] <= 0:
            break
        chosen[pool[best]] = True
        open_[best] = False
        front = np.concatenate([front, (values[pool] - deviations)[[best]]])
    return chosen


def points_to_tell(task: SearchTask) -> int:
    """How many points of a front are told."""
    return task.query.count or _POINTS


def _fine(task: SearchTask, scored: ScoredCandidates) -> Bools:
    """Which candidates [n] may be suggested: past runs support them, and they likely can be run."""
    fine = np.ones(len(scored), dtype=np.bool_)
    if not len(scored):
        return fine
    if task.supported is not None:
        fine = task.supported(scored.X).copy()
    if task.usual is not None and fine.any():
        usual = fine.copy()
        usual[fine] = task.usual(scored.X[fine])
        # Where nothing is as usual, all that is supported is as good as anything.
        fine = usual if usual.any() else fine
    return fine


def _near_front(
    task: SearchTask, searched: SearchTask, legal: ScoredCandidates
) -> ScoredCandidates:
    """Candidates worth a closer look: the fronts of those that meet the goals, else the closest."""
    fine = legal.take(legal.valid <= 0)
    if not len(fine) or task.chances is not None:
        # How likely goals are met depends on the configuration: others may do so as well.
        closest = legal.take(order(searched, legal)[:_LOOKED_AT])
        fine = ScoredCandidates.join([fine, closest.take(closest.valid > 0)])
    values = costs(task, fine)
    near = _near(values, _LOOKED_AT)
    if task.past_runs is not None:
        own = np.isin(task.past_runs.find(fine.X), measured_front(searched))
        near = np.union1d(near, np.flatnonzero(own))
    return fine.take(near)


def _sure(task: SearchTask, scored: ScoredCandidates) -> Bools:
    """Which candidates [n] meet every goal, with the chance that is asked for."""
    if task.chances is None:
        return np.asarray(scored.valid <= 0)
    return reached(task, scored.X, task.chances.least(scored.X), task.chances.chance)


def _in_plain_numbers(task: SearchTask, chosen: ScoredCandidates) -> ScoredCandidates:
    """Numbers without a grid with few digits, where that costs nothing."""
    if not len(chosen):
        return chosen
    plain = plain_numbers(task, chosen)
    same = (plain.values <= chosen.values).all(axis=1)
    which = np.arange(len(plain)) + np.where(same, 0, len(plain))
    return ScoredCandidates.join([plain, chosen]).take(which)
