"""How wrong a model is, on rows that it has not seen."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compass.domain.space import Space
from compass.model.base import Family, Fitted, Floats, Task
from compass.settings import Settings

SMALL = 0.01  # share of the standard deviation below which an error counts as absolute


@dataclass(frozen=True)
class Score:
    """An error and what it is called; smaller is better."""

    name: str
    error: float


@dataclass(frozen=True, eq=False)
class Holdout:
    """A model trained on some rows and its error on others."""

    score: Score
    fitted: Fitted


def small(y: Floats) -> float:
    """The size below which an outcome counts as zero: a hundredth of its standard deviation."""
    return SMALL * float(np.std(y))


def mape(
    y: Floats, p: Floats, *, scale: float | None = None, weight: Floats | None = None
) -> float:
    """Mean absolute percentage error as a share: 0.1 is 10 %.

    mean of |p - y| / max(|y|, scale), so that outcomes near zero do not decide alone; the scale
    is `small(y)` unless given. Where that is zero too the error counts as it is.
    """
    size = np.maximum(np.abs(y), small(y) if scale is None else scale)
    return float(np.average(np.abs(p - y) / np.where(size > 0, size, 1.0), weights=weight))


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


def error(
    fitted: Fitted,
    X: Floats,
    y: Floats,
    *,
    scale: float | None = None,
    weight: Floats | None = None,
) -> Score:
    """The error of a model on these rows: MAPE for numbers, 1 - macro F1 for classes."""
    p = fitted.predict(X)
    if fitted.task.classes is None:
        return Score("MAPE", mape(y, p[:, 0], scale=scale, weight=weight))
    return Score("1 - macro F1", 1 - macro_f1(y, np.argmax(p, axis=1).astype(float), weight=weight))


def holdout_error(
    family: Family,
    X: Floats,
    y: Floats,
    task: Task,
    train: NDArray[np.int64],
    valid: NDArray[np.int64],
    *,
    seed: int,
    settings: Settings,
    weight: Floats | None = None,
    features: Space | None = None,
) -> Holdout:
    """Train on the rows `train`, measure on the rows `valid` (positions in X float64[n, d])."""
    fitted = family.fit(
        X[train],
        y[train],
        task=task,
        weight=_at(weight, train),
        seed=seed,
        settings=settings,
        features=features,
    )
    scale = small(y[train]) if task.classes is None else None
    score = error(fitted, X[valid], y[valid], scale=scale, weight=_at(weight, valid))
    return Holdout(score, fitted)


def _at(weight: Floats | None, rows: NDArray[np.int64] | NDArray[np.bool_]) -> Floats | None:
    return None if weight is None else weight[rows]
