"""What each piece of the rule grammar becomes."""

import re
from typing import Any

from lark import Token
from lark.visitors import Transformer_NonRecursive

from compass.domain.errors import QuerySyntax
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
    Negative,
    Not,
    Or,
    children,
)
from compass.domain.quantity import read_duration
from compass.domain.units import UNITS, canonical
from compass.language.format import format_rule

_CONDITIONS = (Comparison, Membership, Not, And, Or, Implies)
_PREDICATES = (*_CONDITIONS, Call)
_CMP = {"≤": "<=", "≥": ">=", "≠": "!=", "=": "=="}
DEEPEST_NESTING = 200  # deeper rules are refused


def _number(text: str) -> int | float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise QuerySyntax(f"{text[:20]} is too large", hint="write a finite number")
    return int(text) if text.isdigit() else value


def _unquote(token: str) -> str:
    if token[0] in "‘“":  # typeset quotes have no escapes and rarely match
        return token.strip("‘“’”\"'")
    return re.sub(r"\\(.)", r"\1", token[1:-1], flags=re.DOTALL)


def bare_name(token: str) -> str:
    """A column as written: in backticks (doubled inside), or a plain word."""
    return token[1:-1].replace("``", "`") if token.startswith("`") else token.strip()


def read_unit(text: str) -> str:
    """The symbol of a unit as a person writes it."""
    symbol = canonical(text)
    if symbol is None:
        raise QuerySyntax(
            f"'{text}' could be more than one unit", hint="write it in its exact case: mW or MW"
        )
    return symbol


def signed_literal(parts: list[Token]) -> Literal:
    """`-5 W` as tokens: a sign, a number, a unit, or a sign and `4 min 12 s`; signs may miss."""
    negative = parts[0].type == "SIGN" and parts[0] != "+"
    if parts[-1].type == "DURATION":
        seconds = read_duration(parts[-1]) or 0.0
        return Literal(-seconds if negative else seconds, "s")
    number = next(p for p in parts if p.type == "NUMBER")
    unit = next((read_unit(p) for p in parts if p.type == "UNIT"), None)
    value = _number(number)
    return Literal(-value if negative else value, unit)


def one_unit(low: Literal, high: Literal) -> tuple[Literal, Literal]:
    """Both ends of a range in the unit that is written at either: `[1, 2 h]` is from 1 h."""
    unit = high.unit or low.unit
    if low.unit in (None, unit) or unit is None:
        return Literal(low.value, unit), Literal(high.value, unit)
    assert low.unit is not None
    assert isinstance(low.value, int | float)
    (kind, size), (other_kind, other) = UNITS[low.unit], UNITS[unit]
    if kind != other_kind:
        raise QuerySyntax(f"the range mixes {low.unit} and {unit}", hint="use one unit")
    return Literal(low.value * size / other, unit), high


def predicate(node: Expression) -> Expression:
    """A yes-or-no expression; a bare column means that it is true."""
    if isinstance(node, Name):
        return Comparison("==", node, Literal(True))
    if not isinstance(node, _PREDICATES):
        raise QuerySyntax(
            f"this is a value, not a rule: {format_rule(node)}",
            hint="compare it with something, e.g. nodes <= 16",
        )
    return node


def check_depth(node: Expression) -> Expression:
    """The same tree, refused when later steps that walk down it could run out of stack."""
    level, depth = [node], 0
    while level:
        depth += 1
        if depth > DEEPEST_NESTING:
            raise QuerySyntax("the text is nested too deeply", hint="split it into several rules")
        level = [child for parent in level for child in children(parent)]
    return node


def _flat(kind: type[And] | type[Or], nodes: list[Expression]) -> Expression:
    """Nested and/or of one kind become one node, so that brackets do not matter."""
    parts: list[Expression] = []
    for node in nodes:
        checked = predicate(node)
        parts.extend(checked.operands if isinstance(checked, kind) else (checked,))
    return kind(tuple(parts))


