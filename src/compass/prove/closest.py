"""Lower bounds by asking, again and again, for something better than the best so far."""

import math
from dataclasses import dataclass, replace

import numpy as np

from compass.domain.space import Number
from compass.generate.base import Floats
from compass.generate.repair import settle
from compass.generate.score import score
from compass.generate.task import SearchTask
from compass.prove.axes import cuts_of
from compass.prove.clock import Clock
from compass.prove.question import End, Question, Value, Wanted

CLOSED = 1e-5  # a distance, or its share above 1, that is no longer told apart
_VALUE_CLOSED = 3e-6  # the same for a value, in standard deviations: a little over its rounding
_ROUNDS = 16
_SLICE = 0.25  # of the time that is left, for one step of halving
_SMALLEST = 0.02
_LIGHT = 1500  # leaves up to which a question is asked at once
_LADDER = (0.5, 0.4, 0.3)  # else so much of the way to the best known is tried first, from the end


@dataclass(frozen=True)
class Bounded:
    """The best that is known, and what nothing can be better than."""

    x: Floats
    amount: float  # its distance, or its value
    bound: float | None
    proved: bool
    cut: bool = False


def closed(amount: float) -> float:
    """What a distance may be away from its bound and still count as proved."""
    return CLOSED * max(1.0, abs(amount))


def least_change(question: Question, x: Floats, wanted: Wanted) -> Bounded:
    """The smallest change, starting from a configuration that does what is wanted."""
    task = question.task
    best, amount = x, float(score(task, x[None, :]).proximity[0])
    bound, shares = 0.0, [1.0]
    for _ in range(_ROUNDS):
        most = amount - closed(amount)
        if most <= bound:
            return Bounded(best, amount, bound, proved=True)
        share = shares.pop() if len(shares) > 1 else shares[0]
        budget = bound + share * (most - bound)
        wish = replace(wanted, budget=budget, minimise="cost")
        run = question.ask(wish, light=_LIGHT if shares == [1.0] and bound == 0 else None)
        if run.heavy:
            # Smaller changes are excluded sooner: if time runs out, that much is known.
            shares = [1.0, *_LADDER]
            continue
        if run.end is End.IMPOSSIBLE:
            bound = budget
            if share == 1.0:
                return Bounded(best, amount, bound, proved=True)
            continue
        bound = max(bound, run.bound or 0.0)
        closer = None if run.x is None else _allowed(question, run.x, wanted, amount)
        if closer is not None:
            best, amount = closer
        if amount - bound <= closed(amount):
            return Bounded(best, amount, bound, proved=True)
        if closer is None or run.cut:
            return Bounded(best, amount, bound, proved=False, cut=run.cut)
    return Bounded(best, amount, bound, proved=False, cut=True)


def _allowed(
    question: Question, x: Floats, wanted: Wanted, amount: float
) -> tuple[Floats, float] | None:
    """A configuration with what nobody asked for where it was, if that still does it."""
    task = question.task
    settled = settle(task, x[None, :])
    scored = score(task, settled)
    fine = scored.violation[0] == 0 and scored.valid[0] <= 0 and scored.proximity[0] < amount
    if wanted.value is not None and math.isfinite(wanted.most):
        fine = fine and scored.preference[0] <= wanted.value.preference(wanted.most)
    return (settled[0], float(scored.proximity[0])) if fine else None


