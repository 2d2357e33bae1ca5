"""How far apart two configurations are: column by column, weighted, and in sum over columns."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compass.domain.space import Category, Space
from compass.native import kernel

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Integers = NDArray[np.int64]

_sum_distances = kernel("sum_distances")


@dataclass(frozen=True)
class Geometry:
    """What a difference in each column counts (all arrays are [d])."""

    scale: Floats  # what counts as a large difference of a number
    weight: Floats  # cost of changing a column
    category: Bools
    none: Floats  # the code of the level none; NaN where there is no such level

    @classmethod
    def of(cls, space: Space, scale: Floats, weight: Floats) -> "Geometry":
        """The geometry of a space, with the scale and the cost of change of each column [d]."""
        category = np.array([isinstance(parameter, Category) for parameter in space])
        none = [np.nan if isinstance(p, Category) else p.none_code for p in space]
        return cls(scale, weight, category, np.array(none))


def column_distances(X: Floats, origin: Floats, geometry: Geometry) -> Floats:
    """Per column |difference| / scale for numbers, 0 or 1 for categories and the level none.

    X is [n, d], origin [d] or [n, d]; the result is [n, d], not weighted.
    """
    apart = np.abs(X - origin) / geometry.scale
    origin = np.broadcast_to(origin, X.shape)
    either_none = (geometry.none == X) | (geometry.none == origin)
    labels = geometry.category | either_none
    return np.asarray(np.where(labels, (origin != X).astype(np.float64), apart))


def column_costs(values: Floats, origin: Floats, column: int, geometry: Geometry) -> Floats:
    """The weighted distance of values [k] of one column to that of a configuration [d]."""
    start, none = origin[column], geometry.none[column]
    labels = bool(geometry.category[column]) | (values == none) | bool(start == none)
    apart = np.where(labels, values != start, np.abs(values - start) / geometry.scale[column])
    return np.asarray(apart * geometry.weight[column], dtype=np.float64)


def distances(X: Floats, x: Floats, columns: Integers, geometry: Geometry) -> Floats:
    """The sum of the column distances of these columns between X [n, d] and x [d], not weighted."""
    return _summed(X, x, columns, geometry, np.ones(len(geometry.weight)))


def change_costs(X: Floats, x: Floats, geometry: Geometry) -> Floats:
    """The weighted sum of all column distances between X [n, d] and x [d]."""
    return _summed(X, x, np.arange(len(geometry.weight)), geometry, geometry.weight)


def _summed(X: Floats, x: Floats, columns: Integers, geometry: Geometry, weight: Floats) -> Floats:
    apart = np.empty(len(X))
    rows = np.ascontiguousarray(X, dtype=np.float64)
    x = np.ascontiguousarray(x, dtype=np.float64)
    category = np.asarray(geometry.category)
    _sum_distances(rows, x, columns, geometry.scale, category, geometry.none, weight, apart)
    return apart


def nearest_rows(
    observed: Floats, x: Floats, columns: Integers, geometry: Geometry, count: int
) -> Integers:
    """Positions (ascending) of the `count` rows of observed [n, d] nearest to x [d].

    The distance is the sum of the column distances of these columns, not weighted.
    """
    if len(observed) <= count:
        return np.arange(len(observed))
    apart = distances(observed, x, columns, geometry)
    return np.sort(np.argpartition(apart, count - 1)[:count])
