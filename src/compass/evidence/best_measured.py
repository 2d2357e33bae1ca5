"""The best measured run of a question's context: what every suggestion stands beside.

Decision 0032 (docs/decisions).
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compass.domain.answer import Measured, Suggestion
from compass.domain.base import Config
from compass.domain.space import Role
from compass.domain.target import Target
from compass.evidence.assessor import Assessor
from compass.evidence.matching import obeyed
from compass.generate.loss import proximity
from compass.generate.objectives import (
    as_good_as,
    objective_values,
    objectives,
    preference,
)
from compass.generate.score import score_targets
from compass.generate.task import SearchTask
from compass.learn.features import Rows
from compass.prepare.encode import Encoder
from compass.prepare.split import configurations

Floats = NDArray[np.float64]

_AS_GOOD = 1e-3  # share of a value that is no difference
_EQUAL = 1e-9  # relative; means of the same runs in another order
_TOP = 32  # single runs, best first, whose configurations are compared by their means


def best_measured(task: SearchTask, assessor: Assessor) -> Measured | None:
    """The best past configuration of the context, as measured; None where none is comparable.

    It obeys the rules. With a baseline, of those that meet the goals the nearest to it.
    """
    rows = _rows_of_context(task, assessor)
    targets = task.targets if task.chances is None else task.chances.targets
    if not targets or task.forward or not len(rows):
        return None
    top = rows[_order(task, assessor, targets, rows, rows, _TOP)]
    _, first = np.unique(configurations(assessor.view.X[top]), return_index=True)
    top = top[np.sort(first)]
    X = assessor.view.X[top]
    every = [assessor.view.runs.positions(x) for x in X]
    best = int(_order(task, assessor, targets, top, every, 1)[0]) if len(X) else -1
    if best < 0 or not _complete(assessor, targets, every[best]):
        return None
    return _measured(task, assessor, X[best], every[best], _open(task, assessor, rows))


def _open(task: SearchTask, assessor: Assessor, rows: Rows) -> tuple[str, ...]:
    """The knobs that a recommendation neither asks for nor sets, and that vary in these runs."""
    if task.baseline is not None:
        return ()
    settled = {*task.free_names, *task.assumed.given}
    knobs = [name for name in task.space.having(Role.KNOB) if name not in settled]
    places = {name: task.space.names.index(name) for name in knobs}
    return tuple(name for name in knobs if np.ptp(assessor.view.X[rows, places[name]]) > 0)


def _rows_of_context(task: SearchTask, assessor: Assessor) -> Rows:
    """Positions of the past runs that a question is about."""
    if task.baseline is None:
        return task.assumed.rows
    view, features = assessor.view, assessor.view.features
    fine = np.isfinite(view.X).all(axis=1) & view.prepared.measured
    for holds in obeyed(task.rules, task.conditions, task.outcomes, view):
        fine &= holds
    held = [j for j, name in enumerate(features.names) if j not in task.movable]
    context = [j for j in held if features.parameters[j].role is Role.CONTEXT]
    if assessor.matched.known.identifiable:
        free = np.array([j for j in range(len(features)) if j not in context], dtype=np.int64)
        return assessor.matched.reference(task.origin, free, fine)
    return np.flatnonzero(fine & (view.X[:, context] == task.origin[context]).all(axis=1))


def _order(
    task: SearchTask,
    assessor: Assessor,
    targets: tuple[Target, ...],
    rows: Rows,
    runs: "Rows | list[Rows]",
    most: int,
) -> Rows:
    """Which configurations of `rows` [n] are best by what was measured in `runs`, best first."""
    measured = {t.name: _means(assessor, t.name, runs) for t in targets}
    known = np.all([np.isfinite(values).all(axis=1) for values in measured.values()], axis=0)
    filled = {name: np.nan_to_num(values) for name, values in measured.items()}
    aims = score_targets(replace(task, targets=targets), filled, len(rows))

    def near(some: Rows) -> Floats:
        X = assessor.view.X[rows[some]]
        return proximity(X, task.start, task.geometry) if task.proximity else np.zeros(len(some))

    liked = preference(aims.values)
    keys = (lambda i: ~known[i], lambda i: aims.valid[i], lambda i: liked[i], near)
    return _first_by(keys, len(rows), most)


def _first_by(keys: Sequence[Callable[[Rows], NDArray[Any]]], n: int, most: int) -> Rows:
    """The first `most` of n positions, ordered by the first key, of equals by the next, ...

    A key is worked out for positions that those before leave open.
    """
    sure: list[Rows] = []
    left, wanted = np.arange(n), min(most, n)
    for key in keys:
        values = np.nan_to_num(key(left), nan=np.inf, posinf=np.inf, neginf=-np.inf)
        last = np.partition(values, wanted - 1)[wanted - 1] if wanted else None
        ahead = left[values < last] if wanted else left[:0]
        sure.append(ahead)
        left = left[values == last] if wanted else left[:0]
        wanted -= len(ahead)
    chosen = np.sort(np.concatenate([*sure, left[:wanted]]))
    return chosen[np.lexsort([key(chosen) for key in reversed(keys)])]


def _means(assessor: Assessor, name: str, runs: "Rows | list[Rows]") -> Floats:
    """What was measured, [n, outputs]: of single runs, or the mean of several each."""
    scores = assessor.learnt(name).scores
    if isinstance(runs, np.ndarray):
        return scores[runs]
    return np.array([_mean(scores[some]) for some in runs]).reshape(len(runs), -1)


def _believed(assessor: Assessor, name: str, X: Floats, runs: list[Rows]) -> Floats:
    """What configurations X [n, d] are worth, [n, outputs]: the means of their runs.

    Where repeated runs tell how far runs scatter, means are drawn to the prediction: of many
    configurations that were run once, the best was lucky.
    """
    learnt = assessor.learnt(name)
    means = _means(assessor, name, runs)
    if not learnt.reliability.own_error:
        return means
    share = learnt.reliability.weight(np.array([len(some) for some in runs]))[:, None]
    predicted = learnt.learnt.model.predict(X)
    return np.asarray(predicted + share * (means - predicted))


def _mean(values: Floats) -> Floats:
    known = values[np.isfinite(values).all(axis=1)]
    return known.mean(axis=0) if len(known) else np.full(values.shape[1], np.nan)


def _complete(assessor: Assessor, targets: tuple[Target, ...], rows: Rows) -> bool:
    return all(np.isfinite(_mean(assessor.learnt(t.name).scores[rows])).all() for t in targets)


def _measured(
    task: SearchTask, assessor: Assessor, x: Floats, rows: Rows, left_open: tuple[str, ...]
) -> Measured:
    config = Encoder(task.space).decode(x)
    asked = {*task.free_names, *task.query.change}
    outcomes: Config = {}
    for name in assessor.trained:
        mean = _mean(assessor.learnt(name).scores[rows])
        if np.isfinite(mean).all():
            outcomes[name] = assessor.value(name, mean)
    return Measured(
        rows=tuple(sorted(int(row) for row in assessor.store.prepared.row_id[rows])),
        runs=len(rows),
        config=config,
        settings={name: config[name] for name in task.space.names if name in asked},
        open={name: config[name] for name in left_open},
        outcomes=outcomes,
    )


def worse_than_measured(
    task: SearchTask, assessor: Assessor, one: Suggestion, best: Measured | None
) -> bool:
    """Whether a suggestion is expected to be worse than past runs of its one context.

    What was run is worth what was measured, drawn to the prediction as far as runs scatter. Where
    predictions are means over several contexts, runs of one of them are no comparison.
    """
    directed = objectives(task.targets)
    if best is None or not directed or task.past_runs is None:
        return False
    encoder, runs = Encoder(task.space), assessor.view.runs
    X = np.array([encoder.encode(config) for config in (one.config, best.config)])
    every = [runs.positions(x) for x in X]
    believed: dict[str, Floats] = {}
    raw: dict[str, Floats] = {}
    for target in directed:
        value = one.outcome(target.name).value
        assert isinstance(value, float)
        for values, found in (
            (believed, _believed(assessor, target.name, X, every)),
            (raw, _means(assessor, target.name, every)),
        ):
            values[target.name] = np.where(np.isfinite(found[:, 0]), found[:, 0], value)
    mine, known = preference(objective_values(directed, believed, (2,))).tolist()
    other = task.past_runs.preference
    if task.proximity:
        # From a baseline the smallest change within the tolerance of the best value is preferred.
        return bool(mine > as_good_as(other, task.settings.search.tolerance))
    if mine > as_good_as(other, _AS_GOOD):
        return True
    # Of what is expected to be as good, what was measured decides.
    own, best_own = preference(objective_values(directed, raw, (2,))).tolist()
    return bool(known <= as_good_as(other, _AS_GOOD) and own > as_good_as(best_own, _EQUAL))
