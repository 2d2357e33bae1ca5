"""The set of n configurations out of a pool whose loss is least: pure functions of arrays.

The loss of a set is the sum of the costs of its members less a reward for their mean distance. A
set is improved by putting a better configuration of the pool in the place of one member, as long as
that helps; several starts keep the end from depending on the first.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from compass.generate.base import Columns, Floats
from compass.prepare.geometry import Geometry, column_distances

_PASSES = 50  # over the members of a set; each but the last makes it better
_ENOUGH = 1e-12  # an improvement by less is rounding

Places = NDArray[np.int64]


def least_set(
    X: Floats,
    cost: Floats,
    count: int,
    diversity: float,
    geometry: Geometry,
    firsts: Sequence[Sequence[int]] = ((),),
) -> Places:
    """Positions [min(count, m)] in the pool X [m, d] of the set with the least loss that was found.

    `cost` [m] is what a configuration adds to the loss of every set, `diversity` the weight of the
    mean distance. Each of `firsts` is a beginning of a set to start from.
    """
    count = min(count, len(X))
    if count < 2 or diversity == 0:
        return np.argsort(cost, kind="stable")[:count].astype(np.int64)
    weight = diversity / (count * (count - 1) / 2)
    best, least = None, np.inf
    for first in firsts:
        grown = _grown(X, cost, first, count, weight, geometry)
        chosen, total = _improved(X, cost, grown, weight, geometry)
        if best is None or total < least - _ENOUGH * max(1.0, abs(least)):
            best, least = chosen, total
    assert best is not None
    return best


def _grown(
    X: Floats, cost: Floats, first: Sequence[int], count: int, weight: float, geometry: Geometry
) -> list[int]:
    """A set that begins with `first` and takes, one by one, what adds least to the loss."""
    chosen = list(first)[:count]
    apart = np.zeros(len(X))
    for place in chosen:
        apart += distance_to(X, X[place], geometry)
    while len(chosen) < count:
        added = cost - weight * apart
        added[chosen] = np.inf
        chosen.append(int(np.argmin(added)))
        apart += distance_to(X, X[chosen[-1]], geometry)
    return chosen


def _improved(
    X: Floats, cost: Floats, chosen: list[int], weight: float, geometry: Geometry
) -> tuple[Places, float]:
    """A set of which no member can be replaced with profit, and its loss."""
    apart = np.zeros(len(X))
    for place in chosen:
        apart += distance_to(X, X[place], geometry)
    for _ in range(_PASSES):
        before = list(chosen)
        for member, place in enumerate(before):
            others = apart - distance_to(X, X[place], geometry)
            added = cost - weight * others
            now = float(added[place])
            added[chosen] = np.inf
            best = int(np.argmin(added))
            if added[best] < now - _ENOUGH * max(1.0, abs(now)):
                chosen[member] = best
                apart = others + distance_to(X, X[best], geometry)
        if chosen == before:
            break
    total = float(cost[chosen].sum()) - weight * float(apart[chosen].sum()) / 2
    return np.array(chosen, dtype=np.int64), total


def distance_to(X: Floats, x: Floats, geometry: Geometry) -> Floats:
    """The distance [m] of each row of X [m, d] to x [d]: the sum over the columns."""
    return np.asarray(column_distances(X, x, geometry).sum(axis=1))


def spread_firsts(X: Floats, cost: Floats, columns: Columns, starts: int) -> list[list[int]]:
    """Beginnings of sets: cheap configurations, and the cheapest at the ends of columns.

    With a large reward for distance the best set lies at the ends of the space, which a set that
    grows from the cheapest configuration need not reach by changing one member at a time.
    """
    ranked = np.argsort(cost, kind="stable")
    firsts = [[], *([int(place)] for place in ranked[:: max(1, len(X) // max(1, starts))][:starts])]
    for column in columns[:starts]:
        for end in (X[:, column].min(), X[:, column].max()):
            at = np.flatnonzero(X[:, column] == end)
            firsts.append([int(at[np.argmin(cost[at])])])
    return firsts
