"""Compiled sums for models without trees: a row gives the same bits in every batch.

A library's matrix product adds in another order for another number of rows. Here every number is
summed in the order of the terms; what runs side by side are different sums.
"""

import numpy as np

from compass.execute.rows import over_rows
from compass.model.base import Floats
from compass.native import kernel

BLOCK = 64  # rows that are taken together: what is between two sums stays in the cache
_TERMS = 2_000_000  # terms that repay a thread

RBF, MATERN, MATERN_SLOPE = 0, 1, 2  # as in native/sums.c

_affine, _lengths = kernel("affine"), kernel("lengths")
_similar, _softmax = kernel("similar"), kernel("softmax")


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
        _similar(Z, S, factor, kind, start, stop, out)

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
