"""Another number for what was said before: 60 is too much, 40."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal as OneOf

from compass.chat.draft import Draft
from compass.chat.english.link import Index
from compass.chat.english.quantities import fits, number_of
from compass.chat.english.words import QuantityForm, TextQuantity
from compass.domain.base import Value
from compass.domain.expression import Comparison, Literal, Name
from compass.domain.goal import Change, Goal, Reach, Within
from compass.domain.query import Given, SetTo
from compass.domain.space import Number
from compass.language import parse_rule

_SHARES = (QuantityForm.SHARE, QuantityForm.FRACTION)
_SAME = 1e-6  # numbers that differ by less are one


@dataclass(frozen=True, slots=True)
class NumberSaid:
    """A number in a draft: of which column, where it stands, and what it is."""

    name: str
    part: OneOf["goal", "share", "absolute", "rule", "change", "baseline"]
    value: float
    op: str = ""


def numbers_in(before: Draft, index: Index) -> list[NumberSaid]:
    """The numbers of a draft; what is corrected when nothing else tells comes last."""
    return [one for one in _numbers(before) if isinstance(index.parameters.get(one.name), Number)]


def _numbers(before: Draft) -> Iterator[NumberSaid]:
    if isinstance(before.baseline, Given):
        for name, value in before.baseline.config.items():
            if is_number(value):
                yield NumberSaid(name, "baseline", float(str(value)))
    for name, edit in before.change.items():
        if isinstance(edit, SetTo) and is_number(edit.value):
            yield NumberSaid(name, "change", float(str(edit.value)))
    for name, goal in before.goals.items():
        yield from _of_goal(name, goal)
    for text in before.where:
        rule = parse_rule(text)
        if not (isinstance(rule, Comparison) and isinstance(rule.left, Name)):
            continue
        if isinstance(rule.right, Literal) and is_number(rule.right.value):
            yield NumberSaid(rule.left.name, "rule", float(str(rule.right.value)), rule.op)


def is_number(value: Value) -> bool:
    """Whether a value is a number, and not true or false."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _of_goal(name: str, goal: Goal) -> Iterator[NumberSaid]:
    match goal:
        case Change(relative=True, by=by):
            yield NumberSaid(name, "share", by)
        case Change(by=value) | Reach(value=value):
            yield NumberSaid(name, "goal", value)
        case Within(low=low, high=high):
            if low is not None:
                yield NumberSaid(name, "goal", low, ">=")
            if high is not None:
                yield NumberSaid(name, "goal", high, "<=")


def value_for(said: NumberSaid, quantity: TextQuantity, index: Index) -> float | None:
    """A quantity as the number that it would be in the place of another."""
    if said.part == "share":
        share = quantity.value
        if quantity.form is QuantityForm.NUMBER and quantity.unit is None:
            share = quantity.value / 100  # 10 was too timid, go for 25
        elif quantity.form not in _SHARES:
            return None
        return float(f"{share:.12g}") if 0 < share < 1 else None
    return number_of(quantity, said.name, index)


def corrected(
    before: Draft | None, index: Index, new: TextQuantity, old: Sequence[TextQuantity] = ()
) -> NumberSaid | None:
    """The number that another one takes the place of; None: none, or it could be several."""
    if before is None:
        return None
    said = numbers_in(before, index)
    fitting = [one for one in said if value_for(one, new, index) is not None]
    if old and new.unit is not None:  # by 100 GB, not by 20 %
        shares = [one for one in said if one.part == "share"]
        moved = [replace(one, part="absolute") for one in shares if _is_any(one, old, index)]
        fitting += [one for one in moved if value_for(one, new, index) is not None]
        old_said = [one for one in fitting if one.part == "absolute"]
        if len(old_said) == 1:
            return old_said[0]
    if old:
        return _only(one for one in fitting if any(is_said(one, each, index) for each in old))
    likely = [one for one in fitting if _likely(one, new, index)]
    if not likely and len(said) == 1:
        likely = fitting  # 20 % less; no, 30
    shares = [one for one in likely if one.part == "share"]
    if new.form in _SHARES and shares:
        return shares[-1]
    return likely[-1] if likely else None


def _is_any(said: NumberSaid, old: Sequence[TextQuantity], index: Index) -> bool:
    return any(is_said(said, quantity, index) for quantity in old)


def _likely(said: NumberSaid, new: TextQuantity, index: Index) -> bool:
    if said.part == "share":
        return new.form in _SHARES
    return fits(new, said.name, index, wide=3.0)


def is_said(said: NumberSaid, quantity: TextQuantity, index: Index) -> bool:
    """Whether a quantity is a number that was said before."""
    value = value_for(said, quantity, index)
    return value is not None and abs(value - said.value) <= _SAME * max(abs(value), 1.0)


def _only(found: Iterable[NumberSaid]) -> NumberSaid | None:
    names = {one.name: one for one in found}
    return next(iter(names.values())) if len(names) == 1 else None
