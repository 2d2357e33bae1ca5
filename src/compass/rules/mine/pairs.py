"""Dependencies between two number columns: equality, ratio, bound, divisibility."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from compass.domain.space import Number
from compass.rules.functions import BoolArray, FloatArray
from compass.rules.mine.observations import COINCIDENCE, Observations, everywhere, nice, same
from compass.rules.values import TOLERANCE

_VALUES = 3  # different values before an equality or ratio counts
_PAIRS = 8  # different pairs before a bound or a divisibility counts
_BROKEN = 0.9  # a bound that more unrelated pairs than this obey says little
_ATTAINED = 3  # different values at which a bound with a factor must be reached


@dataclass(frozen=True)
class PairRelation:
    """`a == factor * b`, `a <= factor * b`, or `a % b == 0`."""

    kind: str
    a: str
    b: str
    factor: float
    combinations: int
    chance: float
    surprise: float = 1.0  # P of it between unrelated columns


def _pairs(data: Observations, names: list[str]) -> list[tuple[str, str]]:
    return [
        (a, b)
        for a in names
        for b in names
        if a != b and not (data.is_outcome(a) and data.is_outcome(b))
    ]


def equalities(data: Observations) -> tuple[list[PairRelation], list[str]]:
    """Columns that are a constant times another, and the columns that are left.

    Of each such group one column stays, a feature rather than an outcome: what the others would
    add is implied.
    """
    names = sorted(data.numbers, key=data.is_outcome)
    found: list[PairRelation] = []
    left: list[str] = []
    for name in names:
        partner = next((p for other in left if (p := _ratio(data, name, other))), None)
        if partner is None:
            left.append(name)
        else:
            found.append(partner)
    return found, [name for name in data.numbers if name in left]


def _ratio(data: Observations, a: str, b: str) -> PairRelation | None:
    """`a == c * b`, or turned round so that c is at least 1."""
    if data.is_outcome(a) and data.is_outcome(b):
        return None
    x, y = data.sampled(a), data.sampled(b)
    usable = np.isfinite(x) & np.isfinite(y) & (y != 0) & (x != 0)
    if not usable.any():
        return None
    factor = nice(float(x[usable][0] / y[usable][0]))
    if factor is None or not everywhere(same(x, factor * y), x, y):
        return None
    x, y = data.column(a), data.column(b)
    combinations = data.combinations((a, b))
    if combinations < _VALUES or not everywhere(same(x, factor * y), x, y):
        return None
    if factor < 1.0:
        a, b, factor = b, a, 1.0 / factor
    chance = data.chance((a, b), lambda p, q: same(p, factor * q))
    kind = "equality" if factor == 1.0 else "ratio"
    return PairRelation(kind, a, b, factor, combinations, chance, chance**combinations)


def multiples(data: Observations, names: list[str]) -> list[PairRelation]:
    """`a % b == 0` between whole-number columns."""
    whole = [name for name in names if not data.is_outcome(name) and data.whole(name)]
    found = []
    for a, b in _pairs(data, whole):
        if data.distinct(b)[0] < 1 or data.distinct(a)[0] < 0:
            continue
        if _powers_of_two(data, a) and _powers_of_two(data, b):
            continue  # there it says no more than b <= a
        if not _divides(data.sampled(a), data.sampled(b)):
            continue
        if not _divides(data.column(a), data.column(b)):
            continue
        pair = _significant(
            data, PairRelation("modulo", a, b, 1.0, 0, 0.0), lambda p, q: np.mod(p, q) == 0
        )
        if pair is not None:
            found.append(pair)
    through = {(pair.a, pair.b) for pair in found}
    return [p for p in found if not any((p.a, m) in through and (m, p.b) in through for m in names)]


def _divides(a: FloatArray, b: FloatArray) -> bool:
    return everywhere(np.mod(a, b) == 0, a, b)


def _powers_of_two(data: Observations, name: str) -> bool:
    values = data.distinct(name)
    return bool(values[0] >= 1 and np.all(np.log2(values) % 1 == 0))


def bounds(
    data: Observations, names: list[str], implied: set[tuple[str, str]]
) -> list[PairRelation]:
    """`a <= c * b` where the bound is reached, without what other bounds imply.

    `implied` holds pairs (a, b) for which a <= b follows from a stronger dependency.
    """
    found: dict[tuple[str, str], PairRelation] = {}
    for a, b in _pairs(data, names):
        pair = _bound(data, a, b)
        if pair is not None:
            found[a, b] = pair
    factors = {key: pair.factor for key, pair in found.items()} | dict.fromkeys(implied, 1.0)
    return [
        pair
        for (a, b), pair in found.items()
        if not ((a, b) in implied and pair.factor >= 1.0)
        and not any(
            (a, m) in factors
            and (m, b) in factors
            and factors[a, m] * factors[m, b] <= pair.factor * (1 + 1e-9)
            for m in names
        )
    ]


def _bound(data: Observations, a: str, b: str) -> PairRelation | None:
    x, y = data.column(a), data.column(b)
    if data.is_outcome(a) or data.is_outcome(b):
        # Factors between what is set and what is measured are never exact.
        early, late = data.sampled(a), data.sampled(b)
        if not everywhere(early <= late, early, late) or not everywhere(x <= y, x, y):
            return None
        factor: float | None = 1.0
    else:
        factor = _factor(x, y)
    if factor is None or data.distinct(a)[-1] <= factor * data.distinct(b)[0]:
        return None  # no bound, or one that the ranges alone imply
    attained = len(np.unique(y[same(x, factor * y) & (y != 0)]))
    if factor != 1.0 and attained < _ATTAINED:
        return None
    units = {p.unit for name in (a, b) if isinstance(p := data.space[name], Number)}
    if attained == 0 and (len(units) > 1 or None in units):
        return None
    within = factor * (1 + TOLERANCE)
    return _significant(
        data, PairRelation("bound", a, b, factor, 0, 0.0), lambda p, q: p <= within * q
    )


def _factor(a: FloatArray, b: FloatArray) -> float | None:
    """The nice c for which a <= c * b is tight; 1 when a <= b and the tight c is not nice."""
    good = np.isfinite(a) & np.isfinite(b)
    a, b = a[good], b[good]
    if len(a) == 0:
        return None
    if np.all(b >= 0) and np.all(a[b == 0] <= 0) and np.any(b > 0):
        tight = float(np.max(a[b > 0] / b[b > 0]))
        factor = nice(tight) if tight > 0 else None
        if factor is not None:
            return factor
    return 1.0 if np.all(a <= b) else None


def _significant(
    data: Observations, pair: PairRelation, holds: Callable[..., BoolArray]
) -> PairRelation | None:
    """The pair with its evidence, or None when it may well be a coincidence."""
    chance = data.chance((pair.a, pair.b), holds)
    combinations = data.combinations((pair.a, pair.b))
    if combinations < _PAIRS or chance > _BROKEN:
        return None
    surprise = data.surprise(pair.a, (pair.b,), holds)
    if surprise > COINCIDENCE:
        return None
    return replace(pair, combinations=combinations, chance=chance, surprise=surprise)
