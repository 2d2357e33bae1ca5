"""Compiled training of one network of the family `neural`, whole epochs without the interpreter.

A network is one vector of single-precision weights: the first layer [width + 1, units], the inner
ones [layers - 1, units + 1, units] and the last one [units + 1, raw], one after another. The last
row of a layer is its offset: whatever is fed to a layer ends in a column of ones.
"""

from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from compass.execute.kernel import i8, integer, kernel, number, to_i8

Singles = NDArray[np.float32]

f4 = types.Array(types.float32, 1, "C", readonly=True)
f4_2d = types.Array(types.float32, 2, "C", readonly=True)
f4_any = types.Array(types.float32, 2, "A", readonly=True)
to_f4 = types.float32[::1]
to_f4_2d = types.float32[:, ::1]
to_f4_3d = types.float32[:, :, ::1]
to_u8 = types.uint64[::1]
_tuple: Any = types.Tuple
_plan_type = _tuple((integer, integer, integer, integer, number, number, number))

SMALL = np.float32(0.1)  # standard deviations below which an error counts by its square
_ZERO, _HALF, _ONE = np.float32(0.0), np.float32(0.5), np.float32(1.0)
# A quotient of polynomials that is tanh to single precision, as in the library Eigen: exp() of
# the C library is called for one number at a time, this one is not.
_EDGE = np.float32(7.905311)
_P1, _P3 = np.float32(4.89352455891786e-03), np.float32(6.37261928875436e-04)
_P5, _P7 = np.float32(1.48572235717979e-05), np.float32(5.12229709037114e-08)
_P9, _P11 = np.float32(-8.60467152213735e-11), np.float32(2.00018790482477e-13)
_P13 = np.float32(-2.76076847742355e-16)
_Q0, _Q2 = np.float32(4.89352518554385e-03), np.float32(2.26843463243900e-03)
_Q4, _Q6 = np.float32(1.18534705686654e-04), np.float32(1.19825839466702e-06)
# AdamW, with the usual memory of slopes and of their squares.
_FIRST, _SECOND, _TINY = 0.9, 0.999, np.float32(1e-8)
_STEP, _MIX, _MIX_AGAIN = (
    np.uint64(0x9E3779B97F4A7C15),
    np.uint64(0xBF58476D1CE4E5B9),
    np.uint64(0x94D049BB133111EB),
)


@kernel()
def _layers(net: Any, width: int, units: int, layers: int) -> Any:
    """Views of the first, the inner and the last layers; width counts the column of ones."""
    a = width * units
    b = a + (layers - 1) * (units + 1) * units
    raw = (net.shape[0] - b) // (units + 1)
    return (
        net[:a].reshape((width, units)),
        net[a:b].reshape((layers - 1, units + 1, units)),
        net[b:].reshape((units + 1, raw)),
    )


@kernel(f4_any, f4_2d, to_f4_2d)
def product(A: Singles, B: Singles, out: Singles) -> None:
    """A @ B, for A [n, m] of any layout.

    A BLAS adds in another order, and waits for its own threads, where more than one is allowed;
    a limit that is set by a thread of several does not always hold.
    """
    n, m = A.shape
    out[:] = _ZERO
    fours, twos = n - n % 4, m - m % 2
    for i in range(0, fours, 4):
        # Four rows and two terms at a time are as quick as a BLAS; other numbers are not.
        for k in range(0, twos, 2):
            a0, a1, a2, a3 = A[i, k], A[i + 1, k], A[i + 2, k], A[i + 3, k]
            b0, b1, b2, b3 = A[i, k + 1], A[i + 1, k + 1], A[i + 2, k + 1], A[i + 3, k + 1]
            for j in range(B.shape[1]):
                v, w = B[k, j], B[k + 1, j]
                out[i, j] += a0 * v + b0 * w
                out[i + 1, j] += a1 * v + b1 * w
                out[i + 2, j] += a2 * v + b2 * w
                out[i + 3, j] += a3 * v + b3 * w
    for i in range(n):
        for k in range(twos if i < fours else 0, m):
            a0 = A[i, k]
            for j in range(B.shape[1]):
                out[i, j] += a0 * B[k, j]


@kernel(to_f4_2d, to_f4_2d)
def _silu(value: Singles, slope: Singles) -> None:
    """Replace values by their silu; its slopes go to the other matrix."""
    for i in range(value.shape[0]):
        for j in range(value.shape[1]):
            x = value[i, j]
            t = min(max(_HALF * x, -_EDGE), _EDGE)
            s = t * t
            top = ((((((_P13 * s + _P11) * s + _P9) * s + _P7) * s + _P5) * s + _P3) * s + _P1) * t
            share = _HALF + _HALF * (top / (((_Q6 * s + _Q4) * s + _Q2) * s + _Q0))
            value[i, j] = x * share
            slope[i, j] = share + x * share * (_ONE - share)


