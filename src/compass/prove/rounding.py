"""Solutions in real numbers: the solver's whole numbers are a rounding away from them."""

from collections.abc import Mapping
from itertools import product

import numpy as np

from compass.generate.base import Floats
from compass.generate.repair import rule_violation
from compass.generate.task import SearchTask

_ROUNDS = 4
_COLUMNS = 4  # columns that are shifted together

Bounds = Mapping[int, tuple[float, float, float]]  # column: low, high, size of a whole number


def repair_rounding(task: SearchTask, x: Floats, loose: Bounds) -> Floats:
    """x with columns that have no grid moved by about a rounding, where that mends the rules.

    A sum is solved for one of its columns; elsewhere the neighbours on all sides are tried.
    """
    for _ in range(_ROUNDS):
        missed = rule_violation(task, x[None, :])[0]
        if missed == 0 or not loose:
            break
        tried = np.stack([x, *_solved(task, x, loose), *_shifted(x, loose)])
        amounts = rule_violation(task, tried)
        if amounts.min() >= missed:
            break
        x = tried[int(np.argmin(amounts))]
    return x


def _solved(task: SearchTask, x: Floats, loose: Bounds) -> list[Floats]:
    """For every broken rule that is a sum: x with one column where the sum turns true."""
    names, found = task.space.names, []
    for rule in task.rules:
        if rule.linear is None or rule.holds(x[None, :])[0]:
            continue
        places = {names.index(name): c for name, c in rule.linear.coefficients.items()}
        total = rule.linear.constant + sum(c * x[j] for j, c in places.items())
        for column, factor in places.items():
            if column in loose:
                low, high, size = loose[column]
                point = x[column] - total / factor
                if abs(point - x[column]) <= 16 * size and low <= point <= high:
                    near = x.copy()
                    near[column] = point
                    found.append(near)
    return found


def _shifted(x: Floats, loose: Bounds) -> list[Floats]:
    """x with its loose columns moved by one whole number, up or down, in all combinations."""
    columns, found = list(loose)[:_COLUMNS], []
    for steps in product((-1.0, 0.0, 1.0), repeat=len(columns)):
        near = x.copy()
        for column, step in zip(columns, steps, strict=True):
            low, high, size = loose[column]
            near[column] = np.clip(x[column] + step * size, low, high)
        found.append(near)
    return found
