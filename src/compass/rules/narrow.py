"""Cutting domains down to what rules can still allow.

Every condition narrows the domains of its columns: exactly, by trying all values, where the
listed values are few; by interval arithmetic through its tree (HC4) elsewhere. `or` and `->` keep
what any branch that is still possible allows. Nothing that obeys all rules is ever removed; on a
continuous column `x <= 300` is taken as written, without the tolerance of comparisons.
"""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, isfinite, isinf, prod

import numpy as np

from compass.domain.expression import (
    And,
    Arithmetic,
    Call,
    Comparison,
    Expression,
    Implies,
    Literal,
    Membership,
    Name,
    Not,
    Or,
    children,
    names_in,
)
from compass.domain.space import Category, Number
from compass.rules.domains import Domain, domain_of, fixed_at, of_values
from compass.rules.evaluate import Rule
from compass.rules.functions import BUILT_IN, FloatArray
from compass.rules.intervals import Interval, meet, widen
from compass.rules.trees import Impossible, Trees
from compass.rules.truth import NEGATED, truth
from compass.rules.values import (
    ROUNDING,
    TOLERANCE,
    EncodedColumns,
    adds,
    decimal_columns,
    is_whole,
    whole_columns,
)

CELLS = 20_000  # largest table of value combinations that is tried exactly
_LOOSE = 2 * TOLERANCE
_NOTICED = 1e-4  # a continuous bound that moves by a smaller share wakes no other rule
_VISITS = 300  # rules looked at, and some more per rule; then the domains are good enough


def narrow(
    rules: Sequence[Rule], domains: Mapping[str, Domain], fixed: Mapping[str, float]
) -> dict[str, Domain] | None:
    """The domains that the rules leave, or None when they leave nothing.

    Columns in neither `domains` nor `fixed` may take any value.
    """
    parameters = {name: rule.parameters[name] for rule in rules for name in rule.names}
    known = {name: _unbounded(parameter) for name, parameter in parameters.items()}
    known |= domains
    known |= {name: fixed_at(value, parameters.get(name)) for name, value in fixed.items()}
    if any(domain.empty for domain in known.values()):
        return None
    kinds = whole_columns(parameters), decimal_columns(parameters)
    narrowing = Narrowing(known, parameters, *kinds)
    queue = deque(rules)
    waiting = set(map(id, rules))
    visits = _VISITS + 30 * len(rules)
    while queue and visits:
        visits -= 1
        rule = queue.popleft()
        waiting.discard(id(rule))
        before = dict(narrowing.domains)
        try:
            narrowing.condition(rule.expression, positive=True)
        except Impossible:
            return None
        moved = {n for n in rule.names if _noticeable(before[n], narrowing.domains[n])}
        for other in rules:
            if id(other) not in waiting and moved.intersection(other.names):
                queue.append(other)
                waiting.add(id(other))
    return {name: narrowing.domains[name] for name in domains}


def _unbounded(parameter: Number | Category) -> Domain:
    if isinstance(parameter, Category):
        return domain_of(parameter)
    return Domain(-inf, inf, none=parameter.none_code if parameter.optional else None)


def _noticeable(old: Domain, new: Domain) -> bool:
    if old is new:
        return False
    if old.none != new.none:
        return True
    if new.values is not None:
        return old.values is None or len(old.values) != len(new.values)
    moved = max(_moved(old.low, new.low), _moved(old.high, new.high))
    if isinf(old.high - old.low):
        return moved > 0.1  # a bound that crawls towards infinity never arrives
    return moved > 0.0 if old.step is not None else _wide(old, new)


def _moved(old: float, new: float) -> float:
    """How far a bound moved, as a share of where it was."""
    return 0.0 if old == new else abs(new - old) / (1.0 + abs(old)) if isfinite(old) else inf


def _wide(old: Domain, new: Domain) -> bool:
    return max(new.low - old.low, old.high - new.high) > _NOTICED * (old.high - old.low)


