"""Intervals of other makers on the same runs: a plain ensemble's and a Gaussian process's."""

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compass.domain.space import Category, Space

Floats = NDArray[np.float64]
Ends = tuple[Floats, Floats]

SIGMAS = 1.645  # of a normal distribution: 90 % lie within
_TREES = 100
_KERNEL_ROWS = 500  # the kernel is chosen on these


def ensemble(X: Floats, y: Floats, X_test: Floats, *, log: bool, seed: int) -> Ends:
    """Mean +- 1.645 standard deviations over the trees of a forest on all rows X [n, d]."""
    from sklearn.ensemble import RandomForestRegressor

    forest = RandomForestRegressor(_TREES, random_state=seed, n_jobs=1)
    forest.fit(X, np.log(y) if log else y)
    said = np.array([tree.predict(X_test) for tree in forest.estimators_])
    return _ends(said.mean(axis=0), said.std(axis=0), log)


@dataclass
class Process:
    """A Gaussian process (RBF with a length per column, white noise) on scaled columns.

    Its kernel is chosen by likelihood on 500 rows of the first split and kept for the others, where
    it would take minutes; every split has its own training rows.
    """

    space: Space
    limit: int
    kernel: Any = field(default=None)

    def ends(self, X: Floats, y: Floats, X_test: Floats, *, log: bool, seed: int) -> Ends:
        """Both ends [m] of the 90 % interval of new runs at X_test [m, d]."""
        from sklearn.gaussian_process import GaussianProcessRegressor
        from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

        rows = np.random.default_rng(seed).permutation(len(X))[: self.limit]
        wide = self._columns(X)
        middle, scale = wide.mean(axis=0), wide.std(axis=0)
        scale[scale == 0] = 1.0
        A, B = (wide[rows] - middle) / scale, (self._columns(X_test) - middle) / scale
        target = np.log(y[rows]) if log else y[rows]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a length at its bound: the column does not matter
            if self.kernel is None:
                start = ConstantKernel() * RBF(np.full(A.shape[1], 3.0), (0.05, 1e3))
                first = GaussianProcessRegressor(start + WhiteKernel(0.1), normalize_y=True)
                self.kernel = first.fit(A[:_KERNEL_ROWS], target[:_KERNEL_ROWS]).kernel_
            model = GaussianProcessRegressor(self.kernel, optimizer=None, normalize_y=True)
            mean, sd = model.fit(A, target).predict(B, return_std=True)
        return _ends(mean, sd, log)

    def _columns(self, X: Floats) -> Floats:
        """Numbers as they are, a column per label of a category."""
        parts = []
        for column, parameter in zip(X.T, self.space.parameters, strict=True):
            if isinstance(parameter, Category):
                parts += [(column == i).astype(float) for i in range(len(parameter.values))]
            else:
                parts.append(column)
        return np.array(parts).T


def _ends(mean: Floats, sd: Floats, log: bool) -> Ends:
    low, high = mean - SIGMAS * sd, mean + SIGMAS * sd
    return (np.exp(low), np.exp(high)) if log else (low, high)
