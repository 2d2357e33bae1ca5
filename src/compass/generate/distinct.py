"""Which answers a person would call different: 42, 41 and 40 cores are one.

Decision 0011 (docs/decisions).
"""

from dataclasses import dataclass

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


@dataclass(frozen=True, eq=False)
class Distinct:
    """Tells which candidates of a task are different."""

    task: SearchTask
    noticed: Floats  # [d] the difference of a column that is noticed; NaN: any

    @classmethod
    def of(cls, task: SearchTask) -> "Distinct":
        """What a person notices in the columns that may move."""
        noticed = np.full(len(task.space), np.nan)
        for column in task.movable:
            parameter = task.space.parameters[column]
            if not isinstance(parameter, Category) and not _few(parameter):
                noticed[column] = _SHARE * (parameter.high - parameter.low)
        return cls(task, noticed)

    def another(self, scored: ScoredCandidates, chosen: int) -> Bools:
        """Which candidates [n] are worth having beside a chosen one.

        They differ from it in a way that a person would notice, and they are not that one with a
        further change that is of no use.
        """
        if self.task.count > _MANY:
            return np.ones(len(scored), dtype=np.bool_)
        return self.different(scored.X, scored.X[chosen]) & ~_needless(self.task, scored, chosen)

    def different(self, X: Floats, x: Floats) -> Bools:
        """Which configurations X [n, d] differ noticeably from x [d] in something that may move."""
        task, found = self.task, np.empty(len(X), dtype=np.bool_)
        rows, own, none = np.ascontiguousarray(X), np.ascontiguousarray(x), task.geometry.none
        _noticeably_different(rows, own, task.movable, self.noticed, none, _RATIO, found)
        return found


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
