"""Queries and rules into canonical text: the inverse of `parse`."""

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from compass.domain.arguments import anything_of, takes
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
)
from compass.domain.goal import Change, Extreme, Goal, IsClass, Observe, Reach, Same, Within
from compass.domain.query import EVERY_KNOB, Edit, Kind, Plus, Query, Row, SetTo, Times

_LABEL = re.compile(r"[^\W\d]\w*\Z")
_PLAIN = re.compile(r"[^\W\d]\w*(\.\w+)*\Z")
# Words that the grammar reads as something else where a name could stand.
_KEYWORDS = re.compile(r"(and|or|not|in|true|false|none|null|where)\Z", re.IGNORECASE)
_LEVEL = {"+": 5, "-": 5, "*": 6, "/": 6, "%": 6, "**": 8}


def format_number(value: float) -> str:
    """A number as a person writes it, without losing a digit."""
    if isinstance(value, int) or (float(value).is_integer() and abs(value) < 1e15):
        return str(int(value))
    return repr(float(value))


def format_value(value: Value) -> str:
    """A literal of the language."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return format_number(value)


def format_name(name: str) -> str:
    """A column name, in backticks (doubled inside) when it is not a plain word."""
    if _PLAIN.match(name) and not _KEYWORDS.match(name):
        return name
    return "`" + name.replace("`", "``") + "`"


def format_rule(node: Expression) -> str:
    """A rule as canonical text."""
    return _text(node, 0)


def _wrap(text: str, level: int, around: int) -> str:
    return f"({text})" if level < around else text


def _text(node: Expression, around: int) -> str:
    """The text of a node inside one that binds as tightly as `around`."""
    match node:
        case Literal(value, unit):
            text = _with_unit(value, unit)
            negative = isinstance(value, int | float) and not isinstance(value, bool) and value < 0
            return _wrap(text, 7, around) if negative else text
        case Name(name):
            return format_name(name)
        case Call(function, arguments):
            return f"{function}({', '.join(_text(a, 0) for a in arguments)})"
        case Negative(operand):
            return _wrap(f"-{_text(operand, 8)}", 7, around)
        case Arithmetic(op, left, right):
            level = _LEVEL[op]
            if op == "**":
                return _wrap(f"{_text(left, 9)} ** {_text(right, 8)}", level, around)
            return _wrap(f"{_text(left, level)} {op} {_text(right, level + 1)}", level, around)
        case _:
            return _predicate_text(node, around)


def _predicate_text(node: Expression, around: int) -> str:
    match node:
        case Comparison(op, left, right):
            return _wrap(f"{_text(left, 5)} {op} {_text(right, 5)}", 4, around)
        case Membership(operand, values):
            inner = ", ".join(_text(value, 0) for value in values)
            return _wrap(f"{_text(operand, 5)} in {{{inner}}}", 4, around)
        case Not(operand):
            return _wrap(f"not {_text(operand, 3)}", 3, around)
        case And(operands):
            return _wrap(" and ".join(_text(o, 3) for o in operands), 2, around)
        case Or(operands):
            return _wrap(" or ".join(_text(o, 2) for o in operands), 1, around)
        case Implies(condition, consequence):
            return _wrap(f"{_text(condition, 1)} -> {_text(consequence, 0)}", 0, around)
        case _:
            raise TypeError(f"not an expression: {node!r}")


def _with_unit(value: Value, unit: str | None) -> str:
    return format_value(value) + (f" {unit}" if unit else "")


def format_percent(share: float) -> str:
    """A share as a percentage, without the noise of binary fractions."""
    exact = Decimal(repr(float(share))).scaleb(2).normalize()
    return (f"{exact:f}" if -12 < exact.adjusted() < 15 else str(exact)) + "%"


def format_goal(goal: Goal) -> str:
    """A goal as it stands behind the colon."""
    match goal:
        case Extreme(direction=direction):
            return direction
        case Within(low=None, high=high, unit=unit) if high is not None:
            return f"<= {_with_unit(high, unit)}"
        case Within(low=low, high=None, unit=unit) if low is not None:
            return f">= {_with_unit(low, unit)}"
        case Within(low=low, high=high, unit=unit) if low is not None and high is not None:
            return f"[{_with_unit(low, unit)}, {_with_unit(high, unit)}]"
        case Change(direction=direction, by=by, relative=True):
            return f"{direction} by {format_percent(by)}"
        case Change(direction=direction, by=by, unit=unit):
            return f"{direction} by {_with_unit(by, unit)}"
        case Reach(value=value, unit=unit):
            return f"old -> {_with_unit(value, unit)}"
        case Same(tolerance=tolerance, beyond=beyond):
            side = f" or {beyond}" if beyond else ""
            return f"same{side}{_within(tolerance)}"
        case IsClass(value=value):
            return format_value(value)
        case Observe():
            return "?"
        case _:
            raise TypeError(f"not a goal: {goal!r}")


def _within(tolerance: float | None) -> str:
    return "" if tolerance is None else f" within {format_percent(tolerance)}"


def _edit(edit: Edit) -> str:
    match edit:
        case SetTo(value=value, unit=unit):
            return _with_unit(value, unit)
        case Times(factor=factor):
            return f"{format_number(factor)}*old"
        case Plus(amount=amount, unit=unit):
            sign = "-" if amount < 0 else "+"
            return f"old {sign} {_with_unit(abs(amount), unit)}"


def _x_items(query: Query) -> list[str]:
    items = []
    for name in query.ask:
        old = format_value(query.stated[name]) + " -> " if name in query.stated else ""
        items.append(f"{name if name == EVERY_KNOB else format_name(name)}: {old}?")
    for name, edit in query.change.items():
        stated = name in query.stated
        plain = query.kind is Kind.RECOMMEND and isinstance(edit, SetTo) and not stated
        old = "" if plain else (format_value(query.stated[name]) if stated else "old") + " -> "
        items.append(f"{format_name(name)}: {old}{_edit(edit)}")
    return items


def _y_item(name: str, goal: Goal, stated: dict[str, Value]) -> str:
    if isinstance(goal, Observe) and name not in stated:
        return format_name(name)
    text = format_goal(goal)
    if name in stated:
        text = f"{format_value(stated[name])} -> {text.removeprefix('old -> ')}"
    return f"{format_name(name)}: {text}"


_OPENING = {
    Kind.RECOMMEND: "Recommend a configuration X = ",
    Kind.RECONFIGURE: "Reconfigure X = ",
    Kind.WHAT_IF: "What if we change X = ",
}


@takes(query=anything_of(Query))
def format_query(query: Query) -> str:
    """A query as canonical text; `parse_query` gives the same query back."""
    bare = [
        name
        for name, goal in query.goals.items()
        if isinstance(goal, Observe) and name not in query.stated
    ]
    # Names that stand alone come last: before a goal they would share it.
    order = [name for name in query.goals if name not in bare] + bare
    goals = ", ".join(_y_item(name, query.goals[name], query.stated) for name in order)
    link = ", how would that affect" if query.kind is Kind.WHAT_IF else " to achieve"
    text = f"{_OPENING[query.kind]}{{{', '.join(_x_items(query))}}}{link} Y = {{{goals}}}"
    if query.where:
        text += f" where C = {{{', '.join(rule.text for rule in query.where)}}}"
    if isinstance(query.baseline, Row):
        text += f" from row {query.baseline.row}"
    elif query.baseline is not None:
        known = query.baseline.new | query.baseline.config | query.baseline.counters
        pairs = (f"{format_name(n)}: {format_value(v)}" for n, v in known.items())
        text += f" from {{{', '.join(pairs)}}}"
    return " ".join([text, *_options(query)])


def _options(query: Query) -> list[str]:
    """The clauses of the options that a query says."""
    said: list[tuple[str, Any, Callable[[Any], str]]] = [
        ("top", query.count, format_number),
        ("seed", query.seed, format_number),
        ("weights", query.weights or None, _weights),
        ("reference", query.reference or None, _weights),
        ("diversity", query.diversity, format_number),
        ("loss", query.loss or None, _weights),
        ("prove", query.prove, format_number),
        ("level", query.level, format_percent),
        ("chance", query.chance, format_percent),
        ("beyond", query.beyond or None, lambda _: ""),
        ("generator", query.generator, _plugin),
    ]
    clauses = [f"{word} {form(value)}".rstrip() for word, value, form in said if value is not None]
    return (
        clauses if query.dependencies is None else [*clauses, f"{query.dependencies} dependencies"]
    )


def _weights(weights: Mapping[str, float]) -> str:
    pairs = (f"{format_name(name)}: {format_number(weight)}" for name, weight in weights.items())
    return f"{{{', '.join(pairs)}}}"


def _plugin(name: str) -> str:
    return name if _LABEL.match(name) else format_value(name)


def listed(words: Sequence[str]) -> str:
    """Words as a person lists them: a, b and c."""
    return "".join(words) if len(words) < 2 else f"{', '.join(words[:-1])} and {words[-1]}"
