"""Trained networks applied to rows: compiled loops over plain arrays.

Every row is treated by itself with a fixed order of additions, so that a row gives the same bit for
bit alone, in any batch and on any number of threads; matrix products of numeric libraries do not.
"""

from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from compass.execute.kernel import f8, f8_2d, i8, kernel, number, to_f8_2d

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

_f8_3d, _f8_4d = (types.Array(types.float64, d, "C", readonly=True) for d in (3, 4))
_to_f8_3d = types.float64[:, :, ::1]


@kernel()
def _affine(x: Floats, rows: int, weight: Floats, bias: Floats, out: Floats, columns: int) -> None:
    for j in range(columns):
        out[j] = bias[j]
    for i in range(rows):
        if x[i] != 0.0:
            for j in range(columns):
                out[j] += x[i] * weight[i, j]


@kernel()
def project(z: Floats, size: int) -> None:
    """Replace scores by the nearest shares: not negative, 1 in sum (sparsemax)."""
    # Michelot: drop what lies below the threshold until nothing does. The largest is moved to 0
    # first, or large values would swallow the 1 that is shared out.
    top = z[0]
    for j in range(size):
        top = max(top, z[j])
    total = 0.0
    for j in range(size):
        z[j] -= top
        total += z[j]
    count = size
    threshold = (total - 1.0) / count
    while True:
        total = 0.0
        kept = 0
        for j in range(size):
            if z[j] > threshold:
                total += z[j]
                kept += 1
        if kept >= count:  # more, if anything, by rounding
            break
        count = kept
        threshold = (total - 1.0) / count
    for j in range(size):
        z[j] = max(z[j] - threshold, 0.0)


@kernel()
def _features(
    x: Floats, first: Floats, first_bias: Floats, later: Floats, later_bias: Floats,
    g: Floats, h: Floats,
) -> None:  # fmt: skip
    hidden = len(h)
    _affine(x, len(x), first, first_bias, g, 2 * hidden)
    for j in range(hidden):
        h[j] = g[j] / (1.0 + np.exp(-g[hidden + j]))
    for layer in range(later.shape[0]):
        _affine(h, hidden, later[layer], later_bias[layer], g, 2 * hidden)
        for j in range(hidden):
            h[j] = (h[j] + g[j] / (1.0 + np.exp(-g[hidden + j]))) * np.sqrt(0.5)


@kernel()
def _share_out(
    hidden: Floats, weight: Floats, bias: Floats, prior: Floats, relax: float, z: Floats
) -> None:
    _affine(hidden, len(hidden), weight, bias, z, len(z))
    for j in range(len(z)):
        z[j] *= prior[j]
    project(z, len(z))
    for j in range(len(z)):
        prior[j] *= relax - z[j]


@kernel(
    f8_2d, i8, _f8_3d, f8_2d, _f8_4d, _f8_3d, _f8_3d, f8_2d, number, to_f8_2d, _to_f8_3d, to_f8_2d
)  # fmt: skip
def _attend(
    D: Floats, owner: Places, first: Floats, first_bias: Floats, later: Floats, later_bias: Floats,
    attend: Floats, attend_bias: Floats, relax: float,
    out: Floats, masks: Floats, strength: Floats,
) -> None:  # fmt: skip
    steps, columns = attend.shape[0], attend.shape[2]
    hidden, width = later.shape[2], out.shape[1]
    x, h, g = np.empty(D.shape[1]), np.empty(hidden), np.empty(2 * hidden)
    z, prior = np.empty(columns), np.empty(columns)
    for row in range(D.shape[0]):
        for j in range(columns):
            prior[j] = 1.0
        for j in range(width):
            out[row, j] = 0.0
        # What the first turn says only decides what is attended to in the next one.
        for turn in range(steps + 1):
            if turn > 0:
                step = turn - 1
                _share_out(h[width:], attend[step], attend_bias[step], prior, relax, z)
                for j in range(columns):
                    masks[row, step, j] = z[j]
            for k in range(len(x)):
                x[k] = D[row, k] * (z[owner[k]] if turn > 0 else 1.0)
            _features(x, first[turn], first_bias[turn], later[turn], later_bias[turn], g, h)
            if turn > 0:
                strength[row, turn - 1] = 0.0
                for j in range(width):
                    out[row, j] += max(h[j], 0.0)
                    strength[row, turn - 1] += max(h[j], 0.0)


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
    run: Any = _attend
    run(np.ascontiguousarray(D), owner, *given, relax, out, masks, strength)
    return out, masks, strength


@kernel(f8_2d, i8, f8, to_f8_2d)
def _perceive(D: Floats, sizes: Places, weights: Floats, out: Floats) -> None:
    widest = 0
    for layer in range(len(sizes)):
        widest = max(widest, sizes[layer])
    x, g = np.empty(widest), np.empty(widest)
    for row in range(D.shape[0]):
        for k in range(sizes[0]):
            x[k] = D[row, k]
        at = 0
        for layer in range(len(sizes) - 1):
            rows, columns = sizes[layer], sizes[layer + 1]
            weight = weights[at : at + rows * columns].reshape((rows, columns))
            at += rows * columns
            _affine(x, rows, weight, weights[at : at + columns], g, columns)
            at += columns
            last = layer == len(sizes) - 2
            for j in range(columns):
                x[j] = g[j] if last else g[j] / (1.0 + np.exp(-g[j]))
        for j in range(sizes[len(sizes) - 1]):
            out[row, j] = x[j]


def perceived(D: Floats, sizes: Places, weights: Floats) -> Floats:
    """A multi-layer perceptron on dense rows D float64[n, sizes[0]] -> float64[n, sizes[-1]].

    Layers are linear with x * sigmoid(x) between them; `weights` holds, layer after layer, the
    matrix [in, out] and the bias [out].
    """
    found = np.empty((len(D), int(sizes[-1])))
    dense, layers = np.ascontiguousarray(D), np.ascontiguousarray(weights)
    _perceive(dense, np.ascontiguousarray(sizes), layers, found)
    return found
