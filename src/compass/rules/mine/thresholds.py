"""Rules of number columns whose chance to be an accident is exact: see `shuffled`.

`a * b <= 1024`, `a * b >= 32`, `a * b * c <= 4096`, `(a * b) % 32 == 0`, `a > 16 -> b <= 4`, and
`not (a == 1 and b == 8)`.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from compass.rules.functions import BoolArray, FloatArray
from compass.rules.mine.configurations import Configurations, Counts
from compass.rules.mine.observations import Observations
from compass.rules.mine.possible import Possible
from compass.rules.mine.products import choices
from compass.rules.mine.shuffled import log_accident_of_least, log_accident_of_limit

ACCIDENT = 1e-3  # a rule must be less likely than this to be one of all tried that hold by accident
_USUAL_FORM = 0.05  # the same for forms that machines are known to have
_POWERS = frozenset(2**k for k in range(4, 17))  # threads per block, lanes of a warp, bytes
_COLUMNS = 16  # number columns that are looked at
_VALUES = 64  # different values of each
_ATTAINED = 2  # different values at which a limit must be reached
_CONFIGURATIONS = 16  # different configurations before anything counts
_BOTH = 5  # configurations on each side of a rule on two values
_REACHED = 3  # configurations at which a threshold must be reached
_OFTEN = 0.25  # they must be this usual, as a share of how usual they are elsewhere
_MOST = 12  # rules of one form that are told, the surest first


@dataclass(frozen=True)
class ThresholdRule:
    """A rule on number columns with what speaks for it; `form` says how it reads.

    limit: product of names <= value. least: product >= value. lanes: product % value == 0.
    step: names[0] `above` (else `<=`) given -> names[1] <= (`upper`, else >=) value.
    never: names[0] == given and names[1] == value are not together.
    """

    form: str
    names: tuple[str, ...]
    value: float
    configurations: int
    chance: float  # share of shuffled configurations that obey it
    surprise: float  # log P of it between unrelated columns
    given: float = 0.0
    above: bool = True
    upper: bool = True

    def holds(self, columns: dict[str, FloatArray]) -> BoolArray:
        """Which rows obey it."""
        first = columns[self.names[0]]
        match self.form:
            case "step":
                premise = first > self.given if self.above else first <= self.given
                then = columns[self.names[1]]
                return np.asarray(
                    ~premise | (then <= self.value if self.upper else then >= self.value)
                )
            case "never":
                return np.asarray((first != self.given) | (columns[self.names[1]] != self.value))
        total = first
        for name in self.names[1:]:
            total = total * columns[name]
        if self.form == "limit":
            return np.asarray(total <= self.value)
        if self.form == "least":
            return np.asarray(total >= self.value)
        return np.asarray(np.mod(total, self.value) == 0)


def product_rules(
    data: Observations,
    names: list[str],
    known: Possible,
    tried: "Tried",
    related: Sequence[frozenset[str]],
) -> list[ThresholdRule]:
    """The limits and divisors of products that hold on all rows and are no accident.

    `tried` rules were looked at. Left out is what `known` and the surer ones imply, and products
    of columns that stronger relations (`related`) settle. `known` gets those that stay.
    """
    table = Configurations(data)
    if table.count < _CONFIGURATIONS:
        return []
    factors = [n for n in choices(data, names) if n in table.names and table.size(n) <= _VALUES]
    found = [
        one
        for one in _products(table, factors[:_COLUMNS])
        if not any(len(group & {*one.names}) > 1 for group in related)
    ]
    return _kept(found, known, tried.products)


def step_rules(
    data: Observations,
    names: list[str],
    known: Possible,
    tried: "Tried",
    related: Sequence[frozenset[str]],
) -> list[ThresholdRule]:
    """Thresholds on which others depend and pairs of values never seen together, no accidents.

    Left out is what `known` implies, which gets those that stay, and columns that follow from each
    other or that stronger relations (`related`) settle.
    """
    table = Configurations(data)
    if table.count < _CONFIGURATIONS:
        return []
    numbers = [n for n in names if n in table.names and table.size(n) <= _VALUES][:_COLUMNS]
    pairs = [
        (a, b)
        for a, b in combinations(numbers, 2)
        if not (table.determines(a, b) or table.determines(b, a))
        and not any({a, b} <= group for group in related)
    ]
    found = [*_steps(table, pairs), *_exclusions(table, pairs)]
    sure = math.log(ACCIDENT) - math.log(tried.implications)
    fine = [one for one in found if _explained(table, one) <= sure]
    return _kept(fine, known, tried.implications)


def _kept(found: Iterable[ThresholdRule], known: Possible, tried: int) -> list[ThresholdRule]:
    kept: list[ThresholdRule] = []
    for one in sorted(found, key=lambda one: (len(one.names), one.surprise)):
        usual = one.form in ("limit", "least", "lanes") and one.value in _POWERS
        limit = math.log(_USUAL_FORM if usual else ACCIDENT)
        few = sum(other.form == one.form for other in kept) < _MOST
        if few and one.surprise + math.log(tried) <= limit and _adds(known, one):
            known.add(one.names, one.holds)
            kept.append(one)
    return sorted(kept, key=lambda one: one.surprise)


def _adds(known: Possible, one: ThresholdRule) -> bool:
    """Whether it forbids values that are possible together so far."""
    shape = [-1 if i == 0 else 1 for i in range(len(one.names))]
    grid = {n: known.values[n].reshape(np.roll(shape, i)) for i, n in enumerate(one.names)}
    possible = ~one.holds(grid)
    for (i, a), (j, b) in combinations(enumerate(one.names), 2):
        pair = known.together(a, b)
        place = [
            pair.shape[0] if k == i else pair.shape[1] if k == j else 1 for k in range(len(shape))
        ]
        possible = possible & pair.reshape(place)
    return bool(possible.any())


def _explained(table: Configurations, one: ThresholdRule) -> float:
    """log P of a rule of two columns within the configurations that agree in a third column.

    Of the column that explains most of it; infinite where a value merely becomes rare.
    """
    a, b = (_column(table, name) for name in one.names)
    present = np.isfinite(a) & np.isfinite(b)
    within, wrong = _sides(one, a, b)
    if one.form == "step" and not (_cut_off(b, within, wrong) and _cut_off(a, wrong, within)):
        return math.inf
    worst = one.surprise
    for other in table.names:
        strata = table.strata(other)
        if strata is None or other in one.names or len(strata) != len(a):
            continue
        if any(table.determines(name, other) for name in one.names):
            continue
        key = strata[present]
        size, inside = np.bincount(key), np.bincount(key, within[present]).astype(np.int64)
        broken = np.bincount(key, wrong[present]).astype(np.int64)
        worst = max(worst, float(table.log_chance(inside, size - inside, broken).sum()))
    return worst


def _sides(one: ThresholdRule, a: FloatArray, b: FloatArray) -> tuple[BoolArray, BoolArray]:
    """Which configurations have the premise, and which would break the conclusion."""
    if one.form == "never":
        return a == one.given, b == one.value
    within = a > one.given if one.above else a <= one.given
    return within, (b > one.value if one.upper else b < one.value)


def _cut_off(column: FloatArray, within: BoolArray, wrong: BoolArray) -> bool:
    """Whether the last value that is allowed is about as usual within as among the others."""
    fine = np.isfinite(column) & ~wrong
    edge = column[fine & within]
    last = edge[np.argmin(np.abs(edge - np.median(column[wrong])))]
    there, here = float(np.sum(fine & ~within)), float(np.sum(fine & within))
    usual = here * float(np.sum(column[fine & ~within] == last)) / max(there, 1.0)
    return bool(np.sum(edge == last) >= max(_REACHED, _OFTEN * usual))


def _column(table: Configurations, name: str) -> FloatArray:
    """The values of a column in the different configurations, NaN where missing."""
    return np.append(table.values[name], np.nan)[table.codes[name]]


def _products(table: Configurations, factors: list[str]) -> Iterator[ThresholdRule]:
    """Limits of products of two and three columns, and what divides those of two."""
    columns = {name: _column(table, name) for name in factors}
    for size in (2, 3):
        for names in combinations(factors, size):
            values = np.array([columns[name] for name in names])
            values = values[:, np.isfinite(values).all(axis=0)]
            if values.shape[1] >= _CONFIGURATIONS:
                yield from _ends_of_product(names, values)
    for names in combinations(factors, 2):
        values = np.array([columns[name] for name in names])
        values = values[:, np.isfinite(values).all(axis=0)]
        if values.shape[1] >= _CONFIGURATIONS:
            yield from _lanes(names, values)


def _ends_of_product(names: tuple[str, ...], values: FloatArray) -> Iterator[ThresholdRule]:
    """The largest and the smallest product of columns [k, n], where several values reach them."""
    total = values.prod(axis=0)
    lows, highs = values.min(axis=1), values.max(axis=1)
    for form, end, extreme in (
        ("limit", float(total.max()), float(highs.prod())),
        ("least", float(total.min()), float(lows.prod())),
    ):
        far = 2 * end <= extreme if form == "limit" else end >= 2 * extreme
        reached = np.unique(values[0][total == end])
        if not far or len(reached) < _ATTAINED:
            continue
        accident = log_accident_of_limit if form == "limit" else log_accident_of_least
        # Each column in turn is shuffled beside the product of the others; the least sure counts.
        surprise = max(accident(values[j], total / values[j], end) for j in range(len(names)))
        evidence = values.shape[1], _share(values, form, end), surprise
        yield ThresholdRule(form, names, end, *evidence)


def _lanes(names: tuple[str, ...], values: FloatArray) -> Iterator[ThresholdRule]:
    """The power of two that divides all products of two columns [2, n], if it says anything."""
    powers = np.array([_power_of_two(row) for row in values])
    least = float(powers.prod(axis=0).min())
    if least >= 2 * float(powers.min(axis=1).prod()):
        surprise = log_accident_of_least(powers[0], powers[1], least)
        evidence = values.shape[1], _share(powers, "least", least), surprise
        yield ThresholdRule("lanes", names, least, *evidence)


def _power_of_two(values: FloatArray) -> FloatArray:
    """The largest power of two that divides each whole number."""
    whole = values.astype(np.int64)
    return np.asarray(whole & -whole, dtype=np.float64)


def _share(values: FloatArray, form: str, end: float) -> float:
    """The share of all combinations of the columns' values [k, n] that obey a limit."""
    total = np.ones(1)
    for row in values:
        total = (total[:, None] * np.unique(row)[None, :]).ravel()
    return float(np.mean(total <= end if form == "limit" else total >= end))


