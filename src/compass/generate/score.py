"""Scoring candidates: predictions, rules and the order in which answers are preferred."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from compass.generate import loss
from compass.generate.base import Floats
from compass.generate.repair import broken
from compass.generate.task import SearchTask

MARGIN = 0.1  # being this far inside a range, in standard deviations, is far enough


@dataclass(frozen=True)
class Scored:
    """Candidates with everything that decides their order; all arrays start with [n]."""

    X: Floats
    violation: Floats  # Phi: 0 where every rule holds
    valid: Floats  # L_valid of ranges and classes: 0 where every goal is met
    extreme: Floats  # what is minimised, in standard deviations
    proximity: Floats  # L_prox
    margin: Floats  # how far inside the ranges, up to a limit

    def take(self, index: NDArray[np.int64]) -> "Scored":
        """The candidates at these positions."""
        return Scored(
            self.X[index],
            self.violation[index],
            self.valid[index],
            self.extreme[index],
            self.proximity[index],
            self.margin[index],
        )

    def __len__(self) -> int:
        return len(self.X)


def join(parts: list[Scored]) -> Scored:
    """Several batches as one."""
    return Scored(
        *(
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("X", "violation", "valid", "extreme", "proximity", "margin")
        )
    )


def with_outcomes(X: Floats, predicted: Mapping[str, Floats], outcomes: tuple[str, ...]) -> Floats:
    """X with the predicted outcomes as further columns (classes as positions)."""
    columns = [
        predicted[name].argmax(axis=1).astype(np.float64)
        if predicted[name].shape[1] > 1
        else predicted[name][:, 0]
        for name in outcomes
    ]
    return np.column_stack([X, *columns]) if columns else X


def score(task: SearchTask, X: Floats) -> Scored:
    """Predict and judge complete configurations X [n, d].

    Where the task knows past runs, a configuration that was run before has to obey the
    rules and meet the goals as predicted and as measured, and is worth what was measured.
    """
    predicted = task.predict(X) if len(X) and (task.targets or task.outcome_rules) else {}
    scored = assessor(task, X, predicted)
    if task.past_runs is None or not predicted:
        return scored
    place = task.past_runs.find(X)
    scored = replace(scored, extreme=task.past_runs.cautious(scored.extreme, place))
    known = np.flatnonzero(place >= 0)
    said = {name: values[known] for name, values in predicted.items()}
    believed = task.past_runs.believed(said, place[known])
    valid, scored.extreme[known], margin = aims(task, believed, len(known))
    scored.valid[known] = np.maximum(scored.valid[known], valid)
    scored.margin[known] = np.minimum(scored.margin[known], margin)
    scored.violation[known] += _broken_conditions(task, X[known], believed)
    return scored


def assessor(task: SearchTask, X: Floats, outcomes: Mapping[str, Floats]) -> Scored:
    """Assessor complete configurations X [n, d] whose outcomes (each [n, outputs]) are these."""
    violation = broken(task, X) + _broken_conditions(task, X, outcomes)
    valid, extreme, margin = aims(task, outcomes, len(X))
    near = loss.proximity(X, task.start, task.geometry)
    return Scored(X, violation, valid, extreme, near, margin)


def _broken_conditions(task: SearchTask, X: Floats, outcomes: Mapping[str, Floats]) -> Floats:
    """The total violation [n] of the rules that speak of outcomes."""
    amount = np.zeros(len(X))
    if task.outcome_rules and len(X):
        extended = with_outcomes(X, outcomes, task.outcomes)
        for rule in task.outcome_rules:
            amount += rule.violation(extended)
    return amount


def aims(task: SearchTask, outcomes: Mapping[str, Floats], n: int) -> tuple[Floats, Floats, Floats]:
    """How far n outcomes (each [n, outputs]) miss the goals, what is minimised, and the margin."""
    valid, extreme, margin = np.zeros(n), np.zeros(n), np.full(n, MARGIN)
    for target in task.targets if n else ():
        values = outcomes[target.name]
        if target.is_class:
            valid += loss.valid_class(values, task.labels[target.name])
            continue
        y = values[:, 0]
        if target.direction is not None:
            extreme += (y if target.direction == "minimize" else -y) / target.scale
        valid += loss.valid_range(y, target.low, target.high, target.scale)
        inside = np.minimum(y - target.low, target.high - y) / target.scale
        margin = np.minimum(margin, inside)
    return valid, extreme, margin


def order(task: SearchTask, scored: Scored) -> NDArray[np.int64]:
    """Positions from best to worst.

    Obeying the rules comes before meeting the goals, that before the value of what is minimised,
    and that before closeness to the start (or, without a baseline, being well inside a range).
    """
    weights = task.settings.loss
    broken = np.where(
        scored.violation > 0, scored.valid + weights.constraint * scored.violation + 1e-12, 0.0
    )
    valid = np.where(scored.violation > 0, 0.0, scored.valid)
    wish = weights.proximity * scored.proximity if task.proximity else -scored.margin
    keys = (scored.proximity, wish, scored.extreme, valid, broken)
    return np.asarray(np.lexsort(keys), dtype=np.int64)
