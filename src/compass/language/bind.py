"""Names and words into columns and values of one table."""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any, TypeVar

from compass.domain.base import Config, Value
from compass.domain.constraint import Constraint
from compass.domain.errors import QueryProblem, UnknownName, shortened, unknown
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
    names_in,
)
from compass.domain.goal import Change, Extreme, Goal, IsClass, Observe, Reach, Same, Within
from compass.domain.query import EVERY_KNOB, Edit, Given, Kind, Plus, Query, Row, SetTo, Times
from compass.domain.space import Category, Number, Role, Space
from compass.domain.units import convert
from compass.language.bare_labels import as_written, bare_label, is_arithmetic
from compass.language.format import format_rule, format_value
from compass.language.parse import parse_rule
from compass.language.phrases import letters, outcomes_described

Thing = TypeVar("Thing")


def bind_query(query: Query, space: Space, known: Space | None = None) -> Query:
    """The same query with every name a column of the table and every value in its terms.

    Conditions may also speak of other columns that are `known`.
    """
    where = tuple(bind_constraint(rule, known or space) for rule in query.where)
    ask = _bind_asked(query, where, space)
    change = _spread(query.change, space, lambda p, edit: _bind_edit(edit, p))
    goals = _spread(_goals_by_column(query, {*ask, *change}, space), space, _bound_goal)
    if not goals and query.kind is Kind.WHAT_IF:
        moved = {*ask, *change}
        goals = {n: Observe() for n in space.having(Role.OUTCOME) if n not in moved}
    bound = query.model_copy(
        update={
            "ask": ask,
            "change": change,
            "goals": goals,
            "where": where,
            "stated": _spread(query.stated, space, lambda p, value: bind_value(value, p)),
            "weights": _spread(query.weights, space, lambda _, weight: weight),
            "reference": _spread(query.reference, space, lambda _, worst: worst),
            "baseline": _bind_baseline(query.baseline, space),
        }
    )
    _check(bound)
    return bound


def _bind_asked(query: Query, where: Iterable[Constraint], space: Space) -> tuple[str, ...]:
    """The columns that are asked for; `*` alone is every knob that the question leaves open."""
    named = [name for name in query.ask if name != EVERY_KNOB or name in space]
    ask = dict.fromkeys(n for name in named for n in columns_like(name, space))
    if len(named) == len(query.ask):
        return tuple(ask)
    elsewhere = (name for part in (query.change, query.goals) for name in part)
    taken = {n for name in elsewhere for n in columns_like(name, space)}
    taken |= {name for rule in where for name in _fixed_by(parse_rule(rule.text))}
    ask |= dict.fromkeys(n for n in space.having(Role.KNOB) if n not in taken)
    if not ask:
        raise QueryProblem(
            "no knob is left for `*` to ask for", hint="name what to find, e.g. X = {threads: ?}"
        )
    return tuple(ask)


def _fixed_by(node: Expression) -> tuple[str, ...]:
    """The column that a rule such as `nodes == 4` leaves no choice of."""
    match node:
        case Comparison("==", Name(name), Literal()) | Comparison("==", Literal(), Name(name)):
            return (name,)
        case _:
            return ()


def bind_constraint(rule: Constraint, space: Space) -> Constraint:
    """A rule with its names resolved, as canonical text."""
    bound = bind_rule(parse_rule(rule.text), space)
    return rule.model_copy(update={"text": format_rule(bound)})


def bind_config(config: Mapping[str, Value], space: Space) -> Config:
    """A configuration written by a person, in the names and labels of the table."""
    return _spread(config, space, lambda p, value: bind_value(value, p), wild=False)


def column(name: str, space: Space) -> str:
    """The column that a person means.

    Exactly, else apart from upper and lower case, else also apart from `_`, `-` and spaces:
    `perf variation` is perf_variation, `run_time` is runtime.
    """
    if name in space:
        return name
    for alike in (str.casefold, letters):
        found = [other for other in space.names if alike(other) == alike(name)]
        if len(found) == 1:
            return found[0]
    raise unknown("column", name, space.names)


