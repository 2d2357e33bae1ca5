"""What was measured in the context of a question, and whether a suggestion is expected to beat it.

Only where the context is a single one: a prediction that is averaged over contexts cannot be
compared with runs of one of them.

Decision 0013 (docs/decisions).
"""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from compass.domain.base import Config, Value
from compass.evidence.assessor import Assessor
from compass.generate.base import Candidates
from compass.generate.measured_runs import MeasuredRuns
from compass.generate.objectives import objectives
from compass.generate.past import PastRuns
from compass.generate.score import score
from compass.generate.task import SearchTask
from compass.learn.outcomes import OutcomeModel
from compass.prepare.weigh import uneven

Floats = NDArray[np.float64]
Spread = Callable[[Floats], dict[str, Floats]]
_LUCKY = 2.0  # standard deviations by which a prediction may be too pessimistic


def past_runs_of(
    task: SearchTask, assessor: Assessor, contexts: Floats, spread: Spread
) -> PastRuns | None:
    """The past runs that a task's candidates are valued with; None where only the model counts.

    `contexts` [c, d] are those of the question; `spread` is that of the task's predictions.
    """
    directed = objectives(task.targets)
    if not directed or len(contexts) != 1:
        return None
    past = assessor.view.runs
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
        y = assessor.learnt(name).scores[past.position[rows]]
        known = np.isfinite(y[:, 0])
        runs[name] = np.add.reduceat(known.astype(np.int64), first)
        mass = np.add.reduceat(counts * known, first)
        sums = np.add.reduceat(np.where(known[:, None], counts[:, None] * y, 0.0), first, axis=0)
        mean[name] = sums / np.where(mass > 0, mass, 1)[:, None]
    relative = frozenset(name for name in assessor.trained if assessor.learnt(name).positive)
    past_runs = PastRuns(
        key=past.key[rows][first],
        X=past.X[rows][first],
        mean=mean,
        runs=runs,
        reliability={name: assessor.learnt(name).reliability for name in assessor.trained},
        relative=relative,
        positive=len(directed) == 1 and directed[0].name in relative,
        doubts=lambda X: _doubts(task, assessor, task.predict(X), spread(X)),
    )
    return past_runs.ranked_for(task)


def _doubts(
    task: SearchTask,
    assessor: Assessor,
    predicted: Mapping[str, Floats],
    spreads: Mapping[str, Floats],
) -> Floats:
    """One standard deviation [n, k] of the model's error per objective, runs' scatter apart."""
    deviations = []
    for target in objectives(task.targets):
        trained, own = assessor.trained[target.name], assessor.learnt(target.name).reliability
        half = _half(trained, predicted[target.name][:, 0], spreads[target.name], target.scale)
        share = own.error / (own.error + own.noise) if own.error else 1.0
        deviations.append(np.sqrt(share) * half / target.scale)
    return np.stack(deviations, axis=-1)


def _half(trained: OutcomeModel, predicted: Floats, spread: Floats, scale: float) -> Floats:
    assert trained.interval is not None
    half = trained.interval.deviation(predicted, spread)
    # With two or three runs to check with no width can be promised: then it may be anything.
    return np.where(np.isfinite(half), half, scale)


def measured_at(task: SearchTask, assessor: Assessor, X: Floats) -> list[Config]:
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


def beside_best(task: SearchTask, assessor: Assessor, found: Candidates) -> tuple[str, ...]:
    """Whether the first suggestion may beat the best past run of its context, as a note."""
    past_runs = task.past_runs
    if past_runs is None or past_runs.best < 0 or not len(found.X):
        return ()
    return (_expected(task, past_runs, found, _best_of(task, assessor, past_runs).as_best),)


def _expected(task: SearchTask, past_runs: PastRuns, found: Candidates, best: str) -> str:
    """Whether the first suggestion is expected to beat the best past run, as a note."""
    first = int(past_runs.find(found.X[:1])[0])
    if first == past_runs.best:
        again = "the first suggestion is that configuration"
        return f"Nothing is expected to beat {best}: {again}{_might(task, past_runs, found.X[1:])}."
    better = float(score(task, found.X[:1]).preference[0]) < past_runs.preference
    return f"The first suggestion is {'' if better else 'not '}expected to beat {best}."


def _might(task: SearchTask, past_runs: PastRuns, others: Floats) -> str:
    """Which of the other suggestions [n, d] may turn out better than the best past run."""
    untried = others[past_runs.find(others) < 0]
    if not len(untried):
        return ""
    lucky = score(task, untried).preference - _LUCKY * past_runs.doubt(untried)
    count = int((lucky < past_runs.preference).sum())
    if not count:
        return ""
    return "; the others might" if count == len(others) else "; some of the others might"


def _best_of(task: SearchTask, assessor: Assessor, past_runs: PastRuns) -> MeasuredRuns:
    """The runs of the best past configuration."""
    past, prepared = assessor.view.runs, assessor.store.prepared
    first = int(np.searchsorted(past.key, past_runs.key[past_runs.best]))
    last = int(np.searchsorted(past.key, past_runs.key[past_runs.best], side="right"))
    rows = np.sort(prepared.row_id[past.position[first:last]])
    mean = {
        target.name: assessor.value(target.name, past_runs.mean[target.name][past_runs.best])
        for target in task.targets
    }
    return MeasuredRuns.of(prepared, rows.tolist(), mean)
