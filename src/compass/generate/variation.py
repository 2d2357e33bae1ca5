"""New candidates out of good ones: crossover, mutation, pull-back to the start, and repair."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compass.domain.space import Number
from compass.generate.base import Bools, Floats
from compass.generate.blocks import Block, ColumnValues
from compass.generate.linear_rules import EQUAL, LinearRules, is_linear
from compass.generate.repair import repair, rule_violation
from compass.generate.repair_linear import repair_linear
from compass.generate.task import SearchTask
from compass.prepare.legal import snap

_MUTATE = 0.25  # chance that a block of a child gets new values
_BACK = 0.15  # chance that it goes back to the start's

Rng = np.random.Generator


@dataclass(frozen=True, eq=False)
class Variation:
    """What crossover, mutation and repair need to know of a task, worked out once."""

    task: SearchTask
    groups: list[Block]
    legal_start: Floats  # [d] the start with legal values of what may be chosen
    block_of: NDArray[np.int64]  # [d] the block of a column; 0 where a column stays
    moves: Bools  # [d] whether a column may move
    linear_rules: LinearRules
    values: ColumnValues  # of the columns that no table of combinations ties
    inequalities: bool  # every rule is a linear inequality


def variation_of(task: SearchTask, groups: list[Block]) -> Variation:
    """The variation of a task whose movable columns are in these blocks."""
    width = len(task.start)
    block_of, moves = np.zeros(width, dtype=np.int64), np.zeros(width, dtype=np.bool_)
    values: dict[int, Floats] = {}
    for number, block in enumerate(groups):
        block_of[block.columns] = number
        moves[block.columns] = True
        if block.table is None or len(block.columns) == 1:
            values |= {int(c): v for c, v in zip(block.columns, block.values, strict=True)}
    legal_start = task.start.copy()
    for column in task.free:  # a baseline need not have legal values
        legal_start[column] = snap(task.space.parameters[column], legal_start[[column]])[0]
    linear = task.linear_rules
    inequalities = all(is_linear(rule) for rule in task.rules) and not (linear.kind == EQUAL).any()
    listed = ColumnValues.of(width, values)
    return Variation(task, groups, legal_start, block_of, moves, linear, listed, inequalities)


def children(variation: Variation, parents: Floats, n: int, rng: Rng) -> Floats:
    """Candidates [m <= n, d] made of parents [k, d] that are sorted from best to worst."""
    size, blocks = len(parents), len(variation.groups)
    first = parents[(size * rng.random(n) ** 2).astype(np.int64)]
    second = parents[(size * rng.random(n) ** 2).astype(np.int64)]
    crossed = (rng.random((n, blocks)) < 0.5)[:, variation.block_of] & variation.moves
    X = np.where(crossed, second, first)
    touched = np.zeros(X.shape, dtype=np.bool_)
    mutate = rng.random((n, blocks)) < max(1.0 / blocks, _MUTATE)
    for number, block in enumerate(variation.groups):
        _mutate(variation, block, X, np.flatnonzero(mutate[:, number]), touched, rng)
    if variation.task.proximity:
        back = (rng.random((n, blocks)) < _BACK)[:, variation.block_of] & variation.moves
        X = np.where(back, variation.legal_start, X)
    return repaired(variation, X, touched, rng)


def repaired(variation: Variation, X: Floats, keep: Bools, rng: Rng) -> Floats:
    """The candidates with single values moved so that rules hold; where none succeeds, all."""
    X = repair_linear(variation.linear_rules, variation.values, X, keep, rng.random(len(X)))
    loose = [block for block in variation.groups if block.table is None]
    if loose and not variation.inequalities:
        X = repair(variation.task, X, loose, keep=keep)
    fine = rule_violation(variation.task, X) == 0
    return np.asarray(X[fine] if fine.any() else X)


def draw(block: Block, n: int, rng: Rng) -> Floats:
    """Random values of a block, [n, columns]."""
    if block.table is not None:
        return np.asarray(block.table[rng.integers(len(block.table), size=n)])
    return np.column_stack([values[rng.integers(len(values), size=n)] for values in block.values])


def _mutate(
    variation: Variation, block: Block, X: Floats, rows: NDArray[np.int64], touched: Bools, rng: Rng
) -> None:
    """Replace the block's values: all of them by a legal combination, or single columns.

    Single columns go to a random value, or to one between where they are and the start.
    """
    if block.table is not None and len(block.columns) > 1:
        whole = rng.random(len(rows)) < (1.0 if block.complete else 0.5)
        X[np.ix_(rows[whole], block.columns)] = draw(block, int(whole.sum()), rng)
        rows = rows[~whole]
    which = rng.integers(len(block.columns), size=len(rows))
    for number, (column, values) in enumerate(zip(block.columns, block.values, strict=True)):
        mine = rows[which == number]
        if not len(mine):
            continue
        now = np.searchsorted(values, X[mine, column])
        start = int(np.searchsorted(values, variation.task.start[column]))
        between = (start + rng.random(len(mine)) * (now - start)).astype(np.int64)
        anywhere = rng.integers(len(values), size=len(mine))
        index = np.where(rng.random(len(mine)) < 0.5, anywhere, between)
        if not isinstance(variation.task.space.parameters[column], Number):
            index = anywhere  # labels have no between
        X[mine, column] = values[np.minimum(index, len(values) - 1)]
        touched[mine, column] = True
