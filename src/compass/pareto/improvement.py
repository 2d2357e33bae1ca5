"""By how much a run is expected to extend a front.

Everything is minimised. What a run may give is normal, or log-normal where an outcome is learnt as
a logarithm, each outcome on its own. `log_sign` says which: 0 for a normal outcome, 1 for exp(N),
-1 for -exp(-N), a positive outcome that is maximised and so turned; N is the normal one.

Decision 0047 (docs/decisions).
"""

import numpy as np
from numpy.typing import NDArray

from compass.pareto.front import nondominated
from compass.trust.normal import below

Floats = NDArray[np.float64]
Signs = NDArray[np.int64]

_SURE = 1e-12  # the least standard deviation
_REACH = 5.0  # standard deviations below a mean that are reckoned with
_FAR_REACH = 3.0  # the same where they are factors of something large
_POWER = 12  # of two: points of the box where more than two outcomes are looked at
_AT_ONCE = 4_000_000  # numbers of one array


def loss_of(normal: Floats, log_sign: Signs) -> Floats:
    """The outcome that a value [..., k] of the normal distribution stands for."""
    with np.errstate(over="ignore"):
        return np.where(log_sign == 0, normal, log_sign * np.exp(log_sign * normal))


def normal_of(loss: Floats, log_sign: Signs) -> Floats:
    """The value of the normal distribution that an outcome [..., k] stands for.

    What a positive outcome cannot be is infinitely far away.
    """
    size = log_sign * loss
    real = (log_sign != 0) & (size > 0)
    away = np.where(log_sign < 0, np.inf, -np.inf)
    logs = np.where(real, log_sign * np.log(np.where(real, size, 1.0)), away)
    return np.where(log_sign == 0, loss, logs)


def expected_shortfall(
    bound: Floats, mean: Floats, deviation: Floats, *, log_sign: int = 0
) -> Floats:
    """E[max(bound - Z, 0)] of an outcome Z; the arrays are broadcast, -inf gives 0.

    Mean and deviation are those of the normal distribution that `log_sign` makes Z of.
    """
    spread = np.maximum(deviation, _SURE)
    real = np.isfinite(bound)
    if not log_sign:
        z = np.where(real, (bound - mean) / spread, 0.0)
        density = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
        return np.where(real, spread * (z * below(z) + density), 0.0)
    edge = normal_of(np.where(real, bound, -np.inf), np.array(log_sign))
    d = (edge - mean) / spread
    size = log_sign * np.exp(log_sign * mean + spread**2 / 2)
    found = np.where(real, bound, 0.0) * below(d) - size * below(d - log_sign * spread)
    return np.where(real, np.maximum(found, 0.0), 0.0)


def expected_improvement(
    mean: Floats,
    deviation: Floats,
    front: Floats,
    reference: Floats,
    *,
    log_sign: Signs | None = None,
) -> Floats:
    """The expected gain in dominated volume [m] of runs with this mean and deviation, [m, k].

    `front` [n, k] is what is there, `reference` [k] up to where it counts; mean and deviation are
    those of the normal distributions that `log_sign` [k] makes outcomes of. Exact for two outcomes;
    beyond, the integral over the box is taken over evenly spread points, always the same.
    """
    inside = front[(front < reference).all(axis=1)]
    inside = np.unique(inside[nondominated(inside)], axis=0)
    log_sign = np.zeros(len(reference), dtype=np.int64) if log_sign is None else log_sign
    if len(reference) == 2:
        return _of_two(mean, deviation, inside, reference, log_sign)
    return _of_more(mean, deviation, inside, reference, log_sign)


def _of_two(
    mean: Floats, deviation: Floats, front: Floats, reference: Floats, log_sign: Signs
) -> Floats:
    """The sum over the strips between the points of the front, each a product of two means."""
    edges = np.concatenate([[-np.inf], front[:, 0], reference[:1]])
    heights = np.concatenate([reference[1:], front[:, 1]])
    first = expected_shortfall(edges, mean[:, :1], deviation[:, :1], log_sign=int(log_sign[0]))
    drops = expected_shortfall(heights, mean[:, 1:], deviation[:, 1:], log_sign=int(log_sign[1]))
    return np.asarray(np.maximum((np.diff(first, axis=1) * drops).sum(axis=1), 0.0))


def _of_more(
    mean: Floats, deviation: Floats, front: Floats, reference: Floats, log_sign: Signs
) -> Floats:
    """The mean over the part of the box that nothing dominates of the chance to dominate it."""
    from scipy.stats import qmc

    reach = np.where(log_sign < 0, _FAR_REACH, _REACH)
    low = (mean - reach * np.maximum(deviation, _SURE)).min(axis=0)
    low = loss_of(low, log_sign)
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
    places = normal_of(places, log_sign)
    cell = float(np.prod(size)) / 2**_POWER
    found = np.empty(len(mean))
    rows = max(1, _AT_ONCE // max(places.size, 1))
    for first in range(0, len(mean), rows):
        some = slice(first, first + rows)
        spread = np.maximum(deviation[some], _SURE)[:, None, :]
        chance = below((places[None] - mean[some][:, None, :]) / spread).prod(axis=2)
        found[some] = cell * chance.sum(axis=1)
    return found
