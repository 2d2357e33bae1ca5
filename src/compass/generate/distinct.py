"""Which answers a person would call different: 42, 41 and 40 cores are one.

Decision 0011 (docs/decisions).
"""

import numpy as np

from compass.domain.space import Category, Number
from compass.generate.base import Bools, Floats
from compass.generate.score import ScoredCandidates
from compass.generate.task import SearchTask
from compass.native import kernel

_FEW = 12  # a parameter with no more values: each of them is a choice of its own
_RATIO = 1.2  # numbers that differ by this factor are different
_SHARE = 0.1  # and those that differ by this share of their range
_MANY = 10  # who asks for more answers than this wants them close

_noticeably_different = kernel("noticeably_different")


def another(task: SearchTask, scored: ScoredCandidates, chosen: int) -> Bools:
    """Which candidates [n] are worth having beside a chosen one.

    They differ from it in a way that a person would notice, and they are not that one with a
    further change that is of no use.
    """
    if task.count > _MANY:
        return np.ones(len(scored), dtype=np.bool_)
    x = scored.X[chosen]
    return different(task, scored.X, x) & ~_needless(task, scored, chosen)


def different(task: SearchTask, X: Floats, x: Floats) -> Bools:
    """Which configurations X [n, d] differ noticeably from x [d] in something that may move."""
    found = np.empty(len(X), dtype=np.bool_)
    rows, own = np.ascontiguousarray(X), np.ascontiguousarray(x)
    _noticeably_different(
        rows, own, task.movable, _noticed(task), task.geometry.none, _RATIO, found
    )
    return found


def _noticed(task: SearchTask) -> Floats:
    """The difference that is noticed in each column [d]; NaN: any."""
    least = np.full(len(task.space), np.nan)
    for column in task.movable:
        parameter = task.space.parameters[column]
        if not isinstance(parameter, Category) and not _few(parameter):
            least[column] = _SHARE * (parameter.high - parameter.low)
    return least


def _few(parameter: Number) -> bool:
    """Whether a number has so few values that each of them is a choice."""
    if parameter.allowed:
        return len(parameter.allowed) <= _FEW
    return bool(parameter.step and (parameter.high - parameter.low) / parameter.step < _FEW)


def _needless(task: SearchTask, scored: ScoredCandidates, chosen: int) -> Bools:
    """Which candidates [n] make every change of a chosen one, and more for nothing."""
    x = scored.X[chosen]
    moved = np.flatnonzero(x != task.start)
    if not task.proximity or not len(moved):  # who asks for more than no change gets it
        return np.zeros(len(scored), dtype=np.bool_)
    whole = (scored.X[:, moved] == x[moved]).all(axis=1)
    return np.asarray(whole & (scored.preference >= scored.preference[chosen]))
