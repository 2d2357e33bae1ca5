"""Scoring candidates: predictions, rules and the order in which answers are preferred.

Decision 0003 (docs/decisions).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from compass.generate import loss
from compass.generate.base import Batch, Candidates, Floats
from compass.generate.objectives import objective_values, preference
from compass.generate.repair import rule_violation
from compass.generate.task import SearchTask

MARGIN = 0.1  # being this far inside a range, in standard deviations, is far enough


@dataclass(frozen=True)
class ScoredCandidates(Batch):
    """Candidates with everything that decides their order; all arrays start with [n]."""

    X: Floats
    violation: Floats  # Phi: 0 where every rule holds
    valid: Floats  # L_valid of ranges and classes: 0 where every goal is met
    values: Floats  # [n, objectives] what is minimised, in standard deviations
    preference: Floats  # one number made of the values, by which candidates are ranked
    proximity: Floats  # L_prox
    margin: Floats  # how far inside the ranges, up to a limit

    def candidates(
        self, *, exhaustive: bool = False, evaluated: int = 0, timed_out: bool = False
    ) -> Candidates:
        """These as the result of a search; they must be legal, and best first."""
        meets = self.valid <= 0
        about = (exhaustive, evaluated, timed_out)
        return Candidates(self.X, self.values, meets, self.proximity, *about)


def with_outcomes(X: Floats, predicted: Mapping[str, Floats], outcomes: tuple[str, ...]) -> Floats:
    """X with the predicted outcomes as further columns (classes as positions)."""
    columns = [
        predicted[name].argmax(axis=1).astype(np.float64)
        if predicted[name].shape[1] > 1
        else predicted[name][:, 0]
        for name in outcomes
    ]
    return np.column_stack([X, *columns]) if columns else X


def score(task: SearchTask, X: Floats) -> ScoredCandidates:
    """Predict and judge complete configurations X [n, d].

    Where the task knows past runs, a configuration that was run before has to obey the
    rules and meet the goals as predicted and as measured, and is worth what was measured.
    """
    predicted = task.predict(X) if len(X) and (task.targets or task.outcome_rules) else {}
    scored = score_outcomes(task, X, predicted)
    if task.past_runs is None or not predicted:
        return scored
    run = task.past_runs.find(X)
    scored = replace(scored, preference=task.past_runs.cautious(scored.preference, run))
    known = np.flatnonzero(run >= 0)
    believed = task.past_runs.believed(
        {name: values[known] for name, values in predicted.items()}, run[known]
    )
    aims = score_targets(task, believed, len(known))
    scored.values[known], scored.preference[known] = aims.values, preference(aims.values)
    scored.valid[known] = np.maximum(scored.valid[known], aims.valid)
    scored.margin[known] = np.minimum(scored.margin[known], aims.margin)
    scored.violation[known] += _broken_conditions(task, X[known], believed)
    return scored


def score_outcomes(task: SearchTask, X: Floats, outcomes: Mapping[str, Floats]) -> ScoredCandidates:
    """Judge complete configurations X [n, d] whose outcomes (each [n, outputs]) are these."""
    violation = rule_violation(task, X) + _broken_conditions(task, X, outcomes)
    aims = score_targets(task, outcomes, len(X))
    near = loss.proximity(X, task.start, task.geometry)
    return ScoredCandidates(
        X, violation, aims.valid, aims.values, preference(aims.values), near, aims.margin
    )


def _broken_conditions(task: SearchTask, X: Floats, outcomes: Mapping[str, Floats]) -> Floats:
    """The total violation [n] of the rules that speak of outcomes."""
    amount = np.zeros(len(X))
    if task.outcome_rules and len(X):
        extended = with_outcomes(X, outcomes, task.outcomes)
        for rule in task.outcome_rules:
            amount += rule.violation(extended)
    return amount


class TargetScore(NamedTuple):
    """How outcomes compare with the targets; all arrays start with [n]."""

    valid: Floats  # how far ranges and classes are missed
    values: Floats  # [n, objectives]
    margin: Floats  # how far inside the ranges, up to a limit


def score_targets(task: SearchTask, outcomes: Mapping[str, Floats], n: int) -> TargetScore:
    """Compare n outcomes (each [n, outputs]) with the targets of a task."""
    valid, margin = np.zeros(n), np.full(n, MARGIN)
    for target in task.targets if n else ():
        scores = outcomes[target.name]
        if target.is_class:
            valid += loss.valid_class(scores, task.labels[target.name], target.least)
            continue
        y = scores[:, 0]
        valid += loss.valid_range(y, target.low, target.high, target.scale)
        inside = np.minimum(y - target.low, target.high - y) / target.scale
        margin = np.minimum(margin, inside)
    first = {name: values[:, 0] for name, values in outcomes.items()}
    return TargetScore(valid, objective_values(task.targets, first, (n,)), margin)


def order(task: SearchTask, scored: ScoredCandidates) -> NDArray[np.int64]:
    """Positions from best to worst.

    Obeying the rules comes before meeting the goals, that before the preference among the values
    of the objectives, and that before closeness to the start (or, without a baseline, being well
    inside a range).
    """
    weights = task.settings.loss
    broken = np.where(
        scored.violation > 0, scored.valid + weights.constraint * scored.violation + 1e-12, 0.0
    )
    valid = np.where(scored.violation > 0, 0.0, scored.valid)
    last = weights.proximity * scored.proximity if task.proximity else -scored.margin
    keys = (scored.proximity, last, scored.preference, valid, broken)
    return np.asarray(np.lexsort(keys), dtype=np.int64)
