"""Which columns a model relies on, and how its prediction answers to each of them."""

import numpy as np
from numpy.typing import NDArray

from compass.domain.base import Value
from compass.domain.errors import BadInput, unknown
from compass.domain.explanation import ColumnImportance, Dependence, DependencePoint, Importance
from compass.domain.space import Category, Number
from compass.explain.contributions import feature_of, outcome_of
from compass.learn.features import FeatureView
from compass.learn.outcomes import OutcomeModel
from compass.learn.store import ModelStore
from compass.model.base import Fitted
from compass.model.error import model_score, small
from compass.prepare.encode import decode_value
from compass.prepare.legal import same_label, snap
from compass.prepare.weigh import median, percentiles, uneven

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

_ROWS = 5000  # unseen runs that errors are measured on; more change the third digit
_RUNS = 500  # past runs that a dependence is the mean over
_BAND = (10.0, 90.0)  # percentiles of the runs


def importance(store: ModelStore, outcome: str, *, repeats: int = 10) -> Importance:
    """How much the error on unseen runs rises when the values of a column are shuffled among them.

    The same shuffles are used for every column. A model can fall back on a column that says nearly
    the same as the shuffled one: of two correlated columns neither may look important though the
    pair is. Shuffling also makes combinations that never occurred; what the model says about those
    counts too.
    """
    features, target = outcome_of(store, outcome)
    view, trained = store.view_of(features), store.train(features, (target,))[target]
    y, train, valid = _known(store, view, target)
    rng = np.random.default_rng(store.settings.seed)
    if len(valid) > _ROWS:
        valid = np.sort(rng.choice(valid, _ROWS, replace=False))
    model = trained.model
    counts = store.prepared.weight[train]
    scale = small(y[train], counts) if model.task.classes is None else None
    X, truth, weight = view.X[valid], y[valid], store.prepared.weight[valid]
    kept = model_score(model, X, truth, scale=scale, weight=weight)
    orders = [_mixed(weight, rng) for _ in range(repeats)]
    columns = []
    for place, name in enumerate(features):
        rises = np.array(
            [
                model_score(
                    model, _shuffled(X, place, order), truth, scale=scale, weight=weight
                ).error
                - kept.error
                for order in orders
            ]
        )
        spread = float(rises.std(ddof=1)) / np.sqrt(repeats)
        columns.append(ColumnImportance(name=name, rise=float(rises.mean()), error=spread))
    return Importance(
        outcome=target,
        family=model.family,
        error=kept.error,
        error_name=kept.name,
        rows=len(valid),
        unseen=target not in store.given,
        repeats=repeats,
        columns=tuple(sorted(columns, key=lambda column: -column.rise)),
    )


def dependence(
    store: ModelStore,
    outcome: str,
    column: str,
    *,
    points: int = 20,
    label: Value = None,
    lines: int = 0,
) -> Dependence:
    """The mean prediction over past runs if all had the same value of a column, value by value.

    The band holds four fifths of the runs: where it is wide the column matters for some runs and
    not for others; `lines` adds single runs. `share` tells how many past runs are near a value: a
    prediction where there are none is a guess. It counts the column alone, so a value can be common
    and still be new beside the other values of a run. For classes the score of one label is shown,
    the most common one unless another is named.
    """
    features, target = outcome_of(store, outcome)
    name = feature_of(store, features, column)
    view, trained = store.view_of(features), store.train(features, (target,))[target]
    y, train, _ = _known(store, view, target)
    place = features.index(name)
    parameter, predicted = view.features[name], store.prepared.space[target]
    weight = store.prepared.weight
    values, share = _grid(parameter, view.X[train, place], weight[train], points)
    which = _label(predicted, y[train], weight[train], label)
    rng = np.random.default_rng(store.settings.seed)
    rows = train if len(train) <= _RUNS else np.sort(rng.choice(train, _RUNS, replace=False))
    curves = _curves(trained, view.X[rows], place, values, which)  # [n, points]
    low, high = percentiles(curves, weight[rows], _BAND)
    mean = np.average(curves, axis=0, weights=weight[rows])
    shown = rng.permutation(len(rows))[:lines]
    return Dependence(
        outcome=target,
        column=name,
        family=trained.model.family,
        unit=parameter.unit if isinstance(parameter, Number) else None,
        outcome_unit=predicted.unit if isinstance(predicted, Number) else None,
        label=predicted.values[which] if isinstance(predicted, Category) else None,
        points=tuple(
            DependencePoint(
                value=decode_value(parameter, float(values[i])),
                mean=float(mean[i]),
                low=float(low[i]),
                high=float(high[i]),
                share=float(share[i]),
            )
            for i in range(len(values))
        ),
        lines=tuple(tuple(map(float, curves[i])) for i in shown),
    )


