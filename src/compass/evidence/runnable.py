"""Whether a configuration can be run at all, though nobody wrote the rules down.

Past runs tell of it in two ways: which values they had together, and which of them failed.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from compass.domain.doubt import Doubt, DoubtCode
from compass.evidence.assessor import Assessor
from compass.generate.task import SearchTask
from compass.rules import Rule
from compass.trust.outcome_words import share

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

LIKELY = 0.2  # a chance of not being run, or of failing, from where on others are preferred
LIMIT = 0.5  # a chance beyond which a configuration is a run to make, not a suggestion
_SHOWN = 2  # failed runs that a doubt names
_CONTEXTS = 4  # contexts of a recommendation in which it is looked at


def usual_in(
    task: SearchTask, assessor: Assessor, unstated: Sequence[Rule]
) -> Callable[[Floats], Bools] | None:
    """A way to tell which candidates combine values as past runs do, and likely do not fail.

    In one of the contexts is enough. `unstated` are rules that all past runs obey; those on what
    moves count. None: the person lets the question leave what was run, or past runs tell nothing.
    """
    view = assessor.view
    moving = {task.space.names[j] for j in task.movable}
    rules = [rule for rule in unstated if {*rule.names} <= moving]
    nothing = not rules and not len(view.together.tuples) and view.failing is None
    if nothing or not _asked(task):
        return None
    beside = None if task.baseline is None else task.origin

    def usual(X: Floats) -> Bools:
        fine = np.zeros(len(X), dtype=np.bool_)
        obeys = np.ones(len(X), dtype=np.bool_)
        for rule in rules:
            obeys &= rule.holds(X)
        for full in _in_contexts(task, X):
            rest = np.flatnonzero(obeys & ~fine)
            if not len(rest):
                break
            rest = rest[view.together.chance(full[rest], beside) <= LIKELY]
            if view.failing is not None and len(rest):
                rest = rest[view.failing(full[rest]) <= LIKELY]
            fine[rest] = True
        return fine

    return usual


def _asked(task: SearchTask) -> bool:
    """Whether a question keeps to what can likely be run; what a what-if changes is given."""
    query = task.query
    return not (query.beyond or query.dependencies == "ignore" or task.forward)


def _in_contexts(task: SearchTask, X: Floats) -> list[Floats]:
    """The candidates X [n, d] with what they do not move as in each of a few contexts."""
    if task.baseline is not None or not len(task.contexts):
        return [X]
    held = np.setdiff1d(np.arange(X.shape[1]), task.movable)
    _, first = np.unique(task.contexts[:, held], axis=0, return_index=True)
    found = []
    for context in task.contexts[np.sort(first)[:_CONTEXTS]]:
        full = X.copy()
        full[:, held] = context[held]
        found.append(full)
    return found


def runnable_doubts(task: SearchTask, assessor: Assessor, X: Floats) -> list[tuple[Doubt, ...]]:
    """Per configuration of X [n, d] a doubt where past runs did not combine its values, or failed.

    What its baseline combines is no doubt.
    """
    view = assessor.view
    beside = None if task.baseline is None else task.origin
    found: list[list[Doubt]] = [[] for _ in X]
    chance = view.together.chance(X, beside)
    for place in np.flatnonzero(chance > LIKELY):
        unseen = view.together.worst(X[place], beside)
        assert unseen is not None  # else the chance were 0
        names = tuple(view.names[column] for column in unseen.columns)
        about = {"columns": names, "value": float(chance[place]), "limit": LIMIT}
        found[place].append(Doubt(code=DoubtCode.NEVER_TOGETHER, **about))
    if view.failing is not None:
        chance = view.failing(X)
        for place in np.flatnonzero(chance > LIKELY):
            runs = _similar_failed(assessor, X[place])
            about = {"runs": runs, "value": float(chance[place]), "limit": LIMIT}
            found[place].append(Doubt(code=DoubtCode.SIMILAR_FAILED, **about))
    return [tuple(doubts) for doubts in found]


def _similar_failed(assessor: Assessor, x: Floats) -> tuple[str, ...]:
    """The failed runs that are most like x [d], with the reasons: `row 12: runtime: timeout`."""
    failing, table = assessor.view.failing, assessor.view.everything.table
    assert failing is not None
    return tuple(
        f"{table.row_label(int(failing.rows[place]))}: {failing.reasons[place]}"
        for place in failing.similar(x, _SHOWN)
    )


def failure_notes(assessor: Assessor, X: Floats) -> tuple[str, ...]:
    """How many past runs failed, and how likely the first of X [n, d] does."""
    failing = assessor.view.failing
    if failing is None:
        return ()
    count = len(failing.failed)
    runs = "1 past run" if count == 1 else f"{count:,} past runs"
    if not len(X):
        return (f"{runs} failed; the search keeps away from there.",)
    first = f"the first suggestion fails with a chance of {share(float(failing(X[:1])[0]))}"
    return (f"{runs} failed, and the search keeps away from there; {first}.",)
