"""Operations on drafts: bind to the table, merge with a message, drop and copy columns."""

from collections.abc import Callable, Iterable
from typing import Any

from compass.chat.draft import Draft, Options, Reading
from compass.chat.draft_columns import columns_of, with_renamed_column
from compass.domain.constraint import Constraint
from compass.domain.errors import CompassError
from compass.domain.expression import Comparison, Expression, Literal, Membership, Name, names_in
from compass.domain.goal import Change, Extreme, Observe, Reach, Same
from compass.domain.query import Baseline, Given, Kind, Query, SetTo
from compass.domain.space import Space
from compass.language import bind_query, parse_rule
from compass.language.bind import bind_config, bind_constraint, bind_value, column

_UPPER, _LOWER, _EQUAL = "upper", "lower", "equal"
_SIDES = {"<": _UPPER, "<=": _UPPER, ">": _LOWER, ">=": _LOWER, "==": _EQUAL}
_FLIPPED = {_UPPER: _LOWER, _LOWER: _UPPER}


def bind_draft(parts: Draft, space: Space) -> tuple[Draft, tuple[CompassError, ...]]:
    """The parts that make sense on this table, in its terms, and what is wrong with the others."""
    problems: list[CompassError] = []

    def kept(make: Callable[[], Any]) -> Any:
        try:
            return make()
        except CompassError as error:
            problems.append(error)
            return None

    def names(given: Iterable[str]) -> tuple[str, ...]:
        found = (kept(lambda name=name: column(name, space)) for name in given)  # type: ignore[misc]
        return tuple(dict.fromkeys(name for name in found if name is not None))

    def each(given: dict[str, Any], bind: Callable[[str, Any], dict[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, thing in given.items():
            found |= kept(lambda name=name, thing=thing: bind(name, thing)) or {}  # type: ignore[misc]
        return found

    rules = (kept(lambda rule=rule: _bound_rule(rule, space)) for rule in parts.where)  # type: ignore[misc]
    baseline = parts.baseline
    if isinstance(baseline, Given):
        config = baseline.config
        baseline = kept(lambda: Given(config=bind_config(config, space)))
    bound = parts.model_copy(
        update={
            "ask": names(parts.ask),
            "keep": names(parts.keep),
            "change": each(parts.change, lambda n, e: _bound_change(n, e, space)),
            "goals": each(parts.goals, lambda n, g: _bound_goal(n, g, space)),
            "stated": each(parts.stated, lambda n, v: _bound_value(n, v, space)),
            "where": tuple(dict.fromkeys(rule for rule in rules if rule is not None)),
            "baseline": baseline,
        }
    )
    return bound, tuple(problems)


def _bound_rule(text: str, space: Space) -> str:
    from compass.rules import compile_rule

    bound = bind_constraint(Constraint(text=text), space).text
    tree = parse_rule(bound)
    compile_rule(tree, space, space.names, bound)  # says what no column can mean
    return bound


def _bound_change(name: str, edit: Any, space: Space) -> dict[str, Any]:
    return bind_query(Query(kind=Kind.WHAT_IF, change={name: edit}), space).change


def _bound_goal(name: str, goal: Any, space: Space) -> dict[str, Any]:
    if isinstance(goal, Observe):
        return {column(name, space): goal}
    return bind_query(Query(kind=Kind.RECONFIGURE, goals={name: goal}), space).goals


def _bound_value(name: str, value: Any, space: Space) -> dict[str, Any]:
    known = column(name, space)
    return {known: bind_value(value, space[known])}


def is_relative(draft: Draft) -> bool:
    """Whether a goal or a change is relative to a configuration that a person has."""
    goals = any(isinstance(goal, Change | Reach | Same) for goal in draft.goals.values())
    return goals or any(not isinstance(edit, SetTo) for edit in draft.change.values())


def merged(draft: Draft, reading: Reading, parts: Draft) -> Draft:
    """The draft with the parts that a message states; the message has the last word."""
    known = without_columns(draft, reading.dropped)
    kind = parts.kind or known.kind
    goals = dict(known.goals)
    if reading.correction and any(isinstance(goal, Extreme) for goal in parts.goals.values()):
        goals = {n: g for n, g in goals.items() if not isinstance(g, Extreme)}
    if kind is Kind.WHAT_IF and known.kind is not Kind.WHAT_IF:
        goals = {n: g if isinstance(g, Same) else Observe() for n, g in goals.items()}
    ask = known.ask
    if reading.correction and (parts.ask or parts.everything):
        ask = ()
    moved = {*parts.change, *parts.keep, *(parts.goals if reading.correction else ())}
    moved |= {name for name in map(_fixed, parts.where) if name is not None}
    if kind is Kind.WHAT_IF and known.kind is not Kind.WHAT_IF:
        ask = ()
    return known.model_copy(
        update={
            "kind": kind,
            "ask": _union((n for n in ask if n not in moved), parts.ask),
            "everything": parts.everything
            or (known.everything and not (reading.correction and parts.ask)),
            "keep": _union(
                (n for n in known.keep if n not in {*parts.ask, *parts.change}), parts.keep
            ),
            "change": _others(known.change, {*parts.ask, *parts.keep}) | parts.change,
            "stated": known.stated | parts.stated,
            "goals": _others(goals, parts.ask if reading.correction else ()) | parts.goals,
            "where": _rules(known.where, parts.where, replaced=reading.correction),
            "baseline": _baseline(known.baseline, parts.baseline),
            "count": parts.count or known.count,
            "options": _options(known.options, reading),
        }
    )


def _baseline(known: Baseline | None, new: Baseline | None) -> Baseline | None:
    """The start of a question; of a configuration, what was not named again stays."""
    if isinstance(known, Given) and isinstance(new, Given):
        return Given(config={**known.config, **new.config})
    return new or known


def _options(known: Options, reading: Reading) -> Options:
    """The options with what a message says of them."""
    new = reading.parts.options
    return known.model_copy(
        update={
            "chance": known.chance if new.chance is None else new.chance,
            "beyond": (known.beyond or new.beyond) and not reading.within,
        }
    )


def _others(given: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    left_out = set(names)
    return {name: thing for name, thing in given.items() if name not in left_out}


def _union(first: Iterable[str], second: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))


def without_columns(draft: Draft, dropped: Iterable[str]) -> Draft:
    """A draft that no longer speaks of these columns, but for the baseline."""
    names = set(dropped)
    if not names:
        return draft
    return draft.model_copy(
        update={
            "ask": tuple(n for n in draft.ask if n not in names),
            "keep": tuple(n for n in draft.keep if n not in names),
            "change": _others(draft.change, names),
            "goals": _others(draft.goals, names),
            "stated": _others(draft.stated, names),
            "where": tuple(r for r in draft.where if not names & set(names_in(parse_rule(r)))),
        }
    )


def _rules(old: tuple[str, ...], new: tuple[str, ...], *, replaced: bool) -> tuple[str, ...]:
    """Rules with later ones taking the place of earlier ones about the same."""
    fresh = [(set(names_in(tree)), _side(tree)) for tree in map(parse_rule, new)]
    kept = []
    for text in old:
        tree = parse_rule(text)
        names, side = set(names_in(tree)), _side(tree)
        about = [other for columns, other in fresh if columns == names]
        same = any(side == other or _EQUAL in (side, other) for other in about if side and other)
        if not (same or (replaced and about)):
            kept.append(text)
    return tuple(dict.fromkeys((*kept, *new)))


def _fixed(rule: str) -> str | None:
    """The column that a rule gives one value."""
    tree = parse_rule(rule)
    if not isinstance(tree, Comparison) or tree.op != "==" or not isinstance(tree.left, Name):
        return None
    return tree.left.name


def _side(tree: Expression) -> str | None:
    """Which side of a column a rule limits; None for rules of other shapes."""
    if isinstance(tree, Membership) and isinstance(tree.operand, Name):
        return _EQUAL
    if not isinstance(tree, Comparison):
        return None
    side = _SIDES.get(tree.op)
    if isinstance(tree.left, Name) and isinstance(tree.right, Literal):
        return side
    if isinstance(tree.right, Name) and isinstance(tree.left, Literal):
        return _FLIPPED.get(side, side) if side else None
    return None


def with_copied_column(draft: Draft, old: str, new: str) -> Draft:
    """The same draft, saying of another column as well what it says of this one."""
    copied = with_renamed_column(draft, old, new)
    known = {new, *columns_of(draft)} if new in columns_of(draft) else {new}
    return draft.model_copy(
        update={
            "ask": _union(draft.ask, copied.ask),
            "keep": _union(draft.keep, copied.keep),
            "change": {**_only(copied.change, known), **draft.change},
            "goals": {**draft.goals, **_only(copied.goals, known - set(draft.goals))},
            "stated": {**_only(copied.stated, known), **draft.stated},
            "where": tuple(dict.fromkeys((*draft.where, *copied.where))),
        }
    )


def _only(given: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    kept = set(names)
    return {name: thing for name, thing in given.items() if name in kept}
