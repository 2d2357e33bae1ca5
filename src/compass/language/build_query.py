"""What each piece of the query grammar becomes."""

import math
from dataclasses import dataclass
from typing import Any

from lark import Token

from compass.domain import option
from compass.domain.base import Value
from compass.domain.constraint import Constraint
from compass.domain.errors import QuerySyntax, unknown
from compass.domain.expression import Literal
from compass.domain.goal import Change, Extreme, Goal, IsClass, Observe, Reach, Same, Within
from compass.domain.option import Option
from compass.domain.query import Edit, Given, Kind, Plus, Query, Row, SetTo, Times
from compass.language.build_rule import BuildRule, bare_name, one_unit, read_unit, signed_literal
from compass.language.edits import (
    Hyphenated,
    NewValue,
    claimed_old,
    times_old,
    without_unit,
)
from compass.language.format import format_rule


@dataclass(frozen=True)
class _X:
    """The parameters of a query."""

    ask: tuple[str, ...]
    change: dict[str, Edit]
    stated: dict[str, Value]


@dataclass(frozen=True)
class _Y:
    """The outcomes of a query."""

    goals: dict[str, Goal]
    stated: dict[str, Value]


class BuildQuery(BuildRule):
    """The callbacks of the query part of the grammar."""

    def xname(self, items: list[Token]) -> Token:
        # Still a token, because it knows its place in the text.
        return items[0].update(value=bare_name(items[0]))

    def old(self, items: list[Any]) -> Literal | str:
        return items[0] if isinstance(items[0], Literal) else str(items[0])

    def ask(self, _: list[Any]) -> tuple[Any, ...]:
        return (None, None)

    def ask_from(self, items: list[Any]) -> tuple[Any, ...]:
        return (items[0], None)

    def change(self, items: list[Any]) -> tuple[Any, ...]:
        return (items[0], items[2])

    def given(self, items: list[Literal]) -> tuple[Any, ...]:
        return (None, self.new_value(items))

    def given_label(self, items: list[Token]) -> tuple[Any, ...]:
        return (None, self.new_label(items))

    def given_hyphenated(self, items: list[Token]) -> tuple[Any, ...]:
        return (None, self.new_hyphenated(items))

    def given_relative(self, items: list[NewValue]) -> tuple[Any, ...]:
        return (None, items[0])

    def raise_by(self, items: list[Any]) -> tuple[Any, ...]:
        return (None, NewValue(times_old(1 + _share(items[0]))))

    def lower_by(self, items: list[Any]) -> tuple[Any, ...]:
        return (None, NewValue(times_old(1 - _share(items[0]))))

    def new_value(self, items: list[Literal]) -> NewValue:
        return NewValue(SetTo(value=items[0].value, unit=items[0].unit))

    def new_label(self, items: list[Token]) -> NewValue:
        return NewValue(SetTo(value=str(items[0])))

    def new_hyphenated(self, items: list[Token]) -> Hyphenated:
        return Hyphenated(str(items[0]), read_unit(items[1]) if items[1:] else None)

    def new_times(self, items: list[Any]) -> NewValue:
        return NewValue(times_old(items[0]), of=str(items[-1]))

    def new_times_right(self, items: list[Any]) -> NewValue:
        return NewValue(times_old(items[2]), of=str(items[0]))

    def new_divided(self, items: list[Any]) -> NewValue:
        if not items[2]:
            raise QuerySyntax("cannot divide by zero", hint="write e.g. old -> old/2")
        return NewValue(times_old(1 / items[2]), of=str(items[0]))

    def new_plus(self, items: list[Token]) -> NewValue:
        literal = signed_literal(items[1:])
        return NewValue(Plus(amount=_plain(literal), unit=literal.unit), of=str(items[0]))

    def xitem(self, items: list[Any]) -> tuple[Any, ...]:
        name, (old, new) = items
        if isinstance(new, Hyphenated):
            new = new.meaning(name, old)
        return (name, new and new.edit, claimed_old(name, old, new))

    def xset(self, items: list[Any]) -> _X:
        edits = _unique([(name, edit) for name, edit, _ in items], "X")
        return _X(
            ask=tuple(name for name, edit in edits.items() if edit is None),
            change={name: edit for name, edit in edits.items() if edit is not None},
            stated={str(name): claim[0] for name, _, claim in items if claim},
        )

    def minimize(self, _: list[Any]) -> Goal:
        return Extreme(direction="minimize")

    def maximize(self, _: list[Any]) -> Goal:
        return Extreme(direction="maximize")

    def between(self, items: list[Literal]) -> Goal:
        low, high = one_unit(*items)
        if _plain(low) > _plain(high):
            raise QuerySyntax(
                f"the range [{low.value}, {high.value}] is empty", hint="the smaller bound first"
            )
        return Within(low=_plain(low), high=_plain(high), unit=high.unit)

    def at_most(self, items: list[Any]) -> Goal:
        return Within(high=_plain(items[-1]), unit=items[-1].unit)

    def at_least(self, items: list[Any]) -> Goal:
        return Within(low=_plain(items[-1]), unit=items[-1].unit)

    def percent(self, items: list[Token]) -> float:
        return _share(items[0])

    def reduce_by(self, items: list[Any]) -> Goal:
        return _change("reduce", items[0])

    def increase_by(self, items: list[Any]) -> Goal:
        return _change("increase", items[0])

    def same(self, items: list[Any]) -> Goal:
        parts = {token.type: token for token in items}
        tolerance = _share(parts["PERCENT"]) if "PERCENT" in parts else None
        if tolerance == 0:
            raise QuerySyntax(
                "a prediction is never the same within 0%", hint="write e.g. same within 5%"
            )
        less = str(parts.get("BEYOND", "")).lower().endswith(("less", "lower"))
        beyond = ("less" if less else "more") if "BEYOND" in parts else None
        return Same(tolerance=tolerance, beyond=beyond)

    def observe(self, _: list[Any]) -> Goal:
        return Observe()

    def is_class(self, items: list[Any]) -> Goal:
        value = items[0]
        if isinstance(value, Token):
            return IsClass(value=str(value))
        if value.unit is not None:
            raise QuerySyntax(
                f"{value.value} {value.unit} is not a goal that a prediction can meet exactly",
                hint=f"write <= {value.value} {value.unit}, >= or a range [low, high]",
            )
        return IsClass(value=value.value)

    reach = stated_goal = change

    def stated_observe(self, items: list[Any]) -> tuple[Any, ...]:
        return (items[0], Observe())

    def yitem(self, items: list[Any]) -> tuple[Any, ...]:
        name, goal = items[0], items[1] if len(items) > 1 else None
        if not isinstance(goal, tuple):
            return (name, goal, ())
        old, new = goal
        if isinstance(new, Hyphenated):
            new = new.meaning(name, old)
        if isinstance(new, NewValue):
            return (name, _goal_of(new.edit), claimed_old(name, old, new))
        return (name, new, claimed_old(name, old, None))  # `120 -> reduce by 10%`

    def yset(self, items: list[Any]) -> _Y:
        """A name without a goal takes the next one in the list; at the end it is observed."""
        goals: list[tuple[Token, Goal]] = []
        stated: dict[str, Value] = {}
        goal: Goal = Observe()
        claim: tuple[Value, ...] = ()
        for name, own, own_claim in reversed(items):
            if own is not None:
                goal, claim = own, own_claim
            goals.append((name, goal))
            if claim:
                stated[str(name)] = claim[0]
        return _Y(_unique(goals[::-1], "Y"), stated)

    def pair(self, items: list[Any]) -> tuple[Token, Value]:
        name, value = items
        if not isinstance(value, Literal):
            return (name, str(value))
        return (name, without_unit(name, value))

    def weight(self, items: list[Any]) -> tuple[Token, float]:
        name, value = items
        if value <= 0:
            raise QuerySyntax(
                f"the weight of {name} must be a positive number", hint="1 is what it costs now"
            )
        return (name, value)

    def term(self, items: list[Any]) -> tuple[Token, float]:
        name, value = items
        if name not in option.LOSS_TERMS:
            wrong = unknown("term of the loss", str(name), option.LOSS_TERMS)
            raise QuerySyntax(wrong.message, hint=wrong.hint, column=name.start_pos or 0)
        return (name, _between(value, f"the weight of {name}", option.LOSS))

    def where(self, items: list[Any]) -> dict[str, Any]:
        return {"where": tuple(Constraint(text=format_rule(rule)) for rule in items)}

    def from_row(self, items: list[Token]) -> dict[str, Any]:
        return {"baseline": Row(row=_whole(items[0], "a row number", 0, 2**63 - 1))}

    def from_config(self, items: list[Any]) -> dict[str, Any]:
        return {"baseline": Given(config=_unique(items, "from"))}

    def top(self, items: list[Token]) -> dict[str, Any]:
        return {"count": _within(items[0], "the number of suggestions", option.COUNT)}

    def seed(self, items: list[Token]) -> dict[str, Any]:
        return {"seed": _within(items[0], "a seed", option.SEED)}

    def diversity(self, items: list[float]) -> dict[str, Any]:
        return {"diversity": _between(items[0], "the weight of diversity", option.DIVERSITY)}

    def prove(self, items: list[float]) -> dict[str, Any]:
        return {"prove": _between(items[0], "the seconds for a proof", option.PROVE)}

    def level(self, items: list[Token]) -> dict[str, Any]:
        share = _share(items[0]) if items[0].type == "PERCENT" else float(items[0])
        if not 0 < share < 1:
            raise QuerySyntax(
                f"no interval can hold {items[0]} of the runs",
                hint="write a level between 0% and 100%, e.g. level 80%",
            )
        return {"level": share}

    def chance(self, items: list[Token]) -> dict[str, Any]:
        share = _share(items[0]) if items[0].type == "PERCENT" else float(items[0])
        if not 0 < share < 1:
            raise QuerySyntax(
                f"no goal can be met with a chance of {items[0]}",
                hint="write a chance between 0% and 100%, e.g. chance 95%",
            )
        return {"chance": share}

    def beyond(self, _items: list[Token]) -> dict[str, Any]:
        return {"beyond": True}

    def keep_dependencies(self, _items: list[Token]) -> dict[str, Any]:
        return {"dependencies": "keep"}

    def ignore_dependencies(self, _items: list[Token]) -> dict[str, Any]:
        return {"dependencies": "ignore"}

    def generator(self, items: list[Any]) -> dict[str, Any]:
        (name,) = items
        return {"generator": str(name.value if isinstance(name, Literal) else name)}

    def weights(self, items: list[Any]) -> dict[str, Any]:
        return {"weights": _unique(items, "weights")}

    def reference(self, items: list[Any]) -> dict[str, Any]:
        return {"reference": _unique(items, "reference")}

    def loss(self, items: list[Any]) -> dict[str, Any]:
        return {"loss": _unique(items, "loss")}

    def recommend(self, items: list[Any]) -> Query:
        return _query(Kind.RECOMMEND, items)

    def reconfigure(self, items: list[Any]) -> Query:
        return _query(Kind.RECONFIGURE, items)

    def what_if(self, items: list[Any]) -> Query:
        return _query(Kind.WHAT_IF, items)

    def what_if_same(self, items: list[Any]) -> Query:
        y = items[1]
        kept = {n: Same() if isinstance(g, Observe) else g for n, g in y.goals.items()}
        return _query(Kind.WHAT_IF, [items[0], _Y(kept, y.stated), *items[2:]])


