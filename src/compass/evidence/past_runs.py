"""What was measured in the context of a question, and whether a suggestion is expected to beat it.

Only where the context is a single one: a prediction that is averaged over contexts cannot be
compared with runs of one of them.
"""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from compass.domain.base import Config, Value
from compass.domain.space import Category, Number
from compass.evidence.assessor import Assessor
from compass.evidence.measured_runs import MeasuredRuns
from compass.generate.base import Candidates
from compass.generate.past import PastRuns
from compass.generate.score import score
from compass.generate.task import SearchTask
from compass.learn.reliability import Reliability, missed, reliability
from compass.learn.store import ModelStore, OutcomeModel
from compass.prepare.weigh import uneven

Floats = NDArray[np.float64]
Spread = Callable[[Floats], dict[str, Floats]]


def past_runs_of(
    assessor: Assessor, task: SearchTask, contexts: Floats, spread: Spread
) -> PastRuns | None:
    """The past runs that a task's candidates are valued with; None where only the model counts.

    `contexts` [c, d] are those of the question; `spread` is that of the task's predictions.
    """
    directed = [target for target in task.targets if target.direction is not None]
    if not directed or len(contexts) != 1:
        return None
    past = assessor.store.past_of(assessor.view.features.names)
    fixed = np.setdiff1d(np.arange(len(task.start)), task.movable)
    same = np.ones(len(past.X), dtype=np.bool_)
    for column in fixed:
        same &= past.X[:, column] == contexts[0, column]
    rows = np.flatnonzero(same)
    if not len(rows):
        return None
    first = np.flatnonzero(np.r_[True, np.diff(past.key[rows]) > 0])
    mean, runs = {}, {}
    counts = np.ones(len(rows))
    if uneven(assessor.store.prepared.weight) is not None:
        counts = assessor.store.prepared.weight[past.position[rows]]
    for name in assessor.trained:
        y = _measured(assessor.store, name)[past.position[rows]]
        known = np.isfinite(y[:, 0])
        runs[name] = np.add.reduceat(known.astype(np.int64), first)
        mass = np.add.reduceat(counts * known, first)
        sums = np.add.reduceat(np.where(known[:, None], counts[:, None] * y, 0.0), first, axis=0)
        mean[name] = sums / np.where(mass > 0, mass, 1)[:, None]
    relative = frozenset(name for name in assessor.trained if _positive(assessor.store, name))
    past_runs = PastRuns(
        key=past.key[rows][first],
        X=past.X[rows][first],
        mean=mean,
        runs=runs,
        reliability={name: _reliability(assessor, name) for name in assessor.trained},
        relative=relative,
        positive=len(directed) == 1 and directed[0].name in relative,
        doubt=lambda X: _doubt(assessor, task, task.predict(X), spread(X)),
    )
    return past_runs.settled(task)


def _positive(store: ModelStore, name: str) -> bool:
    """Whether an outcome is a time, a power or the like, whose errors grow with its size."""
    parameter = store.prepared.space[name]
    return isinstance(parameter, Number) and parameter.low > 0


def _measured(store: ModelStore, name: str) -> Floats:
    """An outcome as it was measured, [n, outputs]: a number, or 1 for the class that it was."""
    parameter, y = store.prepared.space[name], store.prepared.column(name)
    if isinstance(parameter, Category):
        shares = (y[:, None] == np.arange(len(parameter.values))).astype(np.float64)
        return np.where(np.isfinite(y)[:, None], shares, np.nan)
    if parameter.optional:
        y = np.where(y == parameter.none_code, np.nan, y)
    return np.asarray(y[:, None])


