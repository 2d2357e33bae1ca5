"""What pairs of comparable runs say about one move and one outcome, as a finding with a reason."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compass.domain.answer import Effect, Finding, Pair
from compass.domain.base import Value
from compass.evidence.comparable import MatchedRuns
from compass.language import format_value, listed
from compass.prepare.encode import decode_value
from compass.settings import TrustSettings
from compass.trust.pairs.effect import Count, Outcome
from compass.trust.pairs.index import Paired

Floats = NDArray[np.float64]

_NOTHING = Count(0, 0, 0.0, 0.0, float("nan"))  # no pairs
_EXAMPLES = 3  # pairs shown of each effect


@dataclass(frozen=True)
class Expected:
    """What the model expects of a suggestion: of each move alone, and of all together."""

    alone: dict[int, float]
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
        return self.matched.assessor.view.features.parameters[self.column].name

    def unknown(self) -> Effect:
        """Nothing can be told, because no two runs are known to be comparable."""
        return self._made(Finding.NOT_IDENTIFIABLE, None, None, self.expected.alone[self.column])

    def never_varied(self) -> Effect:
        """The parameter has one value in all comparable runs: nothing is known of others."""
        return self._made(Finding.NEVER_OBSERVED, _NOTHING, None, 0.0, [self.column])

    def effect(
        self, counted: Count, paired: Paired, expected: float, moved: Sequence[int]
    ) -> Effect:
        """What these pairs say."""
        settings = self.matched.assessor.store.settings.trust
        if not enough(counted, settings):
            finding = Finding.NEVER_OBSERVED
        elif counted.agree >= settings.agreement - 1e-9:
            finding = Finding.SUPPORTED
        else:
            finding = Finding.CONTRADICTED
        return self._made(finding, counted, paired, expected, moved)

    def _made(
        self,
        finding: Finding,
        counted: Count | None,
        paired: Paired | None,
        expected: float,
        moved: Sequence[int] = (),
    ) -> Effect:
        seen = counted if counted is not None and counted.pairs else None
        return Effect(
            knob=self.knob,
            outcome=self.name,
            old=self._value(self.old),
            new=self._value(self.new),
            finding=finding,
            pairs=0 if seen is None else seen.pairs,
            agree=None if seen is None else seen.agree,
            observed=None if seen is None else self._told(seen.median),
            expected=self._told(expected),
            percent=self.outcome.log,
            examples=self._examples(paired),
            reason=self._reason(finding, counted, expected, moved),
        )

    def _value(self, row: Floats) -> Value:
        parameter = self.matched.assessor.view.features.parameters[self.column]
        return decode_value(parameter, float(row[self.column]))

    def _told(self, change: float) -> float | None:
        if not np.isfinite(change) or self.expected.label >= 0:
            return None
        return 100 * float(np.expm1(change)) if self.outcome.log else change

    def _examples(self, paired: Paired | None) -> tuple[Pair, ...]:
        if paired is None:
            return ()
        store = self.matched.assessor.store
        rows, outcome = self.matched.assessor.view.distinct, store.prepared.space[self.name]
        y = self.matched.assessor.learnt(self.name).y
        both = np.column_stack([rows[paired.old], rows[paired.new]])
        both = both[np.isfinite(y[both]).all(axis=1)]
        shown = []
        for a, b in both[:_EXAMPLES]:
            before, after = (decode_value(outcome, float(y[i])) for i in (a, b))
            old, new = (int(store.prepared.row_id[i]) for i in (a, b))
            was, now = (store.prepared.table.source_of(row) for row in (old, new))
            shown.append(
                Pair(old=old, new=new, before=before, after=after, old_source=was, new_source=now)
            )
        return tuple(shown)

    def _reason(
        self, finding: Finding, counted: Count | None, expected: float, moved: Sequence[int]
    ) -> str:
        change = f"{self.knob} {format_value(self._value(self.old))} -> " + format_value(
            self._value(self.new)
        )
        if finding is Finding.NOT_IDENTIFIABLE or counted is None:
            return f"what {change} does cannot be told from this data"
        together = " together with the other changes" if len(moved) > 1 else ""
        same = self.matched.known.columns
        among = f" among runs of the same {listed(same)}" if same else " among comparable runs"
        if finding is Finding.NEVER_OBSERVED:
            least = self.matched.assessor.store.settings.trust.pairs
            if counted.pairs:
                some = "1 pair" if counted.pairs == 1 else f"{counted.pairs} pairs"
                why = f"{least} are needed"
                if counted.pairs >= least:
                    why = "which differ in other columns too"
                return f"{change} was seen in only {some}{among} ({why})"
            if not self.matched.pair_index(moved).varied(self.new, self.column):
                return f"{self.knob} never varied{among}"
            return f"no past runs{among} go from one side of {change} to the other"
        only = "" if finding is Finding.SUPPORTED else "only "
        shares = f"{only}{counted.agreeing} of {counted.pairs} comparable pairs"
        beside = self._beside(counted, expected)
        return f"{change}{together}: {self.name} moved as expected in {shares}{beside}"

    def _beside(self, counted: Count, expected: float) -> str:
        seen, said = self._told(counted.median), self._told(expected)
        if seen is None or said is None:
            return ""
        unit = " %" if self.outcome.log else ""
        digits = ".0f" if self.outcome.log else ".3g"
        return f" (median {seen:+{digits}}{unit}, expected {said:+{digits}}{unit})"