@kernel(to_f4, to_f4_2d, to_f4_3d, to_f4_3d, to_f4_2d, to_f4_2d)
def forward(net: Singles, z: Singles, h: Any, slope: Any, more: Singles, out: Singles) -> None:
    """Raw columns `out` [n, raw] of rows z [n, width + 1].

    On the way: what each layer but the first is fed, h [layers, >= n, units + 1], whose last
    column is 1, and the slopes of the silu of each layer but the last [layers, >= n, units].
    """
    n, layers, units = z.shape[0], slope.shape[0], slope.shape[2]
    first, inner, last = _layers(net, z.shape[1], units, layers)
    more = more[:n]
    for layer in range(layers):
        if layer == 0:
            product(z, first, more)
        else:
            product(h[layer - 1, :n], inner[layer - 1], more)
        _silu(more, slope[layer, :n])
        for i in range(n):
            for j in range(units):
                h[layer, i, j] = more[i, j]
            if layer > 0:
                for j in range(units):
                    h[layer, i, j] += h[layer - 1, i, j]
    for i in range(n):
        for k in range(out.shape[1]):
            out[i, k] = _ZERO
        for j in range(units + 1):
            for k in range(out.shape[1]):
                out[i, k] += h[layers - 1, i, j] * last[j, k]


@kernel(to_f4, to_f4_2d, to_f4_3d, to_f4_3d, to_f4_2d, to_f4_2d, to_f4_2d, to_f4)
def backward(
    net: Singles,
    z: Singles,
    h: Any,
    slope: Any,
    more: Singles,
    back: Singles,
    out: Singles,
    found: Singles,
) -> None:
    """Slopes of the error by the weights, `found`, from those by the raw columns, `out`.

    The rest is as `forward` left it; `back` is room like `more`.
    """
    n, layers, units = z.shape[0], slope.shape[0], slope.shape[2]
    _, inner, last = _layers(net, z.shape[1], units, layers)
    by_first, by_inner, by_last = _layers(found, z.shape[1], units, layers)
    more, back = more[:n], back[:n]
    by_last[:] = _ZERO
    back[:] = _ZERO
    for i in range(n):
        for k in range(out.shape[1]):
            for j in range(units + 1):
                by_last[j, k] += h[layers - 1, i, j] * out[i, k]
            for j in range(units):
                back[i, j] += out[i, k] * last[j, k]
    for layer in range(layers - 1, -1, -1):
        for i in range(n):
            for j in range(units):
                slope[layer, i, j] *= back[i, j]
        if layer == 0:
            product(z.T, slope[0, :n], by_first)
        else:
            product(h[layer - 1, :n].T, slope[layer, :n], by_inner[layer - 1])
            product(slope[layer, :n], inner[layer - 1, :units].T.copy(), more)
            for i in range(n):
                for j in range(units):
                    back[i, j] += more[i, j]


@kernel(to_f4_2d, f4, f4, types.boolean)
def misses(out: Singles, y: Singles, weight: Singles, classes: bool) -> float:
    """The summed error of raw columns [n, raw]; they are replaced by its slopes by them.

    Numbers: absolute beyond a tenth of a standard deviation, squared below (Huber), so that a few
    odd runs do not decide. Classes: cross-entropy.
    """
    total = 0.0
    for i in range(out.shape[0]):
        if classes:
            right = np.int64(y[i])
            highest = out[i, 0]
            for k in range(1, out.shape[1]):
                highest = max(highest, out[i, k])
            own, shares = out[i, right] - highest, _ZERO
            for k in range(out.shape[1]):
                out[i, k] = np.exp(out[i, k] - highest)
                shares += out[i, k]
            total += weight[i] * (np.log(shares) - own)
            for k in range(out.shape[1]):
                out[i, k] *= weight[i] / shares
            out[i, right] -= weight[i]
        else:
            miss = out[i, 0] - y[i]
            near = min(max(miss, -SMALL), SMALL)
            total += weight[i] * near * (miss - _HALF * near) / SMALL
            out[i, 0] = weight[i] * near / SMALL
    return total


@kernel(to_f4, to_f4, to_f4, to_f4, number, number, integer)
def adamw(
    net: Singles, by: Singles, mean: Singles, square: Singles, rate: float, decay: float, step: int
) -> None:
    """One step of AdamW down the slopes `by`; what it remembers of earlier ones is updated."""
    keep = np.float32(1.0 - rate * decay)
    first, second = np.float32(_FIRST), np.float32(_SECOND)
    pace = np.float32(rate / (1.0 - _FIRST**step))
    unbias = np.float32(1.0 / np.sqrt(1.0 - _SECOND**step))
    for i in range(net.shape[0]):
        mean[i] = first * mean[i] + (_ONE - first) * by[i]
        square[i] = second * square[i] + (_ONE - second) * by[i] * by[i]
        net[i] = keep * net[i] - pace * mean[i] / (np.sqrt(square[i]) * unbias + _TINY)


