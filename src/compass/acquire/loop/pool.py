"""The legal configurations that a loop chooses from.

Where there are few enough, all of them; else legal draws and the one-change neighbours of good
configurations, made anew at every ask.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from compass.domain.space import Number, Space
from compass.prepare.legal import legal_mask, snap
from compass.rules import (
    Domain,
    Rule,
    components,
    domains_of,
    explain_conflict,
    legal_tuples,
    propagate,
)
from compass.rules.solve import solvable, solve

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Places = NDArray[np.int64]
Rng = np.random.Generator

_VALUES = 64  # of one parameter, that a neighbour may change to
_ROUNDS = 60  # draws of a group of parameters before what was found is all
_DIGITS = 4  # of numbers without a grid


@dataclass(frozen=True, eq=False)
class Group:
    """Parameters that rules tie together, with every legal combination where there are few."""

    names: tuple[str, ...]
    columns: Places
    rules: tuple[Rule, ...]  # those among these parameters
    table: Floats | None  # [t, columns] in order; None: too many


@dataclass(frozen=True, eq=False)
class Pool:
    """The legal configurations of a space under its rules."""

    space: Space
    rules: tuple[Rule, ...]
    domains: tuple[Domain, ...]  # per column, tightened by the rules
    groups: tuple[Group, ...]
    X: Floats  # [m, d] every legal configuration, in order; none where there are too many
    complete: bool

    @classmethod
    def of(cls, space: Space, rules: Sequence[Rule], limit: int) -> "Pool":
        """All legal configurations if there are at most `limit`, else what draws need."""
        names = space.names
        tight = propagate(rules, domains_of(space, names), {})
        groups = tuple(_group(space, rules, tight, own, limit) for own in components(rules, names))
        for group in groups:
            if group.table is not None and not len(group.table):
                raise explain_conflict(group.rules, {n: tight[n] for n in group.names}, {})
        domains = tuple(tight[name] for name in names)
        count = 1.0
        for group in groups:
            count *= np.inf if group.table is None else len(group.table)
        complete = count <= limit
        X = _product(groups, len(names)) if complete else np.empty((0, len(names)))
        return cls(space, tuple(rules), domains, groups, X, complete)

    @cached_property
    def _marks(self) -> tuple[NDArray[np.uint64], Places]:
        marks = _marks(self.X)
        order = np.argsort(marks, kind="stable")
        return marks[order], order

    def find(self, X: Floats) -> Places:
        """Where configurations X [n, d] stand in the pool; -1: not there."""
        marks, order = self._marks
        if not len(marks):
            return np.full(len(X), -1, dtype=np.int64)
        wanted = _marks(X)
        at = np.minimum(np.searchsorted(marks, wanted), len(marks) - 1)
        found = np.where((self.X[order[at]] == X).all(axis=1), order[at], -1)
        # Different configurations with one mark stand side by side.
        for row in np.flatnonzero((found < 0) & (marks[at] == wanted)):
            same = order[marks == wanted[row]]
            fits = same[(self.X[same] == X[row]).all(axis=1)]
            found[row] = fits[0] if len(fits) else -1
        return np.asarray(found)

    def legal(self, X: Floats) -> Bools:
        """Which configurations X [n, d] have legal values and obey the rules."""
        fine = np.ones(len(X), dtype=np.bool_)
        for column, parameter in enumerate(self.space):
            fine &= legal_mask(parameter, X[:, column])
        for rule in self.rules:
            fine[fine] = rule.holds(X[fine])
        return fine

    def draws(self, n: int, rng: Rng) -> Floats:
        """Up to n distinct legal configurations from anywhere, [k, d]."""
        if self.complete:
            return np.asarray(self.X[rng.permutation(len(self.X))[:n]])
        X = np.empty((n, len(self.space)))
        for group in self.groups:
            if group.table is not None:
                X[:, group.columns] = group.table[rng.integers(len(group.table), size=n)]
                continue
            found = self._drawn(group, n, rng)
            if not len(found):
                return np.empty((0, len(self.space)))
            X[:, group.columns] = found[np.arange(n) % len(found)]
        return distinct(X)

    def neighbours(self, x: Floats, rng: Rng) -> Floats:
        """Legal configurations [k, d] that differ from x [d] in one parameter.

        Where rules tie parameters by an equality, in that parameter and those that follow from it.
        """
        if self.complete:
            return np.asarray(self.X[self.neighbour_places(x)])
        found = []
        for column, domain in enumerate(self.domains):
            values = _values(self.space.parameters[column], domain, x[column], rng)
            moved = np.repeat(x[None, :], len(values), axis=0)
            moved[:, column] = values
            found.append(self._followed(moved, column))
        X = np.concatenate(found)
        X = X[(x != X).any(axis=1)]
        return distinct(X[self.legal(X)])

    def neighbour_places(self, x: Floats) -> Places:
        """Positions in a complete pool of what differs from x [d] in one parameter."""
        moved = []
        for column, domain in enumerate(self.domains):
            assert domain.values is not None
            own = np.repeat(x[None, :], len(domain.values), axis=0)
            own[:, column] = domain.values
            moved.append(own[domain.values != x[column]])
        places = self.find(np.concatenate(moved))
        return np.asarray(np.sort(places[places >= 0]))

    def _followed(self, X: Floats, moved: int) -> Floats:
        """X [n, d], and X with another parameter set to what an equality makes of the rest."""
        names = self.space.names
        parts = [X]
        for rule in self.rules:
            if names[moved] not in rule.names:
                continue
            for name in rule.names:
                if name == names[moved] or not solvable(rule, name):
                    continue
                known = {n: X[:, names.index(n)] for n in rule.names if n != name}
                wanted, _ = solve(rule, name, known)
                other = X.copy()
                column = names.index(name)
                other[:, column] = snap(self.space.parameters[column], wanted)
                parts.append(other[np.isfinite(other[:, column])])
        return np.concatenate(parts)

    def _drawn(self, group: Group, n: int, rng: Rng) -> Floats:
        """Up to n legal combinations of a group's values, drawn until enough obey its rules."""
        kept: list[Floats] = []
        total = 0
        for _ in range(_ROUNDS):
            X = np.zeros((max(n, 256), len(self.space)))
            for column in group.columns:
                parameter = self.space.parameters[column]
                X[:, column] = _uniform(parameter, self.domains[column], len(X), rng)
            for column in group.columns:
                X = self._followed(X, int(column)) if len(X) < 4 * n else X
            fine = np.ones(len(X), dtype=np.bool_)
            for column in group.columns:
                fine &= legal_mask(self.space.parameters[column], X[:, column])
            for rule in group.rules:
                fine[fine] = rule.holds(X[fine])
            kept.append(X[fine][:, group.columns])
            total += len(kept[-1])
            if total >= n:
                break
        return np.asarray(rng.permutation(np.concatenate(kept), axis=0)[:n])


