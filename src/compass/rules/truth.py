"""Where a condition holds and by how much it is missed, for many configurations at once.

The logic has three values. A comparison with a missing cell, or with something that has no value
(division by zero, the logarithm of a negative number), is unknown: it does not hold, and neither
does its negation. The level `none` is known: it equals only `none`, and every other comparison
with it is false, so that neither `cap <= 300` nor `cap > 300` holds without a cap, but
`not cap <= 300` does and `cap <= 300 -> ...` says nothing.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

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
    Not,
    Or,
)
from compass.domain.space import Category
from compass.rules.check import find_label
from compass.rules.functions import BoolArray, FloatArray
from compass.rules.values import (
    ROUNDING,
    TOLERANCE,
    EncodedColumns,
    Operand,
    equal,
    is_exact,
    is_whole,
    number,
    registered,
    side,
    size_of,
)

UNKNOWN = 1.0  # the amount where there is no distance: a missing cell, a wrong label, `none`
_STRICT = 1e-6  # how far beyond equality `<` and `!=` ask to go, as a share, for real numbers
_LARGEST = 1e300  # amounts stay finite, and so do their sums
NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


@dataclass(frozen=True, slots=True)
class Truth:
    """Where a condition holds; the amount by which it is missed is 0 exactly there."""

    holds: BoolArray
    amount: FloatArray | None


def truth(
    node: Expression, table: EncodedColumns, *, positive: bool = True, measure: bool
) -> Truth:
    """Where a condition holds, or its negation when `positive` is False.

    Negation is pushed inwards to the comparisons; `and` adds amounts, `or` takes the smallest.
    """
    match node:
        case Not(operand):
            return truth(operand, table, positive=not positive, measure=measure)
        case And(operands) | Or(operands):
            parts = [truth(o, table, positive=positive, measure=measure) for o in operands]
            return _together(parts, everything=isinstance(node, And) == positive)
        case Implies(condition, consequence):
            first = truth(condition, table, positive=not positive, measure=measure)
            second = truth(consequence, table, positive=positive, measure=measure)
            return _together([first, second], everything=not positive)
        case Comparison():
            return _comparison(node, table, positive, measure)
        case Membership():
            return _membership(node, table, positive, measure)
        case Call():
            return _registered(node, table, positive, measure)
        case Literal(value):
            return _plain(np.asarray(bool(value) == positive), measure)
        case _:
            raise TypeError(f"not a condition: {node!r}")


def _together(parts: list[Truth], *, everything: bool) -> Truth:
    holds, amount = parts[0].holds, parts[0].amount
    for part in parts[1:]:
        holds = holds & part.holds if everything else holds | part.holds
        if amount is not None and part.amount is not None:
            if everything:
                amount = np.minimum(amount + part.amount, _LARGEST)
            else:
                amount = np.minimum(amount, part.amount)
    return Truth(holds, amount)


def _plain(holds: BoolArray, measure: bool) -> Truth:
    return Truth(holds, np.where(holds, 0.0, UNKNOWN) if measure else None)


def _measured(holds: BoolArray, gap: Any) -> Truth:
    """The truth with the gap as amount; UNKNOWN where there is no gap to speak of."""
    gap = np.where(np.isnan(gap), UNKNOWN, np.clip(gap, np.finfo(np.float64).tiny, _LARGEST))
    return Truth(holds, np.where(holds, 0.0, gap))


def _comparison(node: Comparison, table: EncodedColumns, positive: bool, measure: bool) -> Truth:
    sides = (node.left, node.right)
    labels = [_category(side, table) for side in sides]
    op = node.op if positive else NEGATED[node.op]
    if labels[0] is not None or labels[1] is not None:
        return _labels(node, table, op == "==", measure)
    a, b = side(node.left, table), side(node.right, table)
    whole = is_whole(node.left, table.whole) and is_whole(node.right, table.whole)
    modulo = _modulo(node, table) if op in ("==", "!=") else None
    same = modulo == 0 if modulo is not None else equal(node.left, node.right, table)
    holds = _ordered(op, a.values, b.values, same)
    if a.none is not None or b.none is not None:
        holds = _with_none(op, holds, a, b, positive)
    if not measure:
        return Truth(holds, None)
    gap = np.abs(a.values - b.values) if modulo is None else modulo
    if op in ("<", "<="):
        gap = a.values - b.values
    elif op in (">", ">="):
        gap = b.values - a.values
    if op in ("<", ">", "!="):
        size = np.maximum(np.maximum(np.abs(a.values), np.abs(b.values)), 1.0)
        beyond = np.asarray(1.0 if whole else _STRICT * size)
        missing = np.isnan(gap)
        gap = beyond if op == "!=" else np.maximum(gap, 0.0) + beyond
        gap = np.where(missing, np.nan, gap)
    return _measured(holds, gap)


def _ordered(op: str, a: FloatArray, b: FloatArray, equal: BoolArray) -> BoolArray:
    match op:  # a comparison with NaN is false by itself, except !=
        case "==":
            return equal
        case "!=":
            return np.asarray(~equal & ~np.isnan(a) & ~np.isnan(b))
        case "<":
            return np.asarray((a < b) & ~equal)
        case "<=":
            return np.asarray((a < b) | equal)
        case ">":
            return np.asarray((a > b) & ~equal)
        case _:
            return np.asarray((a > b) | equal)


def _with_none(op: str, holds: BoolArray, a: Operand, b: Operand, positive: bool) -> BoolArray:
    first = a.none if a.none is not None else np.asarray(False)
    second = b.none if b.none is not None else np.asarray(False)
    # A missing cell beside a `none` stays unknown.
    missing = (np.isnan(a.values) & ~first) | (np.isnan(b.values) & ~second)
    some, both = first | second, first & second
    known = {"==": both, "!=": ~both}.get(op, np.asarray(not positive))
    return np.where(some, known & ~missing, holds)


def _modulo(node: Comparison, table: EncodedColumns) -> FloatArray | None:
    """For `a % b == r`: the way round the circle to the residue r; None for other comparisons."""
    left, right = node.left, node.right
    if not (isinstance(left, Arithmetic) and left.op == "%"):
        left, right = right, left
    if not (isinstance(left, Arithmetic) and left.op == "%"):
        return None
    dividend, divisor = number(left.left, table).values, number(left.right, table).values
    rest, wanted = number(left, table).values, side(right, table).values
    period = np.abs(divisor)
    straight = np.abs(rest - wanted)
    around = np.abs(period - straight)
    gap = np.minimum(straight, around)
    slack = ROUNDING * (size_of(left.left, table) + size_of(left.right, table))
    if not (is_exact(left, table.decimal) and is_exact(right, table.decimal)):
        slack = np.maximum(slack, TOLERANCE * np.maximum(np.abs(dividend), period))
    exact = (np.floor(rest) == rest) & (np.floor(wanted) == wanted) & (np.floor(period) == period)
    gap = np.where((gap <= slack) & ~exact, 0.0, gap)
    # A residue outside [0, divisor) can never be reached, however close the circle comes to it.
    signed = wanted * np.sign(divisor)
    outside = np.maximum(np.maximum(-signed, signed - period), 0.0) + (signed == period)
    return np.asarray(np.where(outside > slack, gap + outside, gap))


def _category(node: Expression, table: EncodedColumns) -> Category | None:
    parameter = table.parameters[node.name] if isinstance(node, Name) else None
    return parameter if isinstance(parameter, Category) else None


def _labels(node: Comparison, table: EncodedColumns, equal: bool, measure: bool) -> Truth:
    """A category compared with a label or with another category."""
    left, right = node.left, node.right
    category = _category(left, table)
    if category is None:
        left, right = right, left
        category = _category(left, table)
    assert isinstance(left, Name)
    assert category is not None
    codes = table.columns[left.name]
    other: FloatArray
    if isinstance(right, Name):
        partner = table.parameters[right.name]
        assert isinstance(partner, Category)
        positions = [find_label(label, category) for label in partner.values]
        known = np.array([-1.0 if p is None else p for p in positions] + [np.nan])
        raw = table.columns[right.name]
        other = known[np.where(np.isnan(raw), -1, raw).astype(np.intp)]
    else:
        assert isinstance(right, Literal)
        position = find_label(right.value, category)
        other = np.asarray(-1.0 if position is None else float(position))
    defined = ~(np.isnan(codes) | np.isnan(other))
    return _plain(((codes == other) == equal) & defined, measure)


def _membership(node: Membership, table: EncodedColumns, positive: bool, measure: bool) -> Truth:
    category = _category(node.operand, table)
    if category is not None:
        assert isinstance(node.operand, Name)
        codes = table.columns[node.operand.name]
        positions = [find_label(literal.value, category) for literal in node.values]
        inside = np.isin(codes, [p for p in positions if p is not None])
        return _plain((inside == positive) & ~np.isnan(codes), measure)
    operand = number(node.operand, table)
    inside = np.zeros(operand.values.shape, dtype=np.bool_)
    gap = np.full(operand.values.shape, np.nan)
    for literal in node.values:
        if literal.value is not None:
            same = Comparison("==", node.operand, literal)
            inside = inside | _comparison(same, table, positive=True, measure=False).holds
            gap = np.fmin(gap, np.abs(operand.values - side(literal, table).values))
    holds = (inside == positive) & ~np.isnan(operand.values)
    if operand.none is not None:
        allowed = any(literal.value is None for literal in node.values)
        holds = np.where(operand.none, allowed == positive, holds)
    if not measure:
        return Truth(holds, None)
    if not positive:
        whole = is_whole(node.operand, table.whole)
        beyond = 1.0 if whole else _STRICT * np.maximum(np.abs(operand.values), 1.0)
        gap = np.where(np.isnan(operand.values), np.nan, beyond)
    return _measured(holds, gap)


def _registered(node: Call, table: EncodedColumns, positive: bool, measure: bool) -> Truth:
    """A registered rule as a condition: true, or a number that is at most 0."""
    result, missing = registered(node, table)
    if result.dtype == np.bool_:
        return _plain((result == positive) & ~missing, measure)
    values: FloatArray = np.where(missing | ~np.isfinite(result), np.nan, result)
    holds = values <= 0 if positive else values > 0
    if not measure:
        return Truth(holds, None)
    return _measured(holds, values if positive else -values + _STRICT)
