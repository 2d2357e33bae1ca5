"""Columns with one value in every run: conditions on them hold, or cannot hold."""

from collections.abc import Iterable, Mapping

from compass.domain.base import Value
from compass.domain.constraint import Constraint
from compass.domain.errors import BadInput, QueryProblem, RuleProblem, UnknownName
from compass.domain.expression import Comparison, Literal, Name, names_in
from compass.domain.query import Given, Query, SetTo
from compass.domain.space import Role, Space
from compass.language import bind_query, format_rule, format_value, parse_rule
from compass.language.bind import bind_value, column
from compass.prepare import Prepared
from compass.rules.constants import settle, values_of


def bound_query(query: Query, prepared: Prepared) -> Query:
    """The query bound to the columns; its conditions may speak of constant ones."""
    constants = prepared.constants
    given = _counters_apart(_given_as_conditions(query, constants), prepared)
    try:
        bound = bind_query(given, prepared.space, prepared.with_constants)
    except UnknownName as error:
        raise _told(error, query, constants) from None
    for rule in bound.where:
        if settle(parse_rule(rule.text), constants) is False:
            raise _never_holds(f"the condition {rule.text}", rule.text, constants)
    return bound


def counters_in(config: Mapping[str, Value], prepared: Prepared) -> dict[str, float]:
    """The numbers of a configuration that are in ignored columns of the table."""
    ignored = {one.name for one in prepared.columns if one.role is Role.IGNORED}
    ignored -= {*prepared.with_constants.names}
    return {
        name: float(value)
        for name, value in config.items()
        if name in ignored and isinstance(value, int | float) and not isinstance(value, bool)
    }


def _counters_apart(query: Query, prepared: Prepared) -> Query:
    """The query whose baseline has counters apart from what outcomes are learnt from."""
    if not isinstance(query.baseline, Given):
        return query
    counters = counters_in(query.baseline.config, prepared)
    if not counters:
        return query
    config = {n: v for n, v in query.baseline.config.items() if n not in counters}
    both = {"config": config, "counters": query.baseline.counters | counters}
    return query.model_copy(update={"baseline": query.baseline.model_copy(update=both)})


def _given_as_conditions(query: Query, constants: Space) -> Query:
    """The query whose given values of constant columns are conditions; a baseline drops them."""
    change, where = dict(query.change), list(query.where)
    for name, edit in query.change.items():
        known = _constant(name, constants)
        if known is not None and isinstance(edit, SetTo):
            del change[name]
            equal = Comparison("==", Name(known), Literal(edit.value, edit.unit))
            where.append(Constraint(text=format_rule(equal)))
    baseline = query.baseline
    if isinstance(baseline, Given):
        config = without_constants(baseline.config, constants)
        baseline = baseline.model_copy(update={"config": config})
    update = {"change": change, "where": tuple(where), "baseline": baseline}
    return query.model_copy(update=update) if len(constants) else query


def without_constants(config: Mapping[str, Value], constants: Space) -> dict[str, Value]:
    """A configuration without its constant columns; another value than theirs is refused."""
    values, kept = values_of(constants), {}
    for name, value in config.items():
        known = _constant(name, constants)
        if known is None:
            kept[name] = value
            continue
        try:
            fits = bind_value(value, constants[known]) == values[known]
        except BadInput:
            fits = False
        if not fits:
            raise QueryProblem(
                f"the baseline has {known} = {format_value(value)}, but {_always(known, values)}",
                hint=f"start from {known} = {format_value(values[known])}, or read other runs too",
            )
    return kept


def remaining(text: str, prepared: Prepared) -> str | None:
    """A bound rule with constant columns put in; None: nothing is left of it, it holds."""
    left = settle(parse_rule(text), prepared.constants)
    if left is True:
        return None
    if left is False:
        what = f"the rule {text}"
        raise RuleProblem(*_never_holds(what, text, prepared.constants).args, hint="drop the rule")
    return format_rule(left) if names_in(parse_rule(text)) != names_in(left) else text


def notes_on_constants(query: Query, prepared: Prepared) -> tuple[str, ...]:
    """Which conditions hold because their columns have one value in every run."""
    values, found = values_of(prepared.constants), []
    for rule in query.where:
        if settle(parse_rule(rule.text), prepared.constants) is True:
            names = [name for name in names_in(parse_rule(rule.text)) if name in values]
            found.append(f"The condition {rule.text} holds: {_each(names, values)}.")
    return tuple(found)


def _constant(name: str, constants: Space) -> str | None:
    try:
        return column(name, constants) if len(constants) else None
    except UnknownName:
        return None


def _always(name: str, values: Mapping[str, Value]) -> str:
    return f"{name} is {format_value(values[name])} in every run"


def _each(names: Iterable[str], values: Mapping[str, Value]) -> str:
    return " and ".join(_always(name, values) for name in names)


def _never_holds(what: str, text: str, constants: Space) -> QueryProblem:
    values = values_of(constants)
    names = [name for name in names_in(parse_rule(text)) if name in values]
    return QueryProblem(
        f"{what} cannot hold: {_each(names, values)}",
        hint=f"leave it out, or read runs with other values of {names[0]} too",
    )


def _told(error: UnknownName, query: Query, constants: Space) -> BadInput:
    """The error about a name or label; that of a constant column says which value it has."""
    values = values_of(constants)
    label_of = _constant(error.kind.removeprefix("value of "), constants)
    if error.kind.startswith("value of ") and label_of is not None:
        return QueryProblem(
            f"{label_of} = {error.name} cannot hold: {_always(label_of, values)}",
            hint=f"write {label_of}: {format_value(values[label_of])}, or read other runs too",
        )
    name = _constant(error.name, constants) if error.kind == "column" else None
    if name is None:
        return error
    is_goal = any(_constant(goal, constants) == name for goal in query.goals)
    use = (
        "there is nothing to learn about it" if is_goal else "there is nothing to choose or change"
    )
    return QueryProblem(
        f"{_always(name, values)}: {use}",
        hint=f"leave it out, or read runs with other values of {name} too",
    )