def outcomes_named(names: Iterable[str] | None, space: Space) -> tuple[str, ...]:
    """The outcomes of these names; None: all that there are."""
    outcomes = space.having(Role.OUTCOME)
    if not outcomes:
        raise QueryProblem(
            "no column is known to be an outcome",
            hint="give one the role outcome (--role COLUMN=outcome)",
        )
    if names is None:
        return outcomes
    found = tuple(dict.fromkeys(column(name, space) for name in names))
    for name in found:
        if name not in outcomes:
            raise QueryProblem(
                f"{name} is not an outcome", hint=f"choose one of {', '.join(outcomes[:8])}"
            )
    return found


def _goals_by_column(query: Query, moved: set[str], space: Space) -> dict[str, Goal]:
    """The goals, those of several words (`link stalls`) on all outcomes whose names have them.

    What X names itself is not meant by such words, nor by a `*`.
    """
    found: dict[str, Goal] = {}
    for name, goal in query.goals.items():
        columns = outcomes_described(name, space) or columns_like(name, space)
        others = [other for other in columns if other not in moved]
        for other in others if len(columns) > 1 and others else columns:
            if other in found:
                raise QueryProblem(f"'{other}' is named twice", hint="name each column once")
            found[other] = goal
    return found


def columns_like(name: str, space: Space) -> tuple[str, ...]:
    """The columns that a name with `*` matches; one that is a column as it stands is itself."""
    if "*" not in name or name in space:
        return (column(name, space),)
    # Only * is special: a column may contain [ or ?.
    pattern = re.sub(r"([\[?])", r"[\1]", name.casefold())
    found = tuple(other for other in space.names if fnmatchcase(other.casefold(), pattern))
    if not found:
        raise UnknownName(
            f"no column matches '{name}'",
            hint=f"columns are: {', '.join(space.names[:8])}",
            name=name,
        )
    return found


def bind_value(value: Value, parameter: Number | Category, unit: str | None = None) -> Value:
    """A value in the terms of a column: a known label, or a finite number in its unit."""
    if isinstance(parameter, Category):
        return match_label(value, parameter)
    if value is None:
        if not parameter.optional:
            raise QueryProblem(
                f"{parameter.name} always has a value in this table, so it cannot be none",
                hint=f"keep rows without a value (--missing {parameter.name}=none)",
            )
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise QueryProblem(
            f"{parameter.name} is a number, not {shortened(format_value(value))}",
            hint=f"its values go from {parameter.low:g} to {parameter.high:g}",
        )
    if not math.isfinite(value):
        raise QueryProblem(
            f"{parameter.name} must be a finite number, not {value}", hint="give a number"
        )
    if unit is not None:
        return convert(float(value), unit, parameter.unit, column=parameter.name)
    return value


def match_label(value: Value, category: Category) -> Value:
    """The label that a person means: exactly, as text, or apart from upper and lower case."""
    for label in category.values:
        if type(label) is type(value) and label == value:
            return label
    texts = {format_label(label).casefold(): label for label in category.values}
    wanted = format_label(value).casefold()
    if wanted in texts:
        return texts[wanted]
    known = [format_label(label) for label in category.values]
    raise unknown(f"value of {category.name}", format_label(value), known)


