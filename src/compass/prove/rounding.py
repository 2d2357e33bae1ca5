"""Solutions in real numbers: the solver's whole numbers are a rounding away from them."""

from collections.abc import Mapping
from itertools import product

import numpy as np

from compass.generate.base import Floats
from compass.generate.repair import rule_violation
from compass.generate.task import SearchTask

_ROUNDS = 4
_COLUMNS = 4  # columns that are shifted together

GridlessRanges = Mapping[
    int, tuple[float, float, float]
]  # column: low, high, size of a whole number


def repair_rounding(task: SearchTask, x: Floats, gridless: GridlessRanges) -> Floats:
    """x with columns that have no grid moved by about a rounding, where the rules then hold.

    A sum is solved for one of its columns; elsewhere the neighbours on all sides are tried.
    """
    for _ in range(_ROUNDS):
        missed = rule_violation(task, x[None, :])[0]
        if missed == 0 or not gridless:
            break
        tried = np.stack([x, *_solved(task, x, gridless), *_shifted(x, gridless)])
        amounts = rule_violation(task, tried)
        if amounts.min() >= missed:
            break
        x = tried[int(np.argmin(amounts))]
    return x


def _solved(task: SearchTask, x: Floats, gridless: GridlessRanges) -> list[Floats]:
    """For every broken linear rule: x with one column moved to where the rule turns true."""
    names, found = task.space.names, []
    for rule in task.rules:
        if rule.linear is None or rule.holds(x[None, :])[0]:
            continue
        factors = {names.index(name): c for name, c in rule.linear.coefficients.items()}
        total = rule.linear.constant + sum(c * x[j] for j, c in factors.items())
        for column, factor in factors.items():
            if column in gridless:
                low, high, size = gridless[column]
                point = x[column] - total / factor
                if abs(point - x[column]) <= 16 * size and low <= point <= high:
                    near = x.copy()
                    near[column] = point
                    found.append(near)
    return found


def _shifted(x: Floats, gridless: GridlessRanges) -> list[Floats]:
    """x with its gridless columns moved by one whole number, up or down, in all combinations."""
    columns, found = list(gridless)[:_COLUMNS], []
    for steps in product((-1.0, 0.0, 1.0), repeat=len(columns)):
        near = x.copy()
        for column, step in zip(columns, steps, strict=True):
            low, high, size = gridless[column]
            near[column] = np.clip(x[column] + step * size, low, high)
        found.append(near)
    return found
