"""What a person gave in Python, as nouns; what is wrong with it is told in words."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import numpy as np
from pydantic import ValidationError

from compass.domain.base import Noun, Value
from compass.domain.constraint import Constraint
from compass.domain.errors import QueryProblem
from compass.domain.goal import Goal
from compass.domain.query import Edit, Kind, Plus, Query, SetTo, Times

Kept = TypeVar("Kept", bound=Noun)


def valid(noun: type[Kept], given: Mapping[str, Any]) -> Kept:
    """What a person gave as a noun; what is wrong with it is told in words."""
    try:
        return noun.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(step) for step in first["loc"])
        said = first["msg"].removeprefix("Value error, ")
        said = said[:1].lower() + said[1:]
        was = f"it was {str(first['input'])[:80]}" if place else "see the fields of a query"
        raise QueryProblem(f"{place}: {said}" if place else said, hint=was) from None


def scalar(value: Any) -> Any:
    """A number of numpy as one of Python."""
    return value.item() if isinstance(value, np.generic) else value


def edit(value: Edit | Value) -> Edit:
    """A change that was given as an edit, or as the new value."""
    if isinstance(value, SetTo | Times | Plus):
        return value
    return valid(SetTo, {"value": scalar(value)})


def query_of(
    kind: Kind,
    ask: Iterable[str],
    change: Mapping[str, Edit],
    goals: Mapping[str, Goal],
    where: Iterable[str],
) -> Query:
    """The query of a method call; options go to `ask`."""
    given = {
        "kind": kind,
        "ask": _several("ask", ask, "ask=['gpus']"),
        "change": dict(change),
        "goals": dict(goals),
        "where": tuple(
            Constraint(text=text) for text in _several("where", where, "where=[\"app == 'amg'\"]")
        ),
    }
    return valid(Query, given)


def _several(name: str, given: Iterable[str], example: str) -> tuple[str, ...]:
    """A list of texts; one text alone is a list of one, not of its letters."""
    if isinstance(given, str):
        return (given,)
    if isinstance(given, Mapping):
        raise QueryProblem(f"{name} is a list of texts, not names with values", hint=example)
    return tuple(given)
