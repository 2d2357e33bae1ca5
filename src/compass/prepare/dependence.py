"""What the columns of a table tell about each other's roles: dependence, families and formulas."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from compass.domain.space import Role
from compass.prepare import names
from compass.prepare.cells import coded, numbers
from compass.prepare.guess import SETTINGS, Guess
from compass.prepare.hints import is_total, stem
from compass.prepare.relations import (
    Codes,
    Floats,
    Formula,
    explained,
    formulas,
    groups_of,
    ranks_of,
)
from compass.prepare.report import ReasonCode

SAMPLE = 4000  # rows that relations are looked for in
# Behind all settings, between two results, and the same of labels, which seldom are results.
_LAST, _BESIDE, _TEXT = 4.0, 2.0, 1.0
_GIVEN = 2  # columns at the beginning, where what is given stands
_FIRST = 2  # settings that stand before all results
_OF_JOBS = 2  # columns that only a trace of people's jobs has, or time stamps
WIDE = 240_000  # cells: of wide tables fewer rows are looked at
_CAUSES = 300  # columns that others may depend on, settings first
_TIED = 400  # columns that formulas are looked for in


@dataclass(frozen=True)
class _Sample:
    """The columns of a table in some of its rows, as numbers; labels are numbered."""

    names: list[str]
    values: Floats  # [n, d]
    groups: list[Codes]
    numeric: list[int]


def _sample(guesses: Sequence[Guess], table: pa.Table) -> _Sample:
    """The columns that can depend on others: those with more than one value."""
    used = [guess.facts for guess in guesses if guess.facts.distinct > 1]
    rows = min(table.num_rows, SAMPLE, max(500, WIDE // max(1, len(used))))
    chosen = np.unique(np.linspace(0, table.num_rows - 1, rows).astype(np.int64))
    columns = []
    for one in used:
        column = table.column(one.name).take(pa.array(chosen))
        columns.append(coded(column)[0].astype(float) if one.text else numbers(column))
    values = np.column_stack(columns) if columns else np.zeros((rows, 0))
    values[~np.isfinite(values)] = np.nan
    numeric = [place for place, one in enumerate(used) if not (one.text or one.moment)]
    groups = [groups_of(values[:, place]) for place in range(len(used))]
    return _Sample([one.name for one in used], values, groups, numeric)


def by_relations(guesses: Sequence[Guess], table: pa.Table) -> None:
    """Adds to the guesses of a table's columns what the columns tell about each other."""
    by_name = {guess.facts.name: guess for guess in guesses}
    sample = _sample(guesses, table)
    if min(sample.values.shape) < 2:
        return
    ordered = [by_name[name] for name in sample.names]
    ranks = np.column_stack([ranks_of(column) for column in sample.values.T])
    used = [place for place, guess in enumerate(ordered) if guess.role is not Role.IGNORED]
    causes = sorted(used, key=lambda place: ordered[place].role not in SETTINGS)[:_CAUSES]
    share, sure = explained(sample.groups, ranks, causes)
    twins = _twins(ranks, sample.numeric)
    for family in twins:
        sure[np.ix_(family, family)] = False  # the same thing once more is no cause
    tied = [place for place in sample.numeric if place in {*used}][:_TIED]
    found = [
        Formula(one.kind, tied[one.whole], tuple(tied[part] for part in one.parts))
        for one in formulas(sample.values[:, tied])
    ]
    _by_family(guesses)
    _by_dependence(ordered, sample, share, sure)
    _by_formulas(ordered, found)
    results = _by_position(guesses)
    _by_twins(ordered, twins, results)
    _by_dependence_of_choices(ordered, sample, share, sure, results)
    _by_settling(ordered, sample, found, sure)


def _by_dependence(
    guesses: Sequence[Guess], sample: _Sample, share: Floats, sure: NDArray[np.bool_]
) -> None:
    """What varies with the settings is measured.

    What depends on nothing, while named results depend on it, is a setting drawn at random.
    """
    settings = [place for place, guess in enumerate(guesses) if guess.role in SETTINGS]
    used = np.array([guess.role is not Role.IGNORED for guess in guesses])
    results = np.array([guess.named and guess.role is Role.OUTCOME for guess in guesses])
    for place in sample.numeric:
        guess = guesses[place]
        if not guess.open or guess.facts.choice:
            continue
        driven = [other for other in settings if other != place and sure[other, place]]
        others = used & ~results
        others[place] = False
        if driven:
            _varies(guess, place, 1.5, driven, guesses, share)
        elif not guess.named and others.any():
            acts, follows = sure[place, results].any(), sure[others, place].any()
            if acts and not follows:
                guess.add(ReasonCode.INDEPENDENT, Role.KNOB, 1.5)


