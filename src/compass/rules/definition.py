"""Whether one configuration obeys one rule: the definition that everything else must agree with.

Values are those that a person reads, calculated with exactly: 0.1 is one tenth. This module is slow
and shares no code with the vectorised evaluation, the search or the proofs; it has the last word
before an answer leaves the engine (docs/decisions/0030-what-obeying-a-rule-means.md).

Two numbers are equal when they differ by no more than rounding of the terms that they are made of
(`ROUNDING`); where one of these is a real number without a grid, also when they differ by less than
`TOLERANCE` of the larger one. Whole numbers are equal only when they are the same. `<` excludes
equal numbers, `<=` includes them. Something without a value makes a comparison unknown; the level
`none` equals only `none`, and every other comparison with it is false.
"""

import math
from collections.abc import Mapping
from fractions import Fraction

import numpy as np

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
    Not,
    Or,
)
from compass.domain.space import Category, Number
from compass.rules.exact import (
    ROUNDING,
    Exact,
    ExactNumber,
    Parameters,
    exact_number,
    has_real,
    is_label_column,
    label_of,
    registered_value,
)

TOLERANCE = Fraction(1, 10**9)


def obeys(rule: Expression, config: Mapping[str, Value], parameters: Parameters) -> bool:
    """Whether a configuration obeys a rule whose names and units are bound to the parameters.

    A parameter that is not in the configuration is missing: a comparison with it is unknown, and an
    unknown rule is not obeyed.
    """
    return _truth(rule, config, parameters) is True


def _truth(node: Expression, config: Mapping[str, Value], parameters: Parameters) -> bool | None:
    """True, False, or None for unknown (the logic of Kleene)."""
    match node:
        case Not(operand):
            inner = _truth(operand, config, parameters)
            return None if inner is None else not inner
        case And(operands):
            return _every([_truth(one, config, parameters) for one in operands])
        case Or(operands):
            return _some([_truth(one, config, parameters) for one in operands])
        case Implies(condition, consequence):
            first = _truth(condition, config, parameters)
            second = _truth(consequence, config, parameters)
            return _some([None if first is None else not first, second])
        case Comparison(op, left, right):
            if is_label_column(left, parameters) or is_label_column(right, parameters):
                return _labels(op, label_of(left, config), label_of(right, config))
            return _comparison(op, left, right, config, parameters)
        case Membership(operand, values):
            return _some([_truth(Comparison("==", operand, v), config, parameters) for v in values])
        case Call():
            return _registered_condition(node, config, parameters)
        case Literal(value):
            return bool(value)
        case _:
            raise TypeError(f"not a condition: {node!r}")


def _every(parts: list[bool | None]) -> bool | None:
    if False in parts:
        return False
    return None if None in parts else True


def _some(parts: list[bool | None]) -> bool | None:
    if True in parts:
        return True
    return None if None in parts else False


def _labels(op: str, left: tuple[Value] | None, right: tuple[Value] | None) -> bool | None:
    if left is None or right is None:
        return None
    (a,), (b,) = left, right
    same = a == b and isinstance(a, bool) == isinstance(b, bool)
    return same == (op == "==")


def _comparison(
    op: str,
    left: Expression,
    right: Expression,
    config: Mapping[str, Value],
    parameters: Parameters,
) -> bool | None:
    a, b = exact_number(left, config, parameters), exact_number(right, config, parameters)
    if a is None or b is None:
        return None
    if isinstance(a, str) or isinstance(b, str):
        both = isinstance(a, str) and isinstance(b, str)
        return {"==": both, "!=": not both}.get(op, False)
    share = TOLERANCE if has_real(left, parameters) or has_real(right, parameters) else 0
    equal = _equal(a, b, share)
    if op in ("==", "!="):
        around = _remainder(left, right, config, parameters, share)
        return (equal if around is None else around) == (op == "==")
    return equal if op in ("<=", ">=") and equal else (not equal and _ordered(op, a, b))


def _ordered(op: str, a: ExactNumber, b: ExactNumber) -> bool:
    return bool(a.value < b.value if op in ("<", "<=") else a.value > b.value)


def _equal(a: ExactNumber, b: ExactNumber, share: Exact) -> bool:
    if a.value == b.value:
        return True
    if isinstance(a.value, int) and isinstance(b.value, int):
        return False
    near = share * max(abs(a.value), abs(b.value))
    return bool(abs(a.value - b.value) <= max(near, ROUNDING * (a.size + b.size)))


def _remainder(
    left: Expression,
    right: Expression,
    config: Mapping[str, Value],
    parameters: Parameters,
    share: Exact,
) -> bool | None:
    """For `a % b == r`: whether the rest is r, going round the circle; None: no remainder.

    A rest that is almost the divisor is almost 0.
    """
    if not (isinstance(left, Arithmetic) and left.op == "%"):
        left, right = right, left
    if not (isinstance(left, Arithmetic) and left.op == "%"):
        return None
    a, b = (exact_number(side, config, parameters) for side in (left.left, left.right))
    rest, wanted = (exact_number(side, config, parameters) for side in (left, right))
    if not all(isinstance(one, ExactNumber) for one in (a, b, rest, wanted)):
        return None
    assert isinstance(a, ExactNumber) and isinstance(b, ExactNumber)  # noqa: PT018
    assert isinstance(rest, ExactNumber) and isinstance(wanted, ExactNumber)  # noqa: PT018
    period = abs(b.value)
    away = abs(rest.value - wanted.value)
    gap = min(away, abs(period - away))
    if all(isinstance(one, int) for one in (rest.value, wanted.value, period)):
        return bool(away == 0)
    slack = max(share * max(abs(a.value), period), ROUNDING * (a.size + b.size))
    signed = wanted.value if b.value > 0 else -wanted.value
    reachable = -slack <= signed < period or abs(signed) <= slack
    return bool(gap <= slack and reachable)


def _registered_condition(
    node: Call, config: Mapping[str, Value], parameters: Parameters
) -> bool | None:
    """True, or a number that is at most 0."""
    found, missing = registered_value(node, config, parameters)
    if missing or not math.isfinite(found):
        return None
    return bool(found) if isinstance(found, np.bool_) else bool(found <= 0)


def is_legal(parameter: Number | Category, value: Value) -> bool:
    """Whether a parameter may be set to a value."""
    if isinstance(parameter, Category):
        return any(_labels("==", (value,), (label,)) for label in parameter.values)
    if value is None:
        return parameter.optional
    if isinstance(value, bool | str) or not math.isfinite(value):
        return False
    if parameter.allowed is not None:
        return value in parameter.allowed
    if not parameter.low <= value <= parameter.high:
        return False
    if parameter.step is None:
        return True
    low, step, exact = (
        Fraction(repr(float(one))) for one in (parameter.low, parameter.step, value)
    )
    steps = (exact - low) / step
    return abs(steps - round(steps)) <= TOLERANCE