def format_label(value: Value) -> str:
    """A label as bare text."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "none" if value is None else str(value)


def _spread(
    given: Mapping[str, Any],
    space: Space,
    bind: Callable[[Number | Category, Any], Thing],
    *,
    wild: bool = True,
) -> dict[str, Thing]:
    """Each entry bound to every column that its name means."""
    found: dict[str, Thing] = {}
    for name, thing in given.items():
        for resolved in columns_like(name, space) if wild else (column(name, space),):
            if resolved in found:
                raise QueryProblem(f"'{resolved}' is named twice", hint="name each column once")
            found[resolved] = bind(space[resolved], thing)
    return found


def _bind_edit(edit: Edit, parameter: Number | Category) -> Edit:
    if isinstance(edit, SetTo):
        return SetTo(value=bind_value(edit.value, parameter, edit.unit))
    if isinstance(parameter, Category):
        raise QueryProblem(
            f"{parameter.name} is a category, so it cannot be multiplied or added to",
            hint=f"name a value, e.g. {parameter.name}: old -> "
            + format_value(parameter.values[-1]),
        )
    if isinstance(edit, Plus) and edit.unit is not None:
        amount = convert(edit.amount, edit.unit, parameter.unit, column=parameter.name)
        return Plus(amount=amount)
    assert isinstance(edit, Times | Plus)
    return edit


def _bound_goal(parameter: Number | Category, goal: Goal) -> Goal:
    return _bind_goal(goal, parameter)


def _bind_goal(goal: Goal, parameter: Number | Category) -> Goal:
    if isinstance(parameter, Category):
        return _class_goal(goal, parameter)

    def plain(bound: float | None) -> float | None:
        unit = getattr(goal, "unit", None)
        if bound is None or unit is None:
            return bound
        return convert(bound, unit, parameter.unit, column=parameter.name)

    match goal:
        case IsClass(value=value):
            raise QueryProblem(
                f"{parameter.name} is a number; a prediction never equals "
                f"{format_value(value)} exactly",
                hint=f"write a range such as {parameter.name}: [low, high], or <= / >=",
            )
        case Within(low=low, high=high):
            return Within(low=plain(low), high=plain(high))
        case Change(direction=direction, by=by, relative=False):
            amount = plain(by)
            if not amount:
                raise QueryProblem(
                    f"{by:g} {goal.unit} is nothing in {parameter.unit}", hint="write more"
                )
            return Change(direction=direction, by=amount, relative=False)
        case Reach(value=value):
            return Reach(value=plain(value) or 0.0)
        case _:
            return goal


def _class_goal(goal: Goal, category: Category) -> Goal:
    if isinstance(goal, IsClass | Reach):
        return IsClass(value=match_label(goal.value, category))
    if isinstance(goal, Observe) or (isinstance(goal, Same) and goal.beyond is None):
        return goal
    values = ", ".join(format_label(value) for value in category.values[:6])
    raise QueryProblem(
        f"{category.name} is a class, so it cannot be made smaller, larger or within a range",
        hint=f"name the class you want: {values}",
    )


def _bind_baseline(baseline: Row | Given | None, space: Space) -> Row | Given | None:
    if isinstance(baseline, Given):
        config = bind_config(baseline.config, space)
        return baseline.model_copy(update={"config": config})
    return baseline


def _check(query: Query) -> None:
    """Refuses a query that no table can answer."""
    both = [name for name in query.goals if name in query.ask or name in query.change]
    if both:
        raise QueryProblem(
            f"'{both[0]}' is both a parameter to set (X) and an outcome to reach (Y)",
            hint="keep it in one of the two",
        )
    twice = [name for name in query.ask if name in query.change]
    if twice:
        raise QueryProblem(
            f"'{twice[0]}' is both asked for and given a value", hint="keep one of the two"
        )
    wanted = [goal for goal in query.goals.values() if not isinstance(goal, Observe)]
    if query.kind is not Kind.WHAT_IF and not wanted:
        raise QueryProblem(
            "the question has no goal", hint="say what to achieve, e.g. Y = {runtime: minimize}"
        )
    if query.kind is Kind.WHAT_IF:
        odd = [n for n, g in query.goals.items() if not isinstance(g, Observe | Same)]
        if odd:
            raise QueryProblem(
                f"a what-if only tells what happens; '{odd[0]}' has a goal",
                hint="ask Reconfigure X = {...} to achieve Y = {...} instead",
            )
        if not query.change:
            raise QueryProblem(
                "a what-if needs a change", hint="for example X = {threads: old -> 2*old}"
            )
    idle = [n for n in query.reference if not isinstance(query.goals.get(n), Extreme)]
    if idle:
        raise QueryProblem(
            f"a reference is given for '{idle[0]}', which is neither minimised nor maximised",
            hint="give it for outcomes of Y that are",
        )
    if query.kind is Kind.RECOMMEND:
        _check_recommend(query)


def _check_recommend(query: Query) -> None:
    if query.baseline is not None:
        raise QueryProblem(
            "recommend starts from past runs, not from a baseline",
            hint="use Reconfigure to change a given configuration",
        )
    moved = [n for n, edit in query.change.items() if not isinstance(edit, SetTo)]
    relative = [
        n
        for n, goal in query.goals.items()
        if not isinstance(goal, Extreme | Within | IsClass | Observe)
    ]
    if moved or relative or query.stated:
        name = (moved or relative or list(query.stated))[0]
        raise QueryProblem(
            f"'{name}' is told relative to a baseline, and recommend has none",
            hint="use Reconfigure, or give a value, a range, minimize or maximize",
        )


def bind_rule(node: Expression, space: Space) -> Expression:
    """A rule whose names are columns and whose literals are in the columns' terms."""
    match node:
        case Name(name):
            return Name(column(name, space))
        case Literal():
            return node
        case Comparison(op, left, right):
            return _bind_comparison(op, left, right, space)
        case Membership(operand, values):
            bound = bind_rule(operand, space)
            (converted,) = _bind_literals((bound,), (bound,), space)
            return Membership(converted, tuple(_bind_literals(values, (bound,), space)))
        case Arithmetic(op, left, right):
            return Arithmetic(op, bind_rule(left, space), bind_rule(right, space))
        case Negative() | Not() | Implies():
            return type(node)(*(bind_rule(child, space) for child in children(node)))
        case And(operands) | Or(operands):
            return type(node)(tuple(bind_rule(o, space) for o in operands))
        case Call(function, arguments):
            given = [bind_rule(a, space) for a in arguments]
            columns = [space[name] for a in given for name in names_in(a)]
            return Call(function, tuple(_convert_units(a, columns) for a in given))


