"""The measures: penalised MAPE, confidence intervals, latencies. Pure functions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

NO_ANSWER = 1.0  # the error of a question without a suggestion


def difference(got: Any, want: Any, scale: float | None) -> float:
    """The error of one value: relative for numbers, 0 or 1 for labels and the level none.

    Numbers are told relative to what they should be, or to the training scale where that is larger.
    """
    numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in (got, want))
    if scale is None or not numbers:
        return 0.0 if got == want else 1.0
    largest = max(abs(want), scale)
    return abs(got - want) / largest if largest else float(got != want)


def penalised(
    got: Mapping[str, Any],
    want: Mapping[str, Any],
    scales: Mapping[str, float | None],
    share_broken: float,
) -> float:
    """Penalised MAPE of one answer: mean error of the values in `want`, plus broken rules."""
    errors = [difference(got[name], value, scales[name]) for name, value in want.items()]
    return float(np.mean(errors)) + share_broken


def scale_of(values: ArrayLike) -> float:
    """The training scale of a number: its standard deviation over the rows learnt from."""
    known = np.asarray(values, dtype=float)
    known = known[np.isfinite(known)]
    return float(known.std()) if len(known) else 0.0


@dataclass(frozen=True)
class Interval:
    """A mean with its 95 % confidence interval over partitions."""

    mean: float
    half: float  # nan with fewer than two partitions

    def __str__(self) -> str:
        return f"{self.mean:.3f} ± {self.half:.3f}"


def interval(partitions: Sequence[Sequence[float]]) -> Interval:
    """Student's t interval of the partitions' means."""
    from scipy.stats import t

    means = np.array([np.mean(errors) for errors in partitions if len(errors)])
    if len(means) < 2:
        return Interval(float(means.mean()) if len(means) else float("nan"), float("nan"))
    half = t.ppf(0.975, len(means) - 1) * means.std(ddof=1) / np.sqrt(len(means))
    return Interval(float(means.mean()), float(half))


def percentile(values: Sequence[float], q: float) -> float:
    """A percentile; nan of nothing."""
    return float(np.percentile(values, q)) if len(values) else float("nan")


def folds(groups: NDArray[np.int64], count: int, seed: int) -> list[NDArray[np.int64]]:
    """Disjoint random parts of the rows [n]; rows of one group are in the same part."""
    names, of_row = np.unique(groups, return_inverse=True)
    part = np.random.default_rng(seed).permutation(len(names)) % count
    return [np.flatnonzero(part[of_row] == i) for i in range(count)]


def configurations(X: NDArray[np.float64]) -> NDArray[np.int64]:
    """A number per row [n] that is the same for identical rows of X [n, d]."""
    return np.asarray(np.unique(X, axis=0, return_inverse=True)[1]).ravel()
