"""Conditions on outcomes: how likely each holds, going by what is predicted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compass.domain.answer import OutcomeCondition
from compass.domain.expression import Comparison
from compass.domain.space import Category
from compass.domain.target import Target
from compass.evidence.assessor import Assessor
from compass.evidence.classes import class_scores
from compass.generate.score import with_outcomes
from compass.generate.task import SearchTask
from compass.rules import Rule
from compass.rules.solve import solve, unfolds

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Predicted:
    """Configurations with what models say about their outcomes."""

    X: Floats  # [n, d]
    scores: Mapping[str, Floats]  # per outcome [n, outputs]
    spreads: Mapping[str, Floats]  # per outcome [n]


def conditions_of(
    rules: Sequence[Rule],
    asked: frozenset[str],
    outcomes: tuple[str, ...],
    predicted: Predicted,
    assessor: Assessor,
    before: Mapping[str, float] | None = None,
) -> list[tuple[OutcomeCondition, ...]]:
    """Per configuration its conditions; `asked` are the texts that the question states.

    `before` has the chances at the baseline by the text of the condition.
    """
    known = before or {}
    checks = [(rule, *held(rule, outcomes, predicted, assessor)) for rule in rules]
    return [
        tuple(
            OutcomeCondition(
                text=rule.text,
                outcomes=tuple(name for name in rule.names if name in outcomes),
                asked=rule.text in asked,
                holds=bool(holds[i]),
                chance=None if chance is None else float(chance[i]),
                before=known.get(rule.text),
            )
            for rule, holds, chance in checks
        )
        for i in range(len(predicted.X))
    ]


def conditions_at(
    task: SearchTask, assessor: Assessor, predicted: Predicted
) -> list[tuple[OutcomeCondition, ...]]:
    """The conditions of a task on its outcomes, for each of these configurations."""
    asked = frozenset(rule.text for rule in task.query.where)
    before: dict[str, float] = {}
    if task.baseline is not None and task.conditions:
        at = predicted_of(assessor, task.origin[None, :])
        for rule in task.conditions:
            chance = held(rule, task.outcomes, at, assessor)[1]
            if chance is not None:
                before[rule.text] = float(chance[0])
    return conditions_of(task.conditions, asked, task.outcomes, predicted, assessor, before)


def scores_at_baseline(task: SearchTask, assessor: Assessor) -> dict[str, dict[str, float]]:
    """Per outcome that is a class, the probabilities of its labels at the baseline."""
    if task.baseline is None:
        return {}
    space = assessor.store.prepared.space
    return {
        name: class_scores(space[name], trained.model.predict(task.origin[None, :])[0])
        for name, trained in assessor.trained.items()
        if isinstance(space[name], Category)
    }


def predicted_of(assessor: Assessor, X: Floats) -> Predicted:
    """What the models say about complete configurations X [n, d]."""
    models = {name: trained.model for name, trained in assessor.trained.items()}
    return Predicted(
        X,
        {name: model.predict(X) for name, model in models.items()},
        {name: model.spread(X) for name, model in models.items()},
    )


def held(
    rule: Rule, outcomes: tuple[str, ...], predicted: Predicted, assessor: Assessor
) -> tuple[Bools, Floats | None]:
    """Whether predicted values obey a rule [n], and how likely it holds [n].

    The chance can be told of rules on one outcome: a class, or a number in a sum or product.
    """
    extended = with_outcomes(predicted.X, predicted.scores, outcomes)
    holds = rule.holds(extended)
    own = [name for name in rule.names if name in outcomes]
    if len(own) != 1:
        return holds, None
    column = predicted.X.shape[1] + outcomes.index(own[0])
    if isinstance(rule.parameters[own[0]], Category):
        return holds, _class_chance(rule, extended, column, predicted.scores[own[0]])
    return holds, _number_chance(rule, own[0], extended, column, predicted, assessor)


def _class_chance(rule: Rule, extended: Floats, column: int, scores: Floats) -> Floats:
    """The probability [n] of the labels for which the rule holds."""
    total = np.zeros(len(extended))
    for code in range(scores.shape[1]):
        tried = extended.copy()
        tried[:, column] = code
        total += np.where(rule.holds(tried), scores[:, code], 0.0)
    return np.clip(total, 0.0, 1.0)


def _number_chance(
    rule: Rule,
    name: str,
    extended: Floats,
    column: int,
    predicted: Predicted,
    assessor: Assessor,
) -> Floats | None:
    """The chance [n] that a new run lies on the right side of where the rule turns true."""
    node = rule.expression
    ordered = isinstance(node, Comparison) and node.op in ("<", "<=", ">", ">=")
    if not ordered or not unfolds(node, name):
        return None
    columns = {n: extended[:, rule.columns.index(n)] for n in rule.names}
    point = np.array(np.broadcast_to(solve(rule, name, columns)[0], len(extended)))
    above = extended.copy()
    above[:, column] = point + np.maximum(np.abs(point), 1.0) * 1e-3
    up = rule.holds(above)
    found = np.empty(len(extended))
    for bound in np.unique(np.column_stack([point, up]), axis=0):
        rows = np.flatnonzero((point == bound[0]) & (up == bound[1]))
        end = {"low" if bound[1] else "high": float(bound[0])}
        target = Target(name=name, **end)
        scores, spread = predicted.scores[name][rows], predicted.spreads[name][rows]
        chances = assessor.chances(name, scores, spread, target)
        if chances is None:
            return None
        found[rows] = chances
    return found
