"""Lower bounds: the solver is asked, again and again, for better than the incumbent."""

from dataclasses import dataclass, replace

import numpy as np

from compass.domain.space import Number
from compass.generate.base import Floats
from compass.generate.repair import restore_forced
from compass.generate.score import score
from compass.generate.task import SearchTask
from compass.prove.axes import cuts_of
from compass.prove.deadline import Deadline
from compass.prove.solver import ExactSolver
from compass.prove.subproblem import Objective, SolveStatus, Subproblem

CLOSED = 1e-5  # a distance, or its share above 1, that counts as none
_VALUE_CLOSED = 3e-6  # the same for a value, in standard deviations: a little over its rounding
_ROUNDS = 16
_SLICE = 0.25  # of the time that is left, for one step of halving
_SMALLEST = 0.02
_SMALL = 1500  # leaves up to which a subproblem is solved at once
_SHARES = (0.5, 0.4, 0.3)  # else so much of the way to the best known is tried first, from the end


@dataclass(frozen=True)
class Bounds:
    """The incumbent, and what nothing can be better than."""

    x: Floats
    amount: float  # its distance, or its preference
    bound: float | None  # no configuration has less
    proved: bool
    timed_out: bool = False


def closed(amount: float) -> float:
    """What a distance may be away from its bound and still count as proved."""
    return CLOSED * max(1.0, abs(amount))


def least_change(solver: ExactSolver, x: Floats, subproblem: Subproblem) -> Bounds:
    """The smallest change, starting from a configuration that solves the subproblem."""
    task = solver.task
    best, amount = x, float(score(task, x[None, :]).proximity[0])
    bound, shares = 0.0, [1.0]
    for _ in range(_ROUNDS):
        most = amount - closed(amount)
        if most <= bound:
            return Bounds(best, amount, bound, proved=True)
        share = shares.pop() if len(shares) > 1 else shares[0]
        budget = bound + share * (most - bound)
        harder = replace(subproblem, budget=budget, minimise="cost")
        result = solver.solve(harder, leaves=_SMALL if shares == [1.0] and bound == 0 else None)
        if result.too_large:
            # Smaller changes are excluded sooner: if time runs out, that much is known.
            shares = [1.0, *_SHARES]
            continue
        if result.status is SolveStatus.INFEASIBLE:
            bound = budget
            if share == 1.0:
                return Bounds(best, amount, bound, proved=True)
            continue
        bound = max(bound, result.bound or 0.0)
        closer = _closer(task, result.x, subproblem, amount)
        if closer is not None:
            best, amount = closer
        if amount - bound <= closed(amount):
            return Bounds(best, amount, bound, proved=True)
        if closer is None or result.timed_out:
            return Bounds(best, amount, bound, proved=False, timed_out=result.timed_out)
    return Bounds(best, amount, bound, proved=False, timed_out=True)


def _closer(
    task: SearchTask, x: Floats | None, subproblem: Subproblem, amount: float
) -> tuple[Floats, float] | None:
    """A configuration with what nobody asked for where it was, if that still does it."""
    if x is None:
        return None
    scored = score(task, restore_forced(task, x[None, :]))
    fine = scored.violation[0] == 0 and scored.valid[0] <= 0 and scored.proximity[0] < amount
    fine = fine and subproblem.reached(scored.preference)[0]
    return (scored.X[0], float(scored.proximity[0])) if fine else None


def best_value(
    solver: ExactSolver, x: Floats, objective: Objective, subproblem: Subproblem
) -> Bounds:
    """The best value, starting from a configuration that solves the subproblem.

    Small subproblems are solved at once. Large ones are halved: values far better than the
    incumbent are excluded sooner, so that something is known whenever time runs out.
    """
    task, deadline = solver.task, solver.deadline
    best, amount = x, float(score(task, x[None, :]).preference[0])
    bound, share = objective.preference(floor_of(solver, objective)), 1.0
    leaves: int | None = _SMALL
    while deadline.left > 0:
        goal = amount - _VALUE_CLOSED * max(1.0, abs(amount))
        if goal <= bound:
            return Bounds(best, amount, bound, proved=True)
        most = bound + share * (goal - bound)
        harder = replace(
            subproblem, objective=objective, limit=objective.raw(most), minimise="objective"
        )
        solver.deadline = deadline if share == 1.0 else Deadline.after(_SLICE * deadline.left)
        result = solver.solve(harder, leaves=leaves)
        solver.deadline = deadline
        leaves = None
        if result.bound is not None:
            bound = max(bound, min(objective.preference(result.bound), goal))
        better = None if result.x is None else _improved_preference(task, result.x, amount)
        if result.status is SolveStatus.INFEASIBLE:
            bound, share = max(bound, most), min(1.0, 1.5 * share)
        elif better is not None:
            best, amount = better
        elif result.too_large:
            share = 0.5
        elif not result.timed_out or share < _SMALLEST:
            return Bounds(best, amount, bound, proved=False, timed_out=result.timed_out)
        else:
            share /= 2
    return Bounds(best, amount, bound, proved=False, timed_out=True)


def _improved_preference(task: SearchTask, x: Floats, amount: float) -> tuple[Floats, float] | None:
    """A configuration with what nobody asked for where it was, if that is still better."""
    scored = score(task, restore_forced(task, x[None, :]))
    fine = scored.violation[0] == 0 and scored.valid[0] <= 0 and scored.preference[0] < amount
    return (scored.X[0], float(scored.preference[0])) if fine else None


def floor_of(solver: ExactSolver, objective: Objective) -> float:
    """A sum that no configuration goes below: the best leaf of every tree."""
    total = 0.0
    for name, weights in objective.terms:
        outcome = solver.outcomes[name]
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


def at_cell_ends(solver: ExactSolver, x: Floats) -> Floats:
    """A configuration with numbers that have no grid at the nearest end of their cells.

    Answers give such numbers with few digits, which costs a little distance.
    """
    task = solver.task
    forests = [f for outcome in solver.outcomes.values() for f in outcome.forests]
    best = x
    for column in map(int, task.movable):
        parameter = task.space.parameters[column]
        if (
            not isinstance(parameter, Number)
            or parameter.step is not None
            or parameter.allowed is not None
        ):
            continue
        if task.start[column] not in (x[column], task.geometry.none[column]):
            cuts = cuts_of(forests, column)
            cell = int(np.searchsorted(cuts, x[column]))
            low = np.nextafter(cuts[cell - 1], np.inf) if cell > 0 else parameter.low
            high = cuts[cell] if cell < len(cuts) else parameter.high
            near = best.copy()
            near[column] = np.clip(task.start[column], low, high)
            if parameter.low <= near[column] <= parameter.high:
                best = _if_nearer(task, best, near)
    return best


def _if_nearer(task: SearchTask, x: Floats, near: Floats) -> Floats:
    """`near` if it is as good and obeys the rules, else x."""
    scored = score(task, np.stack([x, near]))
    fine = (
        scored.violation[1] == 0
        and scored.valid[1] <= 0
        and scored.preference[1] <= scored.preference[0]
        and scored.proximity[1] < scored.proximity[0]
    )
    return near if fine else x
