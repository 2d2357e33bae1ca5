"""The terms of the C3G loss (COMPASS, equations 1-5) as pure functions of arrays.

The fourth term, the violation of rules, is `compass.generate.repair.rule_violation`. The generator
`c3g` minimises the weighted sum of the terms as it stands (`compass.generate.c3g`); the default
generator puts them in the order of preference of decision 0003 (`compass.generate.score.order`).
"""

import numpy as np

from compass.generate.base import Floats
from compass.prepare.geometry import Geometry, change_costs, distances


def valid_range(predicted: Floats, low: float, high: float, scale: float) -> Floats:
    """How far predictions [n] are outside [low, high], in units of `scale`; 0 inside."""
    below = np.maximum(low - predicted, 0.0)
    above = np.maximum(predicted - high, 0.0)
    return np.asarray((below + above) / scale, dtype=np.float64)


def valid_class(scores: Floats, wanted: int, least: float = 0.0) -> Floats:
    """How far the best other class is ahead of the wanted one; scores [n, classes].

    A score below `least` is a miss by what it lacks, whatever the other classes have.
    """
    lacking = np.maximum(least - scores[:, wanted], 0.0)
    if scores.shape[1] == 1:
        return np.asarray(lacking)
    others = np.delete(scores, wanted, axis=1).max(axis=1)
    return np.asarray(np.maximum(np.maximum(others - scores[:, wanted], 0.0), lacking))


def proximity(X: Floats, origin: Floats, geometry: Geometry) -> Floats:
    """L_prox [n]: the weighted sum of the column distances."""
    return change_costs(X, origin, geometry)


def diversity(X: Floats, geometry: Geometry) -> float:
    """L_div: the mean distance between the candidates of a set; 0 for a single one."""
    n = len(X)
    if n < 2:
        return 0.0
    every = np.arange(X.shape[1])
    pairs = [distances(X[i + 1 :], X[i], every, geometry).sum() for i in range(n - 1)]
    return float(sum(pairs) / (n * (n - 1) / 2))