def _by_dependence_of_choices(
    guesses: Sequence[Guess],
    sample: _Sample,
    share: Floats,
    sure: NDArray[np.bool_],
    results: Collection[str],
) -> None:
    """The same for numbers that look chosen, where they stand among results.

    Elsewhere it says nothing: a setting may rule out others, and sizes go with resources.
    """
    settings = [place for place, guess in enumerate(guesses) if guess.role in SETTINGS]
    for place in sample.numeric:
        guess = guesses[place]
        if guess.open and guess.facts.choice and guess.facts.name in results:
            driven = [other for other in settings if other != place and sure[other, place]]
            if driven:
                _varies(guess, place, 2.5, driven, guesses, share)


def _varies(
    guess: Guess,
    place: int,
    weight: float,
    driven: Sequence[int],
    guesses: Sequence[Guess],
    share: Floats,
) -> None:
    most = max(driven, key=lambda other: share[other, place])
    name, value = guesses[most].facts.name, float(share[most, place])
    guess.add(ReasonCode.VARIES_WITH, Role.OUTCOME, weight, [name], value)


def _twins(ranks: Floats, numeric: Sequence[int]) -> list[list[int]]:
    """The columns [n, d] that rise and fall together in every row, or always against each other."""
    alike: dict[bytes, list[int]] = defaultdict(list)
    for place in numeric:
        column = ranks[:, place]
        first = column[np.flatnonzero(column)[:1]]
        alike[(column * np.sign(first.sum())).tobytes()].append(place)
    return [places for places in alike.values() if len(places) > 1]


def _by_twins(
    guesses: Sequence[Guess], twins: Sequence[Sequence[int]], results: Collection[str]
) -> None:
    """What rises and falls with another column in every row is the same thing once more."""
    for family in ([guesses[place] for place in places] for places in twins):
        named = [guess for guess in family if guess.named and guess.role is not Role.IGNORED]
        for guess in family:
            others = [other for other in named if other is not guess]
            if guess.surely_named or not guess.open or not others:
                continue
            best = max(others, key=lambda other: other.odds[other.role])
            if best.role is Role.OUTCOME or guess.facts.name not in results:
                guess.add(ReasonCode.TWIN, best.role, 3.0, [best.facts.name])


def _by_family(guesses: Sequence[Guess]) -> None:
    """Columns with the same stem are often of one kind."""
    stems: dict[str, list[Guess]] = defaultdict(list)
    for guess in guesses:
        stems[stem(guess.facts.name)].append(guess)
    for family in stems.values():
        known = [guess for guess in family if guess.named and guess.role is not Role.IGNORED]
        if len({guess.role for guess in known}) != 1:
            continue
        for guess in family:
            if guess.open and not guess.named:
                guess.add(ReasonCode.FAMILY, known[0].role, 2.0, [known[0].facts.name])


def _by_position(guesses: Sequence[Guess]) -> set[str]:
    """People write what is given first, then what was set, then what was measured.

    Returns the names of the columns that stand among results. The columns of a trace of people's
    jobs are in the order of its scheduler, which says nothing.
    """
    if _is_trace(guesses):
        for guess in guesses:
            if guess.facts.text and not guess.named:
                guess.add(ReasonCode.OF_JOBS, Role.CONTEXT, 1.0)
        return set()
    settings, results = (
        [place for place, one in enumerate(guesses) if one.confident and one.role in roles]
        for roles in (SETTINGS, (Role.OUTCOME,))
    )
    # Settings come first, unless a single one does, or the result itself.
    ordered = results and sum(place < results[0] for place in settings) >= _FIRST
    settings = [place for place in settings if guesses[place].named]
    known = sorted({*settings, *results})
    found = set()
    for place, guess in enumerate(guesses):
        if not guess.open:
            continue
        before = [guesses[other] for other in known[: bisect_left(known, place)]]
        after = [guesses[other] for other in known[bisect_right(known, place) :]]
        beside = [*before[-1:], *after[:1]]
        named = [other.facts.name for other in beside]
        if before and all(other.role is Role.OUTCOME for other in beside):
            found.add(guess.facts.name)
            last = ordered and place > max(settings, default=-1)
            labels = guess.facts.text and not guess.facts.truth
            weight = _TEXT if labels else _LAST if last else _BESIDE
            guess.add(ReasonCode.NEIGHBOURS, Role.OUTCOME, weight, named)
        elif after and all(other.role in SETTINGS for other in beside):
            guess.add(ReasonCode.NEIGHBOURS, Role.OUTCOME, -0.7, named)
            knobs = any(other.role is Role.KNOB for other in before)
            if guess.facts.text and guess.facts.distinct > 2 and place < _GIVEN and not knobs:
                guess.add(ReasonCode.FIRST, Role.CONTEXT, 1.0)
    return found