def _quantity(node: Expression) -> Expression:
    """Something with a value; a condition has none to compare or calculate with."""
    if isinstance(node, _CONDITIONS):
        raise QuerySyntax(
            f"cannot compare or calculate with a condition: {format_rule(node)}",
            hint="combine conditions with and, or, not, ->",
        )
    return node


class BuildRule(Transformer_NonRecursive[Token, Any]):
    """The callbacks of the rule part of the grammar."""

    def rule(self, items: list[Any]) -> Expression:
        return check_depth(predicate(items[0]))

    def implication(self, items: list[Any]) -> Expression:
        first: Expression = items[0]
        if len(items) == 1:
            return first
        return Implies(predicate(items[0]), predicate(items[-1]))

    def disjunction(self, items: list[Any]) -> Expression:
        return _flat(Or, items)

    def conjunction(self, items: list[Any]) -> Expression:
        return _flat(And, items)

    def negated(self, items: list[Any]) -> Expression:
        return Not(predicate(items[0]))

    def compare(self, items: list[Any]) -> Expression:
        first: Expression = items[0]
        if len(items) == 1:
            return first
        for value in items[::2]:
            _quantity(value)
        pairs: list[Expression] = [
            Comparison(_CMP.get(str(items[i + 1]), str(items[i + 1])), items[i], items[i + 2])
            for i in range(0, len(items) - 2, 2)
        ]
        return pairs[0] if len(pairs) == 1 else And(tuple(pairs))

    def member_of(self, items: list[Any]) -> Expression:
        return Membership(_quantity(items[0]), items[1])

    def not_member_of(self, items: list[Any]) -> Expression:
        return Not(Membership(_quantity(items[0]), items[1]))

    def set(self, items: list[Any]) -> tuple[Literal, ...]:
        return tuple(items)

    def label(self, items: list[Token]) -> Literal:
        return Literal(str(items[0]))

    def arithmetic(self, items: list[Any]) -> Expression:
        op = {"×": "*", "·": "*", "^": "**", "−": "-"}.get(str(items[1]), str(items[1]))
        return Arithmetic(op, _quantity(items[0]), _quantity(items[2]))

    def signed(self, items: list[Any]) -> Expression:
        operand = _quantity(items[1])
        if items[0] == "+":
            return operand
        # `type`, because true is an int to Python.
        if isinstance(operand, Literal) and type(operand.value) in (int, float):
            return Literal(-items[1].value, operand.unit)
        return Negative(operand)

    def string_literal(self, items: list[Token]) -> Literal:
        return Literal(_unquote(items[0]))

    def true(self, _: list[Any]) -> Literal:
        return Literal(True)

    def false(self, _: list[Any]) -> Literal:
        return Literal(False)

    def none(self, _: list[Any]) -> Literal:
        return Literal(None)

    def name(self, items: list[Token]) -> Name:
        return Name(bare_name(items[0]))

    def call(self, items: list[Any]) -> Call:
        return Call(str(items[0]), tuple(items[1:]))

    def condition(self, items: list[Any]) -> Expression:
        column = Name(bare_name(items[0]))
        op, *values = items[1]
        if op == "in":
            return Membership(column, tuple(values))
        if op == "range":
            return And((Comparison("<=", values[0], column), Comparison("<=", column, values[1])))
        return Comparison(op, column, values[0])

    def equals(self, items: list[Any]) -> tuple[Any, ...]:
        value = items[0]
        return ("==", Literal(str(value)) if isinstance(value, Token) else value)

    def range(self, items: list[Literal]) -> tuple[Any, ...]:
        low, high = one_unit(*items)
        return ("range", low, high)

    def compared(self, items: list[Any]) -> tuple[Any, ...]:
        return (_CMP.get(str(items[0]), str(items[0])), items[1])

    def one_of(self, items: list[Literal]) -> tuple[Any, ...]:
        return ("in", *items)

    def quantity(self, items: list[Token]) -> Literal:
        return signed_literal(items)

    number_literal = quantity_literal = quantity

    def number(self, items: list[Token]) -> float:
        return float(signed_literal(items).value or 0.0)