@dataclass
class Narrowing:
    """Domains that shrink while conditions are imposed on them."""

    domains: dict[str, Domain]
    parameters: Mapping[str, Number | Category]
    whole: frozenset[str]
    decimal: frozenset[str]
    _names: dict[int, tuple[str, ...]] = field(default_factory=dict)

    def names(self, node: Expression) -> tuple[str, ...]:
        """The columns of a node; remembered, as rules are looked at again and again."""
        found = self._names.get(id(node))
        if found is None:
            found = self._names[id(node)] = names_in(node)
        return found

    def condition(self, node: Expression, *, positive: bool) -> None:
        """Impose a condition (or its negation); raises Impossible when it cannot hold."""
        if self._try_all(node, positive):
            return
        match node:
            case Not(operand):
                self.condition(operand, positive=not positive)
            case And(operands) | Or(operands):
                parts = [(operand, positive) for operand in operands]
                self._parts(parts, everything=isinstance(node, And) == positive)
            case Implies(condition, consequence):
                parts = [(condition, not positive), (consequence, positive)]
                self._parts(parts, everything=not positive)
            case Comparison():
                self._comparison(node, positive)
            case Membership():
                self._membership(node, positive)
            case _:
                return  # a registered rule: only trying can tell

    def _parts(self, parts: list[tuple[Expression, bool]], *, everything: bool) -> None:
        if everything:
            for part, positive in parts:
                self.condition(part, positive=positive)
            return
        before, possible = self.domains, []
        for part, positive in parts:
            self.domains = dict(before)
            try:
                self.condition(part, positive=positive)
            except Impossible:
                continue
            possible.append(self.domains)
        self.domains = before
        if not possible:
            raise Impossible
        joined = dict(possible[0])
        for other in possible[1:]:
            for name, domain in other.items():
                if domain is not joined[name]:
                    joined[name] = joined[name].join(domain)
        self.domains = joined

    def _try_all(self, node: Expression, positive: bool) -> bool:
        """Keep the listed values that occur in a combination that holds; False: too many."""
        names = self.names(node)
        lists: list[FloatArray] = []
        for name in names:
            values = self.domains[name].values
            if values is None:
                return False
            lists.append(values)
        shape = tuple(map(len, lists))
        if len(names) > 1 and prod(shape) > CELLS:
            return False
        columns = {
            name: values.reshape([-1 if axis == place else 1 for axis in range(len(names))])
            for place, (name, values) in enumerate(zip(names, lists, strict=True))
        }
        table = EncodedColumns(columns, self.parameters, self.whole, self.decimal)
        with np.errstate(all="ignore"):
            found = truth(node, table, positive=positive, measure=False)
        holds = np.broadcast_to(found.holds, shape)
        if not holds.any():
            raise Impossible
        for place, name in enumerate(names):
            others = tuple(axis for axis in range(len(names)) if axis != place)
            self._set(name, self.domains[name].keep(np.asarray(holds.any(axis=others))))
        return True

    def _set(self, name: str, domain: Domain) -> None:
        if domain.empty:
            raise Impossible
        self.domains[name] = domain

    def _comparison(self, node: Comparison, positive: bool) -> None:
        op = node.op if positive else NEGATED[node.op]
        if any(isinstance(self.parameters[name], Category) for name in self.names(node)):
            return
        if self._settled_by_none(node, op, positive):
            return
        trees = Trees(self.domains)
        left, right = node.left, node.right
        columns = {name for name in self.names(node) if self.domains[name].whole}
        whole = is_whole(left, columns) and is_whole(right, columns)
        if op in (">", ">="):
            op, left, right = ("<" if op == ">" else "<="), right, left
        a, b = trees.bounds(left), trees.bounds(right)
        if a is None or b is None:
            raise Impossible
        if op == "!=":
            if a == b and a[0] == a[1]:
                raise Impossible
        elif op == "==":
            self._equal(left, right, a, b, whole)
        else:
            step = 1.0 if op == "<" and whole else 0.0
            if op == "<" and a[0] >= b[1]:
                raise Impossible
            loose = 0.0 if whole else _rounding(trees, left, right)
            self._aim(left, (-inf, b[1] - step), whole, loose)
            a = trees.bounds(left)
            if a is None:
                raise Impossible
            self._aim(right, (a[0] + step, inf), whole, loose)

    def _equal(
        self, left: Expression, right: Expression, a: Interval, b: Interval, whole: bool
    ) -> None:
        if not whole and any(isinstance(s, Arithmetic) and s.op == "%" for s in (left, right)):
            return  # residues of real numbers are compared around the circle
        loose = 0.0 if whole else _rounding(Trees(self.domains), left, right)
        if meet(a if whole else widen(a, _LOOSE, loose), b) is None:
            raise Impossible
        self._aim(left, b, whole, loose)
        again = Trees(self.domains).bounds(left)
        if again is None:
            raise Impossible
        self._aim(right, again, whole, loose)

    def _aim(self, node: Expression, target: Interval, exact: bool, amount: float = 0.0) -> None:
        """Make an expression lie in the target, give or take the tolerance of comparisons.

        `amount` is what the terms of the comparison may lose by rounding.
        """
        loose = target if exact else widen(target, _LOOSE, amount)
        if isinstance(node, Name):
            now = self.domains[node.name]
            if now.values is None and now.step is None:
                cut = now.clip(target)
                if cut.low <= cut.high:
                    self._set(node.name, cut)
                    return
        Trees(self.domains).push(node, loose)

    def _settled_by_none(self, node: Comparison, op: str, positive: bool) -> bool:
        """Deal with the level none; True when nothing is left to say about numbers."""
        sides = (node.left, node.right)
        written = [isinstance(side, Literal) and side.value is None for side in sides]
        possible = [w or self._may_be_none(s) for w, s in zip(written, sides, strict=True)]
        if any(written):
            other = sides[0] if written[1] else sides[1]
            if op == "!=":
                self._drop_none(other)
            elif op == "==" and isinstance(other, Name):
                self._set(other.name, self.domains[other.name].only_none())
            elif positive if op != "==" else not all(possible):
                raise Impossible
            return True
        if not any(possible):
            return False
        if op == "!=" or (op != "==" and not positive) or (op == "==" and all(possible)):
            return True  # none makes it true as well
        for side in sides:
            self._drop_none(side)
        return False

    def _may_be_none(self, node: Expression) -> bool:
        return any(self.domains[name].none is not None for name in _plain_names(node))

    def _drop_none(self, node: Expression) -> None:
        for name in _plain_names(node):
            self._set(name, self.domains[name].without_none())

    def _membership(self, node: Membership, positive: bool) -> None:
        if not positive or any(
            isinstance(self.parameters[name], Category) for name in self.names(node)
        ):
            return
        if self._may_be_none(node.operand):
            if any(literal.value is None for literal in node.values):
                return
            self._drop_none(node.operand)
        bounds = Trees(self.domains).bounds(node.operand)
        if bounds is None:
            raise Impossible
        amount = 2 * _rounding(Trees(self.domains), node.operand, node.operand)
        low, high = widen(bounds, _LOOSE, amount)
        members = sorted(float(v.value) for v in node.values if isinstance(v.value, int | float))
        members = [member for member in members if low <= member <= high]
        if not members:
            raise Impossible
        now = self.domains[node.operand.name] if isinstance(node.operand, Name) else None
        if isinstance(node.operand, Name) and now and now.values is None and now.step is None:
            self._set(node.operand.name, of_values(np.unique(members), None))
        else:
            self._aim(node.operand, (members[0], members[-1]), exact=False, amount=amount)


def _rounding(trees: Trees, left: Expression, right: Expression) -> float:
    """More than two sides can differ by rounding of their terms and still count as equal.

    What is no sum is as large as its terms: the tolerance, a share of the sides, covers it. Columns
    without bounds stand only in explanations of conflicts.
    """
    if not (adds(left) or adds(right)):
        return 0.0
    size = trees.size(left) + trees.size(right)
    return 2 * ROUNDING * size if isfinite(size) else 0.0


def _plain_names(node: Expression) -> Iterable[str]:
    """The columns of an expression outside the arguments of registered rules."""
    if isinstance(node, Name):
        return [node.name]
    if isinstance(node, Call) and node.function not in BUILT_IN:
        return []
    return [name for child in children(node) for name in _plain_names(child)]
