"""How large the error of a prediction is expected to be, as a share of the outcome.

Two estimates that err in different ways, and their geometric mean. How wrong models were about
similar runs that they had not seen: a small forest learns it from the runs that a resample left
out. And how far the trees of all models lie apart, as a share of what they predict. Neither needs
the validation runs, which are kept to rank against, and neither knows the surrogate.

Decision 0021 (docs/decisions).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from compass.model.base import Task
from compass.model.error import row_errors, small
from compass.model.forest import grow
from compass.model.trees import flat
from compass.model.trees.flat import FlatForest
from compass.settings import Settings
from compass.trust.rank import Floats

CHECKED = 10_000  # runs whose errors are learnt from: beyond this, time grows and ranks hardly move
_LEAF = 5  # runs whose errors are averaged at least: a single one is mostly chance
_AGREE = 1e-4  # share of a prediction below which trees that agree say nothing of its error


def size_of(y: Floats, task: Task, weight: Floats | None = None) -> float:
    """The size below which an outcome counts as zero; NaN for classes, which have none."""
    return small(y, weight) if task.classes is None else float("nan")


def learn_errors(
    X: Floats,
    y: Floats,
    predicted: Sequence[Floats],
    unseen: NDArray[np.bool_],
    *,
    task: Task,
    least: float,
    weight: Floats | None,
    seed: int,
    settings: Settings,
) -> FlatForest:
    """A forest of the errors of runs X float64[n, d] with outcomes y float64[n].

    `predicted` holds what each model predicts, [n, outputs], and `unseen` [models, n] which runs
    it was not trained on; only those count. If every model saw every run, all count.
    """
    heavy = np.ones(len(y), dtype=bool) if weight is None else weight > 0
    counts = unseen if (unseen.any(axis=0) & heavy).any() else np.ones_like(unseen)
    known = counts.any(axis=0) & heavy
    total = np.zeros_like(predicted[0])
    for one, mask in zip(predicted, counts, strict=True):
        total += np.where(mask[:, np.newaxis], one, 0.0)
    mean = total[known] / counts.sum(axis=0)[known, np.newaxis]
    few = {"trees": settings.trust.trees, "leaf": _LEAF}
    return grow(
        X[known],
        missed(y[known], mean, task, least),
        task=Task(),
        weight=None if weight is None else weight[known],
        seed=seed,
        settings=settings.forest.model_copy(update=few),
        threads=settings.threads,
    )


def missed(y: Floats, predicted: Floats, task: Task, least: float) -> Floats:
    """The error of each prediction float64[n, outputs]: a share of the outcome float64[n].

    Of classes: how far the score of the right one is from 1.
    """
    if task.classes is None:
        return row_errors(y, predicted[:, 0], scale=least)
    return np.asarray(1.0 - predicted[np.arange(len(y)), y.astype(np.int64)])


def expected(models: FlatForest, errors: FlatForest, least: float, X: Floats) -> Floats:
    """The expected error float64[n] of predictions for X float64[n, d], as a share of them."""
    mean, spread = flat.mean_spread(models, X)
    size = np.ones(len(X)) if np.isnan(least) else np.maximum(np.abs(mean[:, 0]), least)
    apart = spread / np.where(size > 0, size, 1.0)
    return np.asarray(np.sqrt(flat.mean(errors, X)[:, 0] * (apart + _AGREE)))
