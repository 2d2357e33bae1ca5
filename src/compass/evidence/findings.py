"""What pairs of comparable runs say about one move and one outcome, as a finding."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compass.domain.answer import Effect, Finding, Pair, Unobserved
from compass.domain.base import Value
from compass.evidence.comparable import MatchedRuns
from compass.prepare.encode import decode_value
from compass.settings import TrustSettings
from compass.trust.pairs.adjusted import LEAST, Adjusted
from compass.trust.pairs.effect import Count, Outcome
from compass.trust.pairs.index import Paired
from compass.trust.words import effect_in_words

Floats = NDArray[np.float64]

_NOTHING = Count(0, 0, 0.0, 0.0, float("nan"))  # no pairs
_NEVER = Finding.NEVER_OBSERVED
_EXAMPLES = 3  # pairs shown of each effect


@dataclass(frozen=True)
class Expected:
    """What the model expects of a suggestion: of each single move, and of all together."""

    single: dict[int, float]
    whole: float
    label: int  # of a class: the one that is predicted; -1: a number


def enough(counted: Count, settings: TrustSettings) -> bool:
    """Whether there are pairs enough, and alike enough, to say anything."""
    return counted.pairs >= settings.pairs and counted.mass >= settings.pairs / 2


@dataclass(frozen=True, eq=False)
class Case:
    """One move and one outcome."""

    matched: MatchedRuns
    name: str
    outcome: Outcome
    old: Floats
    new: Floats
    column: int
    expected: Expected

    @property
    def knob(self) -> str:
        """The parameter that is moved."""
        return self.matched.view.features.parameters[self.column].name

    def unknown(self) -> Effect:
        """Nothing can be told, because no two runs are known to be comparable."""
        return self._made(Finding.NOT_IDENTIFIABLE, None, None, self.expected.single[self.column])

    def never_varied(self) -> Effect:
        """The parameter has one value in all comparable runs: nothing is known of others."""
        return self._made(Finding.NEVER_OBSERVED, _NOTHING, None, 0.0, [self.column])

    def effect(
        self, counted: Count, paired: Paired, expected: float, moved: Sequence[int]
    ) -> Effect:
        """What these pairs say."""
        settings = self.matched.settings
        if not enough(counted, settings):
            finding = Finding.NEVER_OBSERVED
        elif counted.agree >= settings.agreement - 1e-9:
            finding = Finding.SUPPORTED
        else:
            finding = Finding.CONTRADICTED
        return self._made(finding, counted, paired, expected, moved)

    def adjusted(self, found: Adjusted) -> Effect:
        """What adjusted comparisons say, which support the move."""
        return self._made(
            Finding.SUPPORTED,
            Count(found.pairs, found.agreeing, float(found.pairs), found.agree, found.median),
            None,
            self.expected.single[self.column],
            [self.column],
            adjusted=True,
        )

    def _made(
        self,
        finding: Finding,
        counted: Count | None,
        paired: Paired | None,
        expected: float,
        moved: Sequence[int] = (),
        *,
        adjusted: bool = False,
    ) -> Effect:
        seen = counted if counted is not None and counted.pairs else _NOTHING
        effect = Effect(
            knob=self.knob,
            outcome=self.name,
            old=self._value(self.old),
            new=self._value(self.new),
            finding=finding,
            unobserved=self._unobserved(seen, moved) if finding is _NEVER else None,
            adjusted=adjusted,
            together=len(moved) > 1,
            pairs=seen.pairs,
            needed=LEAST if adjusted else self.matched.settings.pairs,
            agreeing=seen.agreeing,
            agree=seen.agree if seen.pairs else None,
            observed=self._change(seen.median) if seen.pairs else None,
            expected=self._change(expected),
            percent=self.outcome.log,
            examples=self._examples(paired),
            reason="",
        )
        text = effect_in_words(effect, self.matched.known.columns)
        return effect.model_copy(update={"reason": text})

    def _unobserved(self, counted: Count, moved: Sequence[int]) -> Unobserved:
        """Why the pairs are not enough."""
        if counted.pairs:
            few = counted.pairs < self.matched.settings.pairs
            return Unobserved.TOO_FEW_PAIRS if few else Unobserved.UNLIKE_PAIRS
        if self.matched.pair_index(moved).varied(self.new, self.column):
            return Unobserved.ONE_SIDED
        return Unobserved.NEVER_VARIED

    def _value(self, row: Floats) -> Value:
        parameter = self.matched.view.features.parameters[self.column]
        return decode_value(parameter, float(row[self.column]))

    def _change(self, change: float) -> float | None:
        if not np.isfinite(change) or self.expected.label >= 0:
            return None
        return 100 * float(np.expm1(change)) if self.outcome.log else change

    def _examples(self, paired: Paired | None) -> tuple[Pair, ...]:
        if paired is None:
            return ()
        prepared = self.matched.view.prepared
        rows, outcome = self.matched.view.distinct, prepared.space[self.name]
        y = self.matched.outcomes[self.name].y
        both = np.column_stack([rows[paired.old], rows[paired.new]])
        both = both[np.isfinite(y[both]).all(axis=1)]
        shown = []
        for a, b in both[:_EXAMPLES]:
            before, after = (decode_value(outcome, float(y[i])) for i in (a, b))
            old, new = (int(prepared.row_id[i]) for i in (a, b))
            was, now = (prepared.table.source_of(row) for row in (old, new))
            shown.append(
                Pair(old=old, new=new, before=before, after=after, old_source=was, new_source=now)
            )
        return tuple(shown)
