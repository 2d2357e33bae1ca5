"""Gaussian processes: predictions with their uncertainty, from up to 1,500 runs.

Similarity is a Matern 5/2 kernel with one length for each dense column, noise beside it. Lengths,
signal and noise maximise the marginal likelihood of the rows.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from compass import registry
from compass.execute.arrays import floats
from compass.execute.one_thread import one_thread
from compass.model.base import Floats, Task
from compass.model.dense import DenseFamily, DenseRows, FittedDense, finite
from compass.model.sums import BLOCK, MATERN, MATERN_SLOPE, affine, lengths, similar, slopes
from compass.prepare.weigh import mean
from compass.settings import Settings

MOST_ROWS = 1500  # the time of training grows with the third power, memory with the second
_SAMPLE = 500  # rows that lengths and noise are learnt from
_SURE = 1e-6  # least score of a class that was seen


@dataclass(frozen=True, eq=False)
class FittedGaussian(FittedDense):
    """What the rows say about every other configuration."""

    ARRAYS: ClassVar = {
        "points": floats("width", "rows"),
        "lengths": floats("width", above=0),
        "weights": floats("rows", "raw"),
        "offset": floats("raw"),
        "signal": floats(1, least=0),
        "root": floats("rows", "rows"),
    }

    points: Floats  # [width, n] rows divided by the lengths, one in each column
    lengths: Floats  # [width]
    weights: Floats  # [n, raw]
    offset: Floats  # [raw] mean of what is learnt
    signal: float  # variance of what is learnt without noise
    root: Floats  # [n, n] upper triangular: root @ root.T is the inverse of the covariance
    family: str = "gaussian"

    def predict(self, X: Floats) -> Floats:
        """Predictions float64[n, outputs] for X float64[n, d]; class scores sum to 1.

        Classes are learnt as numbers, 1 for the class of a row and 0 for the others; what comes
        out is cut at 0 and divided by its sum.
        """
        raw = self._raw(X)[0]
        return self.frame.number(raw) if self.task.classes is None else self._scores(raw)

    def spread(self, X: Floats) -> Floats:
        """Standard deviation float64[n] of the process, without the noise of a single run.

        For classes it is that of the number that was learnt, and the same for all of them.
        """
        return finite(np.sqrt(self._raw(X, variance=True)[1]) * self.frame.scale)

    def gradient(self, X: Floats) -> Floats | None:
        """How fast the prediction changes with each column, float64[n, d]; None for classes."""
        if self.task.classes is not None:
            return None
        weights = self.weights[:, 0]
        found = slopes(self._scaled(X), self.points, weights, factor=1.0, kind=MATERN_SLOPE)
        steep = 5.0 / 3.0 * self.signal * self.frame.scale
        return self.frame.design.slopes(X, steep * found / self.lengths)

    def _scaled(self, X: Floats) -> Floats:
        return self.frame.dense(X) / self.lengths

    def _raw(self, X: Floats, *, variance: bool = False) -> tuple[Floats, Floats]:
        Z = self._scaled(X)
        raw, left = np.empty((len(Z), self.frame.raw)), np.zeros(len(Z))
        for at in range(0, len(Z), 4 * BLOCK):
            rows = slice(at, at + 4 * BLOCK)
            K = self.signal * similar(Z[rows], self.points, factor=1.0, kind=MATERN)
            raw[rows] = affine(K, self.weights, self.offset)
            if variance:
                left[rows] = np.maximum(self.signal - lengths(K, self.root), 0.0)
        return raw, left

    def _scores(self, raw: Floats) -> Floats:
        cut = np.maximum(raw, _SURE)
        total = np.zeros(len(cut))
        for column in cut.T:  # in order: a sum over an axis may add in another for one row
            total = total + column
        return self.frame.scores(cut / total[:, None])


@registry.add("surrogate", "gaussian")
class Gaussian(DenseFamily):
    """Gaussian process: for up to 1,500 runs, and it knows where it does not know."""

    name = "gaussian"
    fitted = FittedGaussian

    @staticmethod
    def learn(rows: DenseRows, seed: int, settings: Settings) -> FittedGaussian:
        """The process through these rows; a row of twice the weight has half the noise."""
        del settings
        targets = rows.targets()
        offset = np.asarray(np.average(targets, axis=0, weights=rows.weight))
        targets = targets - offset
        with one_thread():
            size, signal, noise = _learnt(rows, targets, seed)
            points = rows.Z / size
            ordered = np.ascontiguousarray(points.T)
            K = signal * similar(points, ordered, factor=1.0, kind=MATERN)
            root = _root(K + np.diag(noise / rows.weight))
            weights = np.ascontiguousarray(root @ (root.T @ targets))
        return FittedGaussian(rows.frame, ordered, size, weights, offset, signal, root)

    @staticmethod
    def effort(rows: int, columns: int, task: Task) -> float:
        """Lengths are learnt from some of the rows, the process from all."""
        del columns, task
        return 0.5 * (min(rows, _SAMPLE) / _SAMPLE) ** 2 + 1e-10 * rows**3

    @staticmethod
    def obstacle(rows: int, columns: int, task: Task) -> str | None:
        """Why it should not be tried: it is for small tables."""
        del columns, task
        if rows <= MOST_ROWS:
            return None
        return f"a Gaussian process is for up to {MOST_ROWS:,} rows, here are {rows:,}"


def _learnt(rows: DenseRows, targets: Floats, seed: int) -> tuple[Floats, float, float]:
    """Lengths [width], variance of the signal and of the noise of a row of weight 1."""
    from scipy.optimize import minimize

    n, width = rows.Z.shape
    chosen = np.arange(n)
    if n > _SAMPLE:
        chosen = np.sort(np.random.default_rng(seed).choice(n, _SAMPLE, replace=False))
    Z, Y, noisy = rows.Z[chosen], targets[chosen], 1.0 / rows.weight[chosen]
    # The power of a row of usual weight: the process is about runs of the source.
    power = mean((Y**2).ravel(), np.repeat(rows.weight[chosen], Y.shape[1])) or 1e-12
    start = np.concatenate([np.full(width, 0.5 * np.log(width) + 0.7), [0.0, np.log(0.01)]])
    bounds = [(-3.0, 7.0)] * width + [(-7.0, 7.0), (np.log(1e-6), 2.0)]

    def loss(logs: Floats) -> tuple[float, Floats]:
        return _evidence(logs, Z, Y / np.sqrt(power), noisy, start)

    found = minimize(
        loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 100}
    ).x
    return np.exp(found[:width]), float(power * np.exp(found[-2])), float(power * np.exp(found[-1]))


def _evidence(
    logs: Floats, Z: Floats, Y: Floats, noisy: Floats, start: Floats
) -> tuple[float, Floats]:
    """Minus the log marginal likelihood of Y float64[n, raw], and its slopes by the logarithms.

    A broad prior on the logarithms keeps a column that says nothing from taking any length.
    """
    size, signal, noise = np.exp(logs[:-2]), float(np.exp(logs[-2])), float(np.exp(logs[-1]))
    S = Z / size
    square = np.sum(S**2, axis=1)
    apart = np.maximum(square[:, None] + square - 2.0 * (S @ S.T), 0.0)
    np.fill_diagonal(apart, 0.0)
    r = np.sqrt(5.0 * apart)
    fall = np.exp(-r)
    K = signal * (1.0 + r + 5.0 / 3.0 * apart) * fall
    root = _root(K + np.diag(noise * noisy))
    alpha = root @ (root.T @ Y)
    outputs = Y.shape[1]
    # Slope of the loss by an entry of K, times 2.
    inner = outputs * (root @ root.T) - alpha @ alpha.T
    G = inner * (5.0 / 3.0 * signal) * (1.0 + r) * fall
    by_length = np.sum(S**2 * G.sum(axis=1)[:, None], axis=0) - np.sum(S * (G @ S), axis=0)
    pull = (logs - start) / 2.0**2
    slopes = np.concatenate(
        [by_length, [0.5 * np.sum(inner * K), 0.5 * noise * np.sum(np.diag(inner) * noisy)]]
    )
    cost = 0.5 * float(np.sum(Y * alpha)) - outputs * float(np.sum(np.log(np.diag(root))))
    return cost + 0.5 * float(np.sum(pull * (logs - start))), slopes + pull


def _root(covariance: Floats) -> Floats:
    """The upper triangular R with R @ R.T = inverse of the covariance, float64[n, n]."""
    from scipy.linalg import cholesky
    from scipy.linalg.lapack import dtrtri

    # Rounding can make a matrix of nearly equal rows lose its sign.
    jitter = 1e-10 * float(np.mean(np.diag(covariance)))
    matrix = covariance.copy()
    matrix[np.diag_indices(len(matrix))] += jitter
    lower = cholesky(matrix, lower=True, check_finite=False)
    return np.ascontiguousarray(dtrtri(lower, lower=1)[0].T)