def _is_trace(guesses: Sequence[Guess]) -> bool:
    moments = sum(guess.facts.moment for guess in guesses)
    of_jobs = names.PERSONS | names.SCHEDULING
    said = {word for guess in guesses for word in names.words(guess.facts.name) if word in of_jobs}
    return max(moments, len(said)) >= _OF_JOBS


def _by_formulas(guesses: Sequence[Guess], found: Sequence[Formula]) -> None:
    """What is calculated from a measured column is measured; settings alone give no result."""
    for formula in sorted(found, key=lambda one: one.kind == "product"):
        members = [guesses[place] for place in formula.columns]
        measured = [guess for guess in members if guess.role is Role.OUTCOME]
        chosen = [guess for guess in members if guess.role in SETTINGS]
        for guess in members:
            if guess.surely_named or guess in measured or not guess.open:
                continue
            if guess.has(ReasonCode.FORMULA):
                continue
            others = [other.facts.name for other in members if other is not guess]
            if formula.kind == "sum" and len(measured) >= 1 and not guess.facts.choice:
                guess.add(ReasonCode.FORMULA, Role.OUTCOME, 2.0, others)
            elif len(chosen) == 2 and len(measured) == 1 and not guess.facts.choice:
                guess.add(ReasonCode.FORMULA, Role.OUTCOME, 1.0, others)


def _by_settling(
    guesses: Sequence[Guess], sample: _Sample, found: Sequence[Formula], sure: NDArray[np.bool_]
) -> None:
    """Columns that others settle: products of settings, and properties of what is given."""
    for formula in found:
        whole, parts = guesses[formula.whole], [guesses[place] for place in formula.parts]
        chosen = all(guess.role in SETTINGS for guess in (whole, *parts))
        # `tasks` may well be set, and nodes follow; `total_tasks` is what follows from both.
        free = whole.named and not is_total(whole.facts.name)
        if whole.fixed is not None or free:
            continue
        if formula.kind == "product" and chosen and len(parts) == 2:
            first, second = formula.parts
            if not sure[first, second] and not sure[second, first]:
                known = [guess.facts.name for guess in parts]
                whole.add(ReasonCode.SETTLED, Role.IGNORED, 6.0, known)
    given = [place for place, guess in enumerate(guesses) if guess.role is Role.CONTEXT]
    if not given:
        return
    joint = np.unique(
        np.column_stack([sample.groups[place] for place in given]), axis=0, return_inverse=True
    )[1].ravel()
    causes = [([place], sample.groups[place]) for place in given] + [(given, joint)]
    for place, guess in enumerate(guesses):
        if guess.fixed is not None or place in given or guess.facts.text:
            continue
        if not guess.counted and (guess.surely_named or (guess.named and guess.role is Role.KNOB)):
            continue
        by = next((by for by, groups in causes if _settles(groups, sample.values[:, place])), None)
        if by is not None:
            known = [guesses[other].facts.name for other in by]
            weight = 12.5 if guess.counted else 7.0 if guess.facts.choice else 5.0
            guess.add(ReasonCode.SETTLED, Role.CONTEXT, weight, known)


def _settles(groups: Codes, values: Floats) -> bool:
    """Whether rows of one group [n] always have the same value [n], in groups of a few rows."""
    sizes = np.bincount(groups)
    if np.count_nonzero(sizes) < 3 or len(groups) < 4 * len(sizes):
        return False
    order = np.argsort(groups, kind="stable")
    ordered, known = values[order], groups[order]
    same = (ordered[1:] == ordered[:-1]) | (np.isnan(ordered[1:]) & np.isnan(ordered[:-1]))
    return bool(same[known[1:] == known[:-1]].all())
