"""What rows are asked for: conditions and the study's rules, and what they leave of each column."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compass.domain.base import Value, shown
from compass.domain.constraint import Constraint
from compass.domain.errors import BadInput
from compass.domain.goal import IsClass, Within
from compass.domain.space import Category, Space
from compass.language import format_value, parse_rule
from compass.language.bind import bind_constraint, bind_value, column
from compass.language.format import format_name
from compass.prepare.legal import legal_mask
from compass.rules import Domain, Rule, compile_rule, domains_of, propagate
from compass.rules.solve import solve, unfolds
from compass.synth.base import Floats, narrowed, within

Asked = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Conditions:
    """Rules that every row obeys, and the values that those on one column leave of it."""

    space: Space
    rules: tuple[Rule, ...]  # of the study, then those that were asked for
    domains: tuple[Domain, ...]

    @cached_property
    def asked(self) -> tuple[str, ...]:
        """The columns that have fewer values than are legal."""
        legal = domains_of(self.space, self.space.names).values()
        pairs = zip(self.space.names, self.domains, legal, strict=True)
        return tuple(name for name, domain, any_value in pairs if narrowed(domain, any_value))

    @cached_property
    def fixed(self) -> frozenset[str]:
        """The columns that a rule of their own is about."""
        return frozenset(rule.names[0] for rule in self.rules if len(rule.names) == 1)

    def legal(self, X: Floats) -> NDArray[np.bool_]:
        """Which rows of X [m, d] have a legal and allowed value in every column."""
        good = np.ones(len(X), dtype=np.bool_)
        for place, (parameter, domain) in enumerate(zip(self.space, self.domains, strict=True)):
            good &= legal_mask(parameter, X[:, place]) & within(domain, X[:, place])
        return good

    def met(self, X: Floats) -> NDArray[np.bool_]:
        """Which rows of X [m, d] are legal and obey every rule."""
        good = self.legal(X)
        for rule in self.rules:
            good &= rule.holds(X)
        return good

    def broken(self, X: Floats) -> dict[str, int]:
        """How many rows of X break each rule that some row breaks."""
        counts = {rule.text: int((~rule.holds(X)).sum()) for rule in self.rules}
        return {text: count for text, count in counts.items() if count}

    def completed(self, X: Floats, open_cells: NDArray[np.bool_]) -> Floats:
        """X with a column changed where an equality of columns tells its value.

        `open_cells` [m, d] are those that may be changed. Of the columns of an equality the last
        open one that nothing was asked of is calculated from the others.
        """
        done = np.array(X)
        names = self.space.names
        for rule in self.rules:
            if len(rule.names) < 2:
                continue
            wrong = ~rule.holds(done)
            for name in sorted(rule.names, key=names.index, reverse=True):
                if name in self.fixed or not unfolds(rule.expression, name):
                    continue
                if isinstance(self.space[name], Category) or not _is_equality(rule):
                    continue
                place = names.index(name)
                where = np.flatnonzero(wrong & open_cells[:, place])
                if not len(where):
                    continue
                known = {n: done[where, names.index(n)] for n in rule.names}
                value, _ = solve(rule, name, known)
                value = np.broadcast_to(np.asarray(value, dtype=np.float64), len(where))
                good = legal_mask(self.space[name], value) & within(self.domains[place], value)
                done[where[good], place] = value[good]
                wrong = ~rule.holds(done)
        return done


def _is_equality(rule: Rule) -> bool:
    return getattr(rule.expression, "op", None) == "=="


def conditions_of(
    space: Space, standing: Iterable[str], where: Iterable[str] = (), given: Asked | None = None
) -> Conditions:
    """The conditions of rule texts and of values, ranges and lists by column.

    Contradictions are a ConflictingRules that names the fewest of them.
    """
    texts = [*standing, *where, *_as_rules(space, given or {})]
    names = space.names
    rules = []
    for text in dict.fromkeys(texts):
        bound = bind_constraint(Constraint(text=text), space).text
        rules.append(compile_rule(parse_rule(bound), space, names, bound))
    propagate(rules, domains_of(space, names), {})  # refuses what contradicts itself
    # What a rule on several columns leaves of one depends on the others: rows are drawn as they
    # are likely and held against it, or a column would be forced to a value that no run had there.
    own = [rule for rule in rules if len(rule.names) == 1]
    domains = propagate(own, domains_of(space, names), {})
    return Conditions(space, tuple(rules), tuple(domains[name] for name in names))


def _as_rules(space: Space, given: Asked) -> list[str]:
    """Values, ranges and lists by column as rules in the constraint language."""
    texts = []
    for name, wanted in given.items():
        place = column(name, space)
        texts.extend(_rules_of(space, place, wanted))
    return texts


def _rules_of(space: Space, name: str, wanted: Any) -> list[str]:
    quoted = format_name(name)
    if isinstance(wanted, Within):
        unit = f" {wanted.unit}" if wanted.unit else ""
        sides = ((">=", wanted.low), ("<=", wanted.high))
        return [f"{quoted} {op} {end!r}{unit}" for op, end in sides if end is not None]
    if isinstance(wanted, IsClass):
        wanted = wanted.value
    if isinstance(wanted, Sequence | set | frozenset | np.ndarray) and not isinstance(wanted, str):
        if not len(wanted):
            raise BadInput(f"no value is allowed for {name}", hint="give at least one")
        values = ", ".join(_value(space, name, value) for value in wanted)
        return [f"{quoted} in {{{values}}}"]
    return [f"{quoted} == {_value(space, name, wanted)}"]


def _value(space: Space, name: str, value: Any) -> str:
    plain: Value = value.item() if isinstance(value, np.generic) else value
    if plain is not None and not isinstance(plain, bool | int | float | str):
        raise BadInput(
            f"{name} cannot be {shown(value)}",
            hint="give a value, a list of values, or a range: cp.at_most(10), cp.within(5, 10)",
        )
    return format_value(bind_value(plain, space[name]))
