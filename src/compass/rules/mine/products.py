"""Dependencies between products of whole-number columns."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations, product
from math import comb, prod

import numpy as np

from compass.rules.functions import BoolArray, FloatArray
from compass.rules.mine.observations import COINCIDENCE, Observations, everywhere, nice, same

_VALUES = 256  # columns with more different values are measurements, not choices
_LARGEST = 5  # columns in one relation
_CANDIDATES = 200_000  # exponent patterns tried
_TUPLES = 8  # different combinations before a relation counts
_GRID = 64  # different values of columns whose products are tried as divisors
_FEW = 4  # values that a product of two columns may be confined to


@dataclass(frozen=True)
class ProductRelation:
    """`product of left == factor * product of right`, or `product of left in values`."""

    left: tuple[str, ...]
    right: tuple[str, ...]
    factor: float
    values: tuple[float, ...]
    combinations: int
    chance: float
    surprise: float = 1.0  # P of it between unrelated columns


def choices(data: Observations, names: list[str]) -> list[str]:
    """The columns that can be factors: positive whole numbers with few different values."""
    return [
        name
        for name in names
        if not data.is_outcome(name)
        and len(data.distinct(name)) <= _VALUES
        and data.distinct(name)[0] >= 1
        and data.whole(name)
    ]


def products(data: Observations, names: list[str]) -> list[ProductRelation]:
    """Relations such as P * Q * R == ppn * nodes, each not implied by the shorter ones."""
    factors = choices(data, names)
    spread = _log_spread(data, factors)
    if spread is None:
        return []
    keep = _participants(spread)
    factors = [name for name, used in zip(factors, keep, strict=True) if used]
    spread = spread[:, keep]
    found: list[ProductRelation] = []
    basis: list[FloatArray] = []
    for pattern in _patterns(spread):
        stacked = np.array([*basis, pattern])
        if np.linalg.matrix_rank(stacked) <= len(basis):
            continue
        relation = _confirmed(data, factors, pattern)
        if relation is not None:
            found.append(relation)
            basis.append(pattern)
    return found


def _log_spread(data: Observations, factors: list[str]) -> FloatArray | None:
    """Logarithms on the sample against their first row: relations are constant there."""
    if len(factors) < 2:
        return None
    logs = np.log(np.column_stack([data.sampled(name) for name in factors]))
    logs = logs[np.isfinite(logs).all(axis=1)]
    return logs - logs[0] if len(logs) > 1 else None


def _participants(spread: FloatArray) -> BoolArray:
    """The columns that take part in some multiplicative relation on the sample."""
    _, sizes, rows = np.linalg.svd(spread, full_matrices=True)
    rank = int(np.sum(sizes > 1e-9 * max(1.0, float(sizes[0]))))
    null = rows[rank:]
    return np.asarray(np.abs(null).max(axis=0, initial=0.0) > 1e-9)


def _patterns(spread: FloatArray) -> list[FloatArray]:
    """Exponents in {-1, 0, 1} whose product is constant on the sample, shortest first."""
    count = spread.shape[1]
    found: list[FloatArray] = []
    budget = _CANDIDATES
    for size in range(2, min(_LARGEST, count) + 1):
        signs = np.array([(1.0, *rest) for rest in product((1.0, -1.0), repeat=size - 1)])
        budget -= comb(count, size) * len(signs)
        if budget < 0:
            break
        for columns in combinations(range(count), size):
            constant = np.abs(spread[:, columns] @ signs.T).max(axis=0) < 1e-9
            for sign in signs[constant]:
                pattern = np.zeros(count)
                pattern[list(columns)] = sign
                found.append(pattern)
    return found


def _confirmed(
    data: Observations, factors: list[str], pattern: FloatArray
) -> ProductRelation | None:
    left = [name for name, e in zip(factors, pattern, strict=True) if e > 0]
    right = [name for name, e in zip(factors, pattern, strict=True) if e < 0]
    if len(left) < len(right):
        left, right = right, left
    names = [*left, *right]
    good = data.present(names)
    if not good.any():
        return None
    first = int(np.argmax(good))
    top, bottom = _times(data, left), _times(data, right)
    factor = nice(float(top[first] / bottom[first]))
    if factor is None:
        return None
    if not everywhere(same(top, factor * bottom), top, bottom):
        return None

    def holds(*drawn: FloatArray) -> BoolArray:
        above, below = prod(drawn[: len(left)]), factor * prod(drawn[len(left) :])
        return same(np.asarray(above), np.asarray(below))

    return _significant(data, ProductRelation(tuple(left), tuple(right), factor, (), 0, 0.0), holds)


def _times(data: Observations, names: list[str]) -> FloatArray:
    total = np.ones(len(data.X))
    for name in names:
        total = total * data.column(name)
    return total


def confined(
    data: Observations, names: list[str], known: list[ProductRelation]
) -> list[ProductRelation]:
    """Products of two columns that take only a few values, such as ppn * threads in {64, 128}."""
    constant = {frozenset(relation.left) for relation in known if not relation.right}
    found = []
    for a, b in combinations(choices(data, names), 2):
        if frozenset((a, b)) in constant:
            continue
        seen = np.unique(data.sampled(a) * data.sampled(b))
        if len(seen) > _FEW + 1:  # NaN may be one of them
            continue
        seen = np.unique(data.column(a) * data.column(b))
        seen = seen[np.isfinite(seen)]
        free = np.unique(np.outer(data.distinct(a), data.distinct(b)))
        if not 1 < len(seen) <= _FEW or 3 * len(seen) > len(free):
            continue
        values = tuple(float(value) for value in seen)

        def holds(p: FloatArray, q: FloatArray, values: tuple[float, ...] = values) -> BoolArray:
            return np.isin(p * q, values)

        relation = _significant(data, ProductRelation((a, b), (), 1.0, values, 0, 0.0), holds)
        if relation is not None:
            found.append(relation)
    return found


def multiples_of_products(
    data: Observations, names: list[str], known: list[ProductRelation]
) -> list[ProductRelation]:
    """`a % (b * c) == 0`, where that says more than a % b == 0 and a % c == 0."""
    few = [name for name in choices(data, names) if len(data.distinct(name)) <= _GRID]
    implied = {
        (relation.right[0], frozenset(pair))
        for relation in known
        if len(relation.right) == 1 and relation.factor == 1.0
        for pair in combinations(relation.left, 2)
    }
    found = []
    for b, c in combinations(few, 2):
        divisor = data.sampled(b) * data.sampled(c)
        for a in few:
            if a in (b, c) or (a, frozenset((b, c))) in implied:
                continue
            if not everywhere(np.mod(data.sampled(a), divisor) == 0, data.sampled(a), divisor):
                continue
            relation = _multiple(data, a, b, c)
            if relation is not None:
                found.append(relation)
    return found


def _multiple(data: Observations, a: str, b: str, c: str) -> ProductRelation | None:
    x, divisor = data.column(a), data.column(b) * data.column(c)
    if not everywhere(np.mod(x, divisor) == 0, x, divisor):
        return None

    def legal(p: FloatArray, q: FloatArray, r: FloatArray) -> BoolArray:
        return np.asarray(np.mod(p, q * r) == 0)

    def apart(p: FloatArray, q: FloatArray, r: FloatArray) -> BoolArray:
        return np.asarray((np.mod(p, q) == 0) & (np.mod(p, r) == 0))

    count = data.combinations((a, b, c))
    surprise = data.surprise(a, (b, c), legal, given=apart)
    if count < _TUPLES or surprise > COINCIDENCE:
        return None
    return ProductRelation((a,), (b, c), 1.0, (), count, data.chance((a, b, c), legal), surprise)


def _significant(
    data: Observations, relation: ProductRelation, holds: Callable[..., BoolArray]
) -> ProductRelation | None:
    """The relation with its evidence, or None when it may well be a coincidence."""
    names = (*relation.left, *relation.right)
    count = data.combinations(names)
    chance = data.chance(names, holds)
    pair = len(names) == 2
    unlikely = data.surprise(names[0], names[1:], holds) if pair else chance**count
    if count < _TUPLES or unlikely > COINCIDENCE:
        return None
    return replace(relation, combinations=count, chance=chance, surprise=unlikely)
