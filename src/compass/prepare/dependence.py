"""What the columns of a table tell about each other's roles: dependence, families and formulas."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from compass.domain.space import Role
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
WIDE = 240_000  # cells: of wide tables fewer rows are looked at


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
    sure = _by_dependence(ordered, sample)
    _by_family(guesses)
    found = [
        Formula(one.kind, sample.numeric[one.whole], tuple(sample.numeric[p] for p in one.parts))
        for one in formulas(sample.values[:, sample.numeric])
    ]
    for _ in range(2):
        _by_formulas(ordered, found)
    _by_settling(ordered, sample, found, sure)


def _by_dependence(guesses: Sequence[Guess], sample: _Sample) -> NDArray[np.bool_]:
    """What varies with the settings is measured; what nothing tells anything of is set.

    Returns which column [d] tells something of which other [d].
    """
    ranks = np.column_stack([ranks_of(column) for column in sample.values.T])
    _by_twins(guesses, ranks)
    share, sure = explained(sample.groups, ranks)
    settings = [place for place, guess in enumerate(guesses) if guess.role in SETTINGS]
    for place, guess in enumerate(guesses):
        if guess.fixed is not None or place not in sample.numeric or guess.facts.choice:
            continue
        driven = [other for other in settings if other != place and sure[other, place]]
        if driven:
            most = max(driven, key=lambda other: share[other, place])
            guess.add(
                ReasonCode.VARIES_WITH,
                Role.OUTCOME,
                1.5,
                [guesses[most].facts.name],
                float(share[most, place]),
            )
        elif not guess.named and _is_free(place, guesses, sure):
            guess.add(ReasonCode.INDEPENDENT, Role.KNOB, 2.5)
    return sure


def _by_twins(guesses: Sequence[Guess], ranks: Floats) -> None:
    """What rises and falls with another column in every row is the same thing once more."""
    alike: dict[bytes, list[Guess]] = defaultdict(list)
    for guess, column in zip(guesses, ranks.T, strict=True):
        first = column[np.flatnonzero(column)[:1]]
        alike[(column * np.sign(first.sum())).tobytes()].append(guess)
    for twins in alike.values():
        named = [guess for guess in twins if guess.named and guess.role is not Role.IGNORED]
        for guess in twins:
            others = [other for other in named if other is not guess]
            if guess.fixed is None and others:
                best = max(others, key=lambda other: other.odds[other.role])
                guess.add(ReasonCode.TWIN, best.role, 2.0, [best.facts.name])


def _is_free(place: int, guesses: Sequence[Guess], sure: NDArray[np.bool_]) -> bool:
    """Whether nothing but results depends on a column, as on a setting that was drawn at random."""
    results = {
        other
        for other, guess in enumerate(guesses)
        if other != place and guess.named and guess.role is Role.OUTCOME
    }
    others = {*range(len(guesses))} - results - {place}
    used = [other for other in others if guesses[other].role is not Role.IGNORED]
    acts = any(sure[place, other] for other in results)
    return acts and bool(used) and not any(sure[other, place] for other in used)


def _by_family(guesses: Sequence[Guess]) -> None:
    """Columns with the same stem, and neighbours, are often of one kind."""
    stems: dict[str, list[Guess]] = defaultdict(list)
    for guess in guesses:
        stems[stem(guess.facts.name)].append(guess)
    for family in stems.values():
        for guess in family:
            if guess.named:
                continue
            known = [other for other in family if other.named]
            roles = {other.role for other in known} - {Role.IGNORED}
            if len(roles) == 1:
                guess.add(ReasonCode.FAMILY, roles.pop(), 2.0, [known[0].facts.name])
    for place, guess in enumerate(guesses):
        if guess.named:
            continue
        beside = [guesses[at] for at in (place - 1, place + 1) if 0 <= at < len(guesses)]
        roles = {other.role for other in beside}
        told = all(other.named for other in beside)
        if len(beside) == 2 and told and len(roles) == 1 and Role.IGNORED not in roles:
            guess.add(ReasonCode.NEIGHBOURS, roles.pop(), 0.7, [o.facts.name for o in beside])


def _by_formulas(guesses: Sequence[Guess], found: Sequence[Formula]) -> None:
    """What is calculated from a measured column is measured; settings alone give no result."""
    for formula in found:
        members = [guesses[place] for place in formula.columns]
        measured = [guess for guess in members if guess.role is Role.OUTCOME]
        chosen = [guess for guess in members if guess.role in SETTINGS]
        for guess in members:
            if guess.fixed is not None or guess in measured:
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
        counted = guess.odds[Role.IGNORED] > 5
        if guess.fixed is not None or place in given or guess.facts.text:
            continue
        if not counted and guess.named:
            continue
        by = next((by for by, groups in causes if _settles(groups, sample.values[:, place])), None)
        if by is not None:
            known = [guesses[other].facts.name for other in by]
            guess.add(ReasonCode.SETTLED, Role.CONTEXT, 12.0 if counted else 3.0, known)


def _settles(groups: Codes, values: Floats) -> bool:
    """Whether rows of one group [n] always have the same value [n], in groups of a few rows."""
    sizes = np.bincount(groups)
    if np.count_nonzero(sizes) < 3 or len(groups) < 4 * len(sizes):
        return False
    order = np.argsort(groups, kind="stable")
    ordered, known = values[order], groups[order]
    same = (ordered[1:] == ordered[:-1]) | (np.isnan(ordered[1:]) & np.isnan(ordered[:-1]))
    return bool(same[known[1:] == known[:-1]].all())
