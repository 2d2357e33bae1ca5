"""Whether a bound rule makes sense on the columns of a space."""

from typing import assert_never

from compass.domain.base import Value
from compass.domain.errors import RuleProblem, unknown
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
from compass.domain.space import Category, Number, Space
from compass.language import format_rule, format_value
from compass.rules.functions import BUILT_IN, check_call

ARITHMETIC = ("+", "-", "*", "/", "%", "**")
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
_ORDERINGS = ("<", "<=", ">", ">=")


def check_rule(node: Expression, space: Space) -> None:
    """Refuse, in the person's language, a rule that cannot be applied to these columns."""
    match node:
        case Comparison():
            _check_comparison(node, space)
        case Membership(operand, values):
            _check_membership(operand, values, space)
        case Not() | And() | Or() | Implies():
            for part in children(node):
                check_rule(part, space)
        case Call(function, _) if function not in BUILT_IN:
            _check_arguments(node, space)
        case Literal(value) if isinstance(value, bool):
            return
        case Name() | Literal() | Arithmetic() | Negative() | Call():
            raise RuleProblem(
                f"{format_rule(node)} is a value, not a rule",
                hint="compare it with something, e.g. nodes <= 16",
            )
        case _:
            assert_never(node)


def category_of(node: Expression, space: Space) -> Category | None:
    """The category that an operand is a column of, if it is one."""
    if isinstance(node, Name):
        parameter = space[node.name]
        return parameter if isinstance(parameter, Category) else None
    return None


def find_label(value: Value, category: Category) -> int | None:
    """The position of a label, by value and kind (true is not 1); None when there is none."""
    for position, label in enumerate(category.values):
        if label == value and isinstance(label, bool) == isinstance(value, bool):
            return position
    return None


def _check_comparison(node: Comparison, space: Space) -> None:
    if node.op not in COMPARISONS:
        raise RuleProblem(f"'{node.op}' is not a comparison", hint="use < <= > >= == or !=")
    sides = (node.left, node.right)
    categories = [category_of(side, space) for side in sides]
    category = categories[0] or categories[1]
    if category is None:
        beside = [p for side in sides if (p := _column(side, space)) is not None]
        for side in sides:
            _check_side(side, beside, space)
        return
    if node.op in _ORDERINGS:
        raise RuleProblem(
            f"{category.name} is a category: its labels have no order, in: {format_rule(node)}",
            hint=f"use {category.name} == ..., != ... or in {{...}}",
        )
    for side, own in zip(sides, categories, strict=True):
        if own is None:
            _check_label(side, category, node)


def _check_label(side: Expression, category: Category, node: Comparison) -> None:
    if not isinstance(side, Literal):
        raise RuleProblem(
            f"{category.name} is a category and {format_rule(side)} is a number, "
            f"in: {format_rule(node)}",
            hint="compare a category with one of its labels or with another category",
        )
    _check_known(side, category)


def _check_known(literal: Literal, category: Category) -> None:
    # `x != none` stays meaningful on a table where x is never none.
    if literal.value is not None and find_label(literal.value, category) is None:
        known = [str(value) for value in category.values if value is not None]
        raise unknown(f"value of {category.name}", str(literal.value), known)


def _check_membership(operand: Expression, values: tuple[Literal, ...], space: Space) -> None:
    if not values:
        raise RuleProblem(
            f"{format_rule(operand)} in {{}} can never hold", hint="name at least one value"
        )
    category = category_of(operand, space)
    column = _column(operand, space)
    if category is None:
        check_number(operand, space)
    for value in values:
        if category is not None:
            _check_known(value, category)
        else:
            _check_side(value, [column] if column else [], space)


def _column(node: Expression, space: Space) -> Number | None:
    if isinstance(node, Name):
        parameter = space[node.name]
        return parameter if isinstance(parameter, Number) else None
    return None


def _check_side(side: Expression, beside: list[Number], space: Space) -> None:
    """One side of a comparison of numbers; `none` and true/false are allowed beside a column."""
    if isinstance(side, Literal):
        if side.value is None:
            return
        if isinstance(side.value, bool) and beside and all(_is_flag(p) for p in beside):
            return
    check_number(side, space)


def _is_flag(parameter: Number) -> bool:
    return parameter.low >= 0 and parameter.high <= 1


def check_number(node: Expression, space: Space) -> None:
    """Refuse an expression that is not a number."""
    match node:
        case Literal(value, unit):
            _check_literal(node, value, unit)
        case Name(name):
            if isinstance(space[name], Category):
                raise RuleProblem(
                    f"{name} is a category: it cannot be used as a number",
                    hint=f"compare it with a label: {name} == ... or {name} in {{...}}",
                )
        case Negative(operand):
            check_number(operand, space)
        case Arithmetic(op, left, right):
            if op not in ARITHMETIC:
                raise RuleProblem(f"'{op}' is not arithmetic", hint="use + - * / % or **")
            check_number(left, space)
            check_number(right, space)
        case Call():
            _check_arguments(node, space)
        case _:
            raise RuleProblem(
                f"{format_rule(node)} is a condition: it cannot be used as a number",
                hint="combine conditions with and, or, not, ->",
            )


def _check_literal(node: Literal, value: Value, unit: str | None) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise RuleProblem(
            f"{format_value(value)} is not a number", hint="compare numbers with numbers"
        )
    if unit is not None:
        raise RuleProblem(
            f"the unit of {format_rule(node)} has not been converted",
            hint="bind the rule to the table first",
        )


def _check_arguments(node: Call, space: Space) -> None:
    check_call(node.function, len(node.arguments), format_rule(node))
    for argument in node.arguments:
        label = isinstance(argument, Literal) or category_of(argument, space) is not None
        if node.function in BUILT_IN or not label:
            check_number(argument, space)
