"""Numbers of one configuration, calculated exactly: 0.1 is one tenth.

What `compass.rules.definition` compares. `none` and missing values stay what they are, and every
number knows the size of the terms that it was calculated from, which its rounding is measured by.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from compass.domain.base import Value
from compass.domain.expression import (
    Arithmetic,
    Call,
    Expression,
    Literal,
    Name,
    Negative,
    children,
)
from compass.domain.space import Category, Number
from compass.rules.functions import call_registered

ROUNDING = Fraction(1, 10**12)
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
class ExactNumber:
    """A number and the size of the terms that it was calculated from."""

    value: Exact
    size: Exact


_NONE = "none"  # the level none, as a number
_Operand = ExactNumber | str | None  # None: it has no value


def exact_number(node: Expression, config: Mapping[str, Value], parameters: Parameters) -> _Operand:
    """The value of a numeric expression; "none" for the level none, None where there is none."""
    match node:
        case Literal(None):
            return _NONE
        case Literal(value):
            assert isinstance(value, int | float)
            return _plain(value)
        case Name(name):
            return _column(name, config, parameters)
        case Negative(operand):
            inner = exact_number(operand, config, parameters)
            return (
                ExactNumber(-inner.value, inner.size) if isinstance(inner, ExactNumber) else inner
            )
        case Arithmetic(op, left, right):
            operands = [exact_number(side, config, parameters) for side in (left, right)]
            return _calculated(operands, lambda a, b: _arithmetic(op, a, b))
        case Call(function, arguments) if function in EXACT_FUNCTIONS or function in _FLOATS:
            operands = [exact_number(one, config, parameters) for one in arguments]
            return _calculated(operands, lambda *numbers: _function(function, numbers))
        case Call("pow", (left, right)):
            return exact_number(Arithmetic("**", left, right), config, parameters)
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
    if isinstance(found, ExactNumber) and isinstance(found.value, Fraction):
        # Whole numbers are calculated with faster, and compared exactly.
        whole = found.value.denominator == 1
        return ExactNumber(found.value.numerator, found.size) if whole else found
    return found


def _plain(value: float) -> _Operand:
    """A number as it is written: 0.1 is one tenth."""
    if not math.isfinite(value):
        return None
    exact: Exact = int(value) if float(value).is_integer() else Fraction(repr(float(value)))
    return ExactNumber(exact, abs(exact))


def _column(name: str, config: Mapping[str, Value], parameters: Parameters) -> _Operand:
    if name not in config:
        return None
    value, parameter = config[name], parameters[name]
    if value is None:
        return _NONE if isinstance(parameter, Number) and parameter.optional else None
    assert not isinstance(value, str)
    return _plain(value)


def _arithmetic(op: str, a: ExactNumber, b: ExactNumber) -> _Operand:
    match op:
        case "+":
            return ExactNumber(a.value + b.value, a.size + b.size)
        case "-":
            return ExactNumber(a.value - b.value, a.size + b.size)
        case "*":
            return ExactNumber(a.value * b.value, a.size * b.size)
        case "/" if b.value != 0:
            share = Fraction(b.size) / abs(b.value)
            return ExactNumber(Fraction(a.value) / b.value, Fraction(a.size) / abs(b.value) * share)
        case "%" if b.value != 0:
            return ExactNumber(_rest(a.value, b.value), a.size + b.size)
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


def _power(a: ExactNumber, b: ExactNumber) -> _Operand:
    whole = isinstance(b.value, int) and 0 <= b.value <= _LARGEST_POWER
    if whole and abs(a.value) < 10**15:
        return ExactNumber(a.value ** int(b.value), a.size ** int(b.value))
    try:
        value = float(a.value) ** float(b.value)
    except (ArithmeticError, ValueError):
        return None
    return _plain_float(value)


def _plain_float(value: Any) -> _Operand:
    if isinstance(value, complex) or not math.isfinite(value):
        return None
    exact = Fraction(value)
    return ExactNumber(exact, abs(exact))


def _function(function: str, operands: tuple[ExactNumber, ...]) -> _Operand:
    first = operands[0]
    match function:
        case "min" | "max":
            values = [one.value for one in operands]
            value = min(values) if function == "min" else max(values)
            return ExactNumber(value, max(one.size for one in operands))
        case "abs":
            return ExactNumber(abs(first.value), first.size)
        case "floor" | "ceil" | "round":
            steps: dict[str, Callable[[Exact], int]] = {"floor": math.floor, "ceil": math.ceil}
            whole = steps.get(function, round)(_settled(first.value))
            return ExactNumber(whole, abs(whole))
        case _:
            try:
                return _plain_float(_FLOATS[function](float(first.value)))
            except (ArithmeticError, ValueError):
                return None


def registered_value(
    node: Call, config: Mapping[str, Value], parameters: Parameters
) -> tuple[bool | float, bool]:
    """What a registered rule gives for this configuration, and whether an argument is missing."""
    arrays, missing = [], False
    for argument in node.arguments:
        label = is_label_column(argument, parameters) or (
            isinstance(argument, Literal) and isinstance(argument.value, str | bool | None)
        )
        array = np.empty(1, dtype=object if label else np.float64)
        if label:
            found = label_of(argument, config)
            array[0], missing = (found or (None,))[0], missing or found is None
        else:
            number = exact_number(argument, config, parameters)
            array[0] = float(number.value) if isinstance(number, ExactNumber) else np.nan
            missing = missing or number is None
        arrays.append(array)
    return call_registered(node.function, arrays)[0], missing


def _registered_number(node: Call, config: Mapping[str, Value], parameters: Parameters) -> _Operand:
    found, missing = registered_value(node, config, parameters)
    return None if missing else _plain_float(float(found))


def is_label_column(node: Expression, parameters: Parameters) -> bool:
    """Whether an expression is a column of labels."""
    return isinstance(node, Name) and isinstance(parameters[node.name], Category)


def label_of(node: Expression, config: Mapping[str, Value]) -> tuple[Value] | None:
    """A label in a tuple, as it may be `none`; None where it is missing."""
    if isinstance(node, Literal):
        return (node.value,)
    assert isinstance(node, Name)
    return (config[node.name],) if node.name in config else None


def has_real(node: Expression, parameters: Parameters) -> bool:
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
            return any(has_real(child, parameters) for child in children(node))


def is_decimal(parameter: Number) -> bool:
    """Whether every legal value of a number is a decimal of a few places."""
    if parameter.allowed is not None:
        return all(map(is_short, parameter.allowed))
    return parameter.step is not None and is_short(parameter.step) and is_short(parameter.low)


def is_short(value: float) -> bool:
    """Whether a number is a decimal of a few places."""
    return round(value, _PLACES) == value
