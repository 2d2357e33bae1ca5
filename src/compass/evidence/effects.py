"""Effect evidence of suggestions: what comparable past runs say about every move they make.

Decision 0019 (docs/decisions).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from compass.domain.answer import Effect, Finding, Label, Trust, Unobserved
from compass.domain.doubt import Doubt, DoubtCode
from compass.domain.space import Category
from compass.evidence.adjusted import comparisons
from compass.evidence.comparable import MatchedRuns
from compass.evidence.findings import Case, Expected, enough
from compass.evidence.matching import best_run, obeyed
from compass.generate.task import SearchTask
from compass.trust.assess import REPEATED
from compass.trust.pairs.effect import Count, Outcome, count
from compass.trust.pairs.index import Around, Paired, PairIndex

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


def with_effects(
    task: SearchTask, matched: MatchedRuns, X: Floats, trusts: Sequence[Trust]
) -> list[Trust]:
    """Trust of the suggestions X [n, d] with the evidence about everything that they move.

    They are compared with the baseline; without one, each with the best past run of its context
    that differs in the movable columns only.
    """
    references = _references(task, matched, X)
    asked = () if task.baseline is not None else task.free
    found = effects(matched, references, X, asked)
    return [
        trust.model_copy(
            update={
                "doubts": (*trust.doubts, *_doubts(trust, mine, matched, compared=old is not None)),
                "effects": tuple(mine),
            }
        )
        for trust, mine, old in zip(trusts, found, references, strict=True)
    ]


def _doubts(
    trust: Trust, mine: Sequence[Effect], matched: MatchedRuns, *, compared: bool
) -> tuple[Doubt, ...]:
    """What the effects leave in doubt.

    What a configuration does that was run more than once is known without comparing it with
    others, where it is known to be a run of the same thing. That pairs say otherwise, or that
    nobody tried anything else, stays.
    """
    doubts = effect_doubts(mine, matched, compared=compared)
    if trust.measured < REPEATED or not matched.known.identifiable:
        return doubts
    never = {effect.knob for effect in mine if effect.unobserved is Unobserved.NEVER_VARIED}
    return tuple(
        doubt
        for doubt in doubts
        if doubt.code is not DoubtCode.EFFECT_NEVER_OBSERVED or never & {*doubt.columns}
    )


def _references(task: SearchTask, matched: MatchedRuns, X: Floats) -> list[Floats | None]:
    view, movable = matched.view, task.movable
    if task.baseline is not None:
        return [task.origin] * len(X)
    if not matched.known.identifiable:
        return [_back(x, task.start, movable) for x in X]
    fine = np.ones(len(view.X), dtype=np.bool_)
    for holds in obeyed(task.rules, task.conditions, task.outcomes, view):
        fine &= holds
    # What the comparable runs of a suggestion depend on: many suggestions share it.
    telling = [
        j for j, name in enumerate(view.names) if j not in movable or name in matched.known.columns
    ]
    known: dict[bytes, Floats | None] = {}
    for x in X:
        if (key := x[telling].tobytes()) not in known:
            rows = matched.reference(x, movable, fine)
            rng = np.random.default_rng(0)
            known[key] = (
                view.X[best_run(rows, task.query.goals, view.prepared, rng)] if len(rows) else None
            )
    return [
        None if (best := known[x[telling].tobytes()]) is None else _back(x, best, movable)
        for x in X
    ]


def _back(x: Floats, other: Floats, free: Rows) -> Floats:
    """A configuration x [d] with the free columns of another one.

    What was not asked for is not moved, though a comparable past run may differ a little there.
    """
    reference = x.copy()
    reference[free] = other[free]
    return reference


def effects(
    matched: MatchedRuns,
    references: Sequence[Floats | None],
    X: Floats,
    asked: Sequence[int] | Rows = (),
) -> list[list[Effect]]:
    """For each suggestion X [n, d] the evidence about what it moves against its reference [d].

    Without a reference nothing comparable is known of that suggestion. Nothing is known about the
    asked columns, moved or not, where no runs are known to be comparable, and about those that
    never varied among comparable runs: that nothing beats what everybody does is no finding.
    """
    always = [] if matched.known.identifiable else [int(j) for j in asked]
    moves = [
        [] if old is None else sorted({*always, *map(int, np.flatnonzero(old != new))})
        for old, new in zip(references, X, strict=True)
    ]
    expected = {name: _expected(matched, name, references, X, moves) for name in matched.outcomes}
    finder = _Finder(matched)
    found = []
    for i, (old, new) in enumerate(zip(references, X, strict=True)):
        mine: list[_Seen] = []
        if old is not None and moves[i]:
            pairs = partial(_pairs, finder, old, new, moves[i], {})
            for name in matched.outcomes:
                mine += _of_outcome(matched, name, old, new, moves[i], pairs, expected[name][i])
        if old is not None:
            mine += map(_Seen, _never_varied(matched, new, {*asked} - {*moves[i]}))
        found.append(mine)
    return _with_adjusted(matched, found)


@dataclass(frozen=True, eq=False)
class _Seen:
    """The evidence of matched pairs about one move and one outcome."""

    effect: Effect
    case: Case | None = None  # where they do not decide: what to ask other runs about


def _expected(
    matched: MatchedRuns,
    name: str,
    references: Sequence[Floats | None],
    X: Floats,
    moves: list[list[int]],
) -> list[Expected]:
    """Predictions with all moves made, without any, and without each one, in one batch."""
    rows: list[Floats] = []
    for old, new, moved in zip(references, X, moves, strict=True):
        rows += [new, new if old is None else old]
        for j in moved:
            back = new.copy()
            assert old is not None
            back[j] = old[j]
            rows.append(back)
    predicted = matched.outcomes[name].learnt.model.predict(np.array(rows))
    found, at = [], 0
    for moved in moves:
        mine = predicted[at : at + 2 + len(moved)]
        at += 2 + len(moved)
        label = int(np.argmax(mine[0])) if mine.shape[1] > 1 else -1
        outcome = matched.outcomes[name].effect(label)
        values = _scaled(outcome, mine, label)
        single = {j: float(values[0] - values[2 + place]) for place, j in enumerate(moved)}
        found.append(Expected(single, float(values[0] - values[1]), label))
    return found


def _scaled(outcome: Outcome, predicted: Floats, label: int) -> Floats:
    """Predictions [k] in the scale in which changes of the outcome are compared."""
    if label >= 0:
        return np.asarray(predicted.argmax(axis=1) == label, dtype=np.float64)
    return outcome.scaled(predicted[:, 0])


def _never_varied(matched: MatchedRuns, x: Floats, columns: set[int]) -> list[Effect]:
    """The asked columns of a recommendation x [d] that comparable runs say nothing about."""
    found = []
    for j in sorted(columns):
        if matched.pair_index(()).varied(x, j):
            continue
        expected = Expected({j: 0.0}, 0.0, -1)
        for name in matched.outcomes:
            label = 0 if isinstance(matched.view.prepared.space[name], Category) else -1
            case = Case(matched, name, matched.outcomes[name].effect(label), x, x, j, expected)
            found.append(case.never_varied())
    return found


@dataclass(frozen=True, eq=False)
class _Finder:
    """Finds the pairs for moves, and remembers what several of them share."""

    matched: MatchedRuns
    starts: dict[tuple[int, bytes], Around] = field(default_factory=dict)
    rooms: dict[int, Floats] = field(default_factory=dict)
    latest: dict[int, tuple[bytes, Around]] = field(default_factory=dict)

    def pairs(self, old: Floats, new: Floats, moved: list[int], move: list[int]) -> Paired:
        """The pairs for one part of everything that is moved from old [d] to new [d]."""
        pair_index = self.matched.pair_index(move)
        tolerance = self.matched.settings.tolerance
        return pair_index.pairs(
            old, new, move, tolerance, self._around(pair_index, old, new, moved)
        )

    def _around(self, pair_index: PairIndex, old: Floats, new: Floats, moved: list[int]) -> Around:
        if {*moved} & {*pair_index.labels.columns, *pair_index.sized.tolist()}:
            return pair_index.around(new)
        # Suggestions of one answer share their reference: its distances are worked out once.
        key = (id(pair_index), old.tobytes())
        if key not in self.starts:
            self.starts[key] = pair_index.around(old)
        start = self.starts[key]
        known, around = self.latest.get(id(pair_index), (b"", start))
        if known != (same := old.tobytes() + new.tobytes()):
            if id(pair_index) not in self.rooms:
                self.rooms[id(pair_index)] = np.empty(len(self._runs()))
            room = self.rooms[id(pair_index)][: len(start.apart)]
            around = pair_index.shifted(start, new, moved, room)
            self.latest[id(pair_index)] = same, around
        return around

    def _runs(self) -> Rows:
        return self.matched.view.distinct


def _pairs(
    finder: _Finder,
    old: Floats,
    new: Floats,
    moved: list[int],
    known: dict[tuple[int, ...], Paired],
    move: tuple[int, ...],
) -> Paired:
    """The pairs of a part of the moves, found once for all outcomes."""
    if move not in known:
        known[move] = finder.pairs(old, new, moved, [*move])
    return known[move]


def _of_outcome(
    matched: MatchedRuns,
    name: str,
    old: Floats,
    new: Floats,
    moved: list[int],
    found: Callable[[tuple[int, ...]], Paired],
    expected: Expected,
) -> list[_Seen]:
    """The evidence about each move; `found` gives the pairs of a part of them."""
    outcome = matched.outcomes[name].effect(expected.label)
    cases = [Case(matched, name, outcome, old, new, j, expected) for j in moved]
    if not matched.known.identifiable:
        return [_Seen(case.unknown()) for case in cases]
    if len(moved) > 1:
        # Runs at both ends of the whole move tell more than those of each part of it.
        paired, whole = found(tuple(moved)), expected.whole
        counted = count(outcome, paired, whole, whole)
        if enough(counted, matched.settings):
            return [_seen(case, counted, paired, whole, moved) for case in cases]
    each = []
    for case in cases:
        paired, single = found((case.column,)), expected.single[case.column]
        counted = count(outcome, paired, single, expected.whole)
        each.append(_seen(case, counted, paired, single, [case.column]))
    return each


def _seen(
    case: Case, counted: Count, paired: Paired, expected: float, moved: Sequence[int]
) -> _Seen:
    """What matched pairs say; where they do not decide, others may be asked."""
    effect = case.effect(counted, paired, expected, moved)
    decided = effect.finding is Finding.SUPPORTED or (
        effect.finding is Finding.CONTRADICTED and counted.refuted
    )
    return _Seen(effect, None if decided else case)


def _with_adjusted(matched: MatchedRuns, found: Sequence[Sequence[_Seen]]) -> list[list[Effect]]:
    """The evidence, with adjusted comparisons where matched pairs do not decide.

    All of an outcome are compared at once: predictions cost less together.
    """
    known: dict[int, Effect] = {}
    for name in matched.outcomes:
        cases = [
            one.case
            for mine in found
            for one in mine
            if one.case is not None and one.effect.outcome == name
        ]
        for case, compared in zip(cases, comparisons(matched, name, cases), strict=True):
            if compared is not None and compared.supported:
                known[id(case)] = case.adjusted(compared)
    return [[known.get(id(one.case), one.effect) for one in mine] for mine in found]


def unsupported(found: Sequence[Effect]) -> bool:
    """Whether the evidence lacks for something that is moved."""
    return any(effect.finding is not Finding.SUPPORTED for effect in found)


def with_doubts(labels: Sequence[Label], found: Sequence[Sequence[Effect]]) -> list[Label]:
    """Labels of configurations with their effect evidence: without it, at most caution."""
    return [
        Label.CAUTION if label is Label.TRUSTED and unsupported(mine) else label
        for label, mine in zip(labels, found, strict=True)
    ]


_DOUBTS = {
    Finding.CONTRADICTED: DoubtCode.EFFECT_CONTRADICTED,
    Finding.NEVER_OBSERVED: DoubtCode.EFFECT_NEVER_OBSERVED,
    Finding.NOT_IDENTIFIABLE: DoubtCode.EFFECT_NOT_IDENTIFIABLE,
}


def effect_doubts(
    found: Sequence[Effect], matched: MatchedRuns, *, compared: bool
) -> tuple[Doubt, ...]:
    """A doubt for every move that comparable past runs do not support.

    `compared` tells whether there was a past run to compare with.
    """
    if not matched.known.identifiable and (found or not compared):
        knobs = tuple(dict.fromkeys(effect.knob for effect in found))
        return (Doubt(code=DoubtCode.EFFECT_NOT_IDENTIFIABLE, columns=knobs),)
    if not compared:
        return (Doubt(code=DoubtCode.NOTHING_COMPARABLE),)
    least = matched.settings.agreement
    return tuple(
        Doubt(
            code=_DOUBTS[effect.finding],
            columns=(effect.knob,),
            outcome=effect.outcome,
            value=effect.agree if effect.finding is Finding.CONTRADICTED else effect.pairs,
            limit=least if effect.finding is Finding.CONTRADICTED else effect.needed,
        )
        for effect in found
        if effect.finding is not Finding.SUPPORTED
    )
