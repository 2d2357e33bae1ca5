"""A text of the corpus with what it must mean and how it prints."""

from dataclasses import dataclass
from typing import Any

from compass.domain.constraint import Constraint
from compass.domain.query import Kind, Query


@dataclass(frozen=True)
class Case:
    """Expectations are written by hand: the query, and its canonical text."""

    name: str
    text: str
    query: Query
    canonical: str


def recommend(*ask: str, **fields: Any) -> Query:
    return _query(Kind.RECOMMEND, ask, **fields)


def reconfigure(*ask: str, **fields: Any) -> Query:
    return _query(Kind.RECONFIGURE, ask, **fields)


def what_if(*ask: str, **fields: Any) -> Query:
    return _query(Kind.WHAT_IF, ask, **fields)


def _query(kind: Kind, ask: tuple[str, ...], where: tuple[str, ...] = (), **fields: Any) -> Query:
    rules = tuple(Constraint(text=text) for text in where)
    return Query(kind=kind, ask=ask, where=rules, **fields)
