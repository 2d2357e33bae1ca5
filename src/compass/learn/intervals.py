"""Intervals of predictions and of changes, calibrated on rows that the model did not see."""

import numpy as np
from numpy.typing import NDArray

from compass.domain.space import Space
from compass.learn.training import TrainingData
from compass.model.base import Fitted
from compass.model.trees.flat import FlatForest
from compass.prepare.split import configurations
from compass.prepare.weigh import mean
from compass.trust.change import by_tree, calibrate_change, deviation, pairs, spread_of_change
from compass.trust.interval import Conformal, calibrate
from compass.trust.rank import sample

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


def value_interval(
    model: Fitted,
    trees: FlatForest,
    data: TrainingData,
    train: Rows,
    valid: Rows,
    *,
    group: NDArray[np.generic] | None,
    log: bool,
) -> Conformal:
    """The intervals of predictions; `data` and `group` [n] are of all runs.

    Runs of one configuration may share an error. With groups the intervals are for new groups.
    """
    X, y, weight = data.X, data.y, data.weights
    usual = mean(deviation(by_tree(trees, X[train], log=log)), weight[train])
    return calibrate(
        y[valid],
        model.predict(X[valid])[:, 0],
        model.spread(X[valid]),
        weight[valid],
        usual=usual,
        unit=configurations(X[valid]) if group is None else group[valid],
        groups=group is not None,
        log=log,
    )


def change_interval(
    model: Fitted,
    trees: FlatForest,
    data: TrainingData,
    train: Rows,
    valid: Rows,
    *,
    space: Space,
    group: NDArray[np.generic] | None,
    log: bool,
) -> Conformal:
    """The intervals of changes, from pairs of runs that the model did not see."""
    X, y, weight = data.X, data.y, data.weights
    learnt = train[pairs(X[train], space, None if group is None else group[train])]
    held = valid[pairs(X[valid], space, None if group is None else group[valid])]
    usual = _spreads(model, trees, X, learnt, log)
    return calibrate_change(
        y[held],
        model.predict(X[held.ravel()])[:, 0].reshape(-1, 2),
        _spreads(model, trees, X, held, log),
        weight[held],
        usual=mean(usual, _of_pairs(weight, learnt)) if len(usual) else 0.0,
        group=None if group is None else group[held[:, 0]],
        log=log,
    )


def _of_pairs(weight: Floats, both: Rows) -> Floats:
    """How much pairs of rows [p, 2] count; see `calibrate_change`."""
    return np.asarray(np.sqrt(weight[both[:, 0]] * weight[both[:, 1]]))


def _spreads(model: Fitted, trees: FlatForest, X: Floats, both: Rows, log: bool) -> Floats:
    """How uncertain the change within each pair of rows [p, 2] is."""
    before, after = X[both[:, 0]], X[both[:, 1]]
    own = own_spread(model, before, log), own_spread(model, after, log)
    return spread_of_change(trees, before, after, own, log=log)


def own_spread(model: Fitted, X: Floats, log: bool) -> Floats:
    """The spread of a model at rows X [n, d]; `log`: as a share of the prediction."""
    spread = model.spread(X)
    return np.asarray(spread / model.predict(X)[:, 0]) if log else spread


def some_rows(rows: Rows, limit: int, seed: int) -> Rows:
    """At most so many of the rows, enough to tell a usual size."""
    return np.asarray(rows[sample(len(rows), limit, seed)])
