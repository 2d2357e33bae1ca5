"""The comparable past runs behind a question."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compass.domain.answer import Comparable
from compass.domain.errors import StudyProblem
from compass.domain.space import Category, Number, Role, Space
from compass.engine.judge import Judge
from compass.engine.workbench import Workbench
from compass.prepare import Prepared
from compass.prepare.split import configurations
from compass.prepare.weigh import median
from compass.trust.comparable import comparable, disagreement, repeats
from compass.trust.effect import Outcome
from compass.trust.ledger import Ledger

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

_REPEATS = 20  # pairs of equal runs that tell enough about how far they differ
_TWINS = 0.05  # nearly the same: at most so far apart
_CHECKED = 2000  # unseen runs that tell what the model usually errs by


@dataclass(frozen=True, eq=False)
class Court:
    """The comparable runs behind a question about some outcomes."""

    judge: Judge
    outcomes: tuple[str, ...]
    known: Comparable

    @classmethod
    def of(cls, judge: Judge, outcomes: Sequence[str]) -> "Court":
        """Which runs count as comparable for a question about these outcomes."""
        apart = [_disagreement(judge, name) for name in outcomes]
        known = _known(judge.bench.prepared, judge.here.features, apart)
        return cls(judge, tuple(outcomes), known)

    def prepare(self) -> None:
        """Lay out everything that the first question would have to wait for."""
        self.ledger(())
        for name in self.outcomes:
            if not isinstance(self.judge.bench.prepared.space[name], Category):
                self.outcome(name)

    def ledger(self, moved: Sequence[int]) -> Ledger:
        """The runs by context; what is moved itself need not be the same in a pair."""
        bench, features = self.judge.bench, self.judge.here.features
        every = features.names
        names = tuple(n for n in self.known.columns if every.index(n) not in moved)
        key = (every, names)
        if key not in bench.ledgers:
            rows = complete(self.judge)
            bench.ledgers[key] = Ledger.build(self.judge.here.X[rows], features, names)
        return bench.ledgers[key]

    def outcome(self, name: str, label: int = -1) -> Outcome:
        """An outcome of the past runs; of classes: whether it is this label."""
        bench, here = self.judge.bench, self.judge.here
        key = (here.features.names, name, label)
        if key not in bench.told:
            rows = complete(self.judge)
            y = measured(bench, name)[rows]
            if label >= 0:
                bench.told[key] = Outcome.of_class(y, label)
            else:
                repeats = configurations(here.X[rows])
                bench.told[key] = Outcome.of(y, repeats, _usual_error(self.judge, name))
        return bench.told[key]

    def reference(self, x: Floats, free: Rows, allowed: NDArray[np.bool_]) -> Rows:
        """The past runs, by position, that a recommendation x [d] can be compared with.

        Only those that are `allowed` [n].
        """
        rows = complete(self.judge)
        fixed = [j for j in range(len(x)) if j not in free]
        ledger, tolerance = self.ledger(()), self.judge.bench.settings.trust.tolerance
        found = rows[ledger.alike(x, fixed, tolerance)]
        return found[allowed[found]]


def comparable_runs(prepared: Prepared) -> Comparable:
    """Which past runs count as comparable, as far as the table itself tells."""
    features = prepared.space.select(prepared.space.having(Role.KNOB, Role.CONTEXT))
    rows = distinct_runs(prepared, features)
    X = prepared.columns_of(features.names)[rows]
    if len(rows) < 2:
        return _known(prepared, features, ())
    pairs = _alike(X, features, 0)
    apart = [
        disagreement(_amounts(prepared, name)[rows], *pairs, 0)
        for name in prepared.space.having(Role.OUTCOME)
        if isinstance(prepared.space[name], Number)
    ]
    return _known(prepared, features, apart)


def _alike(X: Floats, features: Space, seed: int) -> tuple[Rows, Rows]:
    """Pairs of runs that are the same in every column; where hardly any are, nearly the same."""
    first, second = repeats(X, seed)
    if len(first) >= _REPEATS:
        return first, second
    return Ledger.build(X, features, ()).twins(seed, _TWINS)


def distinct_runs(prepared: Prepared, features: Space) -> Rows:
    """Positions of the runs that have a value in every feature, exact copies once, in order.

    A run that was read twice, its outcomes to the last digit, is no second measurement.
    """
    X = prepared.columns_of(features.names)
    known = np.flatnonzero(np.isfinite(X).all(axis=1))
    outcomes = prepared.columns_of(prepared.space.having(Role.OUTCOME))
    key = configurations(np.column_stack([X[known], outcomes[known]]))
    return np.sort(known[np.unique(key, return_index=True)[1]])


def _known(prepared: Prepared, features: Space, apart: Sequence[float | None]) -> Comparable:
    said = prepared.comparable
    for name in said or ():
        if name not in features:
            raise StudyProblem(
                f"comparable runs are told apart by {name}, but it is no knob or context",
                hint=f"give it a role, for example context (--role {name}=context)",
            )
    far = max((one for one in apart if one is not None), default=None)
    return comparable(features, prepared.columns, said=said, disagreement=far)


def complete(judge: Judge) -> Rows:
    """Positions of the past runs that can be compared, in order: see `distinct_runs`."""
    bench, features = judge.bench, judge.here.features
    if features.names not in bench.complete:
        bench.complete[features.names] = distinct_runs(bench.prepared, features)
    return bench.complete[features.names]


def measured(bench: Workbench, name: str) -> Floats:
    """An outcome as it was measured, [n]; NaN where it was not."""
    return _amounts(bench.prepared, name)


def _amounts(prepared: Prepared, name: str) -> Floats:
    parameter, y = prepared.space[name], prepared.column(name)
    if isinstance(parameter, Number) and parameter.optional:
        return np.where(y == parameter.none_code, np.nan, y)
    return y


def _usual_error(judge: Judge, name: str) -> float:
    """The median error of the model on runs that it did not see; of what is positive, a factor."""
    y = measured(judge.bench, name)
    held = judge.here.valid[np.isfinite(y[judge.here.valid])][:_CHECKED]
    if not len(held):
        return np.inf
    said, positive = judge.trained[name].model.predict(judge.here.X[held])[:, 0], np.nanmin(y) > 0
    weight = judge.bench.prepared.weight[held]
    if positive:
        return median(np.abs(np.log(np.maximum(said, np.nanmin(y))) - np.log(y[held])), weight)
    return median(np.abs(said - y[held]), weight)


def _disagreement(judge: Judge, name: str) -> float | None:
    bench, key = judge.bench, (judge.here.features.names, name)
    if isinstance(bench.prepared.space[name], Category):
        return None
    if key not in bench.disagreement:
        rows, seed = complete(judge), bench.settings.seed
        if judge.here.features.names not in bench.alike:
            found = _alike(judge.here.X[rows], judge.here.features, seed)
            bench.alike[judge.here.features.names] = found
        pairs, y = bench.alike[judge.here.features.names], measured(bench, name)[rows]
        bench.disagreement[key] = disagreement(y, *pairs, seed)
    return bench.disagreement[key]
