"""The comparable past runs behind a question."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compass.domain.answer import Comparable
from compass.domain.errors import StudyProblem
from compass.domain.space import Category, Number, Role, Space
from compass.evidence.assessor import Assessor
from compass.learn.store import ModelStore
from compass.prepare import Prepared
from compass.prepare.split import configurations
from compass.prepare.weigh import median
from compass.trust.pairs.comparable import comparable, disagreement, repeats
from compass.trust.pairs.effect import Outcome
from compass.trust.pairs.index import PairIndex

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

_REPEATS = 20  # pairs of equal runs that tell enough about how far they differ
_TWINS = 0.05  # nearly the same: at most so far apart
_CHECKED = 2000  # unseen runs that tell what the model usually errs by


@dataclass(frozen=True, eq=False)
class MatchedRuns:
    """The comparable runs behind a question about some outcomes."""

    assessor: Assessor
    outcomes: tuple[str, ...]
    known: Comparable

    @classmethod
    def of(cls, assessor: Assessor, outcomes: Sequence[str]) -> "MatchedRuns":
        """Which runs count as comparable for a question about these outcomes."""
        apart = [_disagreement(assessor, name) for name in outcomes]
        known = _known(assessor.store.prepared, assessor.view.features, apart)
        return cls(assessor, tuple(outcomes), known)

    def prepare(self) -> None:
        """Lay out everything that the first question would have to wait for."""
        self.pair_index(())
        for name in self.outcomes:
            if not isinstance(self.assessor.store.prepared.space[name], Category):
                self.outcome(name)

    def pair_index(self, moved: Sequence[int]) -> PairIndex:
        """The runs by context; what is moved itself need not be the same in a pair."""
        store, features = self.assessor.store, self.assessor.view.features
        every = features.names
        names = tuple(n for n in self.known.columns if every.index(n) not in moved)
        key = (every, names)
        if key not in store.pair_indexes:
            rows = complete(self.assessor)
            store.pair_indexes[key] = PairIndex.build(self.assessor.view.X[rows], features, names)
        return store.pair_indexes[key]

    def outcome(self, name: str, label: int = -1) -> Outcome:
        """An outcome of the past runs; of classes: whether it is this label."""
        store, view = self.assessor.store, self.assessor.view
        key = (view.features.names, name, label)
        if key not in store.told:
            rows = complete(self.assessor)
            y = measured(store, name)[rows]
            if label >= 0:
                store.told[key] = Outcome.of_class(y, label)
            else:
                repeats = configurations(view.X[rows])
                store.told[key] = Outcome.of(y, repeats, _usual_error(self.assessor, name))
        return store.told[key]

    def reference(self, x: Floats, free: Rows, allowed: NDArray[np.bool_]) -> Rows:
        """The past runs, by position, that a recommendation x [d] can be compared with.

        Only those that are `allowed` [n].
        """
        rows = complete(self.assessor)
        fixed = [j for j in range(len(x)) if j not in free]
        pair_index, tolerance = self.pair_index(()), self.assessor.store.settings.trust.tolerance
        found = rows[pair_index.alike(x, fixed, tolerance)]
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
    return PairIndex.build(X, features, ()).twins(seed, _TWINS)


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
    stated = prepared.comparable
    for name in stated or ():
        if name not in features:
            raise StudyProblem(
                f"comparable runs are told apart by {name}, but it is no knob or context",
                hint=f"give it a role, for example context (--role {name}=context)",
            )
    far = max((one for one in apart if one is not None), default=None)
    return comparable(features, prepared.columns, stated=stated, disagreement=far)


def complete(assessor: Assessor) -> Rows:
    """Positions of the past runs that can be compared, in order: see `distinct_runs`."""
    store, features = assessor.store, assessor.view.features
    if features.names not in store.complete:
        store.complete[features.names] = distinct_runs(store.prepared, features)
    return store.complete[features.names]


def measured(store: ModelStore, name: str) -> Floats:
    """An outcome as it was measured, [n]; NaN where it was not."""
    return _amounts(store.prepared, name)


def _amounts(prepared: Prepared, name: str) -> Floats:
    parameter, y = prepared.space[name], prepared.column(name)
    if isinstance(parameter, Number) and parameter.optional:
        return np.where(y == parameter.none_code, np.nan, y)
    return y


def _usual_error(assessor: Assessor, name: str) -> float:
    """The median error of the model on runs that it did not see; of what is positive, a factor."""
    y = measured(assessor.store, name)
    held = assessor.view.valid[np.isfinite(y[assessor.view.valid])][:_CHECKED]
    if not len(held):
        return np.inf
    said, positive = (
        assessor.trained[name].model.predict(assessor.view.X[held])[:, 0],
        np.nanmin(y) > 0,
    )
    weight = assessor.store.prepared.weight[held]
    if positive:
        return median(np.abs(np.log(np.maximum(said, np.nanmin(y))) - np.log(y[held])), weight)
    return median(np.abs(said - y[held]), weight)


def _disagreement(assessor: Assessor, name: str) -> float | None:
    store, key = assessor.store, (assessor.view.features.names, name)
    if isinstance(store.prepared.space[name], Category):
        return None
    if key not in store.disagreement:
        rows, seed = complete(assessor), store.settings.seed
        if assessor.view.features.names not in store.alike:
            found = _alike(assessor.view.X[rows], assessor.view.features, seed)
            store.alike[assessor.view.features.names] = found
        pairs, y = store.alike[assessor.view.features.names], measured(store, name)[rows]
        store.disagreement[key] = disagreement(y, *pairs, seed)
    return store.disagreement[key]
