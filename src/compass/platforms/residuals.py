"""How wrong predictions are, and what a few runs on other machines say about the rest.

The error of a log ratio has two parts: one that an application has on a machine whatever its
configuration, and one of the configuration. Both are normal, with covariances between machines
learnt from held-out predictions. Measured runs of an application are conditioned on: a run on the
target corrects the target; a run on a third machine tells as much as errors on both go together.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compass.platforms.pairs import Floats

_SHRINK = 0.5  # of correlations, towards their mean: few applications tell them
_PRIOR = 2.0  # applications that the variance over all machines counts as
_NOISE = 0.02**2  # of a measured runtime: it is not known better than to 2 %
_MOST = 300  # measured cells that are conditioned on, at most


@dataclass(frozen=True, eq=False)
class ErrorModel:
    """Covariances between machines of the two parts of the error, [m, m]."""

    between: Floats  # of applications
    within: Floats  # of configurations of one application

    @classmethod
    def of(cls, errors: Floats, applications: NDArray[np.str_]) -> "ErrorModel":
        """Of held-out errors [n, m] of log ratios; nan where nothing was measured."""
        names, place = np.unique(applications, return_inverse=True)
        means = np.array([_mean(errors[place == a]) for a in range(len(names))])
        rest = errors - np.where(np.isfinite(means), means, 0.0)[place]
        counts = np.bincount(place)[place]
        repeated = counts > 1
        # Around a mean of their own, n lines vary by (n - 1) / n of what they do.
        rest = (rest * np.sqrt(counts / np.maximum(counts - 1, 1))[:, None])[repeated]
        return cls(
            covariance(means, np.ones(len(names))),
            covariance(rest, 1.0 / counts[repeated]),
        )

    @property
    def spread(self) -> Floats:
        """Standard deviation of an error, per machine, [m]."""
        return np.sqrt(np.diag(self.between) + np.diag(self.within) + _NOISE)

    def conditioned(self, errors: Floats, configuration: Floats) -> tuple[Floats, Floats]:
        """Expected errors and their standard deviations, both [k, m].

        `errors` [k, m]: measured minus predicted log ratio of lines of one application, nan where
        not measured; `configuration` [k, c]: what tells how alike these lines are.
        """
        k, m = errors.shape
        prior = np.tile(self.spread, (k, 1))
        line, machine = np.nonzero(np.isfinite(errors))
        if not len(line):
            return np.zeros((k, m)), prior
        if len(line) > _MOST:
            kept = np.linspace(0, len(line) - 1, _MOST).astype(int)
            line, machine = line[kept], machine[kept]
        seen = self._between_cells(line, machine, line, machine, configuration)
        seen[np.diag_indices_from(seen)] += _NOISE
        rows, columns = (grid.ravel() for grid in np.mgrid[:k, :m])
        cross = self._between_cells(rows, columns, line, machine, configuration)  # [k m, seen]
        solved = np.linalg.solve(seen, cross.T)
        mean = (solved.T @ errors[line, machine]).reshape(k, m)
        gained = (cross * solved.T).sum(axis=1).reshape(k, m)
        left = np.maximum(prior**2 - gained, _NOISE)
        return mean, np.sqrt(left)

    def covariance_of(
        self, errors: Floats, configuration: Floats, lines: NDArray[np.int64]
    ) -> Floats:
        """Covariance of the errors of these lines on all machines, after what was measured.

        [l m, l m], the machines of one line together.
        """
        m = errors.shape[1]
        here, machine = np.repeat(lines, m), np.tile(np.arange(m), len(lines))
        prior = self._between_cells(here, machine, here, machine, configuration)
        seen_line, seen_machine = np.nonzero(np.isfinite(errors))
        if not len(seen_line):
            return prior
        seen_line, seen_machine = seen_line[:_MOST], seen_machine[:_MOST]
        seen = self._between_cells(seen_line, seen_machine, seen_line, seen_machine, configuration)
        seen[np.diag_indices_from(seen)] += _NOISE
        cross = self._between_cells(here, machine, seen_line, seen_machine, configuration)
        left = prior - cross @ np.linalg.solve(seen, cross.T)
        return np.asarray((left + left.T) / 2)

    def _between_cells(
        self,
        line: NDArray[np.int64],
        machine: NDArray[np.int64],
        other_line: NDArray[np.int64],
        other_machine: NDArray[np.int64],
        configuration: Floats,
    ) -> Floats:
        places = np.ix_(machine, other_machine)
        lines, at = np.unique(line, return_inverse=True)
        alike = alikeness(configuration[lines], configuration[other_line])[at]
        return np.asarray(self.between[places] + alike * self.within[places])


def alikeness(configuration: Floats, other: Floats) -> Floats:
    """How alike configurations [k, c] and [q, c] are, [k, q]: 1 where equal, less with distance."""
    A, B = _doublings(configuration), _doublings(other)
    squared = (A**2).sum(axis=1)[:, None] + (B**2).sum(axis=1) - 2 * A @ B.T
    return np.asarray(np.exp(-np.maximum(squared, 0.0) / 2))  # a doubling of one column: 0.6


def _doublings(configuration: Floats) -> Floats:
    logs = np.sign(configuration) * np.log2(1 + np.abs(configuration))
    return np.where(np.isfinite(logs), logs, 0.0)


def covariance(values: Floats, weight: Floats) -> Floats:
    """Second moments about 0 between the columns of values [n, m], with nan, made steady.

    Variances lean to their mean, correlations to the mean correlation; the result is a covariance.
    """
    m = values.shape[1]
    known = np.isfinite(values)
    filled = np.where(known, values, 0.0)
    share = known * weight[:, None]
    total = share.T @ known.astype(np.float64)
    product = (filled * weight[:, None]).T @ filled
    count = total.diagonal()
    seen = count > 0
    variance = np.where(seen, product.diagonal() / np.maximum(count, 1e-300), 0.0)
    typical = variance[seen & (variance > 0)].mean() if (seen & (variance > 0)).any() else 0.0
    # The source machine has no error at all, and keeps none.
    steady = np.where(variance > 0, (count * variance + _PRIOR * typical) / (count + _PRIOR), 0.0)
    steady = np.where(seen, steady, typical)
    root = np.sqrt(np.maximum(variance, 1e-300))
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation = product / total / np.outer(root, root)
    off = ~np.eye(m, dtype=bool) & np.isfinite(correlation) & np.outer(variance > 0, variance > 0)
    common = float(np.clip(correlation[off].mean(), 0.0, 0.95)) if off.any() else 0.0
    correlation = np.where(off, (1 - _SHRINK) * correlation + _SHRINK * common, common)
    np.fill_diagonal(correlation, 1.0)
    values_, vectors = np.linalg.eigh(np.clip(correlation, -1, 1))
    legal = (vectors * np.maximum(values_, 1e-6)) @ vectors.T
    scale = np.sqrt(steady / legal.diagonal())
    return np.asarray(legal * np.outer(scale, scale))


def _mean(values: Floats) -> Floats:
    known = np.isfinite(values)
    total = np.where(known, values, 0.0).sum(axis=0)
    return np.where(known.any(axis=0), total / np.maximum(known.sum(axis=0), 1), np.nan)
