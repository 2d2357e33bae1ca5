"""Numbers that a person said, and numbers in a draft that nobody said."""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from compass.chat.draft import Draft
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
_SMALL = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_WORTH = {
    **{word: float(i) for i, word in enumerate(_SMALL)},
    **{word: 10.0 * i for i, word in enumerate(_TENS, 2)},
}
_POWERS = {"dozen": 12.0, "hundred": 100.0, "thousand": 1000.0, "million": 1e6}
_ALONE = {
    **dict.fromkeys(("double", "doubled", "doubling", "twice", "pair", "couple", "both"), 2.0),
    **dict.fromkeys(("triple", "tripled", "tripling", "thrice"), 3.0),
    **dict.fromkeys(("quadruple", "quadrupled"), 4.0),
    **dict.fromkeys(("half", "halve", "halved", "halving"), 0.5),
    **dict.fromkeys(("quarter", "quarters"), 0.25),
    **dict.fromkeys(("third", "thirds"), 1.0 / 3.0),
    **dict.fromkeys(("single", "once"), 1.0),
}


@dataclass(frozen=True)
class Said:
    """A number of a message, with its unit or as a percentage."""

    value: float
    unit: str | None = None
    percent: bool = False


@dataclass(frozen=True)
class Written:
    """A number of a draft, where it stands and what it is."""

    value: float
    unit: str | None = None
    columns: tuple[str, ...] = ()
    share: bool = False  # of something: percentages and factors


def said_numbers(text: str) -> tuple[Said, ...]:
    """Every number of a message: figures, words, percentages, and figures with units."""
    found = []
    for match in _NUMBER.finditer(text):
        value, tail = float(match[1].replace(",", "")), match[2] or ""
        percent = tail in ("%", "percent")
        unit = None if percent else canonical(tail)
        found.append(Said(value, unit, percent))
        found += [Said(value * size) for size in _THOUSANDS.get(tail.lower(), ())]
    return (*found, *_in_words(text))


def _in_words(text: str) -> Iterator[Said]:
    words = re.findall(r"[a-z]+|%", text.casefold())
    total: float | None = None
    for place, word in enumerate([*words, ""]):
        if word in _ALONE:
            yield Said(_ALONE[word])
        if word in _WORTH:
            # Six and thirty six are both numbers that were said; only the whole is wanted.
            total = (total or 0.0) + _WORTH[word]
        elif word in _POWERS:
            total = (total or 1.0) * _POWERS[word]
        elif total is not None and word != "and":
            after = words[place] if place < len(words) else ""
            yield Said(total, canonical(after), after in ("%", "percent"))
            total = None


def numbers_of(draft: Draft) -> Iterator[Written]:
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
        yield Written(draft.baseline.row)
    if draft.count is not None:
        yield Written(draft.count)


def _of_edit(edit: Edit, name: str) -> Iterator[Written]:
    match edit:
        case SetTo(value=value, unit=unit):
            yield from _value(value, name, unit)
        case Times(factor=factor):
            yield Written(factor, columns=(name,), share=True)
        case Plus(amount=amount, unit=unit):
            yield Written(amount, unit, (name,))


def _of_goal(goal: Goal, name: str) -> Iterator[Written]:
    match goal:
        case Within(low=low, high=high, unit=unit):
            yield from (Written(b, unit, (name,)) for b in (low, high) if b is not None)
        case Change(by=by, relative=relative, unit=unit):
            yield Written(by, unit, (name,), share=relative)
        case Reach(value=value, unit=unit):
            yield Written(value, unit, (name,))
        case Same(tolerance=tolerance) if tolerance is not None:
            yield Written(tolerance, share=True)
        case IsClass(value=label):
            yield from _value(label, name)
        case _:
            pass


def _value(value: Value, name: str, unit: str | None = None) -> Iterator[Written]:
    if isinstance(value, bool) or value is None:
        return
    try:
        yield Written(float(value), unit, (name,))
    except ValueError:
        return  # a label


def _literals(node: Expression, columns: tuple[str, ...]) -> Iterator[Written]:
    if isinstance(node, Literal):
        for one in _value(node.value, "", node.unit):
            yield Written(one.value, one.unit, columns)
    for child in children(node):
        yield from _literals(child, columns)


def invented(draft: Draft, text: str, space: Space) -> tuple[float, ...]:
    """The numbers of a draft that the message does not say."""
    said = said_numbers(text)
    return tuple(w.value for w in numbers_of(draft) if not _was_said(w, said, space))


def _was_said(written: Written, said: Iterable[Said], space: Space) -> bool:
    return any(
        math.isclose(abs(written.value), abs(value), rel_tol=1e-9, abs_tol=1e-12)
        for one in said
        for value in _meanings(one, written, space)
    )


def _meanings(one: Said, written: Written, space: Space) -> Iterator[float]:
    """What a number that was said can stand for where a number is written."""
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
