"""What a table of past runs tells by itself: the best of them, failures, what it cannot tell."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from compass.domain.answer import Comparable
from compass.domain.base import Config
from compass.domain.overview import (
    BestRun,
    ContextRuns,
    Gap,
    GapCode,
    LabelRuns,
    LostRuns,
    OutcomeOverview,
    Overview,
)
from compass.domain.space import Category, Role
from compass.evidence.comparable import comparable_runs
from compass.evidence.direction import usual_direction
from compass.evidence.failed_labels import failures
from compass.language import format_value, listed
from compass.prepare import Prepared
from compass.prepare.encode import decode_value
from compass.prepare.split import configurations
from compass.trust.pairs.comparable import Identity

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Positions = NDArray[np.int64]

_CONTEXTS = 12  # contexts that are told
_BEST = 5  # configurations that are told of each
_ROWS = 5  # rows that are told of each reason or configuration
_LABELS = 20
_SELDOM = 0.1  # of the runs: a knob that varied among fewer of them was hardly tried
_KNOWN = 0.9  # of the runs: an outcome that is measured in fewer is incomplete


def overview_of(prepared: Prepared) -> Overview:
    """The table at a glance; everything in it was measured."""
    comparable = comparable_runs(prepared)
    runs = _Runs.of(prepared, comparable)
    return Overview(
        rows=prepared.table.rows,
        used=prepared.rows,
        comparable=comparable.why,
        outcomes=tuple(runs.outcome(name) for name in prepared.space.having(Role.OUTCOME)),
        lost=tuple(sorted(_lost(prepared), key=lambda one: -one.runs)),
        gaps=tuple(_gaps(runs, comparable)),
    )


@dataclass(frozen=True, eq=False)
class _Runs:
    """The runs that were made and did not fail, by context and configuration."""

    prepared: Prepared
    at: Positions  # [m] their places in the prepared table
    columns: tuple[str, ...]  # what runs of one context have in common
    context: Positions  # [m] 0, 1, ...
    configuration: Positions  # [m] 0, 1, ...; the same one in one context only

    @classmethod
    def of(cls, prepared: Prepared, comparable: Comparable) -> "_Runs":
        fine = prepared.measured.copy()
        for one in failures(prepared, ()):
            fine &= ~one.runs
        at = np.flatnonzero(fine)
        features = prepared.space.select(prepared.space.having(Role.KNOB, Role.CONTEXT))
        X = prepared.columns_of(features.names)[at]
        columns = tuple(n for n in comparable.columns if n in features)
        context = _numbered(Identity.learn(X, features, columns).of(X)) if columns else None
        settings = _numbered(configurations(X))
        if context is None or not _tell_apart(context, settings):
            return cls(prepared, at, (), np.zeros(len(at), dtype=np.int64), settings)
        # Rounded contexts may part one configuration; in each it counts by itself.
        both = np.column_stack([context, settings]).astype(np.float64)
        return cls(prepared, at, columns, context, _numbered(configurations(both)))

    def outcome(self, name: str) -> OutcomeOverview:
        parameter = self.prepared.space[name]
        y = self.prepared.outcome(name)
        if isinstance(parameter, Category):
            made = y[self.prepared.measured]  # how runs ended is told of failed ones, too
            known = made[np.isfinite(made)].astype(np.int64)
            labels = [
                LabelRuns(label=parameter.values[code], runs=count)
                for code, count in Counter(known.tolist()).most_common(_LABELS)
            ]
            return OutcomeOverview(name=name, runs=len(known), labels=tuple(labels))
        direction = usual_direction(name)
        known = np.flatnonzero(np.isfinite(y[self.at]))
        most = Counter(self.context[known].tolist()).most_common()
        sign = 1.0 if direction == "minimize" else -1.0
        contexts = [
            self._context(known[self.context[known] == c], y, sign) for c, _ in most[:_CONTEXTS]
        ]
        return OutcomeOverview(
            name=name,
            unit=parameter.unit,
            direction=direction,
            runs=len(known),
            contexts=tuple(contexts),
            more_contexts=max(0, len(most) - _CONTEXTS),
        )

    def _context(self, some: Positions, y: Floats, sign: float) -> ContextRuns:
        """Runs of one context, by their places in `at`, with outcomes y of the whole table."""
        values = y[self.at[some]]
        ids, place = np.unique(self.configuration[some], return_inverse=True)
        means = np.bincount(place, values) / np.bincount(place)
        best = np.argsort(sign * means, kind="stable")[:_BEST]
        return ContextRuns(
            context=self._config(self.at[some[0]], self.columns),
            runs=len(some),
            configurations=len(ids),
            best=tuple(self._best(some[place == one], float(means[one])) for one in best),
            median=float(np.median(values)),
            worst=float((sign * values).max() * sign),
        )

    def _best(self, some: Positions, value: float) -> BestRun:
        rows = np.sort(self.prepared.row_id[self.at[some]])
        knobs = self.prepared.space.having(Role.KNOB)
        settings = self._config(self.at[some[0]], knobs)
        shown = tuple(int(row) for row in rows[:_ROWS])
        return BestRun(rows=shown, runs=len(rows), settings=settings, value=value)

    def _config(self, position: int, names: Sequence[str]) -> Config:
        found: Config = {}
        for name in names:
            value = float(self.prepared.column(name)[position])
            known = np.isfinite(value)
            found[name] = decode_value(self.prepared.space[name], value) if known else None
        return found

    def varied(self, name: str) -> float:
        """The share of the runs in whose context a column has more than one value."""
        values = self.prepared.column(name)[self.at]
        _, codes = np.unique(values, return_inverse=True)
        pairs = np.unique(np.column_stack([self.context, codes]), axis=0)
        several = np.bincount(pairs[:, 0]) > 1
        return float(several[self.context].mean()) if len(self.context) else 0.0


def _numbered(keys: NDArray[np.uint64]) -> Positions:
    return np.asarray(np.unique(keys, return_inverse=True)[1], dtype=np.int64)


def _tell_apart(context: Positions, settings: Positions) -> bool:
    """Whether some context has runs of two configurations: else there is nothing to compare."""
    pairs = np.unique(np.column_stack([context, settings]), axis=0)
    return bool(len(pairs)) and int(np.bincount(pairs[:, 0]).max()) > 1


def _lost(prepared: Prepared) -> Iterator[LostRuns]:
    """Runs that failed, by reason, then those that were left out."""
    failed = prepared.failures
    reasons = np.array(failed.reasons, dtype=np.object_)
    for reason, count in Counter(failed.reasons).items():
        first = tuple(failed.row_id[reasons == reason][:_ROWS].tolist())
        yield LostRuns(reason=reason, runs=count, first=first, failed=True)
    told = set(failed.row_id.tolist())
    for one in failures(prepared, ()):
        rows = prepared.row_id[one.runs]
        fresh = [int(row) for row in rows if int(row) not in told]
        if fresh:
            first = tuple(fresh[:_ROWS])
            yield LostRuns(reason=one.words, runs=len(fresh), first=first, failed=True)
    for note in prepared.report.reasons:
        if note.count and not note.kept and told.isdisjoint(note.first):
            yield LostRuns(
                reason=note.reason, runs=note.count, first=note.first, failed=False, hint=note.hint
            )


def _gaps(runs: _Runs, comparable: Comparable) -> Iterator[Gap]:
    """What nobody can learn from this table, the gravest first."""
    prepared = runs.prepared
    if not comparable.identifiable:
        yield Gap(code=GapCode.NOT_COMPARABLE, columns=comparable.columns, text=comparable.why)
    knobs = prepared.space.having(Role.KNOB)
    among = f"among runs of the same {listed(runs.columns)}" if runs.columns else "in any run"
    share = {name: runs.varied(name) for name in knobs}
    fixed = tuple(name for name in knobs if share[name] == 0)
    if fixed:
        text = f"{listed(fixed)} never varied {among}: what changing {_it(fixed)} does is not known"
        yield Gap(code=GapCode.NEVER_VARIED, columns=fixed, text=text)
    for name in knobs:
        if 0 < share[name] < _SELDOM:
            text = f"{name} varied {among} for only {share[name]:.0%} of the runs".replace(
                "%", " %"
            )
            yield Gap(code=GapCode.SELDOM_VARIED, columns=(name,), text=text)
    yield from _together(runs, [name for name in knobs if share[name] > 0])
    if len(runs.at) and np.bincount(runs.configuration).max() == 1:
        text = "no configuration was run twice: how far equal runs differ is not known"
        yield Gap(code=GapCode.NO_REPEATS, text=text)
    yield from _incomplete(runs)
    for parameter in prepared.constants:
        known = prepared.table.column(parameter.name)[0].as_py()
        text = (
            f"{parameter.name} is {format_value(known)} in every run: other values were not tried"
        )
        yield Gap(code=GapCode.CONSTANT, columns=(parameter.name,), text=text)


def _together(runs: _Runs, knobs: Sequence[str]) -> Iterator[Gap]:
    """Knobs that tell each other: which of them makes the difference cannot be told."""
    codes = {
        name: np.unique(runs.prepared.column(name)[runs.at], return_inverse=True)[1]
        for name in knobs
    }
    for one, other in combinations(knobs, 2):
        count = int(codes[one].max()) + 1
        if count != int(codes[other].max()) + 1:
            continue
        if len(np.unique(codes[one] * count + codes[other])) == count:
            text = f"{one} and {other} always change together: which of them matters is not known"
            yield Gap(code=GapCode.TOGETHER, columns=(one, other), text=text)


def _incomplete(runs: _Runs) -> Iterator[Gap]:
    for name in runs.prepared.space.having(Role.OUTCOME):
        y = runs.prepared.outcome(name)[runs.at]
        known = int(np.isfinite(y).sum())
        if known < _KNOWN * len(y):
            text = f"{name} is known of {known:,} of {len(y):,} runs"
            yield Gap(code=GapCode.INCOMPLETE, columns=(name,), text=text)


def _it(names: Sequence[str]) -> str:
    return "it" if len(names) == 1 else "them"