def distinct(X: Floats) -> Floats:
    """The first of every configuration in X [n, d], in order."""
    _, first = np.unique(X, axis=0, return_index=True)
    return np.asarray(X[np.sort(first)])


def _group(
    space: Space,
    rules: Sequence[Rule],
    tight: dict[str, Domain],
    names: tuple[str, ...],
    limit: int,
) -> Group:
    own = tuple(rule for rule in rules if set(rule.names) & set(names))
    columns = np.array([space.names.index(name) for name in names], dtype=np.int64)
    table = legal_tuples(own, names, {n: tight[n] for n in names}, {}, limit)
    return Group(names, columns, own, table)


def _product(groups: Sequence[Group], width: int) -> Floats:
    """Every combination of the groups' tables, [m, d], in order."""
    tables = [group.table for group in groups if group.table is not None]
    places = np.indices([len(table) for table in tables]).reshape(len(tables), -1)
    X = np.empty((places.shape[1], width))
    for group, table, at in zip(groups, tables, places, strict=True):
        X[:, group.columns] = table[at]
    return np.asarray(X[np.lexsort(X.T[::-1])])


def _marks(X: Floats) -> NDArray[np.uint64]:
    """A number per configuration, the same for the same; different ones may share it."""
    # 0 and -0 are equal and look different.
    bits = np.ascontiguousarray(X + 0.0, dtype=np.float64).view(np.uint64)
    factors = np.arange(1, X.shape[1] + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (bits ^ (bits >> np.uint64(29))) * (factors | np.uint64(1))
    mixed ^= mixed >> np.uint64(32)
    return np.asarray((mixed * (factors + np.uint64(2))).sum(axis=1, dtype=np.uint64))


def _uniform(parameter: Number | object, domain: Domain, n: int, rng: Rng) -> Floats:
    """Values [n] of one parameter from all over its domain."""
    if domain.values is not None:
        return np.asarray(domain.values[rng.integers(len(domain.values), size=n)])
    assert isinstance(parameter, Number)
    low, high = domain.low, domain.high
    if low > 0 and high / low > 100:  # spread over its orders of magnitude
        found = np.exp(rng.uniform(np.log(low), np.log(high), n))
    else:
        found = rng.uniform(low, high, n)
    found = snap(parameter, short(found)) if parameter.step is None else snap(parameter, found)
    found = np.clip(found, low, high)
    if domain.none is not None:
        found[rng.random(n) < 0.1] = domain.none
    return np.asarray(found)


def _values(parameter: Number | object, domain: Domain, now: float, rng: Rng) -> Floats:
    """The values of one parameter that a neighbour may have: all, or near and far ones."""
    if domain.values is not None and len(domain.values) <= _VALUES:
        return domain.values
    if domain.values is not None:
        at = int(np.searchsorted(domain.values, now))
        places = np.arange(max(at - 8, 0), min(at + 9, len(domain.values)))
        others = rng.integers(len(domain.values), size=_VALUES - len(places))
        return np.unique(domain.values[np.concatenate([places, others])])
    assert isinstance(parameter, Number)
    far = _uniform(parameter, domain, _VALUES // 2, rng)
    size = (domain.high - domain.low) * 10.0 ** -rng.uniform(0.5, 3.0, _VALUES // 2)
    near = now + size * rng.choice([-1.0, 1.0], _VALUES // 2)
    near = np.clip(near, domain.low, domain.high)
    near = snap(parameter, short(near) if parameter.step is None else near)
    return np.unique(np.concatenate([far, near]))


def short(values: Floats) -> Floats:
    """Numbers [n] as a person would type them."""
    with np.errstate(divide="ignore"):
        size = np.floor(np.log10(np.abs(values)))
    unit = 10.0 ** (np.where(np.isfinite(size), size, 0.0) - _DIGITS + 1)
    return np.array([float(f"{value:.{_DIGITS}g}") for value in np.round(values / unit) * unit])
