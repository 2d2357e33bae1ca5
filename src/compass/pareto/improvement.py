"""By how much a run is expected to extend a front.

Everything is minimised. What a run may give is normal, or log-normal where an outcome is learnt as
a logarithm, each outcome on its own.

Decision 0047 (docs/decisions).
"""

import numpy as np
from numpy.typing import NDArray

from compass.pareto.front import nondominated
from compass.trust.normal import below

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_SURE = 1e-12  # the least standard deviation
_REACH = 5.0  # standard deviations below a mean that are reckoned with
_POWER = 12  # of two: points of the box where more than two outcomes are looked at
_AT_ONCE = 4_000_000  # numbers of one array


def expected_shortfall(bound: Floats, mean: Floats, deviation: Floats, *, log: bool) -> Floats:
    """E[max(bound - Z, 0)] of a normal Z; the arrays are broadcast, -inf gives 0.

    With `log`, Z is log-normal, and mean and deviation are those of its logarithm.
    """
    spread = np.maximum(deviation, _SURE)
    if log:
        real = bound > 0
        d = (np.log(np.where(real, bound, 1.0)) - mean) / spread
        size = np.exp(mean + spread**2 / 2)
        found = np.where(real, bound, 0.0) * below(d) - size * below(d - spread)
        return np.where(real, np.maximum(found, 0.0), 0.0)
    real = np.isfinite(bound)
    z = np.where(real, (bound - mean) / spread, 0.0)
    density = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    return np.where(real, spread * (z * below(z) + density), 0.0)


def expected_improvement(
    mean: Floats,
    deviation: Floats,
    front: Floats,
    reference: Floats,
    *,
    log: Bools | None = None,
) -> Floats:
    """The expected gain in dominated volume [m] of runs with this mean and deviation, [m, k].

    `front` [n, k] is what is there, `reference` [k] up to where it counts, `log` [k] which means
    and deviations are of logarithms. Exact for two outcomes; beyond, the integral over the box is
    taken over evenly spread points, always the same.
    """
    inside = front[(front < reference).all(axis=1)]
    inside = np.unique(inside[nondominated(inside)], axis=0)
    log = np.zeros(len(reference), dtype=np.bool_) if log is None else log
    if len(reference) == 2:
        return _of_two(mean, deviation, inside, reference, log)
    return _of_more(mean, deviation, inside, reference, log)


def _of_two(
    mean: Floats, deviation: Floats, front: Floats, reference: Floats, log: Bools
) -> Floats:
    """The sum over the strips between the points of the front, each a product of two means."""
    edges = np.concatenate([[-np.inf], front[:, 0], reference[:1]])
    heights = np.concatenate([reference[1:], front[:, 1]])
    first = expected_shortfall(edges, mean[:, :1], deviation[:, :1], log=bool(log[0]))
    drops = expected_shortfall(heights, mean[:, 1:], deviation[:, 1:], log=bool(log[1]))
    return np.asarray(np.maximum((np.diff(first, axis=1) * drops).sum(axis=1), 0.0))


def _of_more(
    mean: Floats, deviation: Floats, front: Floats, reference: Floats, log: Bools
) -> Floats:
    """The mean over the part of the box that nothing dominates of the chance to dominate it."""
    from scipy.stats import qmc

    low = (mean - _REACH * np.maximum(deviation, _SURE)).min(axis=0)
    low = np.where(log, np.exp(np.where(log, low, 0.0)), low)
    low = np.minimum(low, front.min(axis=0)) if len(front) else low
    size = np.maximum(reference - low, 0.0)
    rng = np.random.default_rng(0)
    drawn = qmc.Sobol(len(reference), scramble=True, rng=rng).random_base2(_POWER)
    places = low + drawn * size
    if len(front):
        covered = np.zeros(len(places), dtype=np.bool_)
        for point in front:
            covered |= (point <= places).all(axis=1)
        places = places[~covered]
    places = np.where(log, np.log(np.maximum(places, _SURE)), places)
    cell = float(np.prod(size)) / 2**_POWER
    found = np.empty(len(mean))
    rows = max(1, _AT_ONCE // max(places.size, 1))
    for first in range(0, len(mean), rows):
        some = slice(first, first + rows)
        spread = np.maximum(deviation[some], _SURE)[:, None, :]
        chance = below((places[None] - mean[some][:, None, :]) / spread).prod(axis=2)
        found[some] = cell * chance.sum(axis=1)
    return found
