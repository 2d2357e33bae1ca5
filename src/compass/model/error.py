"""Measures of error: MAPE for numbers, 1 - macro F1 for classes, and their confidence intervals."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compass.model.base import Fitted, Floats, Task
from compass.prepare.weigh import deviation

_RESAMPLES = 200  # enough for two digits of an interval
SMALL = 0.01  # share of the standard deviation below which an error counts as absolute


@dataclass(frozen=True)
class Score:
    """An error and what it is called; smaller is better."""

    name: str
    error: float


def small(y: Floats, weight: Floats | None = None) -> float:
    """The size below which an outcome counts as zero: a hundredth of its standard deviation."""
    return SMALL * deviation(y, weight)


def mape(
    y: Floats, p: Floats, *, scale: float | None = None, weight: Floats | None = None
) -> float:
    """Mean absolute percentage error as a share: 0.1 is 10 %.

    mean of |p - y| / max(|y|, scale), so that outcomes near zero do not decide alone; the scale
    is `small(y)` unless given. Where that is zero too the error counts as it is.
    """
    least = small(y, weight) if scale is None else scale
    return float(np.average(row_errors(y, p, scale=least), weights=weight))


def row_errors(y: Floats, p: Floats, *, scale: float | None = None) -> Floats:
    """|p - y| / max(|y|, scale) of each row, [n]; see `mape`."""
    size = np.maximum(np.abs(y), small(y) if scale is None else scale)
    return np.asarray(np.abs(p - y) / np.where(size > 0, size, 1.0))


def macro_f1(y: Floats, p: Floats, *, weight: Floats | None = None) -> float:
    """Mean over classes of the F1 score; y and p are class positions.

    Classes that occur neither in y nor in p do not count.
    """
    truth, guess = y.astype(np.int64), p.astype(np.int64)
    classes = int(max(truth.max(), guess.max())) + 1
    hits = np.bincount(truth[truth == guess], _at(weight, truth == guess), classes)
    actual = np.bincount(truth, weight, classes)
    guessed = np.bincount(guess, weight, classes)
    present = actual + guessed > 0
    return float(np.mean(2 * hits[present] / (actual + guessed)[present]))


def model_score(
    fitted: Fitted,
    X: Floats,
    y: Floats,
    *,
    scale: float | None = None,
    weight: Floats | None = None,
) -> Score:
    """The error of a model on these rows: MAPE for numbers, 1 - macro F1 for classes."""
    return score(y, fitted.predict(X), fitted.task, scale=scale, weight=weight)


def score(
    y: Floats,
    p: Floats,
    task: Task,
    *,
    scale: float | None = None,
    weight: Floats | None = None,
) -> Score:
    """The error of predictions p float64[n, outputs] and its name: MAPE, or 1 - macro F1."""
    if task.classes is None:
        return Score("MAPE", mape(y, p[:, 0], scale=scale, weight=weight))
    return Score("1 - macro F1", 1 - macro_f1(y, np.argmax(p, axis=1).astype(float), weight=weight))


@dataclass(frozen=True, eq=False)
class HeldOutPredictions:
    """Outcomes of rows that a model has not seen, and its predictions of them."""

    y: Floats  # [n]
    p: Floats  # [n, outputs]
    weight: Floats | None = None  # [n]


def folds_interval(
    folds: Sequence[HeldOutPredictions], task: Task, *, scale: float | None = None, seed: int = 0
) -> tuple[float, float]:
    """Ends of the 95 % interval of the mean error of folds, by resampling the rows of each."""
    rng = np.random.default_rng(seed)
    found = np.zeros(_RESAMPLES)
    for fold in folds:
        mass = np.ones(len(fold.y)) if fold.weight is None else fold.weight
        if task.classes is None:
            sizes = row_errors(fold.y, fold.p[:, 0], scale=scale)
            found += [float(np.average(sizes, weights=mass * c)) for c in _resamples(fold, rng)]
        else:
            guess = np.argmax(fold.p, axis=1).astype(float)
            found += [1 - macro_f1(fold.y, guess, weight=mass * c) for c in _resamples(fold, rng)]
    low, high = np.quantile(found / len(folds), [0.025, 0.975])
    return float(low), float(high)


def _resamples(fold: HeldOutPredictions, rng: np.random.Generator) -> Iterator[Floats]:
    """How often each row of the fold is in a resample of it."""
    return (_counts(len(fold.y), rng) for _ in range(_RESAMPLES))


def _counts(n: int, rng: np.random.Generator) -> Floats:
    """How often each row is in a resample of n rows, [n]."""
    return np.bincount(rng.integers(0, n, n), minlength=n).astype(np.float64)


def _at(weight: Floats | None, rows: NDArray[np.int64] | NDArray[np.bool_]) -> Floats | None:
    return None if weight is None else weight[rows]
