"""Rows worth having where several outcomes are to be small: those near the front of their context.

A row on the front of its context has the largest chance to be kept, the next front a smaller one,
and so on; a share of the chance all rows have alike, so that what lies between is learnt as well.
Each row counts its weight divided by its chance.

Decision 0047 (docs/decisions).
"""

import numpy as np
from numpy.typing import NDArray

from compass import registry
from compass.domain.errors import BadInput
from compass.domain.space import Category, Number, Role
from compass.pareto.front import nondominated
from compass.prepare import Prepared
from compass.prepare.split import configurations
from compass.readers import Table
from compass.reducers.guided import Chosen, reduced
from compass.settings import ReduceSettings

Floats = NDArray[np.float64]

_LAYERS = 48  # fronts behind each other that are told apart
_HALF = 4.0  # fronts from one to the next of half the chance


@registry.add("reducer", "front")
class FrontRows:
    """Keeps rows near the front of their context with a larger chance; small outcomes are good."""

    name = "front"

    def reduce(self, prepared: Prepared, keep: float, seed: int) -> Chosen:
        """A sample without replacement; a row counts its weight / its chance."""
        return reduced(prepared, keep, seed, _by_depth)


def _by_depth(table: Table, prepared: Prepared, keep: float, seed: int) -> Floats:
    del table, seed
    nearness = 2.0 ** (-depths(prepared) / _HALF)
    return chances(nearness, keep, ReduceSettings().floor)


def depths(prepared: Prepared) -> Floats:
    """How many fronts lie before each row in its context, [n]; the most of rows not measured."""
    space = prepared.space
    numbers = [n for n in space.having(Role.OUTCOME) if isinstance(space[n], Number)]
    if not numbers:
        raise BadInput(
            "no outcome is a number, so no row is on a front",
            hint="choose rows with another reducer, e.g. guided",
        )
    labels = [n for n in space.having(Role.CONTEXT) if isinstance(space[n], Category)]
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
