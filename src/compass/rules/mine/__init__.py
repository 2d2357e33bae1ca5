"""Dependencies that hold on every row of a table, for a person to confirm."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from compass.domain.mined import Mined
from compass.domain.space import Space
from compass.rules.evaluate import Rule, compile_rule
from compass.rules.functions import BoolArray, FloatArray
from compass.rules.mine.implications import implications
from compass.rules.mine.observations import Observations
from compass.rules.mine.pairs import bounds, equalities, multiples
from compass.rules.mine.possible import Possible
from compass.rules.mine.products import (
    ProductRelation,
    confined,
    multiples_of_products,
    products,
)
from compass.rules.mine.thresholds import Tried, product_rules, step_rules
from compass.rules.mine.wording import (
    Found,
    of_implication,
    of_multiple,
    of_pair,
    of_product,
    of_threshold,
)
from compass.rules.values import without_none

_ROWS = 16  # a shorter table proves nothing
_SAMPLE = 50_000  # rows of a longer table that are looked at first
_ROUNDS = 8  # times that rows which break what was found are added to them
_COUNTEREXAMPLES = 16  # rows that break one dependency and are added


def mine(X: FloatArray, space: Space, *, limit: int = 30) -> tuple[Mined, ...]:
    """The dependencies among the columns of X [n, d] that hold on all rows, strongest first.

    At most `limit` of them. Left out are: rules among outcomes only, what constants or the ranges
    of the columns already say, what stronger dependencies imply, and what unrelated columns could
    show by coincidence (too few different combinations, or too easily met).

    In a long table they are looked for in some rows and checked on all; rows that break one are
    added to those looked at, until none is broken.
    """
    if len(X) < _ROWS:
        return ()
    if len(X) <= _SAMPLE:
        return tuple(one.mined(rows) for one, rows in _counted(X, space, _found(X, space, limit)))
    some = np.random.default_rng(0).choice(len(X), _SAMPLE, replace=False)
    for _ in range(_ROUNDS):
        looked_at = np.unique(some)
        found = _found(X[looked_at], space, limit)
        broken = {one: rows for one in found if len(rows := _broken(X, space, one))}
        if not broken:
            break
        some = np.concatenate([looked_at, *broken.values()])
    kept = [one for one in found if one not in broken]
    return tuple(one.mined(rows) for one, rows in _counted(X, space, kept))


def _found(X: FloatArray, space: Space, limit: int) -> list[Found]:
    """The dependencies that hold on these rows, at most `limit`."""
    data = Observations(X, space)
    ratios, left = equalities(data)
    relations = products(data, left)
    few = confined(data, left, relations)
    grouped = multiples_of_products(data, left, relations)
    implied = _factors(relations) | {(b, r.left[0]) for r in grouped for b in r.right}
    divisors = [p for p in multiples(data, left) if (p.b, p.a) not in implied]
    between = bounds(data, left, implied | {(pair.b, pair.a) for pair in divisors})
    found = [of_pair(p) for p in sorted(ratios, key=lambda p: p.kind)]
    found += [of_product(relation) for relation in (*relations, *few)]
    found += [of_multiple(relation) for relation in grouped]
    found += [of_pair(p) for p in (*divisors, *between)]
    known = Possible({name: data.distinct(name) for name in (*data.numbers, *data.categories)})
    _add(known, space, found)
    tried = Tried.of(data)
    related = _connected([{*one.left, *one.right} for one in (*relations, *few, *grouped)])
    found += [of_threshold(one) for one in product_rules(data, left, known, tried, related)]
    settled = implications(data, known, max(0, limit - len(found)))
    found += [of_implication(one, space) for one in settled]
    found += [of_threshold(one) for one in step_rules(data, left, known, tried, related)]
    return [replace(one, tried=tried.beside(one.kind)) for one in found[:limit]]


def _add(known: Possible, space: Space, found: Iterable[Found]) -> None:
    for one in found:
        known.add(one.names, _rule(one, space).holds_for)


def _connected(groups: Iterable[set[str]]) -> list[frozenset[str]]:
    """Columns that relations tie to each other, directly or through others."""
    found: list[frozenset[str]] = []
    for group in groups:
        apart = [one for one in found if not one & group]
        found = [*apart, frozenset(group).union(*(one for one in found if one & group))]
    return found


def _factors(relations: list[ProductRelation]) -> set[tuple[str, str]]:
    """(a, b) for which a <= b, as a is a factor of b."""
    return {
        (factor, relation.right[0])
        for relation in relations
        if len(relation.right) == 1 and relation.factor == 1.0
        for factor in relation.left
    }


def _rule(one: Found, space: Space) -> Rule:
    return compile_rule(one.rule, space, one.names)


def _broken(X: FloatArray, space: Space, one: Found) -> npt.NDArray[np.intp]:
    """A few rows that break it."""
    columns, present = _columns(X, space, one)
    wrong = present & ~_rule(one, space).holds_for(columns)
    return np.flatnonzero(wrong)[:_COUNTEREXAMPLES]


def _columns(X: FloatArray, space: Space, one: Found) -> tuple[dict[str, FloatArray], BoolArray]:
    """The columns it speaks of, and the rows that have a value in each."""
    columns = {}
    present = np.ones(len(X), dtype=np.bool_)
    for name in one.names:
        values = np.ascontiguousarray(X[:, space.names.index(name)])
        columns[name] = values
        present &= ~np.isnan(without_none(values, space[name]))
    return columns, present


def _counted(X: FloatArray, space: Space, found: Iterable[Found]) -> Iterable[tuple[Found, int]]:
    """Each with the number of rows that it was checked on."""
    for one in found:
        yield one, int(_columns(X, space, one)[1].sum())
