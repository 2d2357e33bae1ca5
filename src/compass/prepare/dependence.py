"""What the columns of a table tell about each other's roles: dependence, families and formulas."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from compass.domain.space import Role
from compass.prepare.cells import coded, numbers
from compass.prepare.guess import SETTINGS, Guess
from compass.prepare.hints import is_total, stem
from compass.prepare.order import by_position, is_trace
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
WIDE = 240_000  # cells: of wide tables fewer rows are looked at
_CAUSES = 300  # columns that others may depend on, settings first
_TIED = 400  # columns that formulas are looked for in
_SEVERAL, _MOSTLY = 3, 0.6  # values, and the share of zeros among them, of what is counted
# What depends on settings and is hardly ever the same twice was measured.
_VARIES, _VARIES_ALWAYS = 1.5, 3.0
# What follows from two others, what others alone follow from, and what nothing goes along with.
_EFFECT, _CAUSE, _ALONE = 3.0, 4.0, 3.5
# What the context settles to the last digit is no measurement.
_SETTLED, _SETTLED_CHOICE, _SETTLED_COUNTER = 6.0, 10.0, 12.5


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
    _by_causes(ordered, sample, sure)
    _by_dependence(ordered, sample, share, sure)
    _by_formulas(ordered, found)
    _by_zeros(ordered, sample)
    results = by_position(guesses)
    _by_twins(ordered, twins, results)
    results -= _totals(ordered, found)
    _by_dependence_of_choices(ordered, sample, share, sure, results)
    _by_settling(ordered, sample, found, sure)


def _by_causes(guesses: Sequence[Guess], sample: _Sample, sure: NDArray[np.bool_]) -> None:
    """Tells causes from effects among numbers that are hardly ever the same twice.

    What goes along with two columns that have nothing to do with each other follows from both; a
    cause does not, for its effects go along with each other. What goes along with such effects
    alone, or with nothing, was drawn at random.
    """
    if is_trace(guesses):
        return
    used = np.array([guess.fixed is None or guess.role is not Role.IGNORED for guess in guesses])
    linked = (sure | sure.T) & np.outer(used, used)
    np.fill_diagonal(linked, val=False)
    drawn = [
        place
        for place in sample.numeric
        if guesses[place].open and guesses[place].facts.mostly_different
    ]
    effects = np.zeros(len(guesses), dtype=bool)
    for place in drawn:
        near = np.flatnonzero(linked[place])
        effects[place] = (~linked[np.ix_(near, near)]).sum() > len(near)
    for place in np.flatnonzero(effects).tolist():
        guesses[place].add(ReasonCode.EFFECT, Role.OUTCOME, _EFFECT)
    free = [p for p in drawn if not effects[p] and not guesses[p].named]
    causes = [p for p in free if linked[p].any() and effects[linked[p]].all()]
    for place in causes:
        guesses[place].add(ReasonCode.INDEPENDENT, Role.KNOB, _CAUSE)
    # Noise goes along with nothing either: only beside causes is it likely that it was set.
    for place in free if causes else ():
        if not linked[place].any():
            guesses[place].add(ReasonCode.INDEPENDENT, Role.KNOB, _ALONE)


def _by_dependence(
    guesses: Sequence[Guess], sample: _Sample, share: Floats, sure: NDArray[np.bool_]
) -> None:
    """What varies with the settings is measured.

    What depends on nothing, while named results depend on it, is a setting drawn at random.
    """
    settings = [place for place, guess in enumerate(guesses) if guess.role in SETTINGS]
    trace = is_trace(guesses)
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
            always = guess.facts.mostly_different and not trace
            weight = _VARIES_ALWAYS if always else _VARIES
            _varies(guess, place, weight, driven, guesses, share)
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
                _varies(guess, place, _VARIES_ALWAYS, driven, guesses, share)


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


def _by_zeros(guesses: Sequence[Guess], sample: _Sample) -> None:
    """What is zero in most runs of an experiment and many things in the others was counted."""
    if is_trace(guesses):
        return
    for place in sample.numeric:
        guess, column = guesses[place], sample.values[:, place]
        zeros = float(np.mean(column == 0))
        if guess.open and guess.facts.distinct > _SEVERAL and zeros > _MOSTLY:
            guess.add(ReasonCode.MOSTLY_ZERO, Role.OUTCOME, 2.0)
            guess.add(ReasonCode.MOSTLY_ZERO, Role.KNOB, -1.5)


def _totals(guesses: Sequence[Guess], found: Sequence[Formula]) -> set[str]:
    """The columns that are products of settings: they follow from them, and are no results."""
    return {
        guesses[one.whole].facts.name
        for one in found
        if one.kind == "product" and all(guesses[part].role in SETTINGS for part in one.parts)
    }


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
        chosen = all(guess.role in SETTINGS for guess in parts)
        chosen &= whole.role in SETTINGS or whole.facts.choice
        # `tasks` may well be set, and nodes follow; `total_tasks` is what follows from both.
        free = whole.named and not is_total(whole.facts.name)
        if whole.fixed is not None or free:
            continue
        if formula.kind == "product" and chosen and len(parts) == 2:
            first, second = formula.parts
            if not sure[first, second] and not sure[second, first]:
                known = [guess.facts.name for guess in parts]
                whole.add(ReasonCode.SETTLED, Role.IGNORED, _SETTLED_COUNTER, known)
    given = [place for place, guess in enumerate(guesses) if guess.role is Role.CONTEXT]
    if not given:
        return
    # One group per value: the bins of columns with many values settle nothing.
    exact = [np.unique(sample.values[:, place], return_inverse=True)[1].ravel() for place in given]
    joint = np.unique(np.column_stack(exact), axis=0, return_inverse=True)[1].ravel()
    causes = [([place], groups) for place, groups in zip(given, exact, strict=True)]
    causes.append((given, joint))
    for place, guess in enumerate(guesses):
        if guess.fixed is not None or place in given or guess.facts.text:
            continue
        if not guess.counted and (guess.surely_named or (guess.named and guess.role is Role.KNOB)):
            continue
        by = next((by for by, groups in causes if _settles(groups, sample.values[:, place])), None)
        if by is not None:
            known = [guesses[other].facts.name for other in by]
            weight = _SETTLED_CHOICE if guess.facts.choice else _SETTLED
            if guess.counted:
                weight = _SETTLED_COUNTER
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
