"""Adjusted comparisons behind the moves of suggestions: held-out runs that cross each of them.

Decision 0032 (docs/decisions).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from compass.evidence.comparable import MatchedRuns
from compass.evidence.findings import Case
from compass.trust.pairs.adjusted import Adjusted, Crossing, adjusted, crossing

Floats = NDArray[np.float64]

_LIKELIER = 0.1  # a class that becomes likelier by less than this is no claim


def comparisons(matched: MatchedRuns, name: str, cases: Sequence[Case]) -> list[Adjusted | None]:
    """What held-out runs say about each of these moves; None where they cannot say anything.

    They cannot where the model may have seen them, or where no runs are known to be comparable.
    """
    learnt = matched.outcomes[name]
    if not cases or not matched.known.identifiable or not learnt.learnt.card.unseen:
        return [None] * len(cases)
    held = _HeldOut(matched, name)
    crossings = [held.crossing(case) for case in cases]
    mixed = [held.mixed(case, pairs) for case, pairs in zip(cases, crossings, strict=True)]
    predicted = learnt.held_out.model.predict(np.concatenate(mixed))
    found: list[Adjusted | None] = []
    at = 0
    for case, pairs in zip(cases, crossings, strict=True):
        found.append(held.judged(case, pairs, predicted[at : at + len(pairs.new)]))
        at += len(pairs.new)
    return found


@dataclass(frozen=True, eq=False)
class _HeldOut:
    """The held-out runs of one outcome."""

    matched: MatchedRuns
    name: str

    @cached_property
    def X(self) -> Floats:  # noqa: N802
        return self.matched.view.X[self.matched.outcomes[self.name].held_out.rows]

    @cached_property
    def _among(self) -> dict[tuple[int, bytes], NDArray[np.int64]]:
        return {}

    @cached_property
    def _scaled(self) -> dict[int, tuple[Floats, Floats]]:
        return {}

    def crossing(self, case: Case) -> Crossing:
        """Pairs of runs of the same context that cross a move."""
        index = self.matched.pair_index(())
        labels = [j for j in index.labels.columns if j != case.column]
        key = case.column, case.new[labels].tobytes()
        if key not in self._among:  # most suggestions are of one context
            same = (self.X[:, labels] == case.new[labels]).all(axis=1)
            self._among[key] = np.flatnonzero(same)
        return crossing(
            index.scale.kind,
            self.matched.outcomes[self.name].held_out.placed(index.scale),
            self._among[key],
            index.scale.point(case.old),
            index.scale.point(case.new),
            case.column,
            index.sized,
        )

    def mixed(self, case: Case, pairs: Crossing) -> Floats:
        """The runs at the new end with the moved parameter of those at the old end, [p, d]."""
        rows = self.X[pairs.new]
        rows[:, case.column] = self.X[pairs.old, case.column]
        return rows

    def judged(self, case: Case, pairs: Crossing, mixed: Floats) -> Adjusted:
        """What these pairs say, with the predictions [p, outputs] of the mixed runs."""
        label = case.expected.label
        minor = _LIKELIER if label >= 0 else case.outcome.minor(case.expected.whole)
        y, said = self._measured_and_said(case)
        between = _values(case, mixed)
        claimed = said[pairs.new] - between
        measured = y[pairs.new] - y[pairs.old] - (between - said[pairs.old])
        expected = case.expected.single[case.column]
        return adjusted(claimed, measured, expected, minor, self.matched.settings.agreement)

    def _measured_and_said(self, case: Case) -> tuple[Floats, Floats]:
        """Outcomes of the held-out runs and their predictions, as changes are compared."""
        label = case.expected.label
        if label not in self._scaled:
            learnt = self.matched.outcomes[self.name]
            y = learnt.scores[learnt.held_out.rows]
            self._scaled[label] = _values(case, y), _values(case, learnt.held_out.predicted)
        return self._scaled[label]


def _values(case: Case, scores: Floats) -> Floats:
    """Scores [n, outputs] in the scale in which changes of the outcome are compared, [n]."""
    label = case.expected.label
    return scores[:, label] if label >= 0 else case.outcome.scaled(scores[:, 0])
