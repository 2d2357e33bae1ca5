"""What has been found in one message, and how columns, values and rules are noted in it."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal as OneOf

from compass.chat.draft import How, Link
from compass.chat.english.items import Item
from compass.chat.english.link import Index, dimension_of
from compass.chat.english.marked_labels import MarkedText
from compass.chat.english.synonyms import MONEY, larger_is_better
from compass.chat.english.tags import Tag
from compass.chat.english.words import TextQuantity, compact
from compass.domain.base import Value
from compass.domain.errors import BadInput
from compass.domain.expression import Comparison, Expression, Literal, Membership, Name, Not
from compass.domain.goal import Change, Extreme, Goal, IsClass, Within
from compass.domain.query import Edit, Kind, Plus, SetTo, Times
from compass.domain.space import Category, Number, Role
from compass.domain.units import convert
from compass.prepare.names import words

Direction = OneOf["minimize", "maximize"]
PARAMETERS = (Role.KNOB, Role.CONTEXT)


@dataclass(frozen=True, slots=True)
class Equal:
    """A column that is to have one of these values, and the word that brought it in."""

    column: str
    values: tuple[Value, ...]
    place: int
    cue: str = ""
    negative: bool = False


@dataclass(slots=True)
class Scan:
    """The parts of one message and what has been made of them."""

    items: list[Item]
    index: Index
    kind: Kind | None
    source: MarkedText
    tags: str = ""
    used: set[int] = field(default_factory=set)
    goals: dict[str, Goal] = field(default_factory=dict)
    rules: list[Expression] = field(default_factory=list)
    edits: dict[str, Edit] = field(default_factory=dict)
    stated: dict[str, Value] = field(default_factory=dict)
    equals: list[Equal] = field(default_factory=list)
    keep: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    observed: list[str] = field(default_factory=list)
    row: int | None = None
    count: int | None = None
    everything: bool = False
    links: dict[str, Link] = field(default_factory=dict)
    loose: list[tuple[str, int, TextQuantity]] = field(default_factory=list)
    last: str | None = None
    last_op: str = ""
    sign: int = 0  # of the last change: 1 up, -1 down
    stated_kind: Kind | None = None
    unused_words: list[str] = field(default_factory=list)
    current: tuple[str, TextQuantity] | None = None  # an outcome and its value now
    ambiguous: tuple[str, TextQuantity] | None = None  # a goal, or the value that it has now
    relative: bool = False  # a goal is relative to the value that an outcome has now

    def __post_init__(self) -> None:
        self.tags = "".join(item.tag for item in self.items)

    # ------------------------------------------------------------------ looking

    def at(self, places: Iterable[int], tags: str) -> list[int]:
        """The places among these that have one of the tags."""
        return [place for place in places if self.tags[place] in tags]

    def verbatim(self, start: int, end: int) -> str:
        """The parts from one place up to another as they were written."""
        return self.source.verbatim(self.items[start].start, self.items[end - 1].end)

    def sentence(self, place: int) -> range:
        """The places of the sentence at a place, without the sign that ends it."""
        start = self.tags.rfind(Tag.END, 0, place) + 1
        end = self.tags.find(Tag.END, place)
        return range(start, len(self.tags) if end < 0 else end)

    def is_question(self, place: int) -> bool:
        """Whether the sentence at a place ends with a question mark."""
        end = self.tags.find(Tag.END, place)
        return end >= 0 and self.items[end].words == "?"

    def quantity(self, place: int) -> TextQuantity:
        """The number at a place."""
        found = self.items[place].quantity
        if found is None:
            part = self.items[place].phrase
            return TextQuantity(part.factor if part is not None else 0.0)
        return found

    def column(self, place: int, *roles: Role) -> str:
        """The column that is meant at a place; the mapping is noted."""
        mention = self.items[place].mention
        assert mention is not None
        ranked = self.index.ranked(mention, roles)
        exact = mention.how is How.EXACT and mention.words == ranked[0]
        if not exact:
            link = Link(words=mention.words, columns=ranked[:6], how=mention.how)
            self.links[mention.words.casefold()] = link
        return ranked[0]

    def fitting(self, place: int, values: list[int], name: str) -> str:
        """Stripes of 4 MB: of the columns that words can mean, the one that has these values."""
        mention = self.items[place].mention
        if mention is None or all(self.value(value, name) is not None for value in values):
            return name
        for other in mention.scores:
            fits = all(self.value(value, other) is not None for value in values)
            if fits and self.parameter(other).role in PARAMETERS:
                return other
        return name

    def parameter(self, name: str) -> Number | Category:
        """The column of a name."""
        return self.index.parameters[name]

    def outcome(self, name: str) -> bool:
        """Whether a column is measured."""
        return self.parameter(name).role is Role.OUTCOME

    def better(self, name: str) -> Direction:
        """Whether less or more of an outcome is better."""
        return "maximize" if larger_is_better(self.index.stems[name]) else "minimize"

    def number(self, quantity: TextQuantity, name: str) -> float | None:
        """A quantity in the unit of a column; None if it is not of that kind."""
        parameter = self.parameter(name)
        if not isinstance(parameter, Number):
            return None
        converted = self._in_unit(quantity, parameter)
        if converted is None:
            return None
        value = float(f"{converted:.12g}")
        return value if math.isfinite(value) else None

    def _in_unit(self, quantity: TextQuantity, parameter: Number) -> float | None:
        """A quantity in the unit of a column; money and rates count by the name too."""
        unit, to, name = quantity.unit, parameter.unit, parameter.name
        if unit is None:
            return quantity.value
        if unit == "$":
            return quantity.value if self.index.stems[name] & MONEY and to in {None, "$"} else None
        try:
            if "/" not in unit:
                return convert(quantity.value, unit, to, column=name)
            if to is None:
                return quantity.value if compact(unit) in words(name) else None
            (above, below), (over, under) = unit.split("/"), (to.split("/") * 2)[:2]
            value = convert(quantity.value, above, over, column=name)
            return value / convert(1.0, below, under, column=name)
        except BadInput:
            return None

    def fits(self, quantity: TextQuantity, name: str, *, wide: float = 1.0) -> bool:
        """Whether a quantity can be a value of a column: of its kind, and in its range."""
        parameter, value = self.parameter(name), self.number(quantity, name)
        if value is None or not isinstance(parameter, Number):
            return False
        return parameter.low / wide <= value <= parameter.high * wide

    def of_unit(self, quantity: TextQuantity, *roles: Role) -> str | None:
        """The column that a quantity with a unit must be about."""
        if quantity.unit is None:
            return None
        names = self.index.measured_in(dimension_of(quantity.unit) or "")
        fitting = [name for name in names if self.number(quantity, name) is not None]
        wanted = [name for name in fitting if not roles or self.parameter(name).role in roles]
        legal = [name for name in wanted if self.fits(quantity, name, wide=2.0)]
        measured = [name for name in wanted if self.outcome(name)]
        return next(iter((*legal, *measured)), None)

    # ------------------------------------------------------------------- noting

    def goal(self, name: str, goal: Goal) -> None:
        """Note what an outcome should become; a bound beside a goal is a rule."""
        old = self.goals.get(name)
        if isinstance(old, Within) and isinstance(goal, Within):
            low = goal.low if goal.low is not None else old.low
            high = goal.high if goal.high is not None else old.high
            if low is None or high is None or low <= high:
                goal = Within(low=low, high=high)
        elif isinstance(old, Extreme | Change) and isinstance(goal, Within):
            self._bound_rules(name, goal)
            return
        elif isinstance(old, Within) and isinstance(goal, Extreme | Change):
            self._bound_rules(name, old)
        self.goals[name] = goal

    def _bound_rules(self, name: str, goal: Within) -> None:
        if goal.low is not None:
            self.compare(name, ">=", goal.low)
        if goal.high is not None:
            self.compare(name, "<=", goal.high)

    def compare(self, name: str, op: str, value: Value | Expression) -> None:
        """Note the rule `name op value`."""
        right = value if isinstance(value, Expression) else Literal(whole(value))
        self.rule(Comparison(op, Name(name), right))

    def rule(self, rule: Expression) -> None:
        """Note a rule once."""
        if rule not in self.rules:
            self.rules.append(rule)

    def bound(self, name: str, op: str, quantity: TextQuantity) -> bool:
        """Note an upper or lower bound on a column: a goal for an outcome, else a rule."""
        value = self.number(quantity, name)
        if value is None:
            return False
        if self.outcome(name) and self.kind is not Kind.WHAT_IF and op[0] in "<>":
            self.goal(name, Within(high=value) if op[0] == "<" else Within(low=value))
        else:
            self.compare(name, op, value)
        return True

    def edit(self, name: str, edit: Edit) -> bool:
        """Note how a parameter changes."""
        parameter = self.parameter(name)
        if isinstance(parameter, Category) and isinstance(edit, Times | Plus):
            return False
        self.edits[name] = edit
        return True

    def note(self, words: str, name: str) -> None:
        """Note that words without a column of their own were taken for one."""
        link = Link(words=words, columns=(name,), how=How.SYNONYM)
        self.links.setdefault(words.casefold(), link)

    def change(self, name: str, value: Value, place: int = 0) -> bool:
        """Note a new value: tried out in a what-if, else a rule."""
        if self.kind is Kind.RECOMMEND:
            self.equals.append(Equal(name, (value,), place, "="))
            return True
        return self.edit(name, SetTo(value=whole(value)))

    def is_class(self, name: str, value: Value, *, cue: str = "") -> bool:
        """Note that a run should end in a class; a what-if only watches it."""
        if self.kind is Kind.WHAT_IF and cue != "o":
            self.observed.append(name)
        elif self.kind is Kind.WHAT_IF:
            self.rule(equality(name, (value,), negative=False))
        else:
            self.goals[name] = IsClass(value=value)
        return True

    def label(self, place: int, *, of: str | None = None) -> tuple[str, Value] | None:
        """The column and value of a label, of a given column if one is given."""
        mention = self.items[place].label
        assert mention is not None
        labels = [pair for pair in mention.labels if of is None or pair[0] == of]
        if not labels:
            return None
        first = min(labels, key=lambda pair: self.parameter(pair[0]).role is Role.OUTCOME)
        columns = tuple(dict.fromkeys(name for name, _ in labels))
        if mention.how is not How.EXACT or len(columns) > 1:
            ordered = (first[0], *(name for name in columns if name != first[0]))
            link = Link(words=mention.words, columns=ordered, how=mention.how)
            self.links[mention.words.casefold()] = link
        return first

    def old_value(self, values: list[int], name: str) -> Value | None:
        """The first of two values, in the unit of the second if it has none: from 6 to 12 hours."""
        if len(values) < 2:
            return None
        first, last = self.quantity(values[0]), self.quantity(values[-1])
        if self.tags[values[0]] == Tag.NUMBER and first.unit is None and last.unit is not None:
            number = self.number(TextQuantity(first.value, first.form, last.unit), name)
            return None if number is None else whole(number)
        return self.value(values[0], name)

    def value(self, place: int, name: str) -> Value | None:
        """The value at a place in the terms of a column; None if it cannot be one of it."""
        if self.tags[place] == Tag.LABEL:
            found = self.label(place, of=name)
            return found[1] if found is not None else None
        parameter = self.parameter(name)
        quantity = self.quantity(place)
        if isinstance(parameter, Category):
            plain = whole(quantity.value)
            return next(
                (v for v in parameter.values if v == plain and not isinstance(v, bool)), None
            )
        if quantity.unit is None and self.tags[place] != Tag.NUMBER:
            return None
        number = self.number(quantity, name)
        return None if number is None else whole(number)


def whole(value: Value) -> Value:
    """8 instead of 8.0."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return int(value)
    return value


def equality(name: str, values: tuple[Value, ...], *, negative: bool) -> Expression:
    """The rule that a column has one of these values, or none of them."""
    if len(values) == 1:
        return Comparison("!=" if negative else "==", Name(name), Literal(whole(values[0])))
    inside = Membership(Name(name), tuple(Literal(whole(value)) for value in values))
    return Not(inside) if negative else inside


def set_to(value: Value) -> SetTo:
    """The edit that gives a parameter a value."""
    return SetTo(value=whole(value))