def _share(token: Token) -> float:
    text = str(token).lower().removesuffix("percent").removesuffix("%").strip()
    digits, _, exponent = text.partition("e")
    if not math.isfinite(float(text)):
        raise QuerySyntax(f"{text}% is too large", hint="write a finite number")
    # Moving the point instead of dividing: every share then has a percentage that is exactly it.
    return float(f"{digits}e{int(exponent or 0) - 2}")


def _plain(literal: Literal) -> float:
    assert isinstance(literal.value, int | float)
    return float(literal.value)


def _change(direction: Any, amount: Any) -> Change:
    by = _plain(amount) if isinstance(amount, Literal) else amount
    if by <= 0:
        raise QuerySyntax(
            f"'{direction} by' needs more than zero", hint=f"write e.g. {direction} by 10%"
        )
    if isinstance(amount, Literal):
        return Change(direction=direction, by=by, relative=False, unit=amount.unit)
    return Change(direction=direction, by=by)


def _whole(token: Token, what: str, low: int, high: int) -> int:
    text = str(token)
    if not text.isdigit():
        raise QuerySyntax(f"{what} must be a whole number, not {text}", hint="write e.g. 7")
    # Python refuses to read thousands of digits, so their number is looked at first.
    if len(text.lstrip("0")) > len(str(high)) or not low <= int(text) <= high:
        raise QuerySyntax(f"{what} must be from {low} to {high}", hint="write e.g. 7")
    return int(text)


