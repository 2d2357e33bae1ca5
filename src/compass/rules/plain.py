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
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

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
    Name,
    Negative,
    Not,
    Or,
    children,
)
from compass.domain.space import Category, Number
from compass.rules.functions import call_registered

ROUNDING = Fraction(1, 10**12)
TOLERANCE = Fraction(1, 10**9)
_MOST_NOISE = Fraction(1, 10**4)  # the most by which rounding can hide a whole number
_PLACES = 6  # decimals up to which the values of a grid or list are taken as exact
_LARGEST_POWER = 64  # larger exponents are calculated with floats
EXACT_FUNCTIONS = ("min", "max", "abs", "floor", "ceil", "round")
_FLOATS = {"log": math.log, "log2": math.log2, "log10": math.log10, "exp": math.exp}
_FLOATS["sqrt"] = math.sqrt

# `int | Fraction` has no common type that adds and divides for a type checker.
Exact = Any
Parameters = Mapping[str, Number | Category]


@dataclass(frozen=True, slots=True)
class _Number:
    """A number and the size of the terms that it was calculated from."""

    value: Exact
    size: Exact


_NONE = "none"  # the level none, as a number
_Operand = _Number | str | None  # None: it has no value


def obeys(rule: Expression, config: Mapping[str, Value], parameters: Parameters) -> bool:
    """Whether a configuration obeys a rule whose names and units are bound to the parameters.

    A parameter that is not in the configuration is missing: what is said of it is unknown, and an
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
            if _label_column(left, parameters) or _label_column(right, parameters):
                return _labels(op, _label(left, config), _label(right, config))
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


def _label_column(node: Expression, parameters: Parameters) -> bool:
    return isinstance(node, Name) and isinstance(parameters[node.name], Category)


def _label(node: Expression, config: Mapping[str, Value]) -> tuple[Value] | None:
    """A label in a tuple, as it may be `none`; None where it is missing."""
    if isinstance(node, Literal):
        return (node.value,)
    assert isinstance(node, Name)
    return (config[node.name],) if node.name in config else None


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
    a, b = _number(left, config, parameters), _number(right, config, parameters)
    if a is None or b is None:
        return None
    if isinstance(a, str) or isinstance(b, str):
        both = isinstance(a, str) and isinstance(b, str)
        return {"==": both, "!=": not both}.get(op, False)
    share = TOLERANCE if _has_real(left, parameters) or _has_real(right, parameters) else 0
    equal = _equal(a, b, share)
    if op in ("==", "!="):
        around = _remainder(left, right, config, parameters, share)
        return (equal if around is None else around) == (op == "==")
    return equal if op in ("<=", ">=") and equal else (not equal and _ordered(op, a, b))


def _ordered(op: str, a: _Number, b: _Number) -> bool:
    return bool(a.value < b.value if op in ("<", "<=") else a.value > b.value)


def _equal(a: _Number, b: _Number, share: Exact) -> bool:
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
    a, b = (_number(side, config, parameters) for side in (left.left, left.right))
    rest, wanted = (_number(side, config, parameters) for side in (left, right))
    if not all(isinstance(one, _Number) for one in (a, b, rest, wanted)):
        return None
    assert isinstance(a, _Number) and isinstance(b, _Number)  # noqa: PT018
    assert isinstance(rest, _Number) and isinstance(wanted, _Number)  # noqa: PT018
    period = abs(b.value)
    away = abs(rest.value - wanted.value)
    gap = min(away, abs(period - away))
    if all(isinstance(one, int) for one in (rest.value, wanted.value, period)):
        return bool(away == 0)
    slack = max(share * max(abs(a.value), period), ROUNDING * (a.size + b.size))
    signed = wanted.value if b.value > 0 else -wanted.value
    reachable = -slack <= signed < period or abs(signed) <= slack
    return bool(gap <= slack and reachable)


def _has_real(node: Expression, parameters: Parameters) -> bool:
    """Whether real numbers without a grid, or what is not calculated exactly, take part."""
    match node:
        case Name(name):
            parameter = parameters[name]
            return isinstance(parameter, Number) and not is_decimal(parameter)
        case Arithmetic("/" | "**", _, _):
            return True
        case Call(function, _) if function not in EXACT_FUNCTIONS:
            return True
        case Literal(value):
            return isinstance(value, float) and not is_short(value)
        case _:
            return any(_has_real(child, parameters) for child in children(node))


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


def is_decimal(parameter: Number) -> bool:
    """Whether every legal value of a number is a decimal of a few places."""
    if parameter.allowed is not None:
        return all(map(is_short, parameter.allowed))
    return parameter.step is not None and is_short(parameter.step) and is_short(parameter.low)


def is_short(value: float) -> bool:
    """Whether a number is a decimal of a few places."""
    return round(value, _PLACES) == value


def _number(node: Expression, config: Mapping[str, Value], parameters: Parameters) -> _Operand:
    match node:
        case Literal(None):
            return _NONE
        case Literal(value):
            assert isinstance(value, int | float)
            return _plain(value)
        case Name(name):
            return _column(name, config, parameters)
        case Negative(operand):
            inner = _number(operand, config, parameters)
            return _Number(-inner.value, inner.size) if isinstance(inner, _Number) else inner
        case Arithmetic(op, left, right):
            operands = [_number(side, config, parameters) for side in (left, right)]
            return _calculated(operands, lambda a, b: _arithmetic(op, a, b))
        case Call(function, arguments) if function in EXACT_FUNCTIONS or function in _FLOATS:
            operands = [_number(one, config, parameters) for one in arguments]
            return _calculated(operands, lambda *numbers: _function(function, numbers))
        case Call("pow", (left, right)):
            return _number(Arithmetic("**", left, right), config, parameters)
        case Call():
            return _registered_number(node, config, parameters)
        case _:
            raise TypeError(f"not a number: {node!r}")


def _calculated(operands: list[_Operand], calculate: Callable[..., _Operand]) -> _Operand:
    """What is calculated from the operands; `none` and missing ones stay what they are."""
    if _NONE in operands:
        return _NONE
    if None in operands:
        return None
    found = calculate(*operands)
    if isinstance(found, _Number) and isinstance(found.value, Fraction):
        # Whole numbers are calculated with faster, and compared exactly.
        whole = found.value.denominator == 1
        return _Number(found.value.numerator, found.size) if whole else found
    return found


def _plain(value: float) -> _Operand:
    """A number as it is written: 0.1 is one tenth."""
    if not math.isfinite(value):
        return None
    exact: Exact = int(value) if float(value).is_integer() else Fraction(repr(float(value)))
    return _Number(exact, abs(exact))


def _column(name: str, config: Mapping[str, Value], parameters: Parameters) -> _Operand:
    if name not in config:
        return None
    value, parameter = config[name], parameters[name]
    if value is None:
        return _NONE if isinstance(parameter, Number) and parameter.optional else None
    assert not isinstance(value, str)
    return _plain(value)


def _arithmetic(op: str, a: _Number, b: _Number) -> _Operand:
    match op:
        case "+":
            return _Number(a.value + b.value, a.size + b.size)
        case "-":
            return _Number(a.value - b.value, a.size + b.size)
        case "*":
            return _Number(a.value * b.value, a.size * b.size)
        case "/" if b.value != 0:
            share = Fraction(b.size) / abs(b.value)
            return _Number(Fraction(a.value) / b.value, Fraction(a.size) / abs(b.value) * share)
        case "%" if b.value != 0:
            return _Number(_rest(a.value, b.value), a.size + b.size)
        case "**":
            return _power(a, b)
        case _:
            return None


def _rest(a: Exact, b: Exact) -> Exact:
    """a % b with the sign of b; 0 where a is a multiple of b but for rounding."""
    if isinstance(a, int) and isinstance(b, int):
        return a % b
    times = Fraction(_settled(Fraction(a) / b))
    return 0 if times.denominator == 1 else a - math.floor(times) * b


def _settled(value: Exact) -> Exact:
    """The whole or half number that a number is, but for rounding; else the number itself."""
    near = Fraction(round(2 * value), 2)
    noise = min(ROUNDING * max(1, abs(value)), _MOST_NOISE)
    return near if abs(value - near) <= noise else value


def _power(a: _Number, b: _Number) -> _Operand:
    whole = isinstance(b.value, int) and 0 <= b.value <= _LARGEST_POWER
    if whole and abs(a.value) < 10**15:
        return _Number(a.value ** int(b.value), a.size ** int(b.value))
    try:
        value = float(a.value) ** float(b.value)
    except (ArithmeticError, ValueError):
        return None
    return _plain_float(value)


def _plain_float(value: Any) -> _Operand:
    if isinstance(value, complex) or not math.isfinite(value):
        return None
    exact = Fraction(value)
    return _Number(exact, abs(exact))


def _function(function: str, operands: tuple[_Number, ...]) -> _Operand:
    first = operands[0]
    match function:
        case "min" | "max":
            values = [one.value for one in operands]
            value = min(values) if function == "min" else max(values)
            return _Number(value, max(one.size for one in operands))
        case "abs":
            return _Number(abs(first.value), first.size)
        case "floor" | "ceil" | "round":
            steps: dict[str, Callable[[Exact], int]] = {"floor": math.floor, "ceil": math.ceil}
            whole = steps.get(function, round)(_settled(first.value))
            return _Number(whole, abs(whole))
        case _:
            try:
                return _plain_float(_FLOATS[function](float(first.value)))
            except (ArithmeticError, ValueError):
                return None


def _registered(
    node: Call, config: Mapping[str, Value], parameters: Parameters
) -> tuple[bool | float, bool]:
    """What a registered rule gives for this configuration, and whether an argument is missing."""
    arrays, missing = [], False
    for argument in node.arguments:
        label = _label_column(argument, parameters) or (
            isinstance(argument, Literal) and isinstance(argument.value, str | bool | None)
        )
        array = np.empty(1, dtype=object if label else np.float64)
        if label:
            found = _label(argument, config)
            array[0], missing = (found or (None,))[0], missing or found is None
        else:
            number = _number(argument, config, parameters)
            array[0] = float(number.value) if isinstance(number, _Number) else np.nan
            missing = missing or number is None
        arrays.append(array)
    return call_registered(node.function, arrays)[0], missing


def _registered_condition(
    node: Call, config: Mapping[str, Value], parameters: Parameters
) -> bool | None:
    """True, or a number that is at most 0."""
    found, missing = _registered(node, config, parameters)
    if missing or not math.isfinite(found):
        return None
    return bool(found) if isinstance(found, np.bool_) else bool(found <= 0)


def _registered_number(node: Call, config: Mapping[str, Value], parameters: Parameters) -> _Operand:
    found, missing = _registered(node, config, parameters)
    return None if missing else _plain_float(float(found))
