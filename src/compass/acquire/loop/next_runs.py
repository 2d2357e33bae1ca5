"""The runs worth making next: starts first, then what models expect most of."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from compass.acquire.loop import forest
from compass.acquire.loop.ask import LATEST, Ask
from compass.acquire.loop.calibration import SPREAD, widening
from compass.acquire.loop.members import (
    FEWEST,
    Belief,
    belief_of,
    bounds_of,
    counts,
    left_out_errors,
    uses_history,
)
from compass.acquire.loop.problem import (
    History,
    LoopProblem,
    LoopProposal,
    NextRuns,
    Reason,
    Seen,
)
from compass.acquire.loop.starts import spread
from compass.acquire.loop.stop import exhausted, gains, stop_facts, unknown
from compass.acquire.loop.turns import credits_of, turn
from compass.execute.one_thread import one_thread

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

_LIKELY = 0.5  # to meet the conditions where a history was made
_EACH = 4  # candidates looked at for each start: of many, the corners would be furthest apart
_DIGITS = 9  # of a score: what differs less is the same, whatever the order of summing up


def next_runs(
    problem: LoopProblem,
    seen: Seen,
    *,
    pending: Floats,
    count: int,
    history: History | None = None,
    positive: bool,
) -> NextRuns:
    """Up to `count` runs to make next, none of them run or pending [k, d], and whether to stop.

    `positive`: the loss is above 0, and a factor counts the same everywhere.
    """
    ask = Ask(problem, seen, pending.reshape(-1, len(problem.space)), positive, history)
    with one_thread():
        return _next_runs(ask, count)


def _next_runs(ask: Ask, count: int) -> NextRuns:
    """The same on one thread."""
    if not len(ask.candidates):
        return NextRuns((), exhausted(ask))
    first = min(count, max(ask.problem.settings.starts - len(ask.made), 0))
    if len(ask.outcomes) < FEWEST:
        first = count
    started = _starts(ask, first)
    if first >= count:
        return NextRuns(started, unknown(ask))
    if started:
        waiting = np.concatenate([ask.pending, *(one.x[None, :] for one in started)])
        ask = replace(ask, pending=waiting)
    found = _modelled(ask, count - len(started))
    return replace(found, proposals=(*started, *found.proposals))


def _starts(ask: Ask, count: int) -> tuple[LoopProposal, ...]:
    """Runs far from everything that was made; with a history every other one is its best."""
    if not count:
        return ()
    some = np.sort(ask.rng.permutation(len(ask.candidates))[: _EACH * count])
    made = ask.problem.inputs(ask.made).Z
    far = some[spread(ask.points.Z[some], count, made, ask.rng)].tolist()
    near: list[int] = [] if ask.there is None else _best_there(ask, ask.there).tolist()
    proposals: list[LoopProposal] = []
    taken: set[int] = set()
    for number in range(len(ask.made), len(ask.made) + min(count, len(ask.candidates))):
        from_history = bool(near) and number % 2 == 0
        source = near if from_history or not far else far
        place = next(one for one in source if one not in taken)
        taken.add(place)
        far = [one for one in far if one != place]
        reason = Reason.HISTORY if from_history else Reason.START
        proposals.append(_unmodelled(ask.candidates[place], reason))
    return tuple(proposals)


def _best_there(ask: Ask, there: Floats) -> Places:
    """The candidates in the order of what the history says: first what met the conditions there."""
    history = ask.history
    missed = np.zeros(len(there), dtype=np.bool_)
    if history is not None and history.meets is not None and not history.meets.all():
        settings, Z = ask.problem.settings, ask.problem.inputs(history.X[-LATEST:]).Z
        meets = history.meets[-LATEST:].astype(np.float64)
        grown = forest.grown(Z, meets, settings.trees, ask.problem.seed)
        missed = forest.beliefs(grown, ask.points.Z)[0] < _LIKELY
    return np.lexsort((there, missed))


def _unmodelled(x: Floats, reason: Reason) -> LoopProposal:
    nothing = float("nan")
    return LoopProposal(
        x=x,
        mean=nothing,
        low=nothing,
        high=nothing,
        failure=nothing,
        improvement=nothing,
        member="",
        reason=reason,
    )


def _modelled(ask: Ask, count: int) -> NextRuns:
    """Runs that members propose in turn, each knowing those before it."""
    if ask.seen.conditions:
        ask = replace(ask, bounds=bounds_of(ask))
    history = uses_history(ask)
    shares = credits_of(ask)
    turns = [name for name in ask.seen.member if name]
    beliefs: dict[str, Belief] = {}
    wider: dict[str, float] = {}
    proposals: list[LoopProposal] = []
    taken: list[int] = []
    for _ in range(min(count, len(ask.candidates))):
        name = turn(shares, turns)
        turns.append(name)
        if name not in beliefs:
            beliefs[name] = belief_of(name, ask, history=history)
            wider[name] = widening(left_out_errors(name, ask, history=history), ask.seen.told)
            for place in taken:
                beliefs[name] = _told(ask, beliefs[name], place)
        if np.isin(beliefs[name].places, taken).all():
            break  # a batch as large as the shortlist
        at = _chosen(ask, beliefs[name], taken)
        proposals.append(_proposal(ask, beliefs[name], at, wider[name]))
        taken.append(int(beliefs[name].places[at]))
        if len(taken) < count:
            beliefs = {one: _told(ask, own, taken[-1]) for one, own in beliefs.items()}
    facts = stop_facts(ask, beliefs, proposals, history=history)
    used = None if ask.reference is None else history
    return NextRuns(tuple(proposals), facts, shares, used)


def _told(ask: Ask, belief: Belief, place: int) -> Belief:
    """A belief that knows of one more candidate that is being run."""
    point = ask.points.take(np.array([place]))
    return belief.knowing(point, place, counts=counts(ask.log_meets[place]))


def _chosen(ask: Ask, belief: Belief, taken: list[int]) -> int:
    """The position in a belief of the candidate with the largest expected improvement."""
    score = np.round(belief.score() + ask.log_success[belief.places], _DIGITS)
    score[np.isin(belief.places, taken)] = -np.inf
    return int(np.argmax(score))


def _proposal(ask: Ask, belief: Belief, at: int, wider: float) -> LoopProposal:
    outcomes, place = belief.outcomes, int(belief.places[at])
    mean, fails = float(belief.mean[at]), float(ask.failing[place])
    x, names = ask.candidates[place], ask.problem.space.names
    deviation = float(np.sqrt(max(float(belief.variance[at]) + belief.noise, 1e-12)))
    half = SPREAD * wider * deviation
    best, point = ask.seen.best, ask.points.take(np.array([place]))
    moved = np.flatnonzero(x != ask.seen.X[best]) if best >= 0 else np.empty(0, dtype=np.int64)
    away = ((ask.seen_points.Z - ask.points.Z[place]) ** 2).sum(axis=1)
    return LoopProposal(
        x=x,
        mean=float(outcomes.loss(mean)),
        low=float(outcomes.loss(mean - half)),
        high=float(outcomes.loss(mean + half)),
        failure=fails,
        improvement=float(gains(ask, belief)[at]),
        member=belief.member,
        reason=Reason.SWEEP if ask.swept else Reason.IMPROVEMENT,
        nearest=int(np.argmin(away)),
        changes=tuple(names[j] for j in moved),
        bounded=tuple(one.expected(point) for one in ask.bounds),
        meets=float(np.exp(ask.log_meets[place])),
        widening=wider,
    )
