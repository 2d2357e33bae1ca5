"""Numbers over rows of which some count more: a row of a sample stands for 1/chance others.

Where all rows count alike everything here is what numpy says of the bare values, bit for bit.

Decision 0023 (docs/decisions).
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def uneven(weight: Floats | None) -> Floats | None:
    """The weights [n] if they tell rows apart; None: all rows count alike."""
    if weight is None or not len(weight) or bool((weight == weight[0]).all()):
        return None
    return weight


def normal(weight: Floats) -> Floats:
    """The weights [n] with a mean of 1: how much a row counts beside the others.

    What a model is held back by (a penalty, a least weight of a leaf) then means the same for a
    sample as for all rows.
    """
    return np.ones(len(weight)) if uneven(weight) is None else np.asarray(weight / weight.mean())


def mean(values: Floats, weight: Floats | None = None) -> float:
    """The mean of values [n], each as often as it counts."""
    counts = uneven(weight)
    return float(values.mean() if counts is None else np.average(values, weights=counts))


def deviation(values: Floats, weight: Floats | None = None) -> float:
    """The standard deviation of values [n], each as often as it counts."""
    counts = uneven(weight)
    if counts is None:
        return float(np.std(values))
    centre = np.average(values, weights=counts)
    return float(np.sqrt(np.average((values - centre) ** 2, weights=counts)))


def median(values: Floats, weight: Floats | None = None) -> float:
    """The median of values [n]: the smallest that half of the weight does not exceed."""
    counts = uneven(weight)
    if counts is None:
        return float(np.median(values))
    return float(np.quantile(values, 0.5, weights=counts, method="inverted_cdf"))


def percentiles(values: Floats, weight: Floats | None, percents: tuple[float, ...]) -> Floats:
    """The percentiles [p, k] of each column of values [n, k]."""
    counts = uneven(weight)
    if counts is None:
        return np.asarray(np.percentile(values, percents, axis=0))
    shares = np.array(percents) / 100
    return np.asarray(np.quantile(values, shares, axis=0, weights=counts, method="inverted_cdf"))


def effective(weight: Floats) -> float:
    """How many rows that count alike tell a mean as exactly: (sum w)^2 / sum w^2 (Kish)."""
    total = float(weight.sum())
    return total**2 / float((weight**2).sum()) if total else 0.0


def error_of_mean(values: Floats, weight: Floats | None = None) -> float:
    """The standard error of `mean`; infinite for fewer than two rows.

    A weight that is 1/chance can go with the value: then this, not the deviation over the root of
    the effective number, is the error (Hajek's estimator, linearised).
    """
    n, counts = len(values), uneven(weight)
    if n < 2:
        return float("inf")
    if counts is None:
        return float(values.std(ddof=1) / np.sqrt(n))
    pulls = counts * (values - np.average(values, weights=counts)) / counts.sum()
    return float(np.sqrt((pulls**2).sum() * n / (n - 1)))


def order(weight: Floats | None, n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """The rows 0 .. n - 1 in random order; a row that counts more tends to come earlier.

    One that counts k times comes where the first of k equal rows would.
    """
    counts = uneven(weight)
    if counts is None:
        return rng.permutation(n)
    return np.asarray(np.argsort(rng.exponential(size=n) / counts, kind="stable"))


def thinned(weight: Floats | None, n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Some of n rows of a sample that are a plain one: each stays with the chance w / max w."""
    counts = uneven(weight)
    if counts is None:
        return np.arange(n)
    return np.flatnonzero(rng.random(n) < counts / counts.max())
