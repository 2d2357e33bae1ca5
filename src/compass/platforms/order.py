"""In which order machines come, with which probability, and the run that would settle it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compass.platforms.pairs import Floats

_DRAWS = 4000
_NOISE = 0.02**2  # of a measured runtime
# Nodes and weights of the normal distribution for what a run may turn out to be.
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(15)


@dataclass(frozen=True, eq=False)
class Order:
    """The order of machines for one line, fastest first."""

    places: tuple[int, ...]
    chance: float  # that exactly this is the order
    fastest: Floats  # [m] chance to be the fastest; nan for machines that are not ordered
    before: Floats  # [m, m] chance that the first is faster than the second


def ordered(log_ratio: Floats, covariance: Floats, seed: int) -> Order:
    """The order of log ratios [m] with their covariance [m, m]; nan machines are left out."""
    known = np.flatnonzero(np.isfinite(log_ratio))
    mean, spread = log_ratio[known], covariance[np.ix_(known, known)]
    places = tuple(int(known[at]) for at in np.argsort(mean, kind="stable"))
    draws = mean + _normal(spread, seed)
    expected = np.argsort(mean, kind="stable")
    exact = (np.argsort(draws, axis=1, kind="stable") == expected).all(axis=1).mean()
    fastest = np.full(len(log_ratio), np.nan)
    fastest[known] = np.bincount(draws.argmin(axis=1), minlength=len(known)) / len(draws)
    before = np.full((len(log_ratio), len(log_ratio)), np.nan)
    before[np.ix_(known, known)] = pairwise(mean, spread)
    return Order(places, float(exact), fastest, before)


def pairwise(mean: Floats, covariance: Floats) -> Floats:
    """The chance that machine i is faster than machine j, [m, m]; 1/2 on the diagonal."""
    from scipy.special import ndtr

    variance = covariance.diagonal()
    spread = np.sqrt(np.maximum(variance[:, None] + variance - 2 * covariance, 0.0))
    gap = mean[None, :] - mean[:, None]
    sure = np.sign(gap) * 0.5 + 0.5
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(spread > 1e-9, ndtr(gap / np.where(spread > 1e-9, spread, 1.0)), sure)


def doubt(mean: Floats, covariance: Floats) -> float:
    """The expected share of machine pairs that the order has wrong."""
    first, second = np.triu_indices(len(mean), 1)
    chance = pairwise(mean, covariance)[first, second]
    return float(np.minimum(chance, 1 - chance).mean()) if len(chance) else 0.0


def doubt_after(mean: Floats, covariance: Floats, machine: int) -> float:
    """The expected doubt once the line was run on one machine."""
    variance = covariance[machine, machine] + _NOISE
    gain = covariance[:, machine] / variance
    left = covariance - np.outer(gain, covariance[:, machine])
    outcomes = (doubt(mean + gain * np.sqrt(variance) * node, left) for node in _NODES)
    return float(np.dot(list(outcomes), _WEIGHTS / _WEIGHTS.sum()))


def run_next(
    mean: Floats, covariance: Floats, measured: NDArray[np.bool_]
) -> list[tuple[int, float]]:
    """Machines to run the line on, the one that leaves least doubt first, with that doubt."""
    known = np.isfinite(mean)
    open_ = np.flatnonzero(known & ~measured)
    own = np.flatnonzero(known)
    inner = np.ix_(own, own)
    found = [
        (
            int(machine),
            doubt_after(mean[own], covariance[inner], int(np.searchsorted(own, machine))),
        )
        for machine in open_
    ]
    return sorted(found, key=lambda pair: pair[1])


def _normal(covariance: Floats, seed: int) -> Floats:
    """Draws [k, m] of a normal distribution about 0."""
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    draws = np.random.default_rng(seed).standard_normal((_DRAWS, len(covariance)))
    return np.asarray(draws @ root.T)
