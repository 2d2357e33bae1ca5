"""The comparable past runs behind a question: which they are, and how pairs of them are found."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from compass.domain.answer import Comparable
from compass.domain.errors import StudyProblem
from compass.domain.space import Category, Number, Role, Space
from compass.learn.runs import distinct_runs, repeated_runs
from compass.prepare import Prepared
from compass.settings import TrustSettings
from compass.trust.pairs.comparable import comparable, disagreement
from compass.trust.pairs.index import PairIndex
from compass.trust.rank import Floats, Rows

if TYPE_CHECKING:  # what a table alone tells needs nothing that learns
    from compass.learn.features import FeatureView
    from compass.learn.outcomes import LearntOutcome


@dataclass(frozen=True, eq=False)
class MatchedRuns:
    """The comparable runs behind a question about some outcomes."""

    view: "FeatureView"
    outcomes: Mapping[str, "LearntOutcome"]
    settings: TrustSettings
    known: Comparable

    @classmethod
    def of(
        cls, view: "FeatureView", outcomes: "Mapping[str, LearntOutcome]", settings: TrustSettings
    ) -> "MatchedRuns":
        """Which runs count as comparable for a question about these outcomes."""
        apart = [outcome.disagreement for outcome in outcomes.values()]
        return cls(view, outcomes, settings, _known(view.prepared, view.features, apart))

    def prepare(self) -> None:
        """Lay out everything that the first question would have to wait for."""
        self.pair_index(())
        for outcome in self.outcomes.values():
            if not isinstance(outcome.parameter, Category):
                outcome.effect()

    def pair_index(self, moved: Sequence[int]) -> PairIndex:
        """The runs by context; what is moved itself need not be the same in a pair."""
        every = self.view.names
        columns = tuple(n for n in self.known.columns if every.index(n) not in moved)
        return self.view.pair_index(columns)

    def reference(self, x: Floats, free: Rows, allowed: NDArray[np.bool_]) -> Rows:
        """The past runs, by position, that a recommendation x [d] can be compared with.

        Only those that are `allowed` [n].
        """
        rows = self.view.distinct
        fixed = [j for j in range(len(x)) if j not in free]
        found = rows[self.pair_index(()).alike(x, fixed, self.settings.tolerance)]
        return found[allowed[found]]


def comparable_runs(prepared: Prepared) -> Comparable:
    """Which past runs count as comparable, as far as the table itself tells."""
    features = prepared.space.select(prepared.space.having(Role.KNOB, Role.CONTEXT))
    rows = distinct_runs(prepared, features)
    X = prepared.columns_of(features.names)[rows]
    if len(rows) < 2:
        return _known(prepared, features, ())
    pairs = repeated_runs(X, features, 0)
    apart = [
        disagreement(prepared.outcome(name)[rows], *pairs, 0)
        for name in prepared.space.having(Role.OUTCOME)
        if isinstance(prepared.space[name], Number)
    ]
    # A question is judged by its own outcomes; of a table it is asked whether any can be explained.
    known = [one for one in apart if one is not None]
    return _known(prepared, features, [min(known)] if known else ())


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
