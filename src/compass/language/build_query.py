"""What each piece of the query grammar becomes."""

from typing import Any

from lark import Token

from compass.domain.base import Value
from compass.domain.constraint import Constraint
from compass.domain.errors import QuerySyntax
from compass.domain.expression import Literal
from compass.domain.goal import Change, Extreme, Goal, IsClass, Observe, Reach, Same, Within
from compass.domain.query import Edit, Given, Kind, Plus, Query, Row, SetTo, Times
from compass.language.build_rule import BuildRule, check_depth, predicate, signed_literal
from compass.language.format import format_rule

_REFERENCES = ("old", "x")  # how a text says "the value it has now"


class BuildQuery(BuildRule):
    """The callbacks of the query part of the grammar."""

    def xname(self, items: list[Token]) -> str:
        return str(items[0]).strip("`").strip()

    def old(self, items: list[Any]) -> Literal | str:
        return items[0] if isinstance(items[0], Literal) else str(items[0])

    def ask(self, _: list[Any]) -> tuple[Any, ...]:
        return ("ask", None)

    def ask_from(self, items: list[Any]) -> tuple[Any, ...]:
        return ("ask", items[0])

    def change(self, items: list[Any]) -> tuple[Any, ...]:
        return ("change", items[0], items[2])

    def given(self, items: list[Literal]) -> tuple[Any, ...]:
        return ("change", None, SetTo(value=items[0].value, unit=items[0].unit))

    def given_label(self, items: list[Token]) -> tuple[Any, ...]:
        return ("change", None, SetTo(value=str(items[0])))

    def raise_by(self, items: list[Any]) -> tuple[Any, ...]:
        return ("change", None, Times(factor=1 + _share(items[0])))

    def lower_by(self, items: list[Any]) -> tuple[Any, ...]:
        return ("change", None, Times(factor=1 - _share(items[0])))

    def new_value(self, items: list[Literal]) -> SetTo:
        return SetTo(value=items[0].value, unit=items[0].unit)

    def new_label(self, items: list[Token]) -> SetTo:
        return SetTo(value=str(items[0]))

    def new_times(self, items: list[Any]) -> Times:
        return Times(factor=items[0])

    def new_times_right(self, items: list[Any]) -> Times:
        return Times(factor=items[2])

    def new_divided(self, items: list[Any]) -> Times:
        if not items[2]:
            raise QuerySyntax("cannot divide by zero", hint="write e.g. old -> old/2")
        return Times(factor=1 / items[2])

    def new_plus(self, items: list[Token]) -> Plus:
        literal = signed_literal(items[1:])
        return Plus(amount=float(literal.value or 0.0), unit=literal.unit)

    def xitem(self, items: list[Any]) -> tuple[Any, ...]:
        return (items[0], *items[1])

    def xset(self, items: list[Any]) -> list[Any]:
        return items

    def minimize(self, _: list[Any]) -> Goal:
        return Extreme(direction="minimize")

    def maximize(self, _: list[Any]) -> Goal:
        return Extreme(direction="maximize")

    def between(self, items: list[Literal]) -> Goal:
        low, high = items
        unit = high.unit or low.unit
        if low.unit not in (None, unit):
            raise QuerySyntax(f"the range mixes {low.unit} and {unit}", hint="use one unit")
        return Within(low=_plain(low), high=_plain(high), unit=unit)

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
        return Same(tolerance=_share(items[0]) if items else None)

    def is_class(self, items: list[Any]) -> Goal:
        value = items[0]
        return IsClass(value=str(value) if isinstance(value, Token) else value.value)

    def reach(self, items: list[Any]) -> tuple[Any, ...]:
        return (items[0], items[2])

    def stated_goal(self, items: list[Any]) -> tuple[Any, ...]:
        return (items[0], items[2])

    def yitem(self, items: list[Any]) -> tuple[Any, ...]:
        return (items[0], items[1] if len(items) > 1 else None)

    def yset(self, items: list[Any]) -> list[Any]:
        return items

    def pair(self, items: list[Any]) -> tuple[str, Value]:
        value = items[1]
        return (items[0], value.value if isinstance(value, Literal) else str(value))

    def weight(self, items: list[Any]) -> tuple[str, float]:
        return (items[0], items[1])

    def where(self, items: list[Any]) -> dict[str, Any]:
        rules = [check_depth(predicate(item)) for item in items]
        return {"where": tuple(Constraint(text=format_rule(rule)) for rule in rules)}

    def from_row(self, items: list[Token]) -> dict[str, Any]:
        return {"baseline": Row(row=_whole(items[0], "a row number"))}

    def from_config(self, items: list[Any]) -> dict[str, Any]:
        return {"baseline": Given(config=_unique(items, "from"))}

    def top(self, items: list[Token]) -> dict[str, Any]:
        return {"count": _whole(items[0], "the number of suggestions")}

    def seed(self, items: list[Token]) -> dict[str, Any]:
        return {"seed": _whole(items[0], "a seed")}

    def weights(self, items: list[Any]) -> dict[str, Any]:
        return {"weights": _unique(items, "weights")}

    def recommend(self, items: list[Any]) -> Query:
        return _query(Kind.RECOMMEND, items)

    def reconfigure(self, items: list[Any]) -> Query:
        return _query(Kind.RECONFIGURE, items)

    def what_if(self, items: list[Any]) -> Query:
        return _query(Kind.WHAT_IF, items)

    def what_if_same(self, items: list[Any]) -> Query:
        kept = [(name, goal or Same()) for name, goal in items[1]]
        return _query(Kind.WHAT_IF, [items[0], kept, *items[2:]])


