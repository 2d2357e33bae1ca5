"""Why nothing meets the goals: the fewest rules and goals that cannot hold together."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from compass.domain.target import Target
from compass.generate.base import Floats
from compass.generate.score import score
from compass.generate.task import SearchTask
from compass.prove.outcomes import Goal, goals_of
from compass.prove.question import End, Question, Value, Wanted, scale_of
from compass.rules import Rule


@dataclass(frozen=True)
class Part:
    """A rule or a goal that may take part in a conflict."""

    text: str
    rule: Rule | None = None
    goal: Goal | None = None


def parts_of(question: Question) -> list[Part]:
    """Everything that must hold, goals last: what can be dropped is dropped in this order."""
    task = question.task
    rules = [Part(rule.text, rule=rule) for rule in (*task.rules, *task.outcome_rules)]
    return [*rules, *(Part(goal.text, goal=goal) for goal in question.goals)]


def wanted_of(question: Question, parts: Sequence[Part]) -> Wanted:
    """The question whether these parts can hold together."""
    rules = [part.rule for part in parts if part.rule is not None]
    on_outcomes = question.task.outcome_rules
    return Wanted(
        rules=tuple(rule for rule in rules if rule not in on_outcomes),
        outcome_rules=tuple(rule for rule in rules if rule in on_outcomes),
        goals=tuple(part.goal for part in parts if part.goal is not None),
        minimise="nothing",
    )


def blocking(question: Question) -> tuple[list[Part], bool]:
    """The parts of a conflict, and whether none of them can be left out.

    All of them together must have been shown to be impossible before.
    """
    sure = True

    def impossible(parts: Sequence[Part]) -> bool:
        nonlocal sure
        run = _only(question, parts).ask(wanted_of(question, parts))
        sure &= run.end is not End.OPEN
        return run.end is End.IMPOSSIBLE

    return _without_many(parts_of(question), impossible), sure


def _only(question: Question, parts: Sequence[Part]) -> Question:
    """The question with these parts as all that has to hold."""
    wanted = wanted_of(question, parts)
    task = replace(
        question.task,
        rules=wanted.rules,
        outcome_rules=wanted.outcome_rules,
        targets=tuple(goal.target for goal in wanted.goals),
    )
    return Question(task, question.outcomes, wanted.goals, question.clock)


def _without_many(
    parts: Sequence[Part], impossible: Callable[[Sequence[Part]], bool]
) -> list[Part]:
    """Drop what the conflict does not need: many at once first, then one by one."""
    kept, size = list(parts), max(len(parts) // 2, 1)
    while True:
        place = 0
        while place < len(kept):
            without = kept[:place] + kept[place + size :]
            if impossible(without):
                kept = without
            else:
                place += size
        if size == 1:
            return kept
        size = max(size // 2, 1)


@dataclass(frozen=True)
class Nearest:
    """The value closest to its goal that can be reached, and whether that is proved."""

    value: float
    proved: bool


def nearest(question: Question, target: Target, known: Floats) -> Nearest | None:
    """How close an outcome can come to its range when everything else holds.

    `known` [n, d] are configurations that obey the rules. None: nothing was found.
    """
    found: list[Nearest] = []
    proved = True
    for side, direction in ((target.high, "minimize"), (target.low, "maximize")):
        if math.isfinite(side):
            one = _one_side(question, target, direction, side, known)
            if one is not None:
                found.append(one)
                proved &= one.proved
    if not found:
        return None
    best = min(found, key=lambda one: max(one.value - target.high, target.low - one.value))
    return replace(best, proved=proved)


def _one_side(
    question: Question, target: Target, direction: str, side: float, known: Floats
) -> Nearest | None:
    """The smallest value above a range, or the largest below it."""
    others = tuple(goal for goal in question.goals if goal.target is not target)
    beyond = {"low": side} if direction == "minimize" else {"high": side}
    one = Target(name=target.name, direction=direction, scale=target.scale, **beyond)
    task = replace(question.task, targets=(*(goal.target for goal in others), one))
    goals = goals_of(task, question.outcomes)
    sign = 1.0 if direction == "minimize" else -1.0
    best = _best_known(task, known)
    outcome = question.outcomes[target.name]
    relaxed = Question(task, question.outcomes, goals, question.clock)
    value = Value(
        ((target.name, np.array([sign])),),
        scale_of(outcome, target),
        one,
        outcome.link,
    )
    most = math.inf if best is None else value.raw(best - 1e-6 * max(1.0, abs(best)))
    run = relaxed.ask(Wanted(task.rules, task.outcome_rules, goals, math.inf, value, most, "value"))
    proved = run.end in (End.IMPOSSIBLE, End.BEST)
    if run.x is not None:
        best = float(score(task, run.x[None, :]).extreme[0])
    if best is None:
        return None
    return Nearest(sign * best * target.scale, proved)


def _best_known(task: SearchTask, known: Floats) -> float | None:
    """The best value among known configurations that do what is wanted."""
    if not len(known):
        return None
    scored = score(task, known)
    fine = (scored.violation == 0) & (scored.valid <= 0)
    return float(scored.extreme[fine].min()) if fine.any() else None
