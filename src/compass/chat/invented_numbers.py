"""Numbers in the draft of a language model that the message of the person does not hold."""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from compass.chat.draft import Draft
from compass.chat.number_words import NUMBER_WORDS
from compass.domain.base import Value
from compass.domain.errors import CompassError
from compass.domain.expression import Expression, Literal, children, names_in
from compass.domain.goal import Change, Goal, IsClass, Reach, Same, Within
from compass.domain.query import Edit, Given, Plus, Row, SetTo, Times
from compass.domain.space import Number, Space
from compass.domain.units import canonical, convert
from compass.language import parse_rule

_NUMBER = re.compile(
    r"(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\.\d+)\s*(%|percent\b|[a-zA-Zµμ]+)?"
)
_THOUSANDS = {"k": (1e3, 2.0**10), "m": (1e6, 2.0**20), "g": (1e9, 2.0**30)}
_POWERS = {"dozen": 12.0, "hundred": 100.0, "thousand": 1000.0, "million": 1e6}
_FACTOR_WORDS = {
    **dict.fromkeys(("double", "doubled", "doubling", "twice", "pair", "couple", "both"), 2.0),
    **dict.fromkeys(("triple", "tripled", "tripling", "thrice"), 3.0),
    **dict.fromkeys(("quadruple", "quadrupled"), 4.0),
    **dict.fromkeys(("half", "halve", "halved", "halving"), 0.5),
    **dict.fromkeys(("quarter", "quarters"), 0.25),
    **dict.fromkeys(("third", "thirds"), 1.0 / 3.0),
    **dict.fromkeys(("single", "once"), 1.0),
}


@dataclass(frozen=True)
class MessageNumber:
    """A number of a message, with its unit or as a percentage."""

    value: float
    unit: str | None = None
    percent: bool = False


@dataclass(frozen=True)
class DraftNumber:
    """A number of a draft, where it stands and what it is."""

    value: float
    unit: str | None = None
    columns: tuple[str, ...] = ()
    share: bool = False  # of something: percentages and factors


def numbers_in_message(text: str) -> tuple[MessageNumber, ...]:
    """Every number of a message: figures, words, percentages, and figures with units."""
    found = []
    for match in _NUMBER.finditer(text):
        value, tail = float(match[1].replace(",", "")), match[2] or ""
        percent = tail in ("%", "percent")
        unit = None if percent else canonical(tail)
        found.append(MessageNumber(value, unit, percent))
        found += [MessageNumber(value * size) for size in _THOUSANDS.get(tail.lower(), ())]
    return (*found, *_in_words(text))


def _in_words(text: str) -> Iterator[MessageNumber]:
    words = re.findall(r"[a-z]+|%", text.casefold())
    total: float | None = None
    for place, word in enumerate([*words, ""]):
        if word in _FACTOR_WORDS:
            yield MessageNumber(_FACTOR_WORDS[word])
        if word in NUMBER_WORDS:
            # Six and thirty six are both numbers; only the whole is wanted.
            total = (total or 0.0) + NUMBER_WORDS[word]
        elif word in _POWERS:
            total = (total or 1.0) * _POWERS[word]
        elif total is not None and word != "and":
            after = words[place] if place < len(words) else ""
            yield MessageNumber(total, canonical(after), after in ("%", "percent"))
            total = None


def numbers_in_draft(draft: Draft) -> Iterator[DraftNumber]:
    """Every number that a draft holds."""
    for name, edit in draft.change.items():
        yield from _of_edit(edit, name)
    for name, goal in draft.goals.items():
        yield from _of_goal(goal, name)
    given = draft.baseline.config if isinstance(draft.baseline, Given) else {}
    for name, value in (*draft.stated.items(), *given.items()):
        yield from _value(value, name)
    for rule in draft.where:
        tree = parse_rule(rule)
        yield from _literals(tree, names_in(tree))
    if isinstance(draft.baseline, Row):
        yield DraftNumber(draft.baseline.row)
    if draft.count is not None:
        yield DraftNumber(draft.count)


def _of_edit(edit: Edit, name: str) -> Iterator[DraftNumber]:
    match edit:
        case SetTo(value=value, unit=unit):
            yield from _value(value, name, unit)
        case Times(factor=factor):
            yield DraftNumber(factor, columns=(name,), share=True)
        case Plus(amount=amount, unit=unit):
            yield DraftNumber(amount, unit, (name,))


def _of_goal(goal: Goal, name: str) -> Iterator[DraftNumber]:
    match goal:
        case Within(low=low, high=high, unit=unit):
            yield from (DraftNumber(b, unit, (name,)) for b in (low, high) if b is not None)
        case Change(by=by, relative=relative, unit=unit):
            yield DraftNumber(by, unit, (name,), share=relative)
        case Reach(value=value, unit=unit):
            yield DraftNumber(value, unit, (name,))
        case Same(tolerance=tolerance) if tolerance is not None:
            yield DraftNumber(tolerance, share=True)
        case IsClass(value=label):
            yield from _value(label, name)
        case _:
            pass


def _value(value: Value, name: str, unit: str | None = None) -> Iterator[DraftNumber]:
    if isinstance(value, bool) or value is None:
        return
    try:
        yield DraftNumber(float(value), unit, (name,))
    except ValueError:
        return  # a label


def _literals(node: Expression, columns: tuple[str, ...]) -> Iterator[DraftNumber]:
    if isinstance(node, Literal):
        for one in _value(node.value, "", node.unit):
            yield DraftNumber(one.value, one.unit, columns)
    for child in children(node):
        yield from _literals(child, columns)


def invented_numbers(draft: Draft, text: str, space: Space) -> tuple[float, ...]:
    """The numbers of a draft that the message does not hold."""
    in_message = numbers_in_message(text)
    return tuple(
        w.value for w in numbers_in_draft(draft) if not _is_in_message(w, in_message, space)
    )


def _is_in_message(written: DraftNumber, in_message: Iterable[MessageNumber], space: Space) -> bool:
    return any(
        math.isclose(abs(written.value), abs(value), rel_tol=1e-9, abs_tol=1e-12)
        for one in in_message
        for value in _meanings(one, written, space)
    )


def _meanings(one: MessageNumber, written: DraftNumber, space: Space) -> Iterator[float]:
    """The values that a number of the message can stand for in the draft."""
    if written.share:
        share = one.value / 100
        yield from (share, 1 + share, 1 - share) if one.percent else ()
        yield from (one.value, 1 / one.value) if one.value and not one.percent else ()
        return
    if written.unit is not None:
        if one.unit is not None and canonical(written.unit) == one.unit:
            yield one.value
        return
    if one.unit is None:
        yield one.value
    for name in written.columns:
        if one.unit is None or name not in space.names:
            continue
        parameter = space[name]
        if isinstance(parameter, Number):
            try:
                yield convert(one.value, one.unit, parameter.unit, column=name)
            except CompassError:
                yield one.value  # "4 s" of a column without a unit: the letter was no unit
