"""The linear form of a rule, where it has one."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

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
    children,
    names_in,
)
from compass.domain.space import Category, Number, Space
from compass.rules.functions import BUILT_IN
from compass.rules.truth import NEGATED
from compass.rules.values import (
    ROUNDING,
    TOLERANCE,
    EncodedColumns,
    decimal_columns,
    is_exact,
    is_whole,
    number,
    size_of,
    whole_columns,
)


@dataclass(frozen=True)
class LinearForm:
    """`sum of coefficient * column + constant  op  0`.

    `sizes` are the coefficients before terms cancelled out, `size` is that of the constant: what
    the rounding of the sum is measured by. Within `slack` of that size it may count as equal to 0.
    """

    coefficients: Mapping[str, float]
    constant: float
    op: str
    sizes: Mapping[str, float] = field(default_factory=dict, compare=False)
    size: float = field(default=0.0, compare=False)
    slack: float = field(default=0.0, compare=False)


@dataclass(frozen=True)
class _Sum:
    """Coefficients and a constant, and the sizes of the terms that they were added up from."""

    coefficients: dict[str, float]
    constant: float
    sizes: dict[str, float]
    size: float


def linear_form(expression: Expression, space: Space) -> LinearForm | None:
    """The linear form of a comparison of numbers, or None when there is none.

    A column that may be `none` has no linear form: `none` is no number.
    """
    if isinstance(expression, Not):
        inner = linear_form(expression.operand, space)
        return inner and replace(inner, op=NEGATED[inner.op])
    if not isinstance(expression, Comparison):
        return None
    parameters = {name: space[name] for name in names_in(expression)}
    if any(not isinstance(p, Number) or p.optional for p in parameters.values()):
        return None
    left, right = _sum_of(expression.left), _sum_of(expression.right)
    if left is None or right is None:
        return None
    total = _add(left, _times(right, -1.0, 1.0))
    kept = {name: value for name, value in total.coefficients.items() if value != 0.0}
    if not all(np.isfinite(value) for value in (*kept.values(), total.constant)):
        return None
    slack = _slack(expression, parameters)
    return LinearForm(kept, total.constant, expression.op, total.sizes, total.size, slack)


def _slack(node: Comparison, parameters: Mapping[str, Number | Category]) -> float:
    """The share of its terms within which the two sides of a comparison may count as equal."""
    whole, decimals = whole_columns(parameters), decimal_columns(parameters)
    if is_whole(node.left, whole) and is_whole(node.right, whole):
        return 0.0
    exact = is_exact(node.left, decimals) and is_exact(node.right, decimals)
    return ROUNDING if exact else TOLERANCE + ROUNDING


def _sum_of(node: Expression) -> _Sum | None:
    """A node as coefficients and a constant."""
    match node:
        case Name(name):
            return _Sum({name: 1.0}, 0.0, {name: 1.0}, 0.0)
        case Negative(operand):
            inner = _sum_of(operand)
            return None if inner is None else _times(inner, -1.0, 1.0)
        case Arithmetic(op, left, right) if op in ("+", "-"):
            a, b = _sum_of(left), _sum_of(right)
            if a is None or b is None:
                return None
            return _add(a, b if op == "+" else _times(b, -1.0, 1.0))
        case Arithmetic("*", left, right):
            a, b = _sum_of(left), _sum_of(right)
            if a is None or b is None or (a.coefficients and b.coefficients):
                return None
            terms, factor = (a, b) if a.coefficients else (b, a)
            return _times(terms, factor.constant, factor.size)
        case Arithmetic("/", left, right):
            divisor, top = _constant(right), _sum_of(left)
            if divisor is None or divisor.constant == 0.0 or top is None:
                return None
            size = divisor.size / divisor.constant**2
            return _divided(_times(top, 1.0, size), divisor.constant)
        case _:
            return _constant(node)


def _constant(node: Expression) -> _Sum | None:
    """The value of an expression without columns; registered rules are not called here."""
    if names_in(node) or not _foldable(node):
        return None
    with np.errstate(all="ignore"):
        value = float(number(node, EncodedColumns({}, {})).values)
        size = float(size_of(node, EncodedColumns({}, {})))
    return _Sum({}, value, {}, size) if np.isfinite(value) else None


def _foldable(node: Expression) -> bool:
    match node:
        case Literal(value):
            return isinstance(value, int | float)
        case Call(function) if function not in BUILT_IN:
            return False
        case Call() | Arithmetic() | Negative():
            return all(map(_foldable, children(node)))
        case _:
            return False


def _times(terms: _Sum, factor: float, size: float) -> _Sum:
    """The terms times a constant that was calculated from terms of this size."""
    return _Sum(
        {name: c * factor for name, c in terms.coefficients.items()},
        terms.constant * factor,
        {name: c * size for name, c in terms.sizes.items()},
        terms.size * size,
    )


def _divided(terms: _Sum, divisor: float) -> _Sum:
    coefficients = {name: c / divisor for name, c in terms.coefficients.items()}
    return replace(terms, coefficients=coefficients, constant=terms.constant / divisor)


def _add(a: _Sum, b: _Sum) -> _Sum:
    return _Sum(
        _merged(a.coefficients, b.coefficients),
        a.constant + b.constant,
        _merged(a.sizes, b.sizes),
        a.size + b.size,
    )


def _merged(a: Mapping[str, float], b: Mapping[str, float]) -> dict[str, float]:
    return {name: a.get(name, 0.0) + b.get(name, 0.0) for name in (*a, *b)}