@kernel(to_i8, to_u8)
def shuffle(order: NDArray[np.int64], chance: NDArray[np.uint64]) -> None:
    """Every order is as likely as any other; the generator SplitMix64 goes on from its state."""
    for i in range(order.shape[0] - 1, 0, -1):
        chance[0] += _STEP
        mixed = (chance[0] ^ (chance[0] >> np.uint64(30))) * _MIX
        mixed = (mixed ^ (mixed >> np.uint64(27))) * _MIX_AGAIN
        other = np.int64((mixed ^ (mixed >> np.uint64(31))) % np.uint64(i + 1))
        order[i], order[other] = order[other], order[i]


@kernel()
def _room(batch: int, width: int, layers: int, units: int, raw: int) -> Any:
    """Where the numbers of one step are kept.

    Rows, outcomes and weights; what layers are fed, slopes of silu, two matrices, raw columns.
    """
    h = np.empty((layers, batch, units + 1), np.float32)
    h[:, :, units] = _ONE
    return (
        np.empty((batch, width), np.float32),
        np.empty(batch, np.float32),
        np.empty(batch, np.float32),
        h,
        np.empty((layers, batch, units), np.float32),
        np.empty((batch, units), np.float32),
        np.empty((batch, units), np.float32),
        np.empty((batch, raw), np.float32),
    )


@kernel()
def _error(
    net: Singles, Z: Singles, y: Singles, weight: Singles, rows: Any, room: Any, classes: bool
) -> tuple[float, float]:
    """The summed error on at most as many rows as there is room for, and their summed weight."""
    z, wanted, counts, h, slope, more, _, out = room
    n, total = rows.shape[0], 0.0
    for i in range(n):
        for j in range(z.shape[1]):
            z[i, j] = Z[rows[i], j]
        wanted[i] = y[rows[i]]
        counts[i] = weight[rows[i]]
        total += counts[i]
    forward(net, z[:n], h, slope, more, out[:n])
    return misses(out[:n], wanted[:n], counts[:n], classes), total


@kernel()
def _slopes(
    net: Singles,
    Z: Singles,
    y: Singles,
    weight: Singles,
    rows: Any,
    room: Any,
    classes: bool,
    found: Singles,
) -> None:
    """The slopes of the mean error on these rows by the weights."""
    _, total = _error(net, Z, y, weight, rows, room, classes)
    z, _, _, h, slope, more, back, out = room
    n = rows.shape[0]
    for i in range(n):
        for k in range(out.shape[1]):
            out[i, k] /= np.float32(max(total, 1e-30))
    backward(net, z[:n], h, slope, more, back, out[:n], found)


@kernel(to_f4, f4_2d, f4, f4, i8, to_i8, to_u8, _plan_type, types.boolean)
def descend(
    net: Singles,
    Z: Singles,
    y: Singles,
    weight: Singles,
    held: NDArray[np.int64],
    order: NDArray[np.int64],
    chance: NDArray[np.uint64],
    plan: tuple[int, int, int, int, float, float, float],
    classes: bool,
) -> float:
    """Train a network on the rows `order` of Z [n, width + 1], whose last column is 1.

    Afterwards `net` is as it was after the epoch with the least error on the rows `held`; that
    error is returned. The plan: layers, units, rows of a step, epochs at most, the rate of
    learning, its decay of weights, and the share of epochs without a better network that ends it.
    The rate rises in the first steps and then falls along half a cosine.
    """
    layers, units, batch, epochs, rate, decay, patience = plan
    first_two = (Z.shape[1] + (layers - 1) * (units + 1)) * units
    room = _room(batch, Z.shape[1], layers, units, (net.shape[0] - first_two) // (units + 1))
    found, kept = np.empty_like(net), net.copy()
    mean, square = np.zeros_like(net), np.zeros_like(net)
    steps = order.shape[0] // batch
    total = steps * epochs
    warm = min(total // 20 + 1, 500)
    best, since, done = np.inf, 0, 0
    for _ in range(epochs):
        shuffle(order, chance)
        for at in range(0, steps * batch, batch):
            done += 1
            pace = min(done / warm, 0.5 * (1.0 + np.cos(np.pi * done / total)))
            _slopes(net, Z, y, weight, order[at : at + batch], room, classes, found)
            adamw(net, found, mean, square, rate * pace, decay, done)
        miss, counts = 0.0, 0.0
        for at in range(0, held.shape[0], batch):
            some = _error(net, Z, y, weight, held[at : at + batch], room, classes)
            miss, counts = miss + some[0], counts + some[1]
        miss /= counts
        since = 0 if miss < 0.999 * best else since + 1
        if miss < best:
            best = miss
            kept[:] = net
        if since > patience * epochs:
            break
    net[:] = kept
    return best