def _within(token: Token, what: str, about: Option) -> int:
    assert about.last is not None
    return _whole(token, what, about.least or 0, about.last)


def _between(value: float, what: str, about: Option) -> float:
    low, high = about.least or 0, about.most or math.inf
    if not low <= value <= high:
        raise QuerySyntax(f"{what} must be from {low:g} to {high:g}", hint="write e.g. 5")
    return value


def _unique(pairs: list[tuple[Token, Any]], where: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            place = name.start_pos or 0
            message = f"'{name}' is named twice in {where}"
            raise QuerySyntax(message, hint="name it once", column=place)
        found[str(name)] = value
    return found


def _goal_of(edit: Edit) -> Goal:
    """The goal that `y: old -> ...` means."""
    if isinstance(edit, Times):
        by = round(abs(1 - edit.factor), 12)
        direction: Any = "reduce" if edit.factor < 1 else "increase"
        return Change(direction=direction, by=by) if by else Same()
    if isinstance(edit, Plus):
        direction, by = "reduce" if edit.amount < 0 else "increase", abs(edit.amount)
        if not by:
            return Same()
        return Change(direction=direction, by=by, relative=False, unit=edit.unit)
    if isinstance(edit.value, str | bool) or edit.value is None:
        return IsClass(value=edit.value)
    return Reach(value=float(edit.value), unit=edit.unit)


def _query(kind: Kind, items: list[Any]) -> Query:
    x, rest = items[0], items[1:]
    y = rest.pop(0) if rest and isinstance(rest[0], _Y) else _Y({}, {})
    fields: dict[str, Any] = {}
    for clause in rest:
        twice = set(clause) & set(fields) - {"where"}
        if twice:
            name = twice.pop()
            raise QuerySyntax(f"'{_CLAUSES.get(name, name)}' is given twice", hint="give it once")
        rules = fields.get("where", ()) + clause.get("where", ())
        fields |= clause | ({"where": rules} if rules else {})
    if "diversity" in fields and "diversity" in fields.get("loss", ()):
        raise QuerySyntax(
            "the weight of diversity is given twice, alone and in loss",
            hint="write diversity, or loss {diversity: ...}",
        )
    stated = x.stated | y.stated
    return Query(kind=kind, ask=x.ask, change=x.change, goals=y.goals, stated=stated, **fields)


_CLAUSES = {"baseline": "from", "count": "top"}  # the others are called what they are