def _category_of(node: Expression, space: Space) -> Category | None:
    """The category column that a side of a comparison is, if it is one."""
    if isinstance(node, Name):
        try:
            parameter = space[column(node.name, space)]
        except UnknownName:
            return None
        return parameter if isinstance(parameter, Category) else None
    return None


def _bind_comparison(op: str, left: Expression, right: Expression, space: Space) -> Comparison:
    sides = [left, right]
    for place, other in ((0, 1), (1, 0)):
        category = _category_of(sides[other], space)
        node = sides[place]
        # `partition == gpu`: a word that is no column is a label of the other side.
        if category is not None and isinstance(node, Name) and not _is_column(node.name, space):
            sides[place] = Literal(match_label(node.name, category))
        elif category is not None and is_arithmetic(node):
            sides[place] = _bind_bare_label(node, category, space)
    bound = [side if isinstance(side, Literal) else bind_rule(side, space) for side in sides]
    converted = _bind_literals(bound, bound, space)
    return Comparison(op, converted[0], converted[1])


def _bind_bare_label(node: Expression, category: Category, space: Space) -> Expression:
    """`model == ResNet-50`: the label that reads as this arithmetic, if there is one."""
    if found := bare_label(node, category):
        return Literal(found[0])
    if any(_is_column(name, space) for name in names_in(node)):
        return node
    return Literal(match_label(as_written(node), category))


def _is_column(name: str, space: Space) -> bool:
    return any(other.casefold() == name.casefold() for other in space.names)


def _bind_literals(
    nodes: Iterable[Expression], beside: Iterable[Expression], space: Space
) -> list[Any]:
    """Labels and numbers with units, converted to those of the columns beside them."""
    named = [space[name] for node in beside for name in names_in(node)]
    direct = [space[n.name] for n in beside if isinstance(n, Name)]
    category = next((p for p in direct if isinstance(p, Category)), None)

    def bound(node: Expression) -> Expression:
        if isinstance(node, Literal) and category is not None:
            return _bind_label(node, category)
        return _convert_units(node, named)

    return [bound(node) for node in nodes]


def _bind_label(literal: Literal, category: Category) -> Literal:
    try:
        return Literal(match_label(literal.value, category))
    except UnknownName:
        # `x != none` stays meaningful on a table where x is never none.
        if literal.value is None:
            return literal
        raise


def _convert_units(node: Expression, named: list[Number | Category]) -> Expression:
    match node:
        case Literal(value, unit) if unit is not None and isinstance(value, int | float):
            numbers = [p for p in named if isinstance(p, Number)]
            known = {p.unit for p in numbers if p.unit is not None}
            if len(known) > 1:
                raise QueryProblem(
                    f"{value:g} {unit} stands beside columns in different units: "
                    + ", ".join(sorted(known)),
                    hint="write plain numbers",
                )
            if not numbers:
                raise QueryProblem(
                    f"{value:g} {unit} is not compared with a column", hint="write a plain number"
                )
            owner = next((p for p in numbers if p.unit is not None), numbers[0])
            return Literal(convert(float(value), unit, owner.unit, column=owner.name))
        case Arithmetic(op, left, right):
            return Arithmetic(op, _convert_units(left, named), _convert_units(right, named))
        case Negative(operand):
            return Negative(_convert_units(operand, named))
        case Call(function, arguments):
            return Call(function, tuple(_convert_units(a, named) for a in arguments))
        case _:
            return node
