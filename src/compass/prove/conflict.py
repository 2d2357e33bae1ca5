"""Why nothing meets the goals: the fewest rules and goals that cannot hold together."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from compass.domain.target import Target
from compass.generate.base import Floats
from compass.generate.objectives import sign
from compass.generate.score import score
from compass.generate.task import SearchTask
from compass.prove.outcomes import GoalBands, goals_of
from compass.prove.solver import ExactSolver
from compass.prove.subproblem import Objective, SolveStatus, Subproblem, scale_of
from compass.rules import Rule


@dataclass(frozen=True)
class Requirement:
    """A rule or a goal that may take part in a conflict."""

    text: str
    rule: Rule | None = None
    goal: GoalBands | None = None


def requirements_of(solver: ExactSolver) -> list[Requirement]:
    """Everything that must hold, goals last: what can be dropped is dropped in this order."""
    task = solver.task
    rules = [Requirement(rule.text, rule=rule) for rule in (*task.rules, *task.outcome_rules)]
    return [*rules, *(Requirement(goal.text, goal=goal) for goal in solver.goals)]


def subproblem_of(solver: ExactSolver, parts: Sequence[Requirement]) -> Subproblem:
    """Whether these requirements can hold together, as a subproblem."""
    rules = [part.rule for part in parts if part.rule is not None]
    on_outcomes = solver.task.outcome_rules
    return Subproblem(
        rules=tuple(rule for rule in rules if rule not in on_outcomes),
        outcome_rules=tuple(rule for rule in rules if rule in on_outcomes),
        goals=tuple(part.goal for part in parts if part.goal is not None),
        minimise="nothing",
    )


def blocking(solver: ExactSolver) -> tuple[tuple[str, ...], bool]:
    """The texts of a conflict, and whether none of them can be left out.

    All of them together must have been shown to be impossible before.
    """
    sure = True

    def impossible(parts: Sequence[Requirement]) -> bool:
        nonlocal sure
        result = _only(solver, parts).solve(subproblem_of(solver, parts))
        sure &= result.status is not SolveStatus.UNKNOWN
        return result.status is SolveStatus.INFEASIBLE

    left = _without_many(requirements_of(solver), impossible)
    return tuple(part.text for part in left), sure


def _only(solver: ExactSolver, parts: Sequence[Requirement]) -> ExactSolver:
    """A solver for these requirements as all that has to hold."""
    kept = subproblem_of(solver, parts)
    task = replace(
        solver.task,
        rules=kept.rules,
        outcome_rules=kept.outcome_rules,
        targets=tuple(goal.target for goal in kept.goals),
    )
    return ExactSolver(task, solver.outcomes, kept.goals, solver.deadline)


def _without_many(
    parts: Sequence[Requirement], impossible: Callable[[Sequence[Requirement]], bool]
) -> list[Requirement]:
    """Drop what the conflict does not need: many at once first, then one by one."""
    kept, size = list(parts), max(len(parts) // 2, 1)
    while True:
        index = 0
        while index < len(kept):
            without = kept[:index] + kept[index + size :]
            if impossible(without):
                kept = without
            else:
                index += size
        if size == 1:
            return kept
        size = max(size // 2, 1)


@dataclass(frozen=True)
class NearestValue:
    """The value closest to its goal that can be reached, and whether that is proved."""

    value: float
    proved: bool


def nearest(solver: ExactSolver, target: Target, known: Floats) -> NearestValue | None:
    """How close an outcome can come to its range when everything else holds.

    `known` [n, d] are configurations that obey the rules. None: nothing was found.
    """
    found: list[NearestValue] = []
    proved = True
    for side, direction in ((target.high, "minimize"), (target.low, "maximize")):
        if math.isfinite(side):
            one = _one_side(solver, target, direction, side, known)
            if one is not None:
                found.append(one)
                proved &= one.proved
    if not found:
        return None
    best = min(found, key=lambda one: max(one.value - target.high, target.low - one.value))
    return replace(best, proved=proved)


def _one_side(
    solver: ExactSolver, target: Target, direction: str, side: float, known: Floats
) -> NearestValue | None:
    """The smallest value above a range, or the largest below it."""
    others = tuple(goal for goal in solver.goals if goal.target is not target)
    beyond = {"low": side} if direction == "minimize" else {"high": side}
    one = Target(name=target.name, direction=direction, scale=target.scale, **beyond)
    task = replace(solver.task, targets=(*(goal.target for goal in others), one))
    goals = goals_of(task, solver.outcomes)
    best = _best_known(task, known)
    outcome = solver.outcomes[target.name]
    relaxed = ExactSolver(task, solver.outcomes, goals, solver.deadline)
    objective = Objective(
        ((target.name, np.array([sign(one)])),),
        scale_of(outcome, target),
        one,
        outcome.link,
    )
    most = math.inf if best is None else objective.raw(best - 1e-6 * max(1.0, abs(best)))
    result = relaxed.solve(
        Subproblem(task.rules, task.outcome_rules, goals, math.inf, objective, most, "objective")
    )
    proved = result.status in (SolveStatus.INFEASIBLE, SolveStatus.OPTIMAL)
    if result.x is not None:
        best = float(score(task, result.x[None, :]).preference[0])
    if best is None:
        return None
    return NearestValue(sign(one) * best * target.scale, proved)


def _best_known(task: SearchTask, known: Floats) -> float | None:
    """The best value among known configurations that do what is kept."""
    if not len(known):
        return None
    scored = score(task, known)
    fine = (scored.violation == 0) & (scored.valid <= 0)
    return float(scored.preference[fine].min()) if fine.any() else None
