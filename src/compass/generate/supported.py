"""Which candidates past runs support: what is unsupported is a run to make, not a suggestion.

Decision 0032 (docs/decisions).
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from compass.generate.base import Bools, Floats
from compass.generate.score import ScoredCandidates
from compass.generate.task import SearchTask
from compass.prepare.geometry import column_distances, nearest_rows
from compass.prepare.legal import legal_mask

_BEST = 128  # candidates, best first, that are looked at until enough are supported
_CHOICE = 128  # of the others, spread over all of them
_PER_ANSWER = 2  # of both, for each answer that is wanted, where those are more
_TOGETHER = 32  # looked at in one go
_ENOUGH = 12  # supported candidates per answer that is wanted: different ones are among them
_PULLED = 4  # unsupported candidates that are moved towards past runs
_TOWARDS = 3  # past runs that each of them is moved towards


def positions(
    task: SearchTask, scored: ScoredCandidates, fine: Callable[[Floats], Bools]
) -> NDArray[np.int64]:
    """Positions in `scored` (best first), ascending, of candidates that are fine.

    Not all there are: the best, and a choice of the others where those are few.
    """
    best, choice = max(_BEST, _PER_ANSWER * task.count), max(_CHOICE, _PER_ANSWER * task.count)
    rest = np.arange(best, len(scored))
    step = max(1, -(-len(rest) // choice))
    looked_at = np.concatenate([np.arange(min(best, len(scored))), rest[::step]])
    found: list[NDArray[np.int64]] = []
    count = 0
    for first in range(0, len(looked_at), _TOGETHER):
        some = looked_at[first : first + _TOGETHER]
        some = some[fine(scored.X[some])]
        found.append(some)
        count += len(some)
        if count >= _ENOUGH * task.count:
            break
    return np.concatenate(found) if found else np.empty(0, dtype=np.int64)


def towards_past_runs(task: SearchTask, X: Floats) -> Floats:
    """Configurations between the best of X [n, d] (best first) and the past runs nearest to them.

    Column by column, what differs most first, so that as much as possible of a good configuration
    is kept where past runs support it.
    """
    if not len(task.observed) or not len(task.movable):
        return np.empty((0, X.shape[1]))
    every = np.arange(X.shape[1])
    found = []
    for x in X[:_PULLED]:
        for row in nearest_rows(task.observed, x, every, task.geometry, _TOWARDS):
            near = task.observed[row]
            apart = column_distances(near[None, :], x, task.geometry)[0, task.movable]
            current = x.copy()
            for column in task.movable[np.argsort(-apart, kind="stable")]:
                if current[column] == near[column]:
                    continue
                current[column] = near[column]
                found.append(current.copy())
    made = np.array(found).reshape(-1, X.shape[1])
    fine = np.ones(len(made), dtype=np.bool_)
    for column in task.movable:
        fine &= legal_mask(task.space.parameters[column], made[:, column])
    return np.unique(made[fine], axis=0)
