"""How likely a configuration fails, going by past runs like it that failed and that did not.

Different configurations count the more the nearer they are: by exp(-2 (d - d0)), with d the sum
over the columns of the differences in standard deviations (1 for another label) and d0 that of the
nearest one. The chance is the weighted share of those that failed, drawn towards the share among
all by half a run (Laplace). Of a configuration that was run its own runs count instead. On launches
of a GPU kernel that failed this tells failed from others about as well as a forest, and it can name
the runs behind it.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from compass.prepare.geometry import Geometry, distances
from compass.prepare.split import configurations

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
Keys = NDArray[np.uint64]

_RUNS = 2048  # configurations of each kind that are looked at; of more, some that stand for all
_PRIOR = 0.5  # runs that the share among all runs counts for
_STEEP = 2.0  # how quickly others count for less
_SIMILAR = 2.0  # a run that is further away is not like it


@dataclass(frozen=True, eq=False)
class FailureChance:
    """Past runs that failed and that did not, as complete configurations."""

    failed: Floats  # [f, d]
    fine: Floats  # [m, d]
    geometry: Geometry
    rows: Rows  # [f] in the person's data
    reasons: tuple[str, ...]  # [f]

    @cached_property
    def share(self) -> float:
        """The share of the runs that failed."""
        return len(self.failed) / (len(self.failed) + len(self.fine))

    def __call__(self, X: Floats) -> Floats:
        """How likely configurations X [n, d] fail, [n]."""
        keys = configurations(X)
        bad, good = (_count(known, keys) for known in self._keys)
        run = bad + good > 0
        chance = (bad + _PRIOR * self.share) / (bad + good + _PRIOR)
        for place in np.flatnonzero(~run):
            chance[place] = self._beside(X[place])
        return np.asarray(chance)

    def _beside(self, x: Floats) -> float:
        """How likely a configuration x [d] fails that was never run."""
        (failed, stands), (fine, counts) = self._different
        bad = distances(failed, x, self._columns, self.geometry)
        good = distances(fine, x, self._columns, self.geometry)
        nearest = min(bad.min(), good.min(initial=np.inf))
        failing = stands * float(np.exp(-_STEEP * (bad - nearest)).sum())
        ending = counts * float(np.exp(-_STEEP * (good - nearest)).sum())
        return (failing + _PRIOR * self.share) / (failing + ending + _PRIOR)

    @cached_property
    def _columns(self) -> Rows:
        return np.arange(self.failed.shape[1])

    @cached_property
    def _keys(self) -> tuple[Keys, Keys]:
        return np.sort(configurations(self.failed)), np.sort(configurations(self.fine))

    @cached_property
    def _different(self) -> tuple[tuple[Floats, float], tuple[Floats, float]]:
        """Different configurations of both kinds, some of many; each with what one stands for."""
        return _some(self.failed), _some(self.fine)

    def similar(self, x: Floats, count: int) -> Rows:
        """Which failed runs are like x [d], the nearest first, at most `count`."""
        apart = distances(self.failed, x, self._columns, self.geometry)
        nearest = np.argsort(apart, kind="stable")[:count]
        return np.asarray(nearest[apart[nearest] <= _SIMILAR])


def _count(known: Keys, keys: Keys) -> Floats:
    """How often each of the keys [n] is among the known ones, which are sorted."""
    first, last = np.searchsorted(known, keys), np.searchsorted(known, keys, "right")
    return (last - first).astype(np.float64)


def _some(X: Floats) -> tuple[Floats, float]:
    _, first = np.unique(configurations(X), return_index=True)
    rows = np.sort(first)
    some = rows[:: max(1, -(-len(rows) // _RUNS))]
    return np.ascontiguousarray(X[some]), len(rows) / max(len(some), 1)