def _steps(table: Configurations, pairs: list[tuple[str, str]]) -> Iterator[ThresholdRule]:
    """For two columns and each way that a threshold can lie, the most surprising pair of them.

    `b > u -> a <= t` says the same as `a > t -> b <= u`.
    """
    for a, b in pairs:
        for above, upper in product((True, False), repeat=2):
            one = _step(table, a, b, table.counts(a, b), (above, upper))
            if one is not None:
                yield one


def _step(
    table: Configurations, a: str, b: str, counts: Counts, ways: tuple[bool, bool]
) -> ThresholdRule | None:
    """`a > t -> b <= u`, turned as `ways` says, with the t and u of which the chance is least."""
    above, upper = ways
    turned = counts[::-1] if above else counts
    turned = turned if upper else turned[:, ::-1]
    # Premises are the first rows of `turned`, conclusions the first columns.
    inside = np.cumsum(turned.sum(axis=1))[:-1]
    total = int(turned.sum())
    beyond = total - np.cumsum(turned.sum(axis=0))[:-1]
    within = np.cumsum(np.cumsum(turned, axis=0), axis=1)[:-1, :-1]
    holds = (within == inside[:, None]) & (inside[:, None] >= _BOTH) & (beyond[None, :] >= _BOTH)
    if not holds.any():
        return None
    p, c = np.nonzero(holds)
    rated = table.log_chance(inside[p], total - inside[p], beyond[c])
    best = int(np.argmin(rated))
    row, column = int(p[best]), int(c[best])
    rows, columns = table.values[a], table.values[b]
    given = rows[len(rows) - 2 - row] if above else rows[row]
    value = columns[column] if upper else columns[len(columns) - 1 - column]
    share = 1 - float(beyond[column]) / total
    evidence = int(inside[row]), share, float(rated[best])
    return ThresholdRule("step", (a, b), float(value), *evidence, float(given), above, upper)


