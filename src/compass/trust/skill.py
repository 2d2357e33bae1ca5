"""How much better a model predicts than the simplest way there is: a skill score.

The simplest ways are the median (of classes, the most frequent one) of the runs learnt from, and
the last run of the same context before. A model that does not clearly beat the better of them knows
nothing that anybody would have to be told.

Decision 0032 (docs/decisions).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compass.prepare.weigh import median
from compass.trust.rank import Floats

_LEAST = 0.1  # share of the error that a model has to save
_SURE = 1.64  # standard errors: 95 % on one side


@dataclass(frozen=True)
class Skill:
    """The share of the error of the simplest prediction that a model saves."""

    score: float | None  # None: there is no error to save
    clear: bool  # whether it surely saves more than a trifle


def skill(errors: Floats, simple: Floats, weight: Floats) -> Skill:
    """From the errors [v] of a model and of the simplest prediction on held-out runs."""
    share = weight / weight.sum()
    own, other = float((share * errors).sum()), float((share * simple).sum())
    if not other:
        return Skill(None, own == 0)
    saved = (1 - _LEAST) * simple - errors
    mean = float((share * saved).sum())
    doubt = float(np.sqrt((share**2 * (saved - mean) ** 2).sum()))
    return Skill(1 - own / other, mean - _SURE * doubt > 0)


def errors_of(y: Floats, predicted: Floats, *, classes: bool) -> Floats:
    """The errors [v] of predictions [v]; of what is always positive, those of the logarithm."""
    if classes:
        return np.asarray(y != predicted, dtype=np.float64)
    if len(y) and y.min() > 0:
        return np.asarray(np.abs(np.log(y) - np.log(np.maximum(predicted, y.min() * 1e-3))))
    return np.asarray(np.abs(y - predicted))


def usual(y: Floats, weight: Floats, *, classes: bool) -> float:
    """The median of outcomes y [n], or the most frequent class."""
    if not classes:
        return float(median(y, weight))
    return float(np.argmax(np.bincount(y.astype(np.int64), weights=weight)))


def last_before(
    group: NDArray[np.uint64], train: NDArray[np.int64], valid: NDArray[np.int64]
) -> NDArray[np.int64]:
    """For rows `valid` [v] the last of the rows `train` before them of the same group; -1: none.

    Rows are positions in the order of the table; `group` [n] is the same for runs of one context.
    """
    order = train[np.lexsort((train, group[train]))]
    found = np.full(len(valid), -1, dtype=np.int64)
    ordered = group[order]
    starts, ends = (
        np.searchsorted(ordered, group[valid], side=side).tolist() for side in ("left", "right")
    )
    for place, (row, start, end) in enumerate(zip(valid.tolist(), starts, ends, strict=True)):
        before = start + int(np.searchsorted(order[start:end], row))
        if before > start:
            found[place] = order[before - 1]
    return found
