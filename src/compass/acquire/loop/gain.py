"""How much better than the best a configuration may be. Arrays are [m]; smaller is better."""

import numpy as np
from numpy.typing import NDArray

from compass.trust.normal import below

Floats = NDArray[np.float64]

_FAR = -5.0  # deviations below which the series is exact enough
_ROOT_2PI = np.sqrt(2 * np.pi)


def log_expected_improvement(mean: Floats, deviation: Floats, best: float) -> Floats:
    """log E[max(best - Y, 0)] of a normal Y, exact where the expectation itself is 0 in floats."""
    z = (best - mean) / deviation
    near = np.maximum(z, _FAR)
    density = np.exp(-(near**2) / 2) / _ROOT_2PI
    plain = np.log(np.maximum(near * below(near) + density, 1e-300))
    # Far below: E = density / z^2 (1 - 3 / z^2 + 15 / z^4 - ...)
    far = np.minimum(z, _FAR)
    inverse = 1.0 / far**2
    series = inverse * (1 - inverse * (3 - inverse * (15 - inverse * 105)))
    tail = -(far**2) / 2 - np.log(_ROOT_2PI) + np.log(series)
    return np.asarray(np.where(z < _FAR, tail, plain) + np.log(deviation))


def share_gained(mean: Floats, deviation: Floats, best: float) -> Floats:
    """E[max(1 - exp(Y - best), 0)] of a normal Y: the gain of exp(Y) as a share of the best."""
    z = (best - mean) / deviation
    factor = np.exp(np.minimum(mean - best + deviation**2 / 2, 50.0))
    return np.asarray(np.clip(below(z) - factor * below(z - deviation), 0.0, 1.0))


def plain_gain(mean: Floats, deviation: Floats, best: float) -> Floats:
    """E[max(best - Y, 0)] of a normal Y."""
    return np.exp(log_expected_improvement(mean, deviation, best))
