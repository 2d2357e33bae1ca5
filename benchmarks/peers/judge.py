"""The judge: legality, rules, goal and distance of suggestions, by arithmetic of its own.

Nothing of Compass is used here, nor of any other tool: only numpy, the columns and rules of the
table, and scikit-learn's own prediction.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers.case import Case, Question, Sheet, movable
from benchmarks.peers.jobs import COLUMNS, NAMES, RULES

Floats = NDArray[np.float64]
Predict = Callable[[Floats], Floats]

ROUNDING = 1e-9  # relative; sums of floats in another order
EQUAL = 1e-6  # distances closer than this are the same (float32 against float64 cell edges)


def distance(X: Floats, start: Floats, scale: Floats) -> Floats:
    """L_prox [n] of rows [n, d]: |difference| / scale of numbers plus 1 per changed label."""
    labels = np.array([column.is_label for column in COLUMNS])
    apart = np.where(labels, (start != X).astype(float), np.abs(X - start) / scale)
    return np.asarray(apart.sum(axis=1))


def faults(row: Floats, question: Question, variant: str, predicted: float) -> tuple[str, ...]:
    """Everything that makes a suggestion [d] unusable; empty when it is usable."""
    if not np.isfinite(row).all():
        return ("not a value",)
    found = []
    free = movable(variant)
    for column, value, old in zip(COLUMNS, row, question.start, strict=True):
        if column.name not in free and value != old:
            found.append("moved what was fixed")
        elif not column.allows(float(value)):
            found.append("illegal value")
    slack = ROUNDING * (1 + np.abs(row).max())
    found += ["rule" for rule in RULES if rule.excess(row[None, :], NAMES)[0] > slack]
    if not predicted <= question.ceiling * (1 + ROUNDING):
        found.append("goal")
    return tuple(dict.fromkeys(found))


@dataclass(frozen=True)
class Verdict:
    """How a tool did on one variant."""

    tool: str
    variant: str
    asked: int
    returned: int
    usable: int
    answered: int  # questions with at least one usable suggestion
    closest: tuple[float, ...]  # per question, distance of the closest usable one; inf: none
    seconds: tuple[float, ...]  # CPU, per question
    faults: dict[str, int]
    misreported: float  # largest error of a reported prediction, in the outcome's unit
    disagreement: float  # largest difference between the tool's forest and the judge's
    paces: tuple[float, ...]  # CPU seconds of a fixed piece of work beside each question

    @property
    def median(self) -> float:
        """Median CPU seconds of a question."""
        return float(np.median(self.seconds))

    @property
    def work(self) -> float:
        """Median CPU time of a question in units of the fixed piece of work beside it.

        A busy machine slows both, so that tools can be compared that ran one after the other.
        """
        return float(np.median(np.array(self.seconds) / np.array(self.paces)))

    @property
    def worst(self) -> float:
        """CPU seconds of the slowest question."""
        return max(self.seconds)

    @property
    def total(self) -> float:
        """CPU seconds of all questions."""
        return sum(self.seconds)


def judge(sheet: Sheet, case: Case, predict: Predict) -> Verdict:
    """Every suggestion of a sheet, checked."""
    scale = np.array(case.scale)
    counts: dict[str, int] = {}
    closest, usable, returned, misreported = [], 0, 0, 0.0
    for question, reply in zip(case.questions, sheet.replies, strict=True):
        best = np.inf
        for values, said in zip(reply.rows, reply.reported, strict=True):
            row = np.array(values)
            returned += 1
            known = bool(np.isfinite(row).all())
            predicted = float(predict(row[None, :])[0]) if known else np.nan
            if known:
                misreported = max(misreported, abs(predicted - said))
            wrong = faults(row, question, sheet.variant, predicted)
            for fault in wrong:
                counts[fault] = counts.get(fault, 0) + 1
            if not wrong:
                usable += 1
                best = min(best, float(distance(row[None, :], question.row, scale)[0]))
        closest.append(best)
    starts = np.array([question.start for question in case.questions])
    apart = np.abs(predict(starts) - np.array(sheet.probe)) if sheet.probe else np.array([np.nan])
    return Verdict(
        tool=sheet.tool,
        variant=sheet.variant,
        asked=sheet.asked * len(case.questions),
        returned=returned,
        usable=usable,
        answered=int(np.isfinite(closest).sum()),
        closest=tuple(closest),
        seconds=tuple(reply.seconds for reply in sheet.replies),
        faults=counts,
        misreported=misreported,
        disagreement=float(apart.max()),
        paces=tuple(reply.pace for reply in sheet.replies),
    )


def beaten(ours: Verdict, theirs: Verdict) -> int:
    """For how many questions their closest usable suggestion is closer than ours."""
    return sum(
        other < own - EQUAL * max(1.0, other) if np.isfinite(other) else False
        for own, other in zip(ours.closest, theirs.closest, strict=True)
    )


def nearer(ours: Verdict, theirs: Verdict) -> float:
    """Median of their closest distance over ours, where both have one; nan without any."""
    both = [
        other / own
        for own, other in zip(ours.closest, theirs.closest, strict=True)
        if np.isfinite(own) and np.isfinite(other)
    ]
    return float(np.median(both)) if both else float("nan")
