"""Means with intervals: resampling of whole configurations, and Wilson's interval of a share."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
DRAWS = 400  # enough for two digits of an interval


@dataclass(frozen=True)
class Mean:
    """A mean, its 95 % interval and what it is made of."""

    rows: int
    clusters: int  # configurations, or tables
    mean: float
    low: float
    high: float
    median: float

    def __str__(self) -> str:
        return f"{self.mean:.3f} [{self.low:.3f}, {self.high:.3f}]" if self.rows else "-"


def resampled(
    values: Floats, clusters: NDArray[np.generic], masks: NDArray[np.bool_], seed: int = 0
) -> Floats:
    """Means [draws, k] of values [n] under each mask [k, n] in resamples of whole clusters [n].

    NaN where a resample has no row of a mask.
    """
    _, of_row = np.unique(clusters, return_inverse=True)
    count = int(of_row.max()) + 1 if len(of_row) else 0
    sums = np.array([np.bincount(of_row[m], values[m], count) for m in masks]).T
    rows = np.array([np.bincount(of_row[m], minlength=count) for m in masks]).T
    rng = np.random.default_rng(seed)
    found = np.full((DRAWS, len(masks)), np.nan)
    for draw in range(DRAWS if count else 0):
        taken = np.bincount(rng.integers(0, count, count), minlength=count)
        known = taken @ rows
        np.divide(taken @ sums, known, out=found[draw], where=known > 0)
    return found


def means(
    values: Floats, clusters: NDArray[np.generic], masks: NDArray[np.bool_], seed: int = 0
) -> tuple[list[Mean], Floats]:
    """A mean with its interval for each mask [k, n], and the resamples [draws, k] behind it."""
    draws = resampled(values, clusters, masks, seed)
    found = []
    for mask, drawn in zip(masks, draws.T, strict=True):
        low, high = ends(drawn)
        rows = int(mask.sum())
        mean, median = (values[mask].mean(), np.median(values[mask])) if rows else (np.nan, np.nan)
        many = len(np.unique(clusters[mask]))
        found.append(Mean(rows, many, float(mean), low, high, float(median)))
    return found, draws


def ends(drawn: Floats) -> tuple[float, float]:
    """Ends of the 95 % interval of what was resampled, [draws]."""
    known = drawn[np.isfinite(drawn)]
    if not len(known):
        return float("nan"), float("nan")
    low, high = np.quantile(known, [0.025, 0.975])
    return float(low), float(high)


def geometric(ratios: Floats, seed: int = 0) -> Mean:
    """The geometric mean of positive ratios [n] with its interval over resamples of them."""
    logs = np.log(ratios)
    masks = np.ones((1, len(logs)), dtype=bool)
    [found], _ = means(logs, np.arange(len(logs)), masks, seed)
    told = [float(np.exp(v)) for v in (found.mean, found.low, found.high, found.median)]
    return Mean(found.rows, found.clusters, *told)


@dataclass(frozen=True)
class Share:
    """How many of how many, with Wilson's 95 % interval."""

    hits: int
    of: int

    @property
    def share(self) -> float:
        """Hits per try; nan of none."""
        return self.hits / self.of if self.of else float("nan")

    @property
    def ends(self) -> tuple[float, float]:
        """Both ends of the interval."""
        if not self.of:
            return float("nan"), float("nan")
        z, n, p = 1.959964, self.of, self.share
        middle = (p + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        return float(max(middle - half, 0.0)), float(min(middle + half, 1.0))

    def __str__(self) -> str:
        if not self.of:
            return "-"
        low, high = self.ends
        return f"{100 * self.share:.1f} % [{100 * low:.1f}, {100 * high:.1f}] of {self.of}"