def _share(token: Token) -> float:
    return float(str(token).removesuffix("percent").removesuffix("%").strip()) / 100


def _plain(literal: Literal) -> float:
    assert isinstance(literal.value, int | float)
    return float(literal.value)


def _change(direction: Any, amount: Any) -> Change:
    if isinstance(amount, Literal):
        return Change(direction=direction, by=_plain(amount), relative=False, unit=amount.unit)
    return Change(direction=direction, by=amount)


def _whole(token: Token, what: str) -> int:
    if not str(token).isdigit():
        raise QuerySyntax(f"{what} must be a whole number, not {token}")
    return int(token)


def _unique(pairs: list[tuple[str, Any]], where: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise QuerySyntax(f"'{name}' is named twice in {where}", hint="name it once")
        found[name] = value
    return found


def _stated(name: str, old: Literal | str | None, new: Any) -> Value:
    """The old value that `old -> new` claims, or None when it is only a reference."""
    if isinstance(old, Literal):
        if old.unit is not None:
            raise QuerySyntax(
                f"the old value of {name} has a unit", hint="write old values as plain numbers"
            )
        return old.value
    if old is None or old in ("old", name):
        return None
    label_to_label = isinstance(new, SetTo) and isinstance(new.value, str)
    return None if old in _REFERENCES and not label_to_label else old


def _goal_of(name: str, goal: Any, stated: dict[str, Value]) -> Goal:
    if not isinstance(goal, tuple):
        plain: Goal = goal
        return plain
    old, new = goal
    value = _stated(name, old, new)
    if value is not None:
        stated[name] = value
    if not isinstance(new, SetTo | Times | Plus):
        full: Goal = new  # `120 -> reduce by 10%`
        return full
    if isinstance(new, Times):
        if new.factor == 1:
            return Same()
        direction: Any = "reduce" if new.factor < 1 else "increase"
        return Change(direction=direction, by=round(abs(1 - new.factor), 12))
    if isinstance(new, Plus):
        direction = "reduce" if new.amount < 0 else "increase"
        return Change(direction=direction, by=abs(new.amount), relative=False, unit=new.unit)
    if isinstance(new.value, str | bool) or new.value is None:
        return IsClass(value=new.value)
    return Reach(value=float(new.value), unit=new.unit)


def _goals(items: list[tuple[str, Any]], stated: dict[str, Value]) -> dict[str, Goal]:
    """A name without a goal takes the next one in the list; at the end it is only observed."""
    goals: list[tuple[str, Goal]] = []
    following: Any = Observe()
    for name, goal in reversed(items):
        following = goal if goal is not None else following
        goals.append((name, _goal_of(name, following, stated)))
    return _unique(list(reversed(goals)), "Y")


def _query(kind: Kind, items: list[Any]) -> Query:
    xitems, rest = items[0], items[1:]
    yitems = rest.pop(0) if rest and isinstance(rest[0], list) else []
    _unique([(item[0], None) for item in xitems], "X")
    stated: dict[str, Value] = {}
    change: dict[str, Edit] = {}
    ask: list[str] = []
    for name, what, old, *new in xitems:
        value = _stated(name, old, new[0] if new else None)
        if value is not None:
            stated[name] = value
        if what == "ask":
            ask.append(name)
        else:
            change[name] = new[0]
    fields: dict[str, Any] = {}
    for clause in rest:
        twice = set(clause) & set(fields) - {"where"}
        if twice:
            raise QuerySyntax(f"'{twice.pop()}' is given twice", hint="give it once")
        rules = fields.get("where", ()) + clause.get("where", ())
        fields |= clause | ({"where": rules} if rules else {})
    goals = _goals(yitems, stated)
    return Query(kind=kind, ask=tuple(ask), change=change, goals=goals, stated=stated, **fields)
