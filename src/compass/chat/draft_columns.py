"""The columns that a draft speaks of, and the same draft about another column."""

from collections.abc import Iterable
from dataclasses import fields, is_dataclass, replace
from typing import Any

from compass.chat.draft import Draft
from compass.domain.expression import Name, names_in
from compass.domain.query import Given
from compass.language import format_rule, parse_rule


def columns_of(draft: Draft) -> tuple[str, ...]:
    """Every column that a draft speaks of, each once."""
    given = draft.baseline.config if isinstance(draft.baseline, Given) else {}
    ruled = [name for rule in draft.where for name in names_in(parse_rule(rule))]
    named = (*draft.ask, *draft.keep, *draft.change, *draft.goals, *ruled, *given, *draft.stated)
    return tuple(dict.fromkeys(named))


def with_renamed_column(draft: Draft, old: str, new: str) -> Draft:
    """The same draft, speaking of another column."""
    if old == new:
        return draft

    def name(given: str) -> str:
        return new if given == old else given

    def names(given: Iterable[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(map(name, given)))

    def keys(given: dict[str, Any]) -> dict[str, Any]:
        return {name(key): thing for key, thing in given.items()}

    baseline = draft.baseline
    if isinstance(baseline, Given):
        baseline = Given(config=keys(baseline.config))
    return draft.model_copy(
        update={
            "ask": names(draft.ask),
            "keep": names(draft.keep),
            "change": keys(draft.change),
            "goals": keys(draft.goals),
            "stated": keys(draft.stated),
            "where": tuple(format_rule(_renamed(parse_rule(r), old, new)) for r in draft.where),
            "baseline": baseline,
        }
    )


def _renamed(node: Any, old: str, new: str) -> Any:
    if isinstance(node, Name):
        return Name(new) if node.name == old else node
    if isinstance(node, tuple):
        return tuple(_renamed(part, old, new) for part in node)
    if not is_dataclass(node) or isinstance(node, type):
        return node
    parts = {f.name: _renamed(getattr(node, f.name), old, new) for f in fields(node)}
    return replace(node, **parts)
