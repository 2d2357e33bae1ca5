"""What a model sees of a run on the source machine: two views of its profile.

`raw` has configuration, counters and runtime as they are (large numbers by their logarithm);
`physical` has the configuration and ratios, rates and intensity of the counters.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compass.platforms.counters import CounterMapping, physical
from compass.platforms.pairs import Floats, MatchedRuns

VIEWS = ("raw", "physical")
_LARGE = 50.0  # a column that goes beyond is looked at by its logarithm
_FAR = 4.0  # standard deviations at which values count as no farther


def profile(runs: MatchedRuns, source: str, view: str, mapping: CounterMapping) -> Floats:
    """The profile of each line on the source machine, [n, d]; nan where something is missing."""
    place = runs.place(source)
    counters, log_runtime = runs.counters[:, place], runs.log_runtime[:, place]
    if view == "raw":
        return np.column_stack([runs.configuration, counters, log_runtime])
    ratios, names = physical(counters, runs.counter_names, log_runtime, mapping)
    if not names:  # no counter is known: what there is
        return np.column_stack([runs.configuration, counters, log_runtime])
    return np.column_stack(
        [ratios, np.sign(runs.configuration) * np.log1p(abs(runs.configuration))]
    )


@dataclass(frozen=True, eq=False)
class Scaling:
    """How columns are brought to one scale, learnt from training rows."""

    kept: NDArray[np.bool_]
    large: NDArray[np.bool_]
    middle: Floats
    scale: Floats

    @classmethod
    def of(cls, X: Floats, weight: Floats) -> "Scaling":
        """Of the rows of X [n, d], which count by their weight [n]."""
        known = np.isfinite(X)
        large = np.max(np.where(known, np.abs(X), 0.0), axis=0, initial=0.0) > _LARGE
        Z = _logs(X, large)
        share = np.where(known, weight[:, None], 0.0)
        total = np.maximum(share.sum(axis=0), 1e-300)
        middle = np.where(known, Z * share, 0.0).sum(axis=0) / total
        spread = np.where(known, share * (Z - middle) ** 2, 0.0).sum(axis=0) / total
        scale = np.sqrt(spread)
        kept = known.any(axis=0) & (scale > 1e-9 * np.maximum(1.0, np.abs(middle)))
        return cls(kept, large, middle, np.where(kept, scale, 1.0))

    def apply(self, X: Floats) -> Floats:
        """The kept columns of X [n, d] in standard deviations; what is missing is 0."""
        Z = (_logs(X, self.large) - self.middle) / self.scale
        return np.clip(np.where(np.isfinite(Z), Z, 0.0), -_FAR, _FAR)[:, self.kept]


def _logs(X: Floats, large: NDArray[np.bool_]) -> Floats:
    return np.where(large, np.sign(X) * np.log1p(np.abs(X)), X)


def balanced(applications: NDArray[np.str_]) -> Floats:
    """Weights [n] by which every application counts the same; 1 on the mean."""
    _, place, counts = np.unique(applications, return_inverse=True, return_counts=True)
    return np.asarray(len(applications) / len(counts) / counts[place])
