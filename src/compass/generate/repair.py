"""Moving configurations the least way until the rules hold."""

from collections.abc import Iterable

import numpy as np

from compass.domain.expression import Comparison
from compass.domain.space import Number, Space
from compass.generate.base import Bools, Floats
from compass.generate.blocks import Block
from compass.generate.linear_rules import is_linear
from compass.generate.task import SearchTask
from compass.prepare.geometry import column_distances
from compass.prepare.legal import snap
from compass.rules import Rule, components
from compass.rules.solve import solve, unfolds

_ROUNDS = 6
_TRIED = 24  # values tried for one column of one configuration


def rule_violation(task: SearchTask, X: Floats) -> Floats:
    """The total violation of the rules on features, [n]."""
    amount = np.zeros(len(X))
    linear = task.linear_rules
    doubtful = ~linear.surely(X) if len(linear.constant) else np.empty((len(X), 0), dtype=np.bool_)
    number = 0
    for rule in task.rules:
        if not is_linear(rule):
            amount += rule.violation(X)
            continue
        rows = np.flatnonzero(doubtful[:, number])
        number += 1
        if len(rows):
            amount[rows] += rule.violation(X[rows])
    return amount


def repair(task: SearchTask, X: Floats, loose: list[Block], *, keep: Bools) -> Floats:
    """X [n, d] with values of the loose blocks moved so that rules hold, where that succeeds.

    One column of a configuration moves at a time: the move that leaves the least violation, and
    among those the one closest to the value it has. `keep` [n, d] marks cells that must not move.
    """
    X = X.copy()
    rows = np.arange(len(X))
    amount = rule_violation(task, X)
    for _ in range(_ROUNDS):
        rows = rows[amount[rows] > 0]
        if not len(rows):
            break
        X[rows], left = _best_moves(task, X[rows], amount[rows], loose, keep[rows])
        rows = rows[left < amount[rows]]  # what could not be improved never will be
        amount[rows] = rule_violation(task, X[rows])
    return X


def _best_moves(
    task: SearchTask, X: Floats, amount: Floats, loose: list[Block], keep: Bools
) -> tuple[Floats, Floats]:
    """Each row of X [r, d] with its best single move made, and the violation that is left [r]."""
    best, least = X.copy(), amount.copy()
    nearest = np.zeros(len(X))
    for block in loose:
        for column, values in zip(block.columns, block.values, strict=True):
            options = _options(task, X, int(column), values)  # [r, k]
            tried = np.repeat(X, options.shape[1], axis=0)
            tried[:, column] = options.ravel()
            left = rule_violation(task, tried).reshape(options.shape)
            left[keep[:, column]] = np.inf
            apart = column_distances(tried, np.repeat(X, options.shape[1], axis=0), task.geometry)
            apart = apart[:, column].reshape(options.shape) * task.geometry.weight[column]
            index = np.lexsort((apart, left), axis=1)[:, 0]
            rows = np.arange(len(X))
            lowest, far = left[rows, index], apart[rows, index]
            better = (lowest < least) | ((lowest == least) & (far < nearest) & (lowest < amount))
            best[better] = X[better]
            best[better, column] = options[rows, index][better]
            least[better], nearest[better] = lowest[better], far[better]
    return best, least


def _options(task: SearchTask, X: Floats, column: int, values: Floats) -> Floats:
    """Values to try per row [r, k]: near the present one, across the range, and rule boundaries."""
    if len(values) <= _TRIED:
        options = np.repeat(values[None, :], len(X), axis=0)
    else:
        half = _TRIED // 2
        now = np.searchsorted(values, X[:, column])
        first = np.clip(now - half // 2, 0, len(values) - half)
        near = values[first[:, None] + np.arange(half)]
        spread = values[np.linspace(0, len(values) - 1, half).astype(np.int64)]
        options = np.column_stack([near, np.repeat(spread[None, :], len(X), axis=0)])
    solved = boundaries(task.space, task.rules, X, column)
    if not len(solved) or not len(values):
        return options
    parameter = task.space.parameters[column]
    points = np.clip(snap(parameter, np.column_stack(solved)), values[0], values[-1])
    return np.column_stack([options, points])


def boundaries(space: Space, rules: Iterable[Rule], X: Floats, column: int) -> list[Floats]:
    """Where sums and products in rules turn true when only this column moves, one [r] each."""
    names = space.names
    parameter = space.parameters[column]
    step = getattr(parameter, "step", None)
    solved: list[Floats] = []
    for rule in rules:
        form = rule.linear
        if form is None:
            if not isinstance(parameter, Number) or not unfolds(rule.expression, names[column]):
                continue
            columns = {name: X[:, names.index(name)] for name in rule.names}
            point = np.broadcast_to(solve(rule, names[column], columns)[0], len(X))
            point = np.where(np.isfinite(point), point, X[:, column])
        elif own := form.coefficients.get(names[column]):
            rest = np.full(len(X), form.constant)
            for name, coefficient in form.coefficients.items():
                if name != names[column]:
                    rest = rest + coefficient * X[:, names.index(name)]
            point = -rest / own
        else:
            continue
        # On a grid the boundary may lie between two values, or on one that `<` excludes.
        solved += [point] if step is None else [point - step, point, point + step]
    return solved


def restore_forced(task: SearchTask, X: Floats) -> Floats:
    """X with forced columns back at the start's values where the rules allow that.

    All of them together, those that equalities tie, and each alone; again as long as one returns,
    because that may let another follow.
    """
    if not len(task.forced) or not len(X):
        return X
    X = X.copy()
    holds = rule_violation(task, X) == 0
    rows = np.flatnonzero(holds & (X[:, task.forced] != task.start[task.forced]).any(axis=1))
    together = [[*map(int, task.forced)], *tied_forced(task), *([int(j)] for j in task.forced)]
    while len(rows):
        before = X[rows]
        for columns in together:
            away = rows[(X[rows][:, columns] != task.start[columns]).any(axis=1)]
            back = X[away]
            back[:, columns] = task.start[columns]
            X[away] = np.where(_still(task, back, columns)[:, None], back, X[away])
        rows = rows[(X[rows] != before).any(axis=1)]
    return X


def _still(task: SearchTask, X: Floats, columns: list[int]) -> Bools:
    """Whether the rules that speak of these columns hold, [n]."""
    names = {task.space.names[column] for column in columns}
    fine = np.ones(len(X), dtype=bool)
    for rule in task.rules if len(X) else ():
        if names & set(rule.names):
            fine &= rule.holds(X)
    return fine


def tied_forced(task: SearchTask) -> list[list[int]]:
    """Groups of forced columns that equalities tie: none of them can return alone."""
    names = task.space.names
    equalities = [
        rule
        for rule in task.rules
        if isinstance(rule.expression, Comparison) and rule.expression.op == "=="
    ]
    groups = components(equalities, [names[column] for column in task.forced])
    return [[names.index(name) for name in group] for group in groups if len(group) > 1]


def forcing_rule(task: SearchTask, x: Floats, column: int) -> str | None:
    """The rule that breaks when this column goes back to the start's value.

    Of several, one that would break if nothing had given way: the others only pass a move on.
    """
    back, held = x.copy(), x.copy()
    back[column] = task.start[column]
    held[task.forced] = task.start[task.forced]
    breaking = [rule for rule in task.rules if rule.violation(back[None, :])[0] > 0]
    first = [rule for rule in breaking if rule.violation(held[None, :])[0] > 0]
    return next((rule.text for rule in (*first, *breaking)), None)
