"""Trained networks applied to rows: compiled loops over plain arrays.

Every row is treated by itself with a fixed order of additions, so that a row gives the same bit for
bit alone, in any batch and on any number of threads; matrix products of numeric libraries do not.
"""

import numpy as np
from numpy.typing import NDArray

from compass.native import kernel

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

_attend, _perceive = kernel("attend"), kernel("perceive")


def attended(
    D: Floats, owner: Places, arrays: dict[str, Floats], relax: float
) -> tuple[Floats, Floats, Floats]:
    """Sequential attention on dense rows D float64[n, p], column k of which belongs to owner[k].

    Returns the summed decisions float64[n, width], the masks float64[n, steps, d] and how much each
    step decided float64[n, steps].
    """
    steps, attention, columns = arrays["attend"].shape
    width = arrays["later"].shape[2] - attention
    out, masks = np.empty((len(D), width)), np.empty((len(D), steps, columns))
    strength = np.empty((len(D), steps))
    layers = ("first", "first_bias", "later", "later_bias", "attend", "attend_bias")
    given = [np.ascontiguousarray(arrays[name]) for name in layers]
    _attend(np.ascontiguousarray(D), owner, *given, relax, out, masks, strength)
    return out, masks, strength


def perceived(D: Floats, sizes: Places, weights: Floats) -> Floats:
    """A multi-layer perceptron on dense rows D float64[n, sizes[0]] -> float64[n, sizes[-1]].

    Layers are linear with x * sigmoid(x) between them; `weights` holds, layer after layer, the
    matrix [in, out] and the bias [out].
    """
    found = np.empty((len(D), int(sizes[-1])))
    dense, layers = np.ascontiguousarray(D), np.ascontiguousarray(weights)
    _perceive(dense, np.ascontiguousarray(sizes), layers, found)
    return found
