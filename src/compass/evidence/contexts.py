"""Candidates in the contexts that a recommendation is averaged over.

Decisions 0005 and 0020 (docs/decisions).
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from compass.domain.answer import Prediction
from compass.evidence.assessor import Assessor
from compass.generate.task import SearchTask

Floats = NDArray[np.float64]

_WIDER = 2.0  # times the width in one context, from where on a note says what would narrow it


def near_past_runs(
    task: SearchTask, assessor: Assessor, limit: float
) -> Callable[[Floats], NDArray[np.bool_]]:
    """A way to tell which candidates of a task are near past runs: OOD of at most `limit`.

    What was run itself is; what has a label that no run learnt from has is not.
    """
    support, runs = assessor.view.support, assessor.view.runs

    def near(X: Floats) -> NDArray[np.bool_]:
        known = np.zeros(len(X), dtype=np.bool_)
        # Near past runs in one of the contexts is enough: most candidates are so in the first.
        contexts = [None] if task.baseline is not None else task.contexts
        for context in contexts:
            rest = np.flatnonzero(~known)
            if not len(rest):
                break
            full = X[rest] if context is None else _in_contexts(task, X[rest], context[None, :])
            fine = runs.known(full)
            others = np.flatnonzero(~fine)
            fine[others] = support.ood(full[others]) <= limit
            fine[others] &= ~support.has_unseen(full[others])
            known[rest] = fine if context is None else fine & _obey(task, full)
        return known

    return near


def completed(task: SearchTask, assessor: Assessor, X: Floats) -> Floats:
    """Recommended settings [n, d] with what was not asked for taken from the best known context.

    Predictions are averaged over all contexts; the configuration that is shown, with its trust,
    is the one of those contexts that lies closest to past runs and obeys the rules.
    """
    contexts = task.contexts
    full = _in_contexts(task, X, contexts)
    fine = _obey(task, full)
    far = np.full(len(full), np.inf)
    if len(contexts) > 1:
        far[fine] = assessor.view.support.novelty(full[fine])
    nearest = np.argmin(far.reshape(len(X), len(contexts)), axis=1)
    best = nearest + np.arange(len(X)) * len(contexts)
    return np.where(fine[best][:, None], full[best], X)


def across(
    task: SearchTask,
    assessor: Assessor,
    X: Floats,
    predictions: Sequence[tuple[Prediction, ...]],
) -> list[tuple[Prediction, ...]]:
    """Predictions of X [n, d] with intervals of a run in any one of the contexts.

    No run is made in the mean of several contexts: an interval around it would hold few of them.
    """
    if len(task.contexts) < 2 or not len(X):
        return list(predictions)
    found = {name: _in_any(task, assessor, X, name) for name in assessor.trained}
    return [
        tuple(
            one.model_copy(update={key: float(of[i]) for key, of in found[one.name].items()})
            for one in outcomes
        )
        for i, outcomes in enumerate(predictions)
    ]


def _in_any(task: SearchTask, assessor: Assessor, X: Floats, name: str) -> dict[str, Floats]:
    """What holds for runs of X [n, d] in any of the contexts, each [n]; nothing for classes."""
    scores, spread = _predicted(task, assessor, X, name)
    band = assessor.band(name, scores, spread)
    if band is None:
        return {}
    each = len(X), len(task.contexts)
    return {"low": band[0].reshape(each).min(axis=1), "high": band[1].reshape(each).max(axis=1)}


def left_open(task: SearchTask, assessor: Assessor, X: Floats) -> tuple[str, ...]:
    """Which open columns make the intervals of the first of X [n, d] wide, as sentences."""
    if len(task.contexts) < 2 or not len(X):
        return ()
    notes = []
    for name in assessor.trained:
        band = assessor.band(name, *_predicted(task, assessor, X[:1], name))
        if band is None or not _much_wider(*band):
            continue
        j = _most_telling(task, assessor, X[0], name)
        if j is not None and _narrower(*band, task.contexts[:, j]):
            notes.append(
                f"{name} depends on {task.space.names[j]}, which the question leaves open: give "
                "it a value for a narrower interval."
            )
    return tuple(notes)


def _much_wider(low: Floats, high: Floats) -> bool:
    """Whether the interval over contexts is much wider than the one in a usual context, [c]."""
    over, usual = high.max() - low.min(), float(np.median(high - low))
    return bool(np.isfinite(over) and over > _WIDER * usual)


def _narrower(low: Floats, high: Floats, values: Floats) -> bool:
    """Whether the interval over the contexts [c] with one value of a column is mostly narrower."""
    distinct, which = np.unique(values, return_inverse=True)
    widths = [high[which == i].max() - low[which == i].min() for i in range(len(distinct))]
    return bool(np.median(widths) < (high.max() - low.min()) / _WIDER)


def _most_telling(task: SearchTask, assessor: Assessor, x: Floats, name: str) -> int | None:
    """The open column whose values in the contexts move the prediction at x [d] the most."""
    contexts, model = task.contexts, assessor.trained[name].model
    moves: dict[int, float] = {}
    for j in range(contexts.shape[1]):
        if j in task.movable or len(np.unique(contexts[:, j])) < 2:
            continue
        moved = np.tile(x, (len(contexts), 1))
        moved[:, j] = contexts[:, j]
        moves[j] = float(np.ptp(model.predict(moved)[:, 0]))
    return max(moves, key=lambda j: moves[j]) if any(moves.values()) else None


def _predicted(task: SearchTask, assessor: Assessor, X: Floats, name: str) -> tuple[Floats, Floats]:
    """Predictions [n * c, outputs] and spreads [n * c] of X [n, d] in every context."""
    model = assessor.trained[name].model
    full = _in_contexts(task, X, task.contexts)
    return model.predict(full), model.spread(full)


def _in_contexts(task: SearchTask, X: Floats, contexts: Floats) -> Floats:
    """Every configuration X [n, d] in every context [c, d], [n * c, d]."""
    full = np.tile(contexts, (len(X), 1))
    full[:, task.movable] = np.repeat(X[:, task.movable], len(contexts), axis=0)
    return full


def _obey(task: SearchTask, X: Floats) -> NDArray[np.bool_]:
    fine = np.ones(len(X), dtype=np.bool_)
    for rule in task.rules:
        fine &= rule.holds(X)
    return fine
