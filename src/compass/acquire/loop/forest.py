"""Extra Trees: what is expected of a configuration where an outcome jumps."""

import numpy as np
from numpy.typing import NDArray

from compass.model.trees import flat
from compass.model.trees.flat import FlatForest
from compass.native import kernel

Floats = NDArray[np.float64]

_grow_trees = kernel("grow_trees")


def grown(Z: Floats, y: Floats, trees: int, seed: int) -> FlatForest:
    """Extremely randomised trees grown on inputs Z [n, p] and outcomes y [n]."""
    most = trees * (2 * len(y) - 1)
    feature, left, right = (np.empty(most, dtype=np.int32) for _ in range(3))
    threshold, value = np.empty(most), np.empty(most)
    roots, count = np.empty(trees, dtype=np.int64), np.empty(1, dtype=np.int64)
    X = np.ascontiguousarray(Z, dtype=np.float32)
    own = np.ascontiguousarray(y, dtype=np.float64)
    _grow_trees(X, own, seed, feature, threshold, left, right, value, roots, count)
    n = int(count[0])
    return FlatForest(
        feature=feature[:n],
        threshold=threshold[:n],
        left=left[:n],
        right=right[:n],
        value=value[:n, None],
        roots=roots,
        width=Z.shape[1],
    )


def beliefs(forest: FlatForest, Z: Floats) -> tuple[Floats, Floats]:
    """Mean and variance [m] over the trees at inputs Z [m, p]."""
    mean, spread = flat.mean_spread(forest, np.ascontiguousarray(Z), threads=1)
    return mean[:, 0], spread**2
