"""Rules on columns that have one value in every run: what they still say about the others."""

from collections.abc import Mapping

from compass.domain.base import Value
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
    names_in,
)
from compass.domain.space import Category, Space
from compass.rules.definition import obeys


def values_of(constants: Space) -> dict[str, Value]:
    """The one value of each of these columns."""
    found: dict[str, Value] = {}
    for parameter in constants:
        if isinstance(parameter, Category):
            found[parameter.name] = parameter.values[0]
        else:
            low = parameter.low
            found[parameter.name] = int(low) if low.is_integer() else low
    return found


def settle(rule: Expression, constants: Space) -> Expression | bool:
    """A bound rule with the constants put in: what is left of it, or whether it holds."""
    return _settle(rule, values_of(constants), constants)


def _settle(node: Expression, values: Mapping[str, Value], constants: Space) -> Expression | bool:
    names = set(names_in(node))
    if not names & values.keys():
        return node
    if names <= values.keys():
        return obeys(node, values, {name: constants[name] for name in names})
    match node:
        case Not(operand):
            inner = _settle(operand, values, constants)
            return not inner if isinstance(inner, bool) else Not(inner)
        case And(operands):
            return _joined([_settle(one, values, constants) for one in operands], And, end=False)
        case Or(operands):
            return _joined([_settle(one, values, constants) for one in operands], Or, end=True)
        case Implies(condition, consequence):
            first, second = (_settle(one, values, constants) for one in (condition, consequence))
            return _implied(first, second)
        case _:
            return _with_values(node, values)


def _joined(
    parts: list[Expression | bool], kind: type[And] | type[Or], *, end: bool
) -> Expression | bool:
    """And or Or of parts, of which some are known; one that is `end` decides."""
    if any(part is end for part in parts):
        return end
    left = tuple(part for part in parts if not isinstance(part, bool))
    return kind(left) if len(left) > 1 else left[0] if left else not end


def _implied(first: Expression | bool, second: Expression | bool) -> Expression | bool:
    if first is False or second is True:
        return True
    if first is True:
        return second
    assert not isinstance(first, bool)
    return Not(first) if isinstance(second, bool) else Implies(first, second)


def _with_values(node: Expression, values: Mapping[str, Value]) -> Expression:
    match node:
        case Name(name) if name in values:
            return Literal(values[name])
        case Comparison(op, left, right):
            return Comparison(op, _with_values(left, values), _with_values(right, values))
        case Arithmetic(op, left, right):
            return Arithmetic(op, _with_values(left, values), _with_values(right, values))
        case Negative(operand):
            return Negative(_with_values(operand, values))
        case Membership(operand, members):
            return Membership(_with_values(operand, values), members)
        case Call(function, arguments):
            return Call(function, tuple(_with_values(one, values) for one in arguments))
        case _:
            return node