def _known(store: ModelStore, view: FeatureView, target: str) -> tuple[Floats, Rows, Rows]:
    """The outcome [n], and the training and validation rows where it is known."""
    y = store.prepared.outcome(target)
    known = np.isfinite(y)
    return y, view.supporting[known[view.supporting]], view.valid[known[view.valid]]


def _mixed(weight: Floats, rng: np.random.Generator) -> Rows:
    """Which run each run takes its value from, [n]: a shuffle, or draws as often as runs count."""
    counts = uneven(weight)
    if counts is None:
        return rng.permutation(len(weight))
    return rng.choice(len(weight), len(weight), p=counts / counts.sum())


def _shuffled(X: Floats, place: int, order: Rows) -> Floats:
    mixed = X.copy()
    mixed[:, place] = X[order, place]
    return mixed


def _label(parameter: Number | Category, y: Floats, weight: Floats, label: Value) -> int:
    """The output column to tell: the only one of a number, else the class that is meant."""
    if not isinstance(parameter, Category):
        if label is not None:
            raise BadInput(f"{parameter.name} is a number and has no labels", hint="leave it out")
        return 0
    if label is None:
        return int(np.bincount(y.astype(np.int64), weight).argmax())
    for position, known in enumerate(parameter.values):
        if same_label(label, known):
            return position
    raise unknown(f"value of {parameter.name}", str(label), [str(v) for v in parameter.values])


def _curves(trained: OutcomeModel, X: Floats, place: int, values: Floats, which: int) -> Floats:
    """The predictions [n, points] of every run with every value."""
    model: Fitted = trained.model
    found = np.empty((len(X), len(values)))
    for i, value in enumerate(values):
        changed = X.copy()
        changed[:, place] = value
        found[:, i] = model.predict(changed)[:, which]
    return found


def _grid(
    parameter: Number | Category, seen: Floats, weight: Floats, points: int
) -> tuple[Floats, Floats]:
    """Encoded values to try, ascending, and the share of past runs that is nearest to each."""
    distinct, inverse = np.unique(seen, return_inverse=True)
    mass = _per_bin(inverse, weight / weight.sum(), len(distinct))
    if isinstance(parameter, Category):
        # Labels have no in-between: the most common ones.
        common = np.sort(np.argsort(-mass, kind="stable")[:points])
        return distinct[common], mass[common]
    none = parameter.none_code
    numbers = distinct != none
    values = distinct[numbers]
    if len(values) > points:
        given = seen != none
        values = np.unique(snap(parameter, _between(values, seen[given], weight[given], points)))
    nearest = np.searchsorted((values[:-1] + values[1:]) / 2, distinct[numbers])
    share = _per_bin(nearest, mass[numbers], len(values))
    if not numbers.all():
        values, share = np.append(values, none), np.append(share, mass[~numbers])
    return values, share


def _per_bin(bins: Rows, mass: Floats, count: int) -> Floats:
    return np.asarray(np.bincount(bins, mass, count), dtype=np.float64)


def _between(values: Floats, seen: Floats, weight: Floats, points: int) -> Floats:
    """Evenly spaced values over the seen range; by factors where the runs are spread that way."""
    low, high, middle = float(values[0]), float(values[-1]), median(seen, weight)
    if low > 0:
        off = abs(np.log(middle) - (np.log(low) + np.log(high)) / 2) / np.log(high / low)
        if off < abs(middle - (low + high) / 2) / (high - low):
            return np.geomspace(low, high, points)
    return np.linspace(low, high, points)
