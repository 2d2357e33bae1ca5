"""Rules as a person means them: one text for every way to write the same condition.

`16 > nodes`, `nodes < 16` and `nodes <= 15` are one thing when nodes are whole; `gpus / nodes <= 4`
and `gpus <= 4 * nodes` are another; `queue != debug` is the list of the other queues.
"""

import math
from collections import defaultdict
from dataclasses import dataclass, field
from fractions import Fraction

from compass.domain.base import Value
from compass.domain.expression import (
    And,
    Arithmetic,
    Comparison,
    Expression,
    Implies,
    Literal,
    Membership,
    Name,
    Negative,
    Not,
    Or,
    names_in,
)
from compass.domain.space import Category, Number, Role, Space
from compass.language.bind import bind_rule, format_label
from compass.language.format import format_rule
from compass.language.parse import parse_rule

Polynomial = dict[tuple[str, ...], Fraction]
_MIRROR = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


def number_text(value: float) -> str:
    """A number without the noise of conversions between units."""
    return f"{float(value):.6g}"


def value_text(value: Value) -> str:
    """A label, a number or none."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return number_text(value)
    return format_label(value).casefold()


@dataclass
class Conditions:
    """All conditions of one question, gathered per column."""

    space: Space
    bounds: dict[str, list[tuple[str, float]]] = field(default_factory=lambda: defaultdict(list))
    labels: dict[str, set[str]] = field(default_factory=dict)
    others: set[tuple[str, str]] = field(default_factory=set)

    def add_text(self, text: str) -> None:
        """A rule in the query language."""
        self._add(bind_rule(parse_rule(text), self.space))

    def add_value(self, column: str, value: Value) -> None:
        """The column has this value."""
        self._add(Comparison("==", Name(column), Literal(value)))

    def slots(self) -> set[tuple[str, str]]:
        """Each condition as a slot; those on outcomes count as goals."""
        found = {
            (f"{_place(self.space, name)} {name}", "in " + ", ".join(sorted(labels)))
            for name, labels in self.labels.items()
        }
        for name, bounds in self.bounds.items():
            parameter = self.space[name]
            assert isinstance(parameter, Number)
            slot = f"{_place(self.space, name)} {name}"
            found |= {(slot, text) for text in _bound_texts(bounds, parameter)}
        return found | self.others

    def _add(self, node: Expression) -> None:
        match node:
            case And(operands):
                for operand in operands:
                    self._add(operand)
            case Not(Comparison(op, left, right)):
                self._add(Comparison(_OPPOSITE[op], left, right))
            case Not(Membership(Name(name), values)):
                for value in values:
                    self._add(Comparison("!=", Name(name), value))
            case Or(operands) if (joined := _one_of(operands)) is not None:
                self._add(joined)
            case Membership(Name(name), values) if isinstance(self.space[name], Category):
                self._restrict(name, {value_text(value.value) for value in values})
            case Membership(Name(name), (value,)):
                self._add(Comparison("==", Name(name), value))
            case Membership(Name(name), values):
                texts = sorted({value_text(value.value) for value in values})
                self._other(node, "in " + ", ".join(texts))
            case Comparison(op, left, right):
                self._compare(op, left, right)
            case Implies(condition, consequence):
                self._other(node, f"{self._text(condition)} -> {self._text(consequence)}")
            case _:
                self._other(node, format_rule(node))

    def _compare(self, op: str, left: Expression, right: Expression) -> None:
        if isinstance(left, Literal) and isinstance(right, Name):
            op, left, right = _MIRROR[op], right, left
        whole = Comparison(op, left, right)
        if isinstance(left, Name) and isinstance(right, Literal):
            parameter = self.space[left.name]
            if isinstance(parameter, Category):
                label = {value_text(right.value)}
                every = {value_text(value) for value in parameter.values}
                self._restrict(left.name, label if op == "==" else every - label)
                return
            if right.value is None:
                self._other(whole, f"{op} none")
                return
        difference = _difference(left, right)
        if difference is None:
            self._other(whole, format_rule(whole))
            return
        names = {name for term in difference for name in term}
        if len(names) == 1 and all(len(term) <= 1 for term in difference):
            (name,) = names
            slope = difference[(name,)]
            value = float(-difference.get((), Fraction(0)) / slope)
            self.bounds[name].append((op if slope > 0 else _MIRROR[op], value))
        else:
            self._other(whole, _relation_text(op, difference))

    def _restrict(self, name: str, labels: set[str]) -> None:
        self.labels[name] = self.labels.get(name, labels) & labels

    def _other(self, node: Expression, text: str) -> None:
        names = sorted(names_in(node))
        self.others.add((f"{_place(self.space, *names)} {' '.join(names)}", text))

    def _text(self, node: Expression) -> str:
        part = Conditions(self.space)
        part._add(node)
        return " and ".join(f"{slot} {text}" for slot, text in sorted(part.slots()))


def _place(space: Space, *names: str) -> str:
    """Whether a condition counts as a goal: it speaks of one outcome only."""
    return "goal" if len(names) == 1 and space[names[0]].role is Role.OUTCOME else "where"


def _one_of(operands: tuple[Expression, ...]) -> Membership | None:
    """`a == 1 or a == 2` as `a in {1, 2}`."""
    values: list[Literal] = []
    names: set[str] = set()
    for operand in operands:
        match operand:
            case Comparison("==", Name(name), Literal() as value):
                names.add(name)
                values.append(value)
            case Membership(Name(name), members):
                names.add(name)
                values.extend(members)
            case _:
                return None
    return Membership(Name(names.pop()), tuple(values)) if len(names) == 1 else None


def _bound_texts(bounds: list[tuple[str, float]], parameter: Number) -> set[str]:
    """The bounds of one column, as few as say the same."""
    texts = {f"!= {number_text(value)}" for op, value in bounds if op == "!="}
    exact = {value for op, value in bounds if op == "=="}
    lows = [_inward(op, value, parameter) for op, value in bounds if op in {">", ">="}]
    highs = [_inward(op, value, parameter) for op, value in bounds if op in {"<", "<="}]
    low, high = max(lows, default=None), min(highs, default=None)
    if low is not None and low == high:
        exact, low, high = exact | {low}, None, None
    if parameter.role is not Role.OUTCOME and high == parameter.low:
        exact, high = exact | {parameter.low}, None
    if parameter.role is not Role.OUTCOME and low == parameter.high:
        exact, low = exact | {parameter.high}, None
    texts |= {f"== {number_text(value)}" for value in exact}
    texts |= {f">= {number_text(low)}"} if low is not None else set()
    return texts | ({f"<= {number_text(high)}"} if high is not None else set())


def _inward(op: str, value: float, parameter: Number) -> float:
    """The outermost legal value inside the bound. Outcomes have no grid: < is <= there."""
    if parameter.role is Role.OUTCOME or (parameter.step is None and parameter.allowed is None):
        return value
    if parameter.allowed is not None:
        legal = [v for v in parameter.allowed if _holds(v, op, value)]
        outermost = max if op in {"<", "<="} else min
        return outermost(legal) if legal else value
    assert parameter.step is not None
    steps = (value - parameter.low) / parameter.step
    nearest = round(steps)
    on_grid = math.isclose(steps, nearest, abs_tol=1e-6)
    if op in {"<", "<="}:
        steps = nearest - (op == "<") if on_grid else math.floor(steps)
    else:
        steps = nearest + (op == ">") if on_grid else math.ceil(steps)
    return round(parameter.low + steps * parameter.step, 9)


def _holds(here: float, op: str, there: float) -> bool:
    return {"<": here < there, "<=": here <= there, ">": here > there, ">=": here >= there}[op]


def _difference(left: Expression, right: Expression) -> Polynomial | None:
    """left - right as a sum of products; columns that are divided by are taken as positive."""
    first, second = _fraction(left), _fraction(right)
    if first is None or second is None:
        return None
    sign: Polynomial = {(): Fraction(-1)}
    total = _sum(_product(first[0], second[1]), _product(sign, _product(second[0], first[1])))
    return total or None


def _fraction(node: Expression) -> tuple[Polynomial, Polynomial] | None:
    """A numerator and a denominator, or None for what is not made of + - * /."""
    one: Polynomial = {(): Fraction(1)}
    match node:
        case Literal(bool() | str() | None):
            return None
        case Literal(value):
            return {(): Fraction(str(value))} if value else {}, one
        case Name(name):
            return {(name,): Fraction(1)}, one
        case Negative(operand):
            return _fraction(Arithmetic("*", Literal(-1), operand))
        case Arithmetic(op, left, right) if op in {"+", "-", "*", "/"}:
            first, second = _fraction(left), _fraction(right)
            if first is None or second is None:
                return None
            return _combined(op, first, second)
        case _:
            return None


def _combined(
    op: str, first: tuple[Polynomial, Polynomial], second: tuple[Polynomial, Polynomial]
) -> tuple[Polynomial, Polynomial] | None:
    (a, b), (c, d) = first, second
    if op == "*":
        return _product(a, c), _product(b, d)
    if op == "/":
        positive = bool(c) and all(factor > 0 for factor in c.values())
        return (_product(a, d), _product(b, c)) if positive else None
    sign: Polynomial = {(): Fraction(1 if op == "+" else -1)}
    return _sum(_product(a, d), _product(sign, _product(c, b))), _product(b, d)


def _sum(first: Polynomial, second: Polynomial) -> Polynomial:
    total = dict(first)
    for term, factor in second.items():
        total[term] = total.get(term, Fraction(0)) + factor
    return {term: factor for term, factor in total.items() if factor}


def _product(first: Polynomial, second: Polynomial) -> Polynomial:
    total: Polynomial = {}
    for term, factor in first.items():
        for other, weight in second.items():
            total = _sum(total, {tuple(sorted(term + other)): factor * weight})
    return total


def _relation_text(op: str, difference: Polynomial) -> str:
    """A relation between columns as `sum op 0`: one product counted once, op never > or >=."""
    terms = sorted(difference)
    scale = abs(difference[terms[-1]])
    turn = op in {">", ">="} or (op in {"==", "!="} and difference[terms[-1]] < 0)
    factor = -1 / scale if turn else 1 / scale
    parts = [f"{number_text(float(difference[t] * factor))}*{'*'.join(t) or '1'}" for t in terms]
    return f"{' + '.join(parts)} {_MIRROR[op] if turn else op} 0"
