"""A small Gaussian process: what is expected of a configuration, and how sure that is.

The covariance is a Matern-5/2 in the numbers, with a length-scale per parameter; a process with
steps adds exp(-sum of the cuts of the parameters that differ), which knows no near and far and so
follows outcomes that jump from one value to the next. Outcomes are standardised, so that the prior
variance is near 1. Settings are the most likely ones a posteriori, under a prior of length-scales
that grows with the square root of the number of parameters (Hvarfner, Hellsten and Nardi 2024,
"Vanilla Bayesian Optimization Performs Great in High Dimensions") and one of the noise that holds
it small.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compass.acquire.loop.inputs import Inputs, Points

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]

_ROOT5 = float(np.sqrt(5.0))
_LENGTH_SPREAD = float(np.sqrt(3.0))  # Hvarfner 2024: standard deviation of the logarithm
_CUT_MEAN, _CUT_SPREAD = float(np.log(0.5)), 1.5  # of the logarithm of a cut
_NOISE_MEAN, _NOISE_SPREAD = -6.0, 1.5  # of the logarithm of the noise variance
_VARIANCE_SPREAD = 1.0  # of the logarithm of the prior variances
_LEAST_NOISE = 1e-5
_STEPS = 25  # of the fit; later ones change little
_CHUNK = 1024  # candidates predicted at once: what they need stays near the processor


@dataclass(frozen=True, eq=False)
class Shape:
    """The settings of a process."""

    length: Floats  # [d] of each parameter
    cut: Floats  # [d] of each parameter; none of a process without steps
    smooth: float  # prior variance of the smooth part
    steps: float  # prior variance of the steps; 0 without
    noise: float  # variance of a single run

    @staticmethod
    def of(vector: Floats, d: int) -> "Shape":
        """The settings whose logarithms are a vector [d + 2] or, with steps, [2 d + 3]."""
        own = np.exp(vector)
        if len(vector) == d + 2:
            return Shape(own[:d], np.empty(0), float(own[d]), 0.0, float(own[-1]))
        return Shape(
            own[:d], own[d : 2 * d], float(own[2 * d]), float(own[2 * d + 1]), float(own[-1])
        )


def usual(d: int, *, steps: bool) -> tuple[Floats, Floats]:
    """Mean and standard deviation of the logarithms before any run, [d + 2] or [2 d + 3] each."""
    length = np.full(d, np.sqrt(2.0) + 0.5 * np.log(d))  # Hvarfner 2024
    if not steps:
        mean = np.concatenate([length, [0.0, _NOISE_MEAN]])
        spread = np.concatenate([np.full(d, _LENGTH_SPREAD), [_VARIANCE_SPREAD / 2, _NOISE_SPREAD]])
        return mean, spread
    half = float(np.log(0.5))
    mean = np.concatenate([length, np.full(d, _CUT_MEAN), [half, half, _NOISE_MEAN]])
    spread = np.concatenate(
        [
            np.full(d, _LENGTH_SPREAD),
            np.full(d, _CUT_SPREAD),
            [_VARIANCE_SPREAD, _VARIANCE_SPREAD, _NOISE_SPREAD],
        ]
    )
    return mean, spread


@dataclass(frozen=True, eq=False)
class Apart:
    """How far all pairs of n configurations are apart, per parameter."""

    squared: Floats  # [d, n * n] in numbers
    differ: Floats | None  # [d, n * n] 1 where the levels differ; None without steps

    @staticmethod
    def of(points: Points, inputs: Inputs, *, steps: bool) -> "Apart":
        """The distances of all pairs of points."""
        d, n = len(inputs.space), len(points)
        squared = np.zeros((d, n, n))
        for column, owner in enumerate(inputs.parameter):
            squared[owner] += (points.Z[:, None, column] - points.Z[None, :, column]) ** 2
        if not steps:
            return Apart(squared.reshape(d, -1), None)
        differ = np.zeros((d, n, n))
        for owner in range(d):
            own = points.S[:, inputs.stepped == owner]
            if own.shape[1]:
                differ[owner] = 1.0 - own @ own.T
        return Apart(squared.reshape(d, -1), differ.reshape(d, -1))


def surprise(vector: Floats, apart: Apart, y: Floats, runs: Floats) -> tuple[float, Floats]:
    """The negative log posterior of settings (as logarithms), and its gradient.

    y [n] are means of `runs` [n] runs of the same configuration.
    """
    from scipy.linalg.lapack import dpotrf, dpotri

    d, n = len(apart.squared), len(y)
    shape = Shape.of(vector, d)
    weight = shape.length**-2
    r = np.sqrt(weight @ apart.squared)
    r *= _ROOT5
    decay = np.exp(-r)
    smooth = shape.smooth * (1.0 + r + r * r / 3.0) * decay
    K = smooth.copy()
    if apart.differ is not None:
        stepped = shape.steps * np.exp(-(shape.cut @ apart.differ))
        K += stepped
    K = K.reshape(n, n)
    K[np.diag_indices(n)] += (shape.noise + _LEAST_NOISE) / runs
    factor, failed = dpotrf(K, lower=1)
    if failed:
        return 1e10, np.zeros(len(vector))
    lower = dpotri(factor, lower=1)[0]
    inverse = np.tril(lower) + np.tril(lower, -1).T
    alpha = inverse @ y
    value = 0.5 * float(y @ alpha) + float(np.log(np.diag(factor)).sum())
    inner = (inverse - np.outer(alpha, alpha)).ravel()  # twice the derivative of the value after K
    # The derivative of the smooth part after a squared distance is -5/6 smooth (1 + r) exp(-r).
    slope = (-5.0 / 6.0) * shape.smooth * (1.0 + r) * decay * inner
    gradient = np.empty(len(vector))
    gradient[:d] = -weight * (apart.squared @ slope)
    gradient[-1] = 0.5 * shape.noise * float((inner[:: n + 1] / runs).sum())
    if apart.differ is None:
        gradient[d] = 0.5 * float(inner @ smooth)
    else:
        gradient[d : 2 * d] = -0.5 * shape.cut * (apart.differ @ (stepped * inner))
        gradient[2 * d] = 0.5 * float(inner @ smooth)
        gradient[2 * d + 1] = 0.5 * float(inner @ stepped)
    mean, spread = usual(d, steps=apart.differ is not None)
    away = (vector - mean) / spread
    return value + 0.5 * float(away @ away), gradient + away / spread


def fitted_shape(points: Points, y: Floats, runs: Floats, inputs: Inputs, *, steps: bool) -> Shape:
    """The most likely settings for outcomes y [n] of n points."""
    from scipy.optimize import minimize

    d = len(inputs.space)
    start = usual(d, steps=steps)[0]
    start[:d] -= 1.0  # shorter than the prior's: from long ones a fit may not find back
    variances = [(-6.0, 3.0)] * (2 if steps else 1)
    limits = [(-3.0, 6.0)] * d + [(-6.0, 3.0)] * (d if steps else 0) + variances + [(-12.0, 1.0)]
    found = minimize(
        surprise,
        start,
        args=(Apart.of(points, inputs, steps=steps), y, runs),
        jac=True,
        method="L-BFGS-B",
        bounds=limits,
        options={"maxiter": _STEPS},
    )
    return Shape.of(np.asarray(found.x), d)


@dataclass(frozen=True, eq=False)
class Process:
    """A process that has seen n runs."""

    shape: Shape
    weight: Floats  # [p] of the numbers
    cut: Floats  # [q] of the levels
    points: Points  # n of them
    factor: Floats  # [n, n] lower: of the covariance of what was measured
    coefficients: Floats  # [n]

    @staticmethod
    def of(shape: Shape, points: Points, y: Floats, runs: Floats, inputs: Inputs) -> "Process":
        """A process of these settings that has seen y [n] at n points."""
        from scipy.linalg import cho_solve, cholesky

        weight = 1.0 / shape.length[inputs.parameter]
        cut = shape.cut[inputs.stepped] if shape.steps else np.empty(0)
        empty = Process(shape, weight, cut, points, np.empty((0, 0)), np.empty(0))
        K = empty.covariance(points)
        K[np.diag_indices(len(y))] += (shape.noise + _LEAST_NOISE) / runs
        factor = cholesky(K, lower=True, check_finite=False)
        alpha = cho_solve((factor, True), y, check_finite=False)
        return Process(shape, weight, cut, points, factor, alpha)

    @property
    def variance(self) -> float:
        """The prior variance."""
        return self.shape.smooth + self.shape.steps

    @property
    def noise(self) -> float:
        """The variance of a single run around its mean."""
        return self.shape.noise + _LEAST_NOISE

    def covariance(self, points: Points) -> Floats:
        """Of what was seen with m points, [n, m]."""
        r = np.sqrt(_between(self.points.Z * self.weight, points.Z * self.weight))
        r *= _ROOT5
        K = self.shape.smooth * (1.0 + r + r * r / 3.0) * np.exp(-r)
        if self.shape.steps:
            same = (self.points.S * self.cut) @ points.S.T
            K += self.shape.steps * np.exp(same - self._all_cuts)
        return np.asarray(K)

    @property
    def _all_cuts(self) -> float:
        """The sum of the cuts of all parameters that have levels."""
        # Every point has one level of each of them.
        return float((self.points.S[0] * self.cut).sum())

    def predict(self, points: Points) -> tuple[Floats, Floats]:
        """Mean and variance (without noise), [m] each, at m points."""
        K = self.covariance(points)
        return K.T @ self.coefficients, self.variance - (self.solved(K) ** 2).sum(axis=0)

    def solved(self, K: Floats) -> Floats:
        """The factor's inverse applied to covariances [n, m]."""
        from scipy.linalg import solve_triangular

        return np.asarray(solve_triangular(self.factor, K, lower=True, check_finite=False))

    def knowing(self, point: Points) -> "Process":
        """The same process where one more configuration is being run.

        Its outcome is taken to be what is expected: means stay, variances shrink.
        """
        row = self.solved(self.covariance(point))[:, 0]
        n = len(row)
        factor = np.zeros((n + 1, n + 1))
        factor[:n, :n] = self.factor
        factor[n, :n] = row
        factor[n, n] = np.sqrt(max(self.variance + self.noise - float(row @ row), _LEAST_NOISE))
        coefficients = np.append(self.coefficients, 0.0)
        points = point.after(self.points)
        return Process(self.shape, self.weight, self.cut, points, factor, coefficients)

    def rough(self, points: Points) -> tuple[Floats, Floats]:
        """Mean and an upper bound of the variance at m points, in single precision.

        The bound is what the most similar run alone would leave.
        """
        seen = (self.points.Z * self.weight).astype(np.float32)
        steps = (self.points.S * self.cut).astype(np.float32) if self.shape.steps else None
        weight, alpha = self.weight.astype(np.float32), self.coefficients.astype(np.float32)
        mean, nearest = np.empty(len(points)), np.empty(len(points))
        for first in range(0, len(points), _CHUNK):
            rows = slice(first, first + _CHUNK)
            K = _smooth(points.single[rows] * weight, seen, self.shape.smooth)
            if steps is not None:
                K += self._stepped(points.S[rows], steps)
            nearest[rows] = K.max(axis=1)
            mean[rows] = K @ alpha
        return mean, self.variance - nearest**2 / (self.variance + self.noise)

    def _stepped(self, S: Singles, steps: Singles) -> Singles:
        found = S @ steps.T
        found += np.float32(np.log(self.shape.steps) - self._all_cuts)
        return np.asarray(np.exp(found, out=found))

    def left_out(self, y: Floats) -> tuple[Floats, Floats]:
        """Mean and variance of each run [n] as the others predict it, noise included."""
        from scipy.linalg import cho_solve

        inverse = cho_solve((self.factor, True), np.eye(len(y)), check_finite=False)
        variance = 1.0 / np.diag(inverse)
        return y - self.coefficients * variance, variance


def _smooth(asked: Singles, seen: Singles, variance: float) -> Singles:
    """The smooth covariance [m, n] of weighted numbers, in place as far as can be."""
    r = (asked * asked).sum(axis=1)[:, None] + (seen * seen).sum(axis=1)[None, :]
    r -= (2 * asked) @ seen.T
    np.maximum(r, 0, out=r)
    np.sqrt(r, out=r)
    r *= np.float32(_ROOT5)
    K = r * np.float32(1 / 3)
    K += np.float32(1)
    K *= r
    K += np.float32(1)
    np.negative(r, out=r)
    np.exp(r, out=r)
    K *= r
    K *= np.float32(variance)
    return np.asarray(K)


def _between(A: Floats, B: Floats) -> Floats:
    """Squared distances [n, m] of the rows of A [n, p] and B [m, p]."""
    found = (A * A).sum(axis=1)[:, None] + (B * B).sum(axis=1)[None, :]
    found -= (2 * A) @ B.T
    return np.asarray(np.maximum(found, 0.0, out=found))
