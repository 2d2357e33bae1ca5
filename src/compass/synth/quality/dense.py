"""Rows as numbers of one scale: standardised numbers, a column for each label."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compass.domain.space import Category, Space
from compass.synth.base import Floats


def dense(space: Space, measured: Floats, *tables: Floats) -> list[Floats]:
    """Each table [m, d] as [m, p], scaled by mean and deviation of the measured rows."""
    found: list[list[Floats]] = [[] for _ in tables]
    for place, parameter in enumerate(space):
        if isinstance(parameter, Category):
            for code in range(len(parameter.values)):
                for into, table in zip(found, tables, strict=True):
                    into.append((table[:, place] == code).astype(np.float64))
            continue
        column = measured[:, place]
        centre, scale = column.mean(), column.std() or 1.0
        for into, table in zip(found, tables, strict=True):
            into.append((table[:, place] - centre) / scale)
    return [np.column_stack(columns) for columns in found]


def thinned(rows: Floats, most: int, seed: int) -> Floats:
    """At most so many rows, by chance."""
    if len(rows) <= most:
        return rows
    chosen = np.random.default_rng(seed).choice(len(rows), most, replace=False)
    return np.asarray(rows[np.sort(chosen)])


def shares(codes: NDArray[Any], count: int) -> Floats:
    """The share of rows of each of `count` labels."""
    return np.bincount(codes.astype(np.int64), minlength=count) / max(len(codes), 1)


def pairs(count: int) -> Sequence[tuple[int, int]]:
    """Every two of `count` columns."""
    return [(a, b) for a in range(count) for b in range(a + 1, count)]
