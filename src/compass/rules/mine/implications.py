"""What one value settles about another column.

`gpu == 'p100' -> power_limit <= 250`, `use_padding == 1 -> block_size_x % 32 != 0`.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from compass.rules.functions import BoolArray, FloatArray
from compass.rules.mine.configurations import Configurations, Counts
from compass.rules.mine.observations import COINCIDENCE, Observations
from compass.rules.mine.possible import Possible

_PREMISE = 32  # columns with more values name things (users, jobs) or measure them
_CONCLUSION = 64  # of columns with more values only limits are looked at
_CONFIGURATIONS = 20  # different configurations with the premise before it counts
_BROKEN = 0.9  # a conclusion that more of the other configurations obey says little
_REACHED = 3  # configurations at which a limit must be reached
_USUAL = 0.25  # they must be this usual, as a share of how usual they are elsewhere
_LABELS = 8  # labels of a conclusion that a person would read
_NUMBERS = 4  # numbers of a conclusion that a person would read
_MULTIPLES = 8  # moduli tried are the common divisor times up to this
_CANDIDATES = 1000  # most surprising ones of which it is worked out whether they add anything
_SURE = math.log(COINCIDENCE)
_OPS = ("==", "<=", ">=", "multiple", "not multiple", "!=", "in")  # simplest first


@dataclass(frozen=True)
class Conclusion:
    """What is said about a column: an operator of `_OPS` and its values."""

    op: str
    values: tuple[float, ...]

    def allows(self, found: FloatArray) -> BoolArray:
        """Which values obey it."""
        first = self.values[0]
        match self.op:
            case "<=":
                return np.asarray(found <= first)
            case ">=":
                return np.asarray(found >= first)
            case "multiple":
                return np.asarray(np.mod(found, first) == 0)
            case "not multiple":
                return np.asarray(np.mod(found, first) != 0)
            case "!=":
                return np.asarray(found != first)
            case _:
                return np.isin(found, self.values)


@dataclass(frozen=True)
class Implication:
    """Where the column `premise` is `given`, the conclusion holds of the column `name`."""

    premise: str
    given: float
    name: str
    conclusion: Conclusion
    configurations: int  # different ones with the premise
    chance: float  # share of the other configurations that obey the conclusion
    surprise: float  # log P of it between unrelated columns


def implications(data: Observations, known: Possible, limit: int) -> list[Implication]:
    """The implications that hold on all rows, most surprising first, at most `limit`.

    Left out is what `known` and the more surprising ones imply. `known` gets those that stay.
    """
    table = Configurations(data)
    found: list[Implication] = []
    for premise in _premises(table):
        for name in table.names:
            if name != premise:
                found += _between(data, table, premise, name)
    found.sort(key=lambda one: (round(one.surprise, 6), *_order(table, one)))
    # What a column settles altogether (the memory of a machine) describes it: what follows from
    # that is left out, but it is told last.
    describing = [one for one in found if table.determines(one.premise, one.name)]
    others = [one for one in found if not table.determines(one.premise, one.name)]
    described = _added(table, known, describing, limit)
    return [*_added(table, known, others, limit), *described][:limit]


def _added(
    table: Configurations, known: Possible, found: list[Implication], limit: int
) -> list[Implication]:
    """Those, at most `limit`, that are no accident and say more than `known`, which learns them."""
    kept: list[Implication] = []
    for one in found[:_CANDIDATES]:
        if len(kept) == limit:
            break
        surprise = _unexplained(table, one) if _adds(known, one) else 0.0
        if surprise <= _SURE:
            _learn(known, one)
            kept.append(replace(one, surprise=surprise))
    return kept


def _order(table: Configurations, one: Implication) -> tuple[bool, int]:
    """Of two that say the same, that on a label reads better, then the simpler one."""
    return one.premise not in table.categories, _OPS.index(one.conclusion.op)


def _premises(table: Configurations) -> list[str]:
    """Columns with few values that are not another one under different labels."""
    kept: list[str] = []
    for name in table.names:
        if table.size(name) > _PREMISE:
            continue
        if not any(table.determines(name, k) and table.determines(k, name) for k in kept):
            kept.append(name)
    return kept


def _adds(known: Possible, one: Implication) -> bool:
    """Whether it says more than what is known."""
    left = known.beside(one.premise, one.given).get(one.name)
    legal = one.conclusion.allows(known.values[one.name])
    return left is None or bool((left & ~legal).any())


def _learn(known: Possible, one: Implication) -> None:
    def holds(columns: dict[str, FloatArray]) -> BoolArray:
        apart = columns[one.premise] != one.given
        return np.asarray(apart | one.conclusion.allows(columns[one.name]))

    known.add((one.premise, one.name), holds)


def _between(
    data: Observations, table: Configurations, premise: str, name: str
) -> Iterator[Implication]:
    """The implications from values of one column on another."""
    number = name not in table.categories
    if table.size(name) <= _CONCLUSION:
        values, counts = table.values[name], table.counts(premise, name)
    elif number:
        values, counts = _parted(table, premise, name)
    else:
        return
    inside, total = counts.sum(axis=1), counts.sum(axis=0)
    outside = inside.sum() - inside
    never = ((counts == 0) * total).sum(axis=1)
    worth = (inside >= _CONFIGURATIONS) & (never > 0)
    worth &= table.log_chance(inside, outside, never) <= _SURE
    for place in np.flatnonzero(worth):
        options = [*_conclusions(data, table, name, table.codes[premise] == place)]
        for conclusion, chance, surprise in _best(
            table, values, counts[place], total - counts[place], options
        ):
            value = float(table.values[premise][place])
            evidence = int(inside[place]), chance, surprise
            yield Implication(premise, value, name, conclusion, *evidence)


def _parted(table: Configurations, premise: str, name: str) -> tuple[FloatArray, Counts]:
    """A column of many values in parts, cut where its values beside a premise begin and end.

    The lowest value of each part, and how many configurations have it beside each premise.
    """
    whose, codes = table.codes[premise], table.codes[name]
    present = (codes < table.size(name)) & (whose < table.size(premise))
    whose, codes = whose[present], codes[present]
    low = np.full(table.size(premise), table.size(name))
    high = np.full(table.size(premise), -1)
    np.minimum.at(low, whose, codes)
    np.maximum.at(high, whose, codes)
    some = high >= 0
    edges = np.unique(np.concatenate([[0], low[some], high[some] + 1]))
    edges = edges[edges < table.size(name)]
    part = np.searchsorted(edges, codes, side="right") - 1
    counts = np.bincount(whose * len(edges) + part, minlength=table.size(premise) * len(edges))
    return table.values[name][edges], counts.reshape(-1, len(edges))


def _conclusions(
    data: Observations, table: Configurations, name: str, given: BoolArray
) -> Iterator[Conclusion]:
    """What can be said of a column's values in these configurations."""
    everything, codes = table.values[name], table.codes[name]
    inside, outside = (
        np.bincount(codes[some], minlength=len(everything) + 1)[: len(everything)]
        for some in (given, ~given)
    )
    seen = everything[inside > 0]
    if len(seen) == 1:
        yield Conclusion("==", (float(seen[0]),))
        return
    number, size = name not in table.categories, len(everything)
    if number:
        for op, limit in (("<=", seen[-1]), (">=", seen[0])):
            one = Conclusion(op, (float(limit),))
            if _cuts_off(inside, outside, one.allows(everything), everything == limit):
                yield one
    if size > _CONCLUSION:
        return
    if number and data.whole(name) and everything[0] >= 1:
        yield from _divisors(table, name, seen)
    if not number and size - len(seen) == 1:
        yield Conclusion("!=", (float(np.setdiff1d(everything, seen)[0]),))
        return
    short = 3 * len(seen) <= size and len(seen) <= _NUMBERS if number else len(seen) <= _LABELS
    if short and _cuts_off(inside, outside, inside > 0, inside > 0):
        yield Conclusion("in", tuple(float(value) for value in seen))


