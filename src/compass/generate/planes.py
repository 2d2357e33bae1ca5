"""The best points of planes: two columns of one configuration move, everything else stays.

A tree cuts such a plane into a few rectangles. Adding each at its four corners and summing up once
at the end gives the prediction at every point of the plane for little more than the price of the
rectangles: thousands of configurations cost what a dozen do when each is walked on its own.

Decision 0010 (docs/decisions).
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from compass.generate.base import Bools, Columns, Floats
from compass.generate.blocks import ColumnValues
from compass.generate.linear_rules import LinearRules
from compass.model.trees.joined import Joined
from compass.native import kernel

_best_of_planes = {  # by whether inputs are cast to float32
    True: kernel("best_of_planes_single"),
    False: kernel("best_of_planes_wide"),
}


class RawTargets(NamedTuple):
    """The targets in terms of raw outputs, one entry per target."""

    slot: Columns  # first output
    wide: Columns  # 1: a number; otherwise scores of so many classes
    wanted: Columns  # position of the wanted class
    low: Floats
    high: Floats
    scale: Floats
    sign: Floats  # of its objective: see `compass.generate.objectives.sign`


@dataclass(frozen=True, eq=False)
class Planes:
    """Pairs of columns that move together, and the points of their planes that may be looked at."""

    columns: Columns  # [p, 2]; the same column twice is a line
    budget: Floats  # [p] the two values of a point must cost less than this together
    mask_start: Columns  # [p] where the points of a plane begin in `allowed`; -1: all are allowed
    allowed: Bools  # per point, plane after plane, whether the rules allow it


def best_of_planes(
    trees: Joined,
    x: Floats,
    planes: Planes,
    values: ColumnValues,
    costs: Floats,
    targets: RawTargets,
    rules: LinearRules,
    margin: float,
) -> Columns:
    """The positions [p, 2] of the best point of each plane through x [d].

    `costs` are those of the values. What counts is: how far the goals are missed, the preference,
    and the two costs (or, with `margin` > 0, how far inside the ranges a point lies, up to that
    margin). A position of -1 means that the plane has no allowed point within its budget.
    """
    compared, value = (_compared(trees, a) for a in (x, values.value))
    sizes, pairs = np.diff(values.start), planes.columns
    rows = int(sizes[pairs[:, 0]].max(initial=1)) + 1
    areas = pairs[pairs[:, 0] != pairs[:, 1]]  # a line needs no second side
    columns = int(sizes[areas[:, 1]].max(initial=1)) + 1
    position = np.full((len(pairs), 2), -1, dtype=np.int64)
    _best_of_planes[trees.single](
        trees.nodes,
        trees.value,
        trees.trees,
        trees.divisor,
        trees.offset,
        compared,
        np.ascontiguousarray(pairs),
        values.start,
        value,
        costs,
        *targets,
        *rules,
        np.ascontiguousarray(x),
        values.value,
        planes.mask_start,
        planes.allowed,
        planes.budget,
        margin,
        np.empty((rows, columns, len(trees.offset))),
        # More branches never wait on the way down a tree; memory is taken only as it is used.
        np.empty((len(trees.nodes) // 2 + 2, 5), dtype=np.int64),
        np.empty((6, len(rules.constant))),
        position,
        np.full((len(pairs), 3), np.inf),
    )
    return position


def _compared(trees: Joined, values: Floats) -> Floats:
    """Values as the trees compare them."""
    cast = values.astype(np.float32).astype(np.float64) if trees.single else values
    return np.ascontiguousarray(cast)
