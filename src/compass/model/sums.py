"""Compiled sums for models without trees: a row gives the same bits in every batch.

A library's matrix product adds in another order for another number of rows. Here every number is
summed in the order of the terms; what runs side by side are different sums.
"""

from typing import Any

import numpy as np

from compass.execute.kernel import f8, f8_2d, integer, kernel, number, over_rows, to_f8, to_f8_2d
from compass.model.base import Floats

BLOCK = 64  # rows that are taken together: what is between two sums stays in the cache
_TERMS = 2_000_000  # terms that repay a thread

RBF, MATERN, MATERN_SLOPE = 0, 1, 2
_LOG2E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10
_POWERS = np.ldexp(1.0, np.arange(-1021, 1))  # powers of two up to 1


@kernel(f8_2d, f8_2d, f8, integer, integer, to_f8_2d)
def _affine(Z: Floats, B: Floats, c: Floats, start: int, stop: int, out: Floats) -> None:
    for i in range(start, stop):
        for j in range(B.shape[1]):
            out[i, j] = c[j]
        for k in range(B.shape[0]):
            z = Z[i, k]
            if z != 0.0:
                for j in range(B.shape[1]):
                    out[i, j] += z * B[k, j]


@kernel(f8_2d, f8_2d, integer, integer, to_f8)
def _lengths(Z: Floats, M: Floats, start: int, stop: int, out: Floats) -> None:
    total = np.zeros((stop - start, M.shape[1]))
    for k in range(M.shape[0]):
        # M has nothing below its diagonal.
        for i in range(start, stop):
            z = Z[i, k]
            for j in range(k, M.shape[1]):
                total[i - start, j] += z * M[k, j]
    for i in range(start, stop):
        length = 0.0
        for j in range(M.shape[1]):
            length += total[i - start, j] * total[i - start, j]
        out[i] = length


@kernel(f8_2d, f8_2d, number, integer, f8, integer, integer, to_f8_2d)
def _similar(
    Z: Floats, S: Floats, factor: float, kind: int, powers: Floats, start: int, stop: int, out: Any
) -> None:
    for i in range(start, stop):
        for s in range(S.shape[1]):
            out[i, s] = 0.0
        for k in range(S.shape[0]):
            z = Z[i, k]
            for s in range(S.shape[1]):
                out[i, s] += (z - S[k, s]) * (z - S[k, s])
        for s in range(S.shape[1]):
            squared = factor * out[i, s]
            root = np.sqrt(5.0 * squared)
            minus = -squared if kind == 0 else -root
            # exp() of the C library is called for one number at a time; this one is not. From
            # -700 on it is as good as 0, and so is what is no number: it would look up a power
            # that there is not.
            near = minus > -700.0
            minus = minus if near else -700.0
            whole = np.floor(minus * _LOG2E + 0.5)
            rest = (minus - whole * _LN2_HIGH) - whole * _LN2_LOW
            power = 1.0 / 6227020800.0
            power = power * rest + 1.0 / 479001600.0
            power = power * rest + 1.0 / 39916800.0
            power = power * rest + 1.0 / 3628800.0
            power = power * rest + 1.0 / 362880.0
            power = power * rest + 1.0 / 40320.0
            power = power * rest + 1.0 / 5040.0
            power = power * rest + 1.0 / 720.0
            power = power * rest + 1.0 / 120.0
            power = power * rest + 1.0 / 24.0
            power = power * rest + 1.0 / 6.0
            power = power * rest + 0.5
            power = (power * rest + 1.0) * rest + 1.0
            power = power * powers[np.int32(whole) + 1021]
            if kind == 1:
                power = power * (1.0 + root + 5.0 / 3.0 * squared)
            elif kind == 2:
                power = power * (1.0 + root)
            out[i, s] = power if near else 0.0


@kernel(f8_2d, to_f8_2d)
def _softmax(raw: Floats, out: Floats) -> None:
    for i in range(raw.shape[0]):
        highest = raw[i, 0]
        for j in range(1, raw.shape[1]):
            highest = max(highest, raw[i, j])
        total = 0.0
        for j in range(raw.shape[1]):
            out[i, j] = np.exp(raw[i, j] - highest)
            total += out[i, j]
        for j in range(raw.shape[1]):
            out[i, j] /= total


def affine(Z: Floats, B: Floats, c: Floats) -> Floats:
    """Z @ B + c, float64[n, outputs], for Z float64[n, w], B float64[w, outputs]."""
    out = np.empty((Z.shape[0], B.shape[1]))

    def run(start: int, stop: int) -> None:
        _affine(Z, B, c, start, stop, out)

    over_rows(run, Z.shape[0], enough=_TERMS // max(B.size, 1) + 1)
    return out


def lengths(Z: Floats, M: Floats) -> Floats:
    """Squared lengths float64[n] of the rows of Z @ M; M float64[w, w] is upper triangular."""
    out = np.empty(Z.shape[0])

    def run(start: int, stop: int) -> None:
        for at in range(start, stop, BLOCK):
            _lengths(Z, M, at, min(at + BLOCK, stop), out)

    over_rows(run, Z.shape[0], enough=_TERMS // max(M.size, 1) + 1)
    return out


def similar(Z: Floats, S: Floats, *, factor: float, kind: int) -> Floats:
    """How similar rows Z float64[n, w] are to points S float64[w, m]: float64[n, m], from 0 to 1.

    With q = factor * squared distance and r = sqrt(5 q): RBF exp(-q); MATERN (5/2)
    (1 + r + 5 q / 3) exp(-r); MATERN_SLOPE (1 + r) exp(-r), which its slopes are made of.
    """
    out = np.empty((Z.shape[0], S.shape[1]))

    def run(start: int, stop: int) -> None:
        _similar(Z, S, factor, kind, _POWERS, start, stop, out)

    # A similarity costs about as much as twenty terms beside its distance.
    over_rows(run, Z.shape[0], enough=_TERMS // (S.size + 20 * S.shape[1] + 1) + 1)
    return out


def slopes(Z: Floats, S: Floats, weights: Floats, *, factor: float, kind: int) -> Floats:
    """Sums float64[n, w] of weights [m] x similarity x (point - row), for Z [n, w], S [w, m].

    The gradients of weighted sums of similarities are made of them.
    """
    found = np.empty(Z.shape)
    across = np.ascontiguousarray(np.vstack([S, np.ones(S.shape[1])]).T)
    for at in range(0, len(Z), BLOCK):
        rows = slice(at, at + BLOCK)
        K = similar(Z[rows], S, factor=factor, kind=kind) * weights
        moved = affine(K, across, np.zeros(across.shape[1]))
        found[rows] = moved[:, :-1] - Z[rows] * moved[:, -1:]
    return found


def softmax(raw: Floats) -> Floats:
    """Shares float64[n, k] that sum to 1 in a row, from raw scores of any size."""
    out = np.empty(raw.shape)
    _softmax(np.ascontiguousarray(raw), out)
    return out
