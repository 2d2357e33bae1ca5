"""Kullback-Leibler divergence of columns, both ways."""

import numpy as np

from compass.domain.space import Category, Space
from compass.synth.base import Floats
from compass.synth.quality.dense import shares

_BINS = 20  # of numbers: quantiles of both tables together
_PRIOR = 0.5  # rows that each bin has before any is counted, so that none is empty


def mean_kl(space: Space, real: Floats, synthetic: Floats) -> float:
    """The mean over columns of the divergence from real to synthetic and back (equation 2)."""
    found = []
    for place, parameter in enumerate(space):
        a, b = real[:, place], synthetic[:, place]
        if isinstance(parameter, Category):
            count = len(parameter.values)
            p, q = (smoothed(shares(x, count) * len(x)) for x in (a, b))
            found.append((kl(p, q) + kl(q, p)) / 2)
        else:
            found.append(symmetric_kl(a, b))
    return float(np.mean(found))


def symmetric_kl(a: Floats, b: Floats) -> float:
    """The mean of the divergences of two samples of a number, from a to b and back."""
    edges = np.unique(np.quantile(np.concatenate([a, b]), np.linspace(0, 1, _BINS + 1)[1:-1]))
    count = len(edges) + 1
    p, q = (
        smoothed(shares(np.searchsorted(edges, x, side="right"), count) * len(x)) for x in (a, b)
    )
    return (kl(p, q) + kl(q, p)) / 2


def smoothed(counts: Floats) -> Floats:
    """Shares of counted rows, none of them 0."""
    return np.asarray((counts + _PRIOR) / (counts.sum() + _PRIOR * len(counts)))


def kl(p: Floats, q: Floats) -> float:
    """The divergence from the shares p to the shares q, in nats."""
    return float(np.sum(p * np.log(p / q)))