def _cuts_off(inside: Counts, outside: Counts, legal: BoolArray, last: BoolArray) -> bool:
    """Whether the last values that are allowed are about as usual as they are elsewhere.

    A rule cuts off what it forbids. Where values merely become rare, the next row may go further.
    """
    there, here = outside[legal].sum(), inside.sum()
    usual = here * outside[last] / max(there, 1)
    return bool(np.all(inside[last] >= np.maximum(_REACHED, _USUAL * usual)))


def _divisors(table: Configurations, name: str, seen: FloatArray) -> Iterator[Conclusion]:
    """Whole numbers that divide all values that are seen, or none of them.

    They have to tell (nearly) all values that are not seen from those that are. All are positive.
    """
    everything = table.values[name]
    usual, common = (int(np.gcd.reduce(v.astype(np.int64))) for v in (everything, seen))
    options = [Conclusion("multiple", (float(common),))] if common > usual else []
    options += [
        Conclusion("not multiple", (float(usual * times),)) for times in range(2, _MULTIPLES + 1)
    ]
    often = np.bincount(table.codes[name], minlength=len(everything) + 1)[: len(everything)]
    unseen = ~np.isin(everything, seen)
    for one in options:
        allowed = one.allows(everything)
        if min(len(seen), int(np.sum(~allowed))) < _REACHED:
            continue  # two values that happen to have a divisor
        if allowed[~unseen].all() and often[allowed & unseen].sum() <= 0.1 * often[unseen].sum():
            yield one


