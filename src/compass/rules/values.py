"""The numbers inside a rule, for many configurations at once."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from compass.domain.errors import RuleProblem
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
from compass.rules.exact import EXACT_FUNCTIONS, is_decimal, is_short
from compass.rules.functions import (
    BUILT_IN,
    GIVE_WHOLE,
    BoolArray,
    FloatArray,
    call_registered,
    modulo,
    power,
)

# What equal means is defined in compass.rules.definition; these are its numbers for arrays. Whole
# numbers are compared exactly. Others may differ by the rounding of their terms, so that
# `a == 0.1 * b` works, and real numbers by a share of the larger one.
TOLERANCE = 1e-9
ROUNDING = 1e-12

_COMPUTE: dict[str, Callable[[FloatArray, FloatArray], Any]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "%": modulo,
    "**": power,
}


@dataclass(frozen=True, slots=True)
class EncodedColumns:
    """Encoded columns by name, of shapes that broadcast together, and what each one means."""

    columns: Mapping[str, FloatArray]
    parameters: Mapping[str, Number | Category]
    whole: frozenset[str] = frozenset()  # the columns of whole numbers
    decimal: frozenset[str] = frozenset()  # the columns of decimals on a grid or list


def decimal_columns(parameters: Mapping[str, Number | Category]) -> frozenset[str]:
    """The columns whose legal values are decimals of a few places."""
    return frozenset(n for n, p in parameters.items() if isinstance(p, Number) and is_decimal(p))


def whole_columns(parameters: Mapping[str, Number | Category]) -> frozenset[str]:
    """The columns that hold whole numbers only."""
    return frozenset(n for n, p in parameters.items() if isinstance(p, Number) and p.whole)


@dataclass(frozen=True, slots=True)
class Operand:
    """Numbers (NaN: missing or undefined) and where they are the level `none` (None: nowhere)."""

    values: FloatArray
    none: BoolArray | None = None


def number(node: Expression, table: EncodedColumns) -> Operand:
    """The value of a numeric expression; a result that is not finite counts as undefined."""
    match node:
        case Literal(None):
            return Operand(np.asarray(np.nan), np.asarray(True))
        case Literal(value):
            assert isinstance(value, int | float)
            return Operand(np.asarray(float(value)))
        case Name(name):
            return _column(name, table)
        case Negative(operand):
            inner = number(operand, table)
            return Operand(-inner.values, inner.none)
        case Arithmetic(op, left, right):
            a, b = number(left, table), number(right, table)
            computed = _COMPUTE[op](a.values, b.values)
            if op not in ("+", "-", "*"):
                computed = _finite(computed)
            return Operand(np.asarray(computed), _either(a.none, b.none))
        case Call(function, arguments) if function in BUILT_IN:
            inner_values = [number(argument, table) for argument in arguments]
            none: BoolArray | None = None
            for quantity in inner_values:
                none = _either(none, quantity.none)
            result = BUILT_IN[function].compute(*(q.values for q in inner_values))
            return Operand(_finite(result), none)
        case Call(function):
            answer, missing = registered(node, table)
            if answer.dtype == np.bool_:
                raise RuleProblem(
                    f"the rule {function} answers yes or no: it cannot be used as a number",
                    hint=f"write {function}(...) on its own, or return numbers from it",
                )
            return Operand(np.where(missing, np.nan, _finite(answer)))
        case _:
            raise TypeError(f"not a number: {node!r}")


def without_none(values: FloatArray, parameter: Number | Category) -> FloatArray:
    """Encoded values of a column with NaN in place of the level `none` of a number."""
    if isinstance(parameter, Category) or not parameter.optional:
        return values
    return np.where(values == parameter.none_code, np.nan, values)


def _column(name: str, table: EncodedColumns) -> Operand:
    values, parameter = table.columns[name], table.parameters[name]
    if isinstance(parameter, Number) and parameter.optional:
        none: BoolArray = values == parameter.none_code
        if none.any():
            return Operand(np.where(none, np.nan, values), none)
    return Operand(values)


def _finite(values: Any) -> FloatArray:
    array = np.asarray(values, dtype=np.float64)
    good = np.isfinite(array)
    return array if good.all() else np.where(good, array, np.nan)


def _either(a: BoolArray | None, b: BoolArray | None) -> BoolArray | None:
    if a is None or b is None:
        return b if a is None else a
    return np.asarray(a | b)


def registered(node: Call, table: EncodedColumns) -> tuple[FloatArray | BoolArray, BoolArray]:
    """What a registered rule gives, and where one of its arguments is missing.

    Numbers arrive as floats (`none` as NaN), categories as labels, all of one length.
    """
    given = [_natural(argument, table) for argument in node.arguments]
    arrays = np.broadcast_arrays(*(values for values, _ in given))
    shape = arrays[0].shape if arrays else ()
    flat = [np.ascontiguousarray(array).reshape(-1) for array in arrays]
    result = call_registered(node.function, flat).reshape(shape)
    missing = np.zeros(shape, dtype=np.bool_)
    for _, unknown in given:
        missing = missing | unknown
    return result, missing


def _natural(node: Expression, table: EncodedColumns) -> tuple[npt.NDArray[Any], BoolArray]:
    """An argument as the person knows it, and where it is missing."""
    if isinstance(node, Name):
        parameter = table.parameters[node.name]
        if isinstance(parameter, Category):
            codes = table.columns[node.name]
            missing = np.isnan(codes)
            labels = np.empty(len(parameter.values) + 1, dtype=object)
            labels[:] = [*parameter.values, None]
            return labels[np.where(missing, -1, codes).astype(np.intp)], missing
    if isinstance(node, Literal) and not _is_number(node):
        label = np.empty((), dtype=object)
        label[()] = node.value
        return label, np.asarray(False)
    quantity = number(node, table)
    missing = np.isnan(quantity.values)
    return quantity.values, missing if quantity.none is None else missing & ~quantity.none


def _is_number(node: Literal) -> bool:
    return isinstance(node.value, int | float) and not isinstance(node.value, bool)


def equal(left: Expression, right: Expression, table: EncodedColumns) -> BoolArray:
    """Where two numeric expressions are equal (compass.rules.definition has the definition)."""
    a, b = side(left, table).values, side(right, table).values
    same: BoolArray = np.asarray(a == b)
    if is_whole(left, table.whole) and is_whole(right, table.whole):
        return same
    largest = np.maximum(np.abs(a), np.abs(b))
    slack = TOLERANCE * largest
    exact = is_exact(left, table.decimal) and is_exact(right, table.decimal)
    if exact or adds(left) or adds(right):
        rounding = ROUNDING * (size_of(left, table) + size_of(right, table))
        slack = rounding if exact else np.maximum(slack, rounding)
    near = (np.abs(a - b) <= slack) & ~same
    if near.any():
        both_whole = (np.floor(a) == a) & (np.floor(b) == b)
        same = same | (near & ~both_whole)
    return same


def side(node: Expression, table: EncodedColumns) -> Operand:
    """One side of a comparison: a number, true or false beside a number, or `none`."""
    if isinstance(node, Literal) and isinstance(node.value, bool):
        return Operand(np.asarray(float(node.value)))
    return number(node, table)


def adds(node: Expression) -> bool:
    """Whether an expression may be much smaller than the terms that it is made of."""
    if isinstance(node, Arithmetic) and node.op in ("+", "-", "/", "%"):
        return True
    return any(adds(child) for child in children(node))


def size_of(node: Expression, table: EncodedColumns) -> FloatArray:
    """The size of the terms that an expression is calculated from, as rounding is measured."""
    match node:
        case Negative(operand):
            return size_of(operand, table)
        case Arithmetic("+" | "-" | "%", left, right):
            return size_of(left, table) + size_of(right, table)
        case Arithmetic("*", left, right):
            return size_of(left, table) * size_of(right, table)
        case Arithmetic("/", left, right):
            divisor = np.abs(side(right, table).values)
            share = size_of(right, table) / divisor
            return np.asarray(size_of(left, table) / divisor * share)
        case Call("min" | "max" | "abs", arguments):
            sizes = [size_of(argument, table) for argument in arguments]
            return np.asarray(reduce(np.maximum, sizes))
        case _:
            return np.abs(side(node, table).values)


def is_exact(node: Expression, decimals: Collection[str]) -> bool:
    """Whether an expression of these decimal columns is calculated without an error."""
    match node:
        case Name(name):
            return name in decimals
        case Literal(value):
            return not isinstance(value, float) or is_short(value)
        case Arithmetic(op) if op in ("/", "**"):
            return False
        case Call(function) if function not in EXACT_FUNCTIONS:
            return False
        case _:
            return all(is_exact(child, decimals) for child in children(node))


def is_whole(node: Expression, columns: Collection[str]) -> bool:
    """Whether an expression of these whole-number columns can only be a whole number."""
    match node:
        case Literal(value):
            return isinstance(value, int | float) and float(value).is_integer()
        case Name(name):
            return name in columns
        case Negative() | Arithmetic("+" | "-" | "*" | "%"):
            return all(is_whole(child, columns) for child in children(node))
        case Call(function, _) if function in GIVE_WHOLE:
            return True
        case Call(function, arguments) if function in BUILT_IN and BUILT_IN[function].whole:
            return all(is_whole(argument, columns) for argument in arguments)
        case _:
            return False