def best_value(question: Question, x: Floats, value: Value, wanted: Wanted) -> Bounded:
    """The best value, starting from a configuration that does what is wanted.

    Small questions are asked at once. Large ones are halved: values far better than the best known
    are excluded sooner, so that something is known whenever time runs out.
    """
    task, clock = question.task, question.clock
    best, amount = x, float(score(task, x[None, :]).preference[0])
    bound, share = value.preference(floor_of(question, value)), 1.0
    light: int | None = _LIGHT
    while clock.left > 0:
        goal = amount - _VALUE_CLOSED * max(1.0, abs(amount))
        if goal <= bound:
            return Bounded(best, amount, bound, proved=True)
        most = bound + share * (goal - bound)
        wish = replace(wanted, value=value, most=value.raw(most), minimise="value")
        question.clock = clock if share == 1.0 else Clock.of(_SLICE * clock.left)
        run = question.ask(wish, light=light)
        question.clock = clock
        light = None
        if run.bound is not None:
            bound = max(bound, min(value.preference(run.bound), goal))
        better = None if run.x is None else _better_value(task, run.x, amount)
        if run.end is End.IMPOSSIBLE:
            bound, share = max(bound, most), min(1.0, 1.5 * share)
        elif better is not None:
            best, amount = better
        elif run.heavy:
            share = 0.5
        elif not run.cut or share < _SMALLEST:
            return Bounded(best, amount, bound, proved=False, cut=run.cut)
        else:
            share /= 2
    return Bounded(best, amount, bound, proved=False, cut=True)


def _better_value(task: SearchTask, x: Floats, amount: float) -> tuple[Floats, float] | None:
    """A configuration with what nobody asked for where it was, if that is still better."""
    scored = score(task, settle(task, x[None, :]))
    fine = scored.violation[0] == 0 and scored.valid[0] <= 0 and scored.preference[0] < amount
    return (scored.X[0], float(scored.preference[0])) if fine else None


def floor_of(question: Question, value: Value) -> float:
    """A sum that no configuration goes below: the best leaf of every tree."""
    total = 0.0
    for name, weights in value.terms:
        outcome = question.outcomes[name]
        total += float(outcome.offset @ weights)
        for forest, factor in outcome.parts:
            leaf = np.flatnonzero(forest.feature < 0)
            width = forest.value.shape[1]
            tree = np.searchsorted(forest.roots, leaf, side="right") - 1
            column = forest.slot[tree][:, None] + np.arange(width)
            amount = (forest.value[leaf] * weights[column]).sum(axis=1) * factor
            first = np.flatnonzero(np.diff(tree, prepend=-1))
            total += float(np.minimum.reduceat(amount, first).sum())
    return total - 1e-9 * max(1.0, abs(total))


def pulled(question: Question, x: Floats) -> Floats:
    """A configuration with numbers that have no grid at the nearest end of their cells.

    Answers tell such numbers in few digits, which costs a little distance.
    """
    task = question.task
    forests = [f for outcome in question.outcomes.values() for f in outcome.forests]
    best = x
    for column in map(int, task.movable):
        if _gridless(task, column) and x[column] != task.start[column]:
            cuts = cuts_of(forests, column)
            cell = int(np.searchsorted(cuts, x[column]))
            parameter = task.space.parameters[column]
            assert isinstance(parameter, Number)
            low = np.nextafter(cuts[cell - 1], np.inf) if cell > 0 else parameter.low
            high = cuts[cell] if cell < len(cuts) else parameter.high
            near = best.copy()
            near[column] = np.clip(task.start[column], low, high)
            best = _nearer(task, best, near, column)
    return best


def _gridless(task: SearchTask, column: int) -> bool:
    parameter = task.space.parameters[column]
    return (
        isinstance(parameter, Number)
        and parameter.step is None
        and parameter.allowed is None
        and task.geometry.none[column] not in (task.start[column],)
    )


def _nearer(task: SearchTask, x: Floats, near: Floats, column: int) -> Floats:
    """`near` if it is as good and legal, else x."""
    parameter = task.space.parameters[column]
    assert isinstance(parameter, Number)
    if not parameter.low <= near[column] <= parameter.high:
        return x
    scored = score(task, np.stack([x, near]))
    fine = (
        scored.violation[1] == 0
        and scored.valid[1] <= 0
        and scored.preference[1] <= scored.preference[0]
        and scored.proximity[1] < scored.proximity[0]
    )
    return near if fine else x
