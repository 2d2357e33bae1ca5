"""The numbers inside a rule, for many configurations at once."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
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
)
from compass.domain.space import Category, Number
from compass.rules.functions import (
    BUILT_IN,
    ROUNDING,
    BoolArray,
    FloatArray,
    call_registered,
    power,
)

# Two numbers are equal when they differ by less than this share of the larger one, so that
# `a == 0.1 * b` works; two whole numbers are compared exactly.
TOLERANCE = 1e-9

_COMPUTE: dict[str, Callable[[FloatArray, FloatArray], Any]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "%": np.mod,
    "**": power,
}


@dataclass(frozen=True, slots=True)
class Table:
    """Encoded columns by name, of shapes that broadcast together, and what each one means."""

    columns: Mapping[str, FloatArray]
    parameters: Mapping[str, Number | Category]
    whole: frozenset[str] = frozenset()  # the columns of whole numbers


def whole_columns(parameters: Mapping[str, Number | Category]) -> frozenset[str]:
    """The columns that hold whole numbers only."""
    return frozenset(n for n, p in parameters.items() if isinstance(p, Number) and p.whole)


@dataclass(frozen=True, slots=True)
class Quantity:
    """Numbers (NaN: missing or undefined) and where they are the level `none` (None: nowhere)."""

    values: FloatArray
    none: BoolArray | None = None


def number(node: Expression, table: Table) -> Quantity:
    """The value of a numeric expression; a result that is not finite counts as undefined."""
    match node:
        case Literal(None):
            return Quantity(np.asarray(np.nan), np.asarray(True))
        case Literal(value):
            assert isinstance(value, int | float)
            return Quantity(np.asarray(float(value)))
        case Name(name):
            return _column(name, table)
        case Negative(operand):
            inner = number(operand, table)
            return Quantity(-inner.values, inner.none)
        case Arithmetic(op, left, right):
            a, b = number(left, table), number(right, table)
            computed = _COMPUTE[op](a.values, b.values)
            if op not in ("+", "-", "*"):
                computed = _finite(computed)
            return Quantity(np.asarray(computed), _either(a.none, b.none))
        case Call(function, arguments) if function in BUILT_IN:
            inner_values = [number(argument, table) for argument in arguments]
            none: BoolArray | None = None
            for quantity in inner_values:
                none = _either(none, quantity.none)
            result = BUILT_IN[function].compute(*(q.values for q in inner_values))
            return Quantity(_finite(result), none)
        case Call(function):
            answer, missing = registered(node, table)
            if answer.dtype == np.bool_:
                raise RuleProblem(
                    f"the rule {function} answers yes or no: it cannot be used as a number",
                    hint=f"write {function}(...) on its own, or return numbers from it",
                )
            return Quantity(np.where(missing, np.nan, _finite(answer)))
        case _:
            raise TypeError(f"not a number: {node!r}")


def _column(name: str, table: Table) -> Quantity:
    values, parameter = table.columns[name], table.parameters[name]
    if isinstance(parameter, Number) and parameter.optional:
        none: BoolArray = values == parameter.none_code
        if none.any():
            return Quantity(np.where(none, np.nan, values), none)
    return Quantity(values)


def _finite(values: Any) -> FloatArray:
    array = np.asarray(values, dtype=np.float64)
    good = np.isfinite(array)
    return array if good.all() else np.where(good, array, np.nan)


def _either(a: BoolArray | None, b: BoolArray | None) -> BoolArray | None:
    if a is None or b is None:
        return b if a is None else a
    return np.asarray(a | b)


def registered(node: Call, table: Table) -> tuple[FloatArray | BoolArray, BoolArray]:
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


def _natural(node: Expression, table: Table) -> tuple[npt.NDArray[Any], BoolArray]:
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


def close(a: FloatArray, b: FloatArray, *, whole: bool = False) -> BoolArray:
    """Where two arrays are equal: exactly, or within the tolerance unless both are whole."""
    equal: BoolArray = np.asarray(a == b)
    if whole:
        return equal
    near = (np.abs(a - b) <= TOLERANCE * np.maximum(np.abs(a), np.abs(b))) & ~equal
    if near.any():
        both_whole = (np.floor(a) == a) & (np.floor(b) == b)
        equal = equal | (near & ~both_whole)
    return equal


def is_whole(node: Expression, columns: Collection[str]) -> bool:
    """Whether an expression of these whole-number columns can only be a whole number."""
    match node:
        case Literal(value):
            return isinstance(value, int | float) and float(value).is_integer()
        case Name(name):
            return name in columns
        case Negative(operand):
            return is_whole(operand, columns)
        case Arithmetic(op, left, right):
            inside = is_whole(left, columns) and is_whole(right, columns)
            return op in ("+", "-", "*", "%") and inside
        case Call(function, _) if function in ROUNDING:
            return True
        case Call(function, arguments) if function in BUILT_IN and BUILT_IN[function].whole:
            return all(is_whole(argument, columns) for argument in arguments)
        case _:
            return False
