"""How likely a configuration fails, going by past runs like it that failed and that did not.

Runs count the more the nearer they are: by exp(-d), with d the sum over the columns of the
differences in standard deviations (1 for another label). The chance is the weighted share of failed
runs, drawn towards the share among all runs by half a run (Laplace). On launches of a GPU kernel
that failed this tells failed from others as well as a forest, and it can name the runs behind it.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from compass.prepare.geometry import Geometry, distances
from compass.prepare.split import configurations

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Rows = NDArray[np.int64]

_RUNS = 1024  # of each kind that are looked at; of more, some, each counting for several
_PRIOR = 0.5  # runs that the share among all runs counts for
_SIMILAR = 2.0  # a run that is further away is not like it


@dataclass(frozen=True, eq=False)
class FailureChance:
    """Past runs that failed and that did not, as complete configurations."""

    failed: Floats  # [f, d]
    fine: Floats  # [m, d]
    geometry: Geometry

    @property
    def share(self) -> float:
        """The share of the runs that failed."""
        return len(self.failed) / (len(self.failed) + len(self.fine))

    @cached_property
    def _columns(self) -> Rows:
        return np.arange(self.failed.shape[1])

    @cached_property
    def _known_fine(self) -> NDArray[np.uint64]:
        return np.unique(configurations(self.fine))

    def __call__(self, X: Floats) -> Floats:
        """How likely configurations X [n, d] fail, [n]; of one that ran before, 0."""
        chance = np.empty(len(X))
        for place, x in enumerate(X):
            bad, good = self._weight(self.failed, x), self._weight(self.fine, x)
            chance[place] = (bad + _PRIOR * self.share) / (bad + good + _PRIOR)
        return np.where(np.isin(configurations(X), self._known_fine), 0.0, chance)

    def _weight(self, runs: Floats, x: Floats) -> float:
        """How many runs [m, d] like x [d] there are; those unlike it count for less."""
        step = -(-len(runs) // _RUNS)
        some = runs[:: max(step, 1)]
        if not len(some):
            return 0.0
        apart = distances(some, x, self._columns, self.geometry)
        return float(np.exp(-apart).sum()) * len(runs) / len(some)

    def similar(self, x: Floats, count: int) -> Rows:
        """Which failed runs are like x [d], the nearest first, at most `count`."""
        apart = distances(self.failed, x, self._columns, self.geometry)
        nearest = np.argsort(apart, kind="stable")[:count]
        return nearest[apart[nearest] <= _SIMILAR]
