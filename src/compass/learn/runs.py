"""Past runs by configuration: which runs a configuration has, and which runs are distinct."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compass.domain.space import Role, Space
from compass.prepare import Prepared
from compass.prepare.split import configurations
from compass.trust.pairs.comparable import repeats
from compass.trust.pairs.index import PairIndex

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
Bools = NDArray[np.bool_]

_REPEATS = 20  # pairs of equal runs that tell enough about how far they differ
_TWINS = 0.05  # nearly the same: at most so far apart


@dataclass(frozen=True, eq=False)
class RunIndex:
    """The complete past runs seen through one set of features, sorted by configuration."""

    key: NDArray[np.uint64]  # [n] ascending
    X: Floats  # [n, d]
    position: Rows  # [n] in the prepared table
    row: Rows  # [n] in the person's data

    @classmethod
    def of(cls, prepared: Prepared, features: tuple[str, ...]) -> "RunIndex":
        """The measured runs of a table that have a value in every feature."""
        X = prepared.columns_of(features)
        complete = prepared.citable(np.flatnonzero(np.isfinite(X).all(axis=1)))
        key = configurations(X[complete])
        order = np.argsort(key, kind="stable")
        position = complete[order]
        return cls(key[order], X[position], position, prepared.row_id[position])

    def rows(self, x: Floats) -> list[int]:
        """The numbers of the past runs of a configuration x [d], in the person's data."""
        first, last = (int(end[0]) for end in self._spans(x[None, :]))
        return sorted(int(self.row[i]) for i in range(first, last) if np.array_equal(self.X[i], x))

    def positions(self, x: Floats) -> Rows:
        """The positions in the prepared table of the past runs of a configuration x [d]."""
        first, last = (int(end[0]) for end in self._spans(x[None, :]))
        return np.asarray(self.position[first:last])

    def known(self, X: Floats) -> Bools:
        """Which configurations X [n, d] were run before."""
        return np.asarray(self.count(X) > 0)

    def count(self, X: Floats) -> Rows:
        """How often each configuration X [n, d] was run before, [n]."""
        first, last = self._spans(X)
        return np.asarray(last - first, dtype=np.int64)

    def summed(self, X: Floats, values: Floats) -> tuple[Floats, Rows]:
        """Sums [n, k] of values [m, k] of the prepared table over the runs of each X [n, d].

        And how many runs these are, [n]: those with a number in the first column.
        """
        first, last = self._spans(X)
        size = last - first
        owner = np.repeat(np.arange(len(X)), size)
        place = np.arange(len(owner)) + np.repeat(first - np.cumsum(size) + size, size)
        y = values[self.position[place]]
        known = np.isfinite(y[:, 0])
        owner, y = owner[known], y[known]
        sums = np.zeros((len(X), y.shape[1]))  # without runs numpy would count in whole numbers
        for column in range(y.shape[1]):
            sums[:, column] = np.bincount(owner, y[:, column], minlength=len(X))
        return sums, np.bincount(owner, minlength=len(X))

    def _spans(self, X: Floats) -> tuple[Rows, Rows]:
        """Where the runs of each configuration X [n, d] begin and end, [n] each."""
        key = configurations(X)
        return np.searchsorted(self.key, key), np.searchsorted(self.key, key, "right")


def distinct_runs(prepared: Prepared, features: Space) -> Rows:
    """Positions of measured runs with a value in every feature, exact copies once, in order.

    A run that was read twice, its outcomes to the last digit, is no second measurement.
    """
    X = prepared.columns_of(features.names)
    known = prepared.citable(np.flatnonzero(np.isfinite(X).all(axis=1)))
    outcomes = prepared.columns_of(prepared.space.having(Role.OUTCOME))
    key = configurations(np.column_stack([X[known], outcomes[known]]))
    return np.sort(known[np.unique(key, return_index=True)[1]])


def repeated_runs(X: Floats, features: Space, seed: int) -> tuple[Rows, Rows]:
    """Pairs of runs that are the same in every column; where hardly any are, nearly the same."""
    first, second = repeats(X, seed)
    if len(first) >= _REPEATS:
        return first, second
    return PairIndex.build(X, features, ()).twins(seed, _TWINS)
