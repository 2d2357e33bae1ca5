"""Solving an equality of whole numbers for one of its columns."""

from collections.abc import Mapping

import numpy as np

from compass.domain.expression import Arithmetic, Comparison, Expression, Name, Negative, children
from compass.domain.space import Number
from compass.rules.evaluate import Rule
from compass.rules.functions import BoolArray, FloatArray
from compass.rules.values import EncodedColumns, is_whole, number


def solvable(rule: Rule, name: str) -> bool:
    """Whether `solve` can tell the column from the others.

    Only for whole numbers: they are compared exactly, so no second value can be as good.
    """
    node = rule.expression
    if not isinstance(node, Comparison) or node.op != "==" or _count(node, name) != 1:
        return False
    for parameter in rule.parameters.values():
        if not isinstance(parameter, Number) or parameter.optional:
            return False
    if not (is_whole(node.left, rule.whole) and is_whole(node.right, rule.whole)):
        return False
    return unfolds(node, name)


def unfolds(node: Expression, name: str) -> bool:
    """Whether a comparison can be solved for a column: it is there once, in sums and products."""
    if not isinstance(node, Comparison) or _count(node, name) != 1:
        return False
    side = node.left if _count(node.left, name) else node.right
    while not isinstance(side, Name):
        match side:
            case Negative(operand):
                side = operand
            case Arithmetic("+" | "-" | "*", left, right):
                side = left if _count(left, name) else right
            case _:
                return False
    return True


def solve(rule: Rule, name: str, columns: Mapping[str, FloatArray]) -> tuple[FloatArray, BoolArray]:
    """The value of the column that makes the equality true, per row, and where any value may do.

    NaN: no value can. The answer is a real number; whether it is legal is for the caller to see.
    """
    node = rule.expression
    assert isinstance(node, Comparison)
    table = rule.table(columns)
    side, other = node.left, node.right
    if not _count(side, name):
        side, other = other, side
    with np.errstate(all="ignore"):
        target = number(other, table).values
        anything = np.zeros(np.shape(target), dtype=np.bool_)
        while not isinstance(side, Name):
            side, target, anything = _peel(side, name, target, anything, table)
    return target, anything


def _peel(
    side: Expression, name: str, target: FloatArray, anything: BoolArray, table: EncodedColumns
) -> tuple[Expression, FloatArray, BoolArray]:
    if isinstance(side, Negative):
        return side.operand, -target, anything
    assert isinstance(side, Arithmetic)
    in_left = _count(side.left, name) == 1
    inner, outer = (side.left, side.right) if in_left else (side.right, side.left)
    known = number(outer, table).values
    match side.op, in_left:
        case "+", _:
            return inner, target - known, anything
        case "-", True:
            return inner, target + known, anything
        case "-", False:
            return inner, known - target, anything
        case _:
            return inner, np.asarray(target / known), anything | (known == 0)


def _count(node: Expression, name: str) -> int:
    if isinstance(node, Name):
        return int(node.name == name)
    return sum(_count(child, name) for child in children(node))