def _exclusions(table: Configurations, pairs: list[tuple[str, str]]) -> Iterator[ThresholdRule]:
    """Single pairs of values of two columns that are never together, though those around are."""
    for a, b in pairs:
        counts = table.counts(a, b)
        of_a, of_b = counts.sum(axis=1), counts.sum(axis=0)
        total = int(counts.sum())
        expected = np.multiply.outer(of_a, of_b) / max(total, 1)
        usual = counts >= _OFTEN * expected
        often = (of_a[:, None] >= _BOTH) & (of_b[None, :] >= _BOTH)
        for i, j in np.argwhere((counts == 0) & often):
            around = np.append(usual[max(i - 1, 0) : i + 2, j], usual[i, max(j - 1, 0) : j + 2])
            if (~around).sum() > 2:  # itself, once in each direction
                continue
            surprise = float(table.log_chance(of_a[i], total - of_a[i], of_b[j]))
            values = float(table.values[b][j]), int(of_a[i]), 1 - float(of_b[j]) / total, surprise
            yield ThresholdRule("never", (a, b), *values, given=float(table.values[a][i]))


@dataclass(frozen=True)
class Tried:
    """What the chance of an accident is multiplied by, for each family of rules (Bonferroni).

    The families share alike what may go wrong: a product of block sizes does not pay for the many
    implications that are looked at beside it.
    """

    relations: int  # ratios, bounds and divisors among two or three columns
    products: int  # both ends of products of two and three columns, and what divides them
    implications: int  # what a value or a threshold says of another column; exclusions

    @classmethod
    def of(cls, data: Observations) -> "Tried":
        """How many rules mining looks at in a table, times the number of families."""
        names, d = [*data.numbers, *data.categories], len(data.numbers)
        sizes = np.array([min(len(data.distinct(name)), _VALUES) for name in names])
        pairs = int(sizes.sum() ** 2 - (sizes**2).sum())  # of values of ordered pairs of columns
        counts = (
            3 * d * (d - 1) + d * math.comb(d, 2),
            3 * math.comb(d, 2) + 2 * math.comb(d, 3),
            6 * pairs,  # equal, other, divisible; thresholds on either side
        )
        return cls(*(max(1, len(counts) * count) for count in counts))

    def beside(self, kind: str) -> int:
        """For a kind of rule."""
        if kind in ("implication", "exclusion"):
            return self.implications
        return self.products if kind == "product" else self.relations
