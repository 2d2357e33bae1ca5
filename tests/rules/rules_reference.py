"""The meaning of rules written a second time, row by row, in plain Python."""

import math
from itertools import product

import numpy as np

from compass.domain.expression import (
    And,
    Arithmetic,
    Call,
    Comparison,
    Implies,
    Literal,
    Membership,
    Name,
    Negative,
    Not,
    Or,
)
from compass.domain.space import Category, Number, Space
from compass.language import bind_rule, parse_rule
from compass.rules import compile_rule

MISSING = "missing"
NONE = "none"

SPACE = Space(
    parameters=(
        Number(name="a", low=0, high=5, step=1),
        Number(name="b", low=1, high=4, step=1),
        Number(name="c", low=1, high=8, allowed=(1, 2, 4, 8)),
        Number(name="x", low=-2, high=2, step=0.5),
        Number(name="cap", low=1, high=3, step=1, optional=True),
        Category(name="kind", values=("u", "v", "w")),
        Category(name="mode", values=("v", "u", None)),
    )
)


def rule(expression, space=SPACE, columns=None):
    return compile_rule(expression, space, space.names if columns is None else columns)


def compiled(text, space=SPACE, columns=None):
    """The rule that a text states."""
    return rule(bind_rule(parse_rule(text), space), space, columns)


def one(text, space=SPACE, **row):
    """Whether the rule holds for one row, and its violation."""
    x = np.full((1, len(space)), np.nan)
    for name, cell in row.items():
        x[0, space.names.index(name)] = cell
    found = compiled(text, space)
    return bool(found.holds(x)[0]), float(found.violation(x)[0])


def every_row(names, space=SPACE, missing=False):
    """All combinations of legal values of these columns; the other columns stay NaN."""
    lists = [codes(space[name]) + ([math.nan] if missing else []) for name in names]
    table = np.full((math.prod(map(len, lists)), len(space)), math.nan)
    for row, values in enumerate(product(*lists)):
        for name, value in zip(names, values, strict=True):
            table[row, space.names.index(name)] = value
    return table


def codes(parameter):
    if isinstance(parameter, Category):
        return [float(i) for i in range(len(parameter.values))]
    if parameter.allowed is not None:
        values = list(parameter.allowed)
    else:
        count = round((parameter.high - parameter.low) / parameter.step) + 1
        values = [parameter.low + i * parameter.step for i in range(count)]
    return values + ([parameter.none_code] if parameter.optional else [])


def natural(row, space=SPACE):
    """A row of the encoded matrix as a person knows it."""
    return {p.name: _natural(value, p) for value, p in zip(row, space, strict=True)}


def _natural(value, parameter):
    if math.isnan(value):
        return MISSING
    if isinstance(parameter, Category):
        label = parameter.values[int(value)]
        return NONE if label is None else label
    return NONE if parameter.optional and value == parameter.none_code else float(value)


def truth(node, row):
    """True, False, or None for unknown."""
    match node:
        case Not(operand):
            inner = truth(operand, row)
            return None if inner is None else not inner
        case And(operands):
            parts = [truth(o, row) for o in operands]
            return False if False in parts else (None if None in parts else True)
        case Or(operands):
            parts = [truth(o, row) for o in operands]
            return True if True in parts else (None if None in parts else False)
        case Implies(condition, consequence):
            return truth(Or((Not(condition), consequence)), row)
        case Comparison(op, left, right):
            return compare(op, value(left, row), value(right, row), node, row)
        case Membership(operand, values):
            return truth(Or(tuple(Comparison("==", operand, v) for v in values)), row)
        case Literal(flag):
            return flag
    raise TypeError(node)


def compare(op, a, b, node=None, row=None):
    if MISSING in (a, b):
        return None
    if NONE in (a, b):
        return {"==": a == b, "!=": a != b}.get(op, False)
    if isinstance(a, str) or isinstance(b, str):
        return (a == b) == (op == "==")
    equal = a == b
    if not (a.is_integer() and b.is_integer()):
        equal = abs(a - b) <= 1e-9 * max(abs(a), abs(b))
    return {
        "==": equal,
        "!=": not equal,
        "<": a < b and not equal,
        "<=": a < b or equal,
        ">": a > b and not equal,
        ">=": a > b or equal,
    }[op]


def value(node, row):
    match node:
        case Literal(None):
            return NONE
        case Literal(literal):
            return literal if isinstance(literal, str) else float(literal)
        case Name(name):
            return row[name]
        case Negative(operand):
            return _apply(lambda v: -v, operand, row=row)
        case Arithmetic(op, left, right):
            return _apply(_ARITHMETIC[op], left, right, row=row)
        case Call(function, arguments):
            return _apply(_FUNCTIONS[function], *arguments, row=row)
    raise TypeError(node)


def _apply(function, *nodes, row):
    values = [value(node, row) for node in nodes]
    if NONE in values:
        return NONE
    if MISSING in values:
        return MISSING
    try:
        result = function(*values)
    except (ZeroDivisionError, ValueError, OverflowError):
        return MISSING
    if isinstance(result, complex) or not math.isfinite(result):
        return MISSING
    return float(result)


_ARITHMETIC = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "%": lambda a, b: a % b,
    "**": lambda a, b: a**b,
}
_FUNCTIONS = {
    "min": min,
    "max": max,
    "abs": abs,
    "log2": math.log2,
    "log": math.log,
    "log10": math.log10,
    "exp": math.exp,
    "sqrt": math.sqrt,
    "ceil": math.ceil,
    "floor": math.floor,
    "round": round,
    "pow": lambda a, b: a**b,
}
