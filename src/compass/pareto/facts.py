"""A front as a noun: values in units, volume, spread, knees, and which points are told apart.

Decision 0047 (docs/decisions).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from compass.domain.answer import Suggestion
from compass.domain.front import Direction, Front, FrontPoint, ReferenceFrom, TradeOff
from compass.domain.target import Target
from compass.generate.base import Bools, Floats, with_columns
from compass.generate.objectives import objective_values, objectives, sign
from compass.generate.score import score
from compass.generate.task import SearchTask
from compass.pareto.front import Positions, alike, extent, knees, nondominated, reference_of, spread
from compass.pareto.hypervolume import hypervolume
from compass.pareto.search import FoundFront, measured_front
from compass.prepare.legal import legal_mask

_SETTINGS = 1000  # past settings that are predicted for the reference


@dataclass(frozen=True, eq=False)
class Reference:
    """The point up to which trade-offs count, [k], turned so that smaller is better."""

    point: Floats
    origin: tuple[ReferenceFrom, ...]


@dataclass(frozen=True, eq=False)
class Point:
    """A point that is told: its suggestion, and where that stands."""

    suggestion: Suggestion
    place: int
    idea: bool


def in_units(task: SearchTask, values: Floats) -> Floats:
    """Values [n, k] in the units of the outcomes, still turned so that smaller is better."""
    scales = np.array([target.scale for target in objectives(task.targets)])
    return np.asarray(values * scales)


def reference_point(task: SearchTask) -> Reference:
    """The reference of a task, before anything is searched: what is given, else from past runs."""
    aims = objectives(task.targets)
    given = task.query.reference
    if all(target.name in given for target in aims):
        found, origin = np.zeros(len(aims)), ReferenceFrom.GIVEN
    else:
        values, origin = _known_values(task)
        front = values[nondominated(values)]
        found = reference_of(front, values)
    for place, target in enumerate(aims):
        if target.name in given:
            found[place] = sign(target) * given[target.name]
    whence = [ReferenceFrom.GIVEN if t.name in given else origin for t in aims]
    here = values_here(task)
    if here is not None:
        # What is traded from a run counts from there on: its own values lie before the reference.
        behind = reference_of(np.array([here, found]), np.array([here, found]))
        for place in np.flatnonzero((here >= found) & np.isfinite(here)).tolist():
            if whence[place] is not ReferenceFrom.GIVEN:
                found[place], whence[place] = behind[place], ReferenceFrom.BASELINE
    return Reference(found, tuple(whence))


def values_here(task: SearchTask) -> Floats | None:
    """The outcomes at the baseline, [k] in units; None without one."""
    if task.baseline is None:
        return None
    return np.asarray(in_units(task, score(task, task.origin[None, :]).values)[0])


def _known_values(task: SearchTask) -> tuple[Floats, ReferenceFrom]:
    """What is known before a search, [n, k] in units: what was measured in the context.

    Where nothing was, or the context is not a single one: past settings as predicted in it.
    """
    measured = measured_values(task)
    if len(np.unique(measured, axis=0)) > 1:
        return measured, ReferenceFrom.MEASURED
    rng = np.random.default_rng(task.seed)
    observed = task.observed
    if len(observed) > _SETTINGS:
        observed = observed[np.sort(rng.choice(len(observed), _SETTINGS, replace=False))]
    X = with_columns(task.start, task.movable, observed[:, task.movable])
    fine = np.ones(len(X), dtype=np.bool_)
    for column in task.movable:
        fine &= legal_mask(task.space.parameters[column], X[:, column])
    X = np.concatenate([task.start[None, :], X[fine]])
    scored = score(task, X)
    legal = scored.violation == 0
    scored = scored.take(legal) if legal.any() else scored
    return in_units(task, scored.values), ReferenceFrom.PREDICTED


def measured_values(task: SearchTask) -> Floats:
    """What was measured at the configurations of the context, [n, k] in units; or [0, k]."""
    past = task.past_runs
    if past is None:
        return np.empty((0, len(objectives(task.targets))))
    rows = np.flatnonzero(past.counts(task))
    measured = {name: values[rows][:, 0] for name, values in past.mean.items()}
    return in_units(task, objective_values(task.targets, measured, (len(rows),)))


def measured_volume(task: SearchTask, reference: Reference) -> float | None:
    """The volume that measured configurations dominate; None where none are comparable."""
    past = task.past_runs
    if past is None:
        return None
    rows = measured_front(task)
    measured = {name: values[rows][:, 0] for name, values in past.mean.items()}
    values = in_units(task, objective_values(task.targets, measured, (len(rows),)))
    return hypervolume(values, reference.point).value


def front_of(
    found: FoundFront, chosen: Positions, told: Sequence[Point], reference: Reference
) -> Front:
    """The noun of a front: `chosen` are the positions in `found` of the points that are told."""
    task = found.task
    aims = objectives(task.targets)
    every, values = in_units(task, found.values), in_units(task, found.values[chosen])
    sure = np.array([not one.idea for one in told], dtype=np.bool_)
    shown = values[sure]
    whole = hypervolume(shown, reference.point)
    directions: dict[str, Direction] = {t.name: t.direction for t in aims if t.direction}
    ideal = shown.min(axis=0) if len(shown) else reference.point
    covered = extent(shown, ideal, reference.point) if len(shown) else np.zeros(len(aims))
    names = [target.name for target in aims]
    turn = np.array([sign(target) for target in aims])
    return Front(
        directions=directions,
        reference=dict(zip(names, (turn * reference.point).tolist(), strict=True)),
        reference_from=dict(zip(names, reference.origin, strict=True)),
        hypervolume=whole.value,
        hypervolume_error=whole.error,
        hypervolume_found=hypervolume(every[found.supported], reference.point).value,
        hypervolume_measured=measured_volume(task, reference),
        found=int((found.supported & ~found.promising).sum()) if found.meets else 0,
        spread=spread(shown, ideal, reference.point),
        extent=dict(zip(names, covered.tolist(), strict=True)),
        points=_points(found.take(chosen), values, sure, told),
    )


def _points(
    found: FoundFront, values: Floats, sure: Bools, told: Sequence[Point]
) -> tuple[FrontPoint, ...]:
    task = found.task
    aims = objectives(task.targets)
    turn = np.array([sign(target) for target in aims])
    names = [target.name for target in aims]
    runs, own = _runs(task, found.scored.X), np.zeros(len(values), dtype=np.bool_)
    if task.past_runs is not None:
        own = np.isin(task.past_runs.find(found.scored.X), measured_front(task))
    apart = _alike([one.suggestion for one in told], aims)
    bends = np.zeros(len(values), dtype=np.bool_)
    bends[_knees(values, np.flatnonzero(sure & found.on_front))] = True
    best = values[sure] if sure.any() else values
    outcomes = turn * values
    here = values_here(task)
    sure_front = np.zeros(len(values), dtype=np.bool_)
    sure_front[sure] = nondominated(values[sure])
    return tuple(
        FrontPoint(
            place=one.place,
            idea=one.idea,
            settings=one.suggestion.settings,
            values={t.name: float(v) for t, v in zip(aims, outcomes[i], strict=True)},
            measured=int(runs[i]),
            best_measured=bool(own[i]),
            dominated=not bool(found.on_front[i]),
            promising=bool(found.promising[i]),
            knee=bool(bends[i]),
            change={} if here is None else _changes(names, turn, values[i], here),
            smaller_change=here is not None and bool(sure[i] and not sure_front[i]),
            alike=tuple(int(j) for j in np.flatnonzero(apart[i]) if j != i),
            against=against(names, turn, values[i], best),
        )
        for i, one in enumerate(told)
    )


def _changes(names: Sequence[str], turn: Floats, own: Floats, other: Floats) -> dict[str, float]:
    """By how much the outcomes of a point [k] are more than those of another one, as shares."""
    return {
        name: float(turn[j] * (own[j] - other[j]) / abs(other[j]))
        for j, name in enumerate(names)
        if other[j]
    }


def _knees(values: Floats, places: Positions) -> Positions:
    """Positions of the knees among the points [n, k] at these places: of those on their front.

    From a baseline others are there because they are smaller changes.
    """
    places = places[nondominated(values[places])]
    return places[knees(values[places])]


def _runs(task: SearchTask, X: Floats) -> Positions:
    """How many past runs there are of each configuration [n], measured in everything."""
    past = task.past_runs
    if past is None:
        return np.zeros(len(X), dtype=np.int64)
    place = past.find(X)
    counts = [past.runs[target.name] for target in objectives(task.targets)]
    return np.where(place >= 0, np.min(counts, axis=0)[place], 0)


def _alike(suggestions: Sequence[Suggestion], aims: Sequence[Target]) -> Bools:
    """Which points are not told apart, [n, n], going by the intervals of new runs."""
    low = np.full((len(suggestions), len(aims)), -np.inf)
    high = np.full(low.shape, np.inf)
    for i, one in enumerate(suggestions):
        for k, target in enumerate(aims):
            outcome = one.outcome(target.name)
            if outcome.low is not None and outcome.high is not None:
                low[i, k], high[i, k] = outcome.low, outcome.high
    return alike(low, high)


def against(names: Sequence[str], turn: Floats, own: Floats, front: Floats) -> tuple[TradeOff, ...]:
    """A point [k] beside the best points of a front [n, k]; `turn` [k] makes them outcomes."""
    found = []
    for k, name in enumerate(names):
        best = front[int(np.lexsort((front.sum(axis=1), front[:, k]))[0])]
        found.append(TradeOff(best=name, changes=_changes(names, turn, own, best)))
    return tuple(found)