def _best(
    table: Configurations,
    values: FloatArray,
    inside: Counts,
    outside: Counts,
    options: list[Conclusion],
) -> Iterator[tuple[Conclusion, float, float]]:
    """The most surprising conclusion, and a second one that is surprising beside it.

    With each the share of the other configurations that obey it, and log P.
    """
    within, open_to = int(inside.sum()), np.ones(len(values), dtype=np.bool_)
    for _ in range(2):
        rated = []
        apart = int(outside[open_to].sum())
        for one in options:
            broken = int(outside[open_to & ~one.allows(values)].sum())
            surprise = float(table.log_chance(within, apart, broken)) + _choices(one, values)
            rated.append((surprise, _OPS.index(one.op), one, broken))
        if not rated:
            return
        surprise, _, one, broken = min(rated, key=lambda r: r[:2])
        if surprise > _SURE or broken < (1 - _BROKEN) * apart:
            return
        yield one, 1 - broken / apart, surprise
        open_to &= one.allows(values)
        options.remove(one)


def _choices(one: Conclusion, values: FloatArray) -> float:
    """log of how many sets of so many values there are: one of them always fits."""
    if one.op not in ("in", "not multiple"):
        return 0.0
    if one.op == "not multiple":
        return math.log(_MULTIPLES)
    return math.log(math.comb(len(values), len(one.values)))


def _unexplained(table: Configurations, one: Implication) -> float:
    """log P of it among configurations that agree in a third column; of the worst such column.

    Where each network has its optimizer and its batch sizes, many configurations of few networks
    say little about optimizer and batch size: within a network nothing is left to be surprised at.
    """
    worst = max(one.surprise, _drawn(table, one))
    premise, name = table.some(one.premise), table.some(one.name)
    legal = np.append(one.conclusion.allows(table.values[one.name]), True)
    present = (premise < table.size(one.premise)) & (name < table.size(one.name))
    within = table.values[one.premise][premise[present]] == one.given
    broken = ~legal[name[present]]
    for other in table.names:
        strata = table.strata(other)
        if strata is None or other in (one.premise, one.name) or _same(table, one, other):
            continue
        key = strata[present]
        inside = np.bincount(key, within)
        size, wrong = np.bincount(key), np.bincount(key, broken)
        counts = (inside, size - inside, wrong)
        parts = table.log_chance(*(c.astype(np.int64) for c in counts))
        worst = max(worst, float(parts.sum()))
    return worst


def _drawn(table: Configurations, one: Implication) -> float:
    """log P of it, each value of the conclusion's column counted once, where it has one premise.

    That the subjects 2, 10 and 14 are all those of 58 years says no more than that there are three.
    """
    if not table.determines(one.name, one.premise) or table.determines(one.premise, one.name):
        return -math.inf
    _, first = np.unique(table.codes[one.name], return_index=True)
    first = first[table.codes[one.name][first] < table.size(one.name)]
    whose = table.codes[one.premise][first]
    within = whose == np.searchsorted(table.values[one.premise], one.given)
    broken = ~one.conclusion.allows(table.values[one.name][table.codes[one.name][first]])
    inside = int(within.sum())
    return float(table.log_chance(inside, len(first) - inside, int(broken.sum())))


def _same(table: Configurations, one: Implication, other: str) -> bool:
    """Whether a third column follows from the premise's, or is the conclusion's by another name."""
    if table.determines(one.premise, other):
        return True
    return table.determines(one.name, other) and table.determines(other, one.name)
