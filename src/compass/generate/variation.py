"""New candidates out of good ones: crossover, mutation, pull-back to the start, and repair."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compass.domain.space import Number
from compass.generate.base import Bools, Floats
from compass.generate.blocks import Block
from compass.generate.nudge import Stock, nudge, stock_of
from compass.generate.repair import broken, repair
from compass.generate.sums import EQUAL, Sums, is_sum
from compass.generate.task import SearchTask
from compass.prepare.legal import snap

_MUTATE = 0.25  # chance that a block of a child gets new values
_BACK = 0.15  # chance that it goes back to the start's

Rng = np.random.Generator


@dataclass(frozen=True, eq=False)
class Variation:
    """What breeding needs to know of a problem, worked out once."""

    task: SearchTask
    groups: list[Block]
    home: Floats  # [d] the start with legal values of what may be chosen
    block_of: NDArray[np.int64]  # [d] the block of a column; 0 where a column stays
    moves: Bools  # [d] whether a column may move
    sums: Sums
    stock: Stock  # values of the columns that no table of combinations ties
    simple: bool  # every rule is an inequality between sums

    @property
    def loose(self) -> list[Block]:
        """Blocks without a table of their legal combinations."""
        return [block for block in self.groups if block.table is None]


def variation_of(task: SearchTask, groups: list[Block]) -> Variation:
    """Everything that breeding needs of a problem."""
    width = len(task.start)
    block_of, moves = np.zeros(width, dtype=np.int64), np.zeros(width, dtype=np.bool_)
    values: dict[int, Floats] = {}
    for number, block in enumerate(groups):
        block_of[block.columns] = number
        moves[block.columns] = True
        if block.table is None or len(block.columns) == 1:
            values |= {int(c): v for c, v in zip(block.columns, block.values, strict=True)}
    home = task.start.copy()
    for column in task.free:  # a baseline need not have legal values
        home[column] = snap(task.space.parameters[column], home[[column]])[0]
    sums, stock = task.sums, stock_of(width, values)
    simple = all(is_sum(rule) for rule in task.rules) and not (sums.kind == EQUAL).any()
    return Variation(task, groups, home, block_of, moves, sums, stock, simple)


def children(variation: Variation, parents: Floats, n: int, rng: Rng) -> Floats:
    """Candidates [m <= n, d] bred from parents [k, d] that are sorted from best to worst."""
    size, blocks = len(parents), len(variation.groups)
    mother = parents[(size * rng.random(n) ** 2).astype(np.int64)]
    father = parents[(size * rng.random(n) ** 2).astype(np.int64)]
    crossed = (rng.random((n, blocks)) < 0.5)[:, variation.block_of] & variation.moves
    X = np.where(crossed, father, mother)
    touched = np.zeros(X.shape, dtype=np.bool_)
    mutate = rng.random((n, blocks)) < max(1.0 / blocks, _MUTATE)
    for number, block in enumerate(variation.groups):
        _mutate(variation, block, X, np.flatnonzero(mutate[:, number]), touched, rng)
    if variation.task.proximity:
        back = (rng.random((n, blocks)) < _BACK)[:, variation.block_of] & variation.moves
        X = np.where(back, variation.home, X)
    return mended(variation, X, touched, rng)


def mended(variation: Variation, X: Floats, keep: Bools, rng: Rng) -> Floats:
    """The candidates with single values moved so that rules hold; where none succeeds, all."""
    X = nudge(variation.sums, variation.stock, X, keep, rng.random(len(X)))
    loose = variation.loose
    if loose and not variation.simple:
        X = repair(variation.task, X, loose, keep=keep)
    fine = broken(variation.task, X) == 0
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
    for place, (column, values) in enumerate(zip(block.columns, block.values, strict=True)):
        mine = rows[which == place]
        if not len(mine):
            continue
        here = np.searchsorted(values, X[mine, column])
        start = int(np.searchsorted(values, variation.task.start[column]))
        between = (start + rng.random(len(mine)) * (here - start)).astype(np.int64)
        anywhere = rng.integers(len(values), size=len(mine))
        index = np.where(rng.random(len(mine)) < 0.5, anywhere, between)
        if not isinstance(variation.task.space.parameters[column], Number):
            index = anywhere  # labels have no between
        X[mine, column] = values[np.minimum(index, len(values) - 1)]
        touched[mine, column] = True


__all__ = ["Variation", "children", "draw", "mended", "variation_of"]
