"""Many changed runs at once, moved the least way until the rules hold again.

What equalities tie to a moved column follows it; bounds give way one column at a time, each move
with all that follows it. Decision 0006 (docs/decisions) says the same of a single run.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from compass.domain.expression import Comparison
from compass.domain.space import Category, Number, Role, Space
from compass.generate.base import Bools, Columns, Floats
from compass.generate.repair import boundaries
from compass.prepare.geometry import Geometry, column_distances
from compass.prepare.legal import legal_mask, legal_values, snap
from compass.rules import Rule
from compass.rules.solve import solve, unfolds

_ROUNDS = 8
_LISTED = 64  # values of a column that are all tried where a rule cannot be solved for it
_NUDGE = 1e-6  # of the range: a real number beside a boundary that `<` excludes


@dataclass(frozen=True, eq=False)
class RepairedRuns:
    """Changed runs with what the rules make move besides."""

    X: Floats  # [n, d]
    obey: Bools  # [n] whether every rule holds that held before the change


def repair_runs(
    space: Space,
    rules: Sequence[Rule],
    geometry: Geometry,
    before: Floats,
    after: Floats,
    changed: Sequence[int],
) -> RepairedRuns:
    """Runs `after` [n, d] a change of the columns `changed`, moved on until rules hold.

    Only a rule that a run obeyed `before` has to hold in it. Labels of the context (machine,
    application) give way only where nothing else can.
    """
    due = np.column_stack([np.ones(len(before), bool), *(rule.holds(before) for rule in rules)])
    repair = _Repair(space, tuple(rules), geometry, before, due[:, 1:], frozenset(changed))
    X = repair.followed(after, np.arange(len(after)), repair.changed)
    numbers = [j for j, p in enumerate(space) if not _names_context(p)]
    for columns in (numbers, range(len(space))):
        X = repair.moved(X, [j for j in columns if j not in repair.changed])
    X = repair.returned(X)
    return RepairedRuns(X, repair.amount(X, np.arange(len(X))) == 0)


def _names_context(parameter: Number | Category) -> bool:
    return isinstance(parameter, Category) and parameter.role is Role.CONTEXT


def forcing_rules(
    rules: Sequence[Rule], before: Floats, plain: Floats, X: Floats, column: int
) -> str | None:
    """The rule that most often makes a column of repaired runs X [n, d] move.

    It breaks when the column goes back; of several, one that the `plain` change breaks comes first.
    """
    rows = np.flatnonzero(X[:, column] != before[:, column])
    back = X[rows].copy()
    back[:, column] = before[rows, column]
    counts: Counter[tuple[bool, str]] = Counter()
    waiting = np.ones(len(rows), dtype=bool)
    broken = [(rule, ~rule.holds(back), ~rule.holds(plain[rows])) for rule in rules]
    for first in (True, False):
        for rule, when_back, at_first in broken:
            here = waiting & when_back & (at_first if first else True)
            counts[first, rule.text] += int(here.sum())
            waiting &= ~here
    most = max(counts, key=lambda key: counts[key], default=None)
    return most[1] if most is not None and counts[most] else None


@dataclass(frozen=True, eq=False)
class _Repair:
    """What stays the same while runs are repaired; rows are positions in `before`."""

    space: Space
    rules: tuple[Rule, ...]
    geometry: Geometry
    before: Floats  # [n, d]
    due: Bools  # [n, r] which rules have to hold
    changed: frozenset[int]

    def amount(self, X: Floats, rows: Columns) -> Floats:
        """By how much runs X [k, d], at these rows, break the rules that have to hold, [k]."""
        total = np.zeros(len(X))
        for r, rule in enumerate(self.rules):
            total += rule.violation(X) * self.due[rows, r]
        return total

    def followed(self, X: Floats, rows: Columns, settled: Iterable[int]) -> Floats:
        """X [k, d] in which equalities have moved what they leave no choice about."""
        X = X.copy()
        for r, column in _followers(self.rules, self.space.names, set(settled)):
            rule = self.rules[r]
            if unfolds(rule.expression, self.space.names[column]):
                broken = self.due[rows, r] & ~rule.holds(X)
                self._solved(X, np.flatnonzero(broken), rule, column)
        return X

    def _solved(self, X: Floats, rows: Columns, rule: Rule, column: int) -> None:
        """Set the column of these rows of X so that the equality holds, where that is legal."""
        names, parameter = self.space.names, self.space.parameters[column]
        if not len(rows) or not isinstance(parameter, Number):
            return
        values = {name: X[rows, names.index(name)] for name in rule.names}
        point = np.array(np.broadcast_to(solve(rule, names[column], values)[0], len(rows)))
        fine = np.isfinite(point) & legal_mask(parameter, point)
        X[rows[fine], column] = snap(parameter, point[fine])

    def moved(self, X: Floats, columns: Sequence[int]) -> Floats:
        """X [n, d] with these columns moved, one after the other, as long as that helps."""
        X = X.copy()
        amount = self.amount(X, np.arange(len(X)))
        rows = np.flatnonzero(amount > 0)
        for _ in range(_ROUNDS):
            if not len(rows):
                break
            better, left = self._best(X[rows], rows, amount[rows], columns)
            helped = left < amount[rows]
            X[rows[helped]], amount[rows[helped]] = better[helped], left[helped]
            rows = rows[helped & (left > 0)]
        return X

    def _best(
        self, X: Floats, rows: Columns, amount: Floats, columns: Sequence[int]
    ) -> tuple[Floats, Floats]:
        """Each row of X [k, d] with its best single move made, and the violation left [k]."""
        best, least = X.copy(), amount.copy()
        cost = np.full(len(X), np.inf)
        broken = [
            rule for r, rule in enumerate(self.rules) if (self.due[rows, r] & ~rule.holds(X)).any()
        ]
        names = self.space.names
        for column in columns:
            about = [rule for rule in broken if names[column] in rule.names]
            for value in self._options(X, about, column) if about else ():
                tried = X.copy()
                tried[:, column] = value
                tried = self.followed(tried, rows, self.changed | {column})
                left = self.amount(tried, rows)
                apart = column_distances(tried, self.before[rows], self.geometry)
                far = apart @ self.geometry.weight
                better = (left < least) | ((left == least) & (left < amount) & (far < cost))
                best[better], least[better], cost[better] = tried[better], left[better], far[better]
        return best, least

    def _options(self, X: Floats, rules: Sequence[Rule], column: int) -> list[Floats]:
        """Legal values [k] to try for a column: on both sides of where the rules turn true."""
        parameter = self.space.parameters[column]
        known = legal_values(parameter, _LISTED)
        solvable = [
            rule
            for rule in rules
            if rule.linear is not None or unfolds(rule.expression, parameter.name)
        ]
        found: list[Floats] = []
        if known is not None and (isinstance(parameter, Category) or len(solvable) < len(rules)):
            found += [np.full(len(X), value) for value in known]
        if isinstance(parameter, Number):
            for point in boundaries(self.space, solvable, X, column):
                found += _beside(parameter, point)
        return found

    def returned(self, X: Floats) -> Floats:
        """X [n, d] with what moved back at its value before the change, where rules allow that."""
        X = X.copy()
        for column in set(range(X.shape[1])) - self.changed:
            rows = np.flatnonzero(X[:, column] != self.before[:, column])
            if not len(rows):
                continue
            back = X[rows].copy()
            back[:, column] = self.before[rows, column]
            back = self.followed(back, rows, self.changed | {column})
            now = column_distances(X[rows], self.before[rows], self.geometry)
            then = column_distances(back, self.before[rows], self.geometry)
            nearer = (then - now) @ self.geometry.weight < 0
            fine = nearer & (self.amount(back, rows) <= self.amount(X[rows], rows))
            X[rows[fine]] = back[fine]
        return X


def _followers(
    rules: Sequence[Rule], names: Sequence[str], settled: set[int]
) -> Iterator[tuple[int, int]]:
    """Equalities in the order in which each leaves one column open, with that column.

    `settled` are the columns whose values are known; those that follow are added to them.
    """
    waiting = [r for r, rule in enumerate(rules) if _is_equality(rule) and len(rule.names) > 1]
    while True:
        for r in waiting:
            columns = {names.index(name) for name in rules[r].names}
            left = columns - settled
            if len(left) == 1:
                break
        else:
            return
        waiting.remove(r)
        settled |= left
        yield r, left.pop()


def _is_equality(rule: Rule) -> bool:
    return isinstance(rule.expression, Comparison) and rule.expression.op == "=="


def _beside(parameter: Number, point: Floats) -> list[Floats]:
    """The legal values at and on both sides of points [k]."""
    if parameter.allowed is not None:
        allowed = np.asarray(parameter.allowed)
        at = np.searchsorted(allowed, point)
        return [allowed[np.clip(at + step, 0, len(allowed) - 1)] for step in (-1, 0, 1)]
    if parameter.step is not None:
        return [snap(parameter, point + step * parameter.step) for step in (-0.5, 0.5)]
    nudge = _NUDGE * max(parameter.high - parameter.low, 1e-12)
    return [snap(parameter, point + step) for step in (-nudge, 0.0, nudge)]