def _reliability(assessor: Assessor, name: str) -> Reliability:
    """How far runs scatter and the model errs; worked out once per model."""
    store, view = assessor.store, assessor.view
    key = (view.features.names, name)
    if key not in store.reliability:
        relative, y = _positive(store, name), _measured(store, name)
        held = view.valid[np.isfinite(y[view.valid, 0])]
        said = assessor.trained[name].model.predict(view.X[held])
        past = store.past_of(view.features.names)
        known = np.isfinite(y[past.position, 0])
        _, number = np.unique(past.key[known], return_inverse=True)
        store.reliability[key] = reliability(
            y[past.position[known]],
            number,
            missed(y[held], said, relative=relative),
            relative=relative,
            weight=store.prepared.weight[past.position[known]],
            miss_weight=store.prepared.weight[held],
        )
    return store.reliability[key]


def _doubt(
    assessor: Assessor, task: SearchTask, said: Mapping[str, Floats], spreads: Mapping[str, Floats]
) -> Floats:
    """One standard deviation [n] of the model's error in what is minimised, runs' scatter apart."""
    total = np.zeros(len(next(iter(spreads.values()))))
    for target in task.targets:
        if target.direction is None:
            continue
        trained, own = assessor.trained[target.name], _reliability(assessor, target.name)
        half = _half(trained, said[target.name][:, 0], spreads[target.name], target.scale)
        share = own.error / (own.error + own.noise) if own.error else 1.0
        total += share * (half / target.scale) ** 2
    return np.sqrt(total)


def _half(trained: OutcomeModel, predicted: Floats, spread: Floats, scale: float) -> Floats:
    assert trained.interval is not None
    half = trained.interval.deviation(predicted, spread)
    # With two or three runs to check with no width can be promised: then it may be anything.
    return np.where(np.isfinite(half), half, scale)


def measured_at(assessor: Assessor, task: SearchTask, X: Floats) -> list[Config]:
    """What was measured, on average, at each configuration X [n, d] that was run before."""
    past_runs = task.past_runs
    if past_runs is None:
        return [{} for _ in X]
    observed: list[Config] = []
    for place in past_runs.find(X):
        known: dict[str, Value] = {}
        for name in assessor.trained if place >= 0 else ():
            if past_runs.runs[name][place]:
                known[name] = assessor.value(name, past_runs.mean[name][place])
        observed.append(known)
    return observed


def beside_best(
    assessor: Assessor, task: SearchTask, found: Candidates, best: MeasuredRuns | None
) -> tuple[str, ...]:
    """The best measured run of the context, and whether the first suggestion may beat it."""
    past_runs = task.past_runs
    compared, notes = None, []
    if past_runs is not None and past_runs.best >= 0 and len(found.X):
        compared = _best_of(assessor, task, past_runs)
        notes = [_expected(task, past_runs, found, compared.as_best)]
    if best is not None and best != compared:
        notes = [f"Best measured run of this context: {best.named}.", *notes]
    return tuple(notes)


def _expected(task: SearchTask, past_runs: PastRuns, found: Candidates, best: str) -> str:
    """Whether the first suggestion is expected to beat the best past run, as a note."""
    first = int(past_runs.find(found.X[:1])[0])
    if first == past_runs.best:
        others = "; the others might" if len(found.X) > 1 else ""
        again = "the first suggestion is that configuration"
        return f"Nothing is expected to beat {best}: {again}{others}."
    better = float(score(task, found.X[:1]).extreme[0]) < past_runs.value
    return f"The first suggestion is {'' if better else 'not '}expected to beat {best}."


def _best_of(assessor: Assessor, task: SearchTask, past_runs: PastRuns) -> MeasuredRuns:
    """The runs of the best past configuration."""
    past, prepared = assessor.store.past_of(assessor.view.features.names), assessor.store.prepared
    first = int(np.searchsorted(past.key, past_runs.key[past_runs.best]))
    last = int(np.searchsorted(past.key, past_runs.key[past_runs.best], side="right"))
    rows = np.sort(prepared.row_id[past.position[first:last]])
    mean = {
        target.name: assessor.value(target.name, past_runs.mean[target.name][past_runs.best])
        for target in task.targets
    }
    return MeasuredRuns.of(prepared, rows.tolist(), mean)
