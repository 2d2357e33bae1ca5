"""The linear form of a rule, where it has one."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from compass.domain.expression import (
    Arithmetic,
    Call,
    Comparison,
    Expression,
    Literal,
    Name,
    Negative,
    Not,
    names_in,
)
from compass.domain.space import Number, Space
from compass.rules.functions import BUILT_IN
from compass.rules.judge import NEGATED
from compass.rules.values import Table, number


@dataclass(frozen=True)
class Linear:
    """`sum of coefficient * column + constant  op  0`."""

    coefficients: Mapping[str, float]
    constant: float
    op: str


_Sum = tuple[dict[str, float], float]


def linear_form(expression: Expression, space: Space) -> Linear | None:
    """The linear form of a comparison of numbers, or None when there is none.

    A column that may be `none` has no linear form: `none` is no number.
    """
    if isinstance(expression, Not):
        inner = linear_form(expression.operand, space)
        return inner and Linear(inner.coefficients, inner.constant, NEGATED[inner.op])
    if not isinstance(expression, Comparison):
        return None
    for name in names_in(expression):
        parameter = space[name]
        if not isinstance(parameter, Number) or parameter.optional:
            return None
    left, right = _sum_of(expression.left), _sum_of(expression.right)
    if left is None or right is None:
        return None
    coefficients, constant = _add(left, right, -1.0)
    kept = {name: value for name, value in coefficients.items() if value != 0.0}
    if not all(np.isfinite(value) for value in (*kept.values(), constant)):
        return None
    return Linear(kept, constant, expression.op)


def _sum_of(node: Expression) -> _Sum | None:
    """A node as coefficients and a constant."""
    match node:
        case Name(name):
            return {name: 1.0}, 0.0
        case Negative(operand):
            return _times(_sum_of(operand), -1.0)
        case Arithmetic(op, left, right) if op in ("+", "-"):
            a, b = _sum_of(left), _sum_of(right)
            return None if a is None or b is None else _add(a, b, 1.0 if op == "+" else -1.0)
        case Arithmetic("*", left, right):
            a, b = _sum_of(left), _sum_of(right)
            if a is None or b is None:
                return None
            if a[0] and b[0]:
                return None
            return _times(a, b[1]) if a[0] else _times(b, a[1])
        case Arithmetic("/", left, right):
            divisor = _constant(right)
            top = _sum_of(left)
            if divisor is None or divisor == 0.0 or top is None:
                return None
            return {n: c / divisor for n, c in top[0].items()}, top[1] / divisor
        case _:
            value = _constant(node)
            return None if value is None else ({}, value)


def _constant(node: Expression) -> float | None:
    """The value of an expression without columns; registered rules are not called here."""
    if names_in(node) or not _foldable(node):
        return None
    with np.errstate(all="ignore"):
        value = float(number(node, Table({}, {})).values)
    return value if np.isfinite(value) else None


def _foldable(node: Expression) -> bool:
    match node:
        case Literal(value):
            return isinstance(value, int | float)
        case Call(function, arguments):
            return function in BUILT_IN and all(_foldable(a) for a in arguments)
        case Arithmetic(_, left, right):
            return _foldable(left) and _foldable(right)
        case Negative(operand):
            return _foldable(operand)
        case _:
            return False


def _times(terms: _Sum | None, factor: float) -> _Sum | None:
    if terms is None:
        return None
    return {name: c * factor for name, c in terms[0].items()}, terms[1] * factor


def _add(a: _Sum, b: _Sum, sign: float) -> _Sum:
    total = dict(a[0])
    for name, coefficient in b[0].items():
        total[name] = total.get(name, 0.0) + sign * coefficient
    return total, a[1] + sign * b[1]
