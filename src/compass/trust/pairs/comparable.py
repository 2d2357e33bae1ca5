"""Which past runs are runs of the same thing, so that their outcomes can be compared.

A trace of people's jobs is no experiment: big problems ask for many nodes. Only runs of the same
program with the same input tell what a setting does. Which columns say that is inferred from
their roles and names, shown, and settable (`comparable` in a study).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compass.domain.answer import Comparability, Comparable
from compass.domain.space import Category, Number, Role, Space
from compass.prepare import names
from compass.prepare.report import ColumnReport
from compass.prepare.split import configurations
from compass.trust.rank import Floats, Rows
from compass.trust.words import comparable_in_words, with_advice

_KNOWN = {Comparability.STATED, Comparability.SAME_CONTEXT, Comparability.ONE_PROGRAM}
_CONTINUOUS = 0.2  # more different values than this share of the rows: nothing is ever equal
_SAME = 0.05  # then numbers that differ by less than about this share count as the same
_REPEATED = 20  # pairs of runs with the same values in every column, to judge how far they agree
_UNEXPLAINED = 0.15  # more than this share of what any two runs differ by: something else decides


def comparable(
    features: Space,
    columns: Iterable[ColumnReport],
    *,
    stated: Sequence[str] | None = None,
    disagreement: float | None = None,
) -> Comparable:
    """What has to be the same in two runs that are compared.

    `columns` are all columns of the table, `stated` is what a person says of it (empty: nothing
    has to be), and `disagreement` tells how far runs with equal features differ (see there).
    """
    if stated is not None:
        return _worded(Comparability.STATED, tuple(stated))
    context = tuple(p.name for p in features if p.role is Role.CONTEXT)
    reports = tuple(columns)
    jobs = sorted(
        (report.name for report in reports if names.names_jobs(report.name)),
        key=lambda name: not names.names_person(name),  # what people know best is named
    )
    unused = [
        report.name
        for report in reports
        if report.name not in features and report.distinct > 1 and names.names_work(report.name)
        if report.role is not Role.OUTCOME
    ]
    if jobs and not any(names.names_work(name) for name in context):
        return _worded(Comparability.PROGRAM_NOT_NAMED, context, jobs[0])
    if unused:
        return _worded(Comparability.COLUMN_NOT_USED, context, unused[0])
    if disagreement is not None and disagreement > _UNEXPLAINED:
        return _worded(Comparability.UNEXPLAINED, context)
    return _worded(Comparability.SAME_CONTEXT if context else Comparability.ONE_PROGRAM, context)


def _worded(code: Comparability, columns: tuple[str, ...], column: str | None = None) -> Comparable:
    known = Comparable(
        code=code,
        columns=columns,
        column=column,
        identifiable=code in _KNOWN,
        given=code is Comparability.STATED,
        why="",
        reason="",
    )
    known = known.model_copy(update={"why": comparable_in_words(known)})
    return known.model_copy(update={"reason": with_advice(known)})


@dataclass(frozen=True, eq=False)
class Identity:
    """Tells which runs agree in some columns."""

    columns: tuple[int, ...]  # positions in X
    steps: tuple["Steps | None", ...]  # how a continuous number is rounded; None: as it is

    @classmethod
    def learn(cls, X: Floats, features: Space, columns: Sequence[str]) -> "Identity":
        """The identity of rows like X [n, d] by these columns."""
        places = tuple(features.names.index(name) for name in columns)
        return cls(places, tuple(_steps(X[:, j], features.parameters[j]) for j in places))

    def of(self, X: Floats) -> NDArray[np.uint64]:
        """A number per row [n] that is the same for rows of X [n, d] that agree."""
        kept = [
            X[:, j] if steps is None else steps.of(X[:, j])
            for j, steps in zip(self.columns, self.steps, strict=True)
        ]
        return configurations(np.column_stack(kept) if kept else np.zeros((len(X), 1)))


@dataclass(frozen=True)
class Steps:
    """How a number that is different in nearly every run is rounded to compare it."""

    log: bool
    centre: float
    width: float
    none: float  # what stands for `none`; NaN: it cannot be missing

    def of(self, values: Floats) -> Floats:
        """The step [n] that each value is in."""
        with np.errstate(invalid="ignore", divide="ignore"):
            placed = np.log(values) if self.log else values
            steps = np.round((placed - self.centre) / self.width)
        return np.where(values == self.none, np.inf, steps)


def _steps(values: Floats, parameter: Number | Category) -> Steps | None:
    if isinstance(parameter, Category):
        return None
    none = parameter.none_code
    present = values[values != none]
    if len(np.unique(present)) <= _CONTINUOUS * len(present):
        return None
    if present.min() >= 0:  # 0 is a step of its own
        return Steps(True, 0.0, _SAME, none)
    return Steps(False, float(present.mean()), _SAME * (float(present.std()) or 1.0), none)


def disagreement(y: Floats, first: Rows, second: Rows, seed: int) -> float | None:
    """How far runs that are the same in every column differ in y [n], as a share of any two runs'.

    `first` [p] and `second` [p] are the rows of such pairs. 0: they agree; 1: knowing every column
    tells nothing. None: too few.
    """
    values = spread_out(y)
    apart = np.abs(values[second] - values[first])
    apart = apart[np.isfinite(apart)]
    known = values[np.isfinite(values)]
    if len(apart) < _REPEATED:
        return None
    shuffled = np.random.default_rng(seed).permutation(known)
    anyhow = float(np.median(np.abs(shuffled - known)))
    return float(np.median(apart)) / anyhow if anyhow > 0 else None


def repeats(X: Floats, seed: int) -> tuple[Rows, Rows]:
    """Pairs of equal rows of X [n, d], [p] each: the runs of one configuration in random order.

    Neighbours in a trace are jobs that somebody submitted again at once: they agree too well.
    """
    mixed = np.random.default_rng(seed).permutation(len(X))
    key = configurations(X)[mixed]
    order = mixed[np.argsort(key, kind="stable")]
    key = np.sort(key, kind="stable")
    again = np.flatnonzero(key[1:] == key[:-1])
    return order[again], order[again + 1]


def spread_out(y: Floats) -> Floats:
    """The logarithm of what is never 0 or less: there people compare by factors."""
    some = y[np.isfinite(y)]
    return np.log(y) if len(some) and some.min() > 0 else np.asarray(y)
