"""Rows worth having where several outcomes are to be small: those near the front of their context.

A row on the front of its context has the largest chance to be kept, the next front a smaller one,
and so on; a share of the chance all rows have alike, so that what lies between is learnt as well.
Each row counts its weight divided by its chance; models learn all of them alike, because these
weights would undo the choice.

Files of any size are read once: there the depth of a row is that behind the fronts of the pilot
rows of its context, which were looked at before the pass.

Decision 0047 (docs/decisions).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from compass import registry
from compass.domain.base import Value
from compass.domain.errors import BadInput
from compass.domain.space import Category, Number, Role, Space
from compass.pareto.front import nondominated
from compass.prepare import Prepared
from compass.prepare.split import configurations
from compass.readers import Table
from compass.reducers.columns import Cells
from compass.reducers.draws import proportional
from compass.reducers.guided import Chosen, reduced
from compass.reducers.probabilities import combinations
from compass.settings import ReduceSettings

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_LAYERS = 48  # fronts behind each other that are told apart
_HALF = 4.0  # fronts from one to the next of half the chance


@registry.add("reducer", "front")
class FrontRows:
    """Keeps rows near the front of their context with a larger chance; small outcomes are good."""

    name = "front"
    learns_alike = True  # by their weights rows near the front would hardly count

    def reduce(self, prepared: Prepared, keep: float, seed: int) -> Chosen:
        """A sample without replacement; a row counts its weight / its chance."""
        return reduced(prepared, keep, seed, _by_depth)

    @staticmethod
    def of_pilot(
        columns: Mapping[str, Cells], space: Space, usable: Bools, keep: float, floor: float
    ) -> "ByFront":
        """The chances of rows that are not known yet, from the usable pilot rows."""
        return by_front(columns, space, usable, keep, floor)


@dataclass(frozen=True)
class ByFront:
    """min(1, a + b * nearness): more for rows near the front of their context, as the pilot knows.

    The fronts of a context are those of all pilot rows where the pilot has not seen the context.
    """

    outcomes: tuple[str, ...]
    contexts: tuple[str, ...]
    fronts: Mapping[tuple[Value, ...], tuple[Floats, ...]]  # by context, the first front first
    every: tuple[Floats, ...]  # the fronts of all contexts together
    a: float
    b: float

    @property
    def looks_at(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Outcomes; labels of the context."""
        return self.outcomes, self.contexts

    def of(self, columns: Mapping[str, Cells], rows: int) -> Floats:
        """The chance from the depth of each row, float64[n]."""
        return np.minimum(1.0, self.a + self.b * self.nearness(columns, rows))

    def nearness(self, columns: Mapping[str, Cells], rows: int) -> Floats:
        """1 on or before the first front, half of it _HALF fronts behind, float64[n]."""
        Y = _numbers_of(columns, self.outcomes)
        place, found = combinations(columns, self.contexts, rows)
        depth = np.full(rows, float(_LAYERS))
        fine = np.isfinite(Y).all(axis=1)
        for number, context in enumerate(found):
            own = np.flatnonzero((place == number) & fine)
            depth[own] = depth_behind(Y[own], self.fronts.get(context, self.every))
        return np.asarray(2.0 ** (-depth / _HALF))


def by_front(
    columns: Mapping[str, Cells], space: Space, usable: Bools, keep: float, floor: float
) -> ByFront:
    """The fronts of the usable pilot rows, and chances whose mean over these is `keep`."""
    outcomes = tuple(_outcomes(space))
    contexts = tuple(_contexts(space))
    rows = np.flatnonzero(usable)
    Y = _numbers_of(columns, outcomes)
    place, found = combinations(columns, contexts, len(Y))
    rows = rows[np.isfinite(Y[rows]).all(axis=1)]
    fronts = {}
    for number in np.unique(place[rows]):
        fronts[found[int(number)]] = layers(Y[rows[place[rows] == number]])
    known = ByFront(outcomes, contexts, fronts, layers(Y[rows]), 0.0, 1.0)
    a, b = proportional(known.nearness(columns, len(Y))[usable], keep, floor)
    return replace(known, a=a, b=b)


def layers(Y: Floats) -> tuple[Floats, ...]:
    """The fronts of rows [n, k] behind each other, the first first."""
    found: list[Floats] = []
    while len(Y) and len(found) < _LAYERS:
        first = nondominated(Y)
        found.append(np.unique(Y[first], axis=0))
        Y = Y[~first]
    return tuple(found)


def depth_behind(Y: Floats, fronts: Sequence[Floats]) -> Floats:
    """How many of the fronts have a point that dominates each row [n, k], float64[n]."""
    depth = np.zeros(len(Y))
    left = np.arange(len(Y))
    for number, front in enumerate(fronts, 1):
        behind = np.zeros(len(left), dtype=np.bool_)
        for point in front:
            own = Y[left]
            behind |= (point <= own).all(axis=1) & (point < own).any(axis=1)
        left = left[behind]
        depth[left] = number
        if not len(left):
            break
    return depth


def _numbers_of(columns: Mapping[str, Cells], names: Sequence[str]) -> Floats:
    return np.column_stack([np.asarray(columns[name].numbers(), dtype=float) for name in names])


def _outcomes(space: Space) -> list[str]:
    """The outcomes that are numbers."""
    numbers = [n for n in space.having(Role.OUTCOME) if isinstance(space[n], Number)]
    if not numbers:
        raise BadInput(
            "no outcome is a number, so no row is on a front",
            hint="choose rows with another reducer, e.g. guided",
        )
    return numbers


def _contexts(space: Space) -> list[str]:
    """The labels of the context."""
    return [n for n in space.having(Role.CONTEXT) if isinstance(space[n], Category)]


def _by_depth(table: Table, prepared: Prepared, keep: float, seed: int) -> Floats:
    del table, seed
    nearness = 2.0 ** (-depths(prepared) / _HALF)
    return chances(nearness, keep, ReduceSettings().floor)


def depths(prepared: Prepared) -> Floats:
    """How many fronts lie before each row in its context, [n]; the most of rows not measured."""
    numbers, labels = _outcomes(prepared.space), _contexts(prepared.space)
    Y = prepared.columns_of(numbers)
    groups = np.zeros(len(Y), dtype=np.int64)
    if labels:
        codes = np.nan_to_num(prepared.columns_of(labels), nan=-1.0)
        groups = np.unique(configurations(codes), return_inverse=True)[1].ravel()
    found = np.full(len(Y), float(_LAYERS))
    fine = np.isfinite(Y).all(axis=1)
    for group in np.unique(groups):
        left = np.flatnonzero((groups == group) & fine)
        for layer in range(_LAYERS):
            if not len(left):
                break
            first = nondominated(Y[left])
            found[left[first]] = layer
            left = left[~first]
    return found


def chances(score: Floats, keep: float, floor: float) -> Floats:
    """Chances [n] with the mean `keep`: a share `floor` of it is equal, the rest by score."""
    n = len(score)
    rest = np.full(n, keep * floor)
    room = keep * n - float(rest.sum())
    open_ = np.ones(n, dtype=np.bool_)
    # What is sure already gives its share to the others.
    while room > 1e-9 * n and open_.any():
        more = np.where(open_, score, 0.0)
        more *= room / float(more.sum())
        over = rest + more >= 1
        rest = np.minimum(rest + more, 1.0)
        room = keep * n - float(rest.sum())
        if not (over & open_).any():
            break
        open_ &= ~over
    return np.asarray(np.minimum(rest, 1.0))
