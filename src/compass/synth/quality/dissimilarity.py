"""PERFGEN's Dissimilarity: how the salient directions differ, and what lies along them.

The printed equation, exp of the sum of theta_i lambda_i, does not say what lambda is. Here, as its
text suggests, it is the symmetric Kullback-Leibler divergence of real and synthetic rows along the
i-th principal component of the real rows; theta_i is the angle between that component and the
synthetic subspace. The sum goes over the first d* components that hold 90 % of the variance. The
named alternative `eigenvalue` takes the component's share of the variance for lambda. Either way
the least is 1, not 0 as the paper says. Its blind spot is what one column has to do with another
that leaves the directions as they are: shuffled labels hardly show.
"""

from typing import Literal

import numpy as np

from compass.domain.space import Space
from compass.synth.base import Floats
from compass.synth.quality.dense import dense
from compass.synth.quality.divergence import symmetric_kl

Reading = Literal["divergence", "eigenvalue"]

VARIANCE = 0.9  # that the salient components hold: ours, the paper calls d* "optimal"
_LARGEST = 700.0  # the exponential of more is no number


def dissimilarity(
    space: Space, real: Floats, synthetic: Floats, reading: Reading = "divergence"
) -> float:
    """Dissimilarity of synthetic rows [m, d] to real ones [n, d]: 1 is the best there is."""
    a, b = dense(space, real, real, synthetic)
    variance, axes = principal(a)
    count = salient(variance)
    _, others = principal(b)
    theta = angles(axes[:count], others[:count])
    if reading == "eigenvalue":
        weight = variance[:count] / max(variance.sum(), 1e-300)
    else:
        weight = np.array([symmetric_kl(a @ axis, b @ axis) for axis in axes[:count]])
    return float(np.exp(min(float(theta @ weight), _LARGEST)))


def principal(rows: Floats) -> tuple[Floats, Floats]:
    """Variances [k], descending, and directions [k, p] of the principal components."""
    centred = rows - rows.mean(axis=0)
    covariance = centred.T @ centred / max(len(rows) - 1, 1)
    values, vectors = np.linalg.eigh(covariance)
    return np.maximum(values[::-1], 0.0), vectors[:, ::-1].T


def salient(variance: Floats) -> int:
    """How many components hold the share of the variance that counts; at least one."""
    total = variance.sum()
    if total <= 0:
        return 1
    return int(np.searchsorted(np.cumsum(variance) / total, VARIANCE - 1e-12) + 1)


def angles(axes: Floats, others: Floats) -> Floats:
    """The angle of each direction [k, p] to the subspace of orthonormal others [q, p], [k]."""
    inside = np.sqrt(np.square(axes @ others.T).sum(axis=1))
    return np.asarray(np.arccos(np.clip(inside, 0.0, 1.0)))
