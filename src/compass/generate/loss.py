"""The C3G loss (COMPASS, equations 1-5): four terms as pure functions of arrays."""

import numpy as np

from compass.generate.base import Floats
from compass.prepare.geometry import Geometry
from compass.settings import LossWeights


def valid_range(predicted: Floats, low: float, high: float, scale: float) -> Floats:
    """How far predictions [n] are outside [low, high], in units of `scale`; 0 inside."""
    below = np.maximum(low - predicted, 0.0)
    above = np.maximum(predicted - high, 0.0)
    return np.asarray((below + above) / scale, dtype=np.float64)


def valid_class(scores: Floats, wanted: int) -> Floats:
    """How far the best other class is ahead of the wanted one; scores [n, classes]."""
    if scores.shape[1] == 1:
        return np.zeros(len(scores))
    others = np.delete(scores, wanted, axis=1).max(axis=1)
    return np.asarray(np.maximum(others - scores[:, wanted], 0.0), dtype=np.float64)


def column_distance(X: Floats, origin: Floats, geometry: Geometry) -> Floats:
    """Per column |difference| / scale for numbers, 0 or 1 for categories and the level none.

    X is [n, d], origin [d] or [n, d]; the result is [n, d], not weighted.
    """
    apart = np.abs(X - origin) / geometry.scale
    origin = np.broadcast_to(origin, X.shape)
    either_none = (geometry.none == X) | (geometry.none == origin)
    labels = geometry.category | either_none
    return np.asarray(np.where(labels, (origin != X).astype(np.float64), apart))


def proximity(X: Floats, origin: Floats, geometry: Geometry) -> Floats:
    """L_prox [n]: the weighted sum of the column distances."""
    return np.asarray(column_distance(X, origin, geometry) @ geometry.weight)


def diversity(X: Floats, geometry: Geometry) -> float:
    """L_div: the mean distance between the candidates of a set; 0 for a single one."""
    n = len(X)
    if n < 2:
        return 0.0
    pairs = [column_distance(X[i + 1 :], X[i], geometry).sum() for i in range(n - 1)]
    return float(sum(pairs) / (n * (n - 1) / 2))


def total(
    valid: Floats, near: Floats, violation: Floats, spread_apart: float, weights: LossWeights
) -> float:
    """L of a set of candidates: the sum of their losses less the reward for being different."""
    each = valid + weights.proximity * near + weights.constraint * violation
    return float(each.sum() - weights.diversity * spread_apart)
