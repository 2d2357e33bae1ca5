"""What a question is about: the features it predicts from, its outcomes, and the rules on both.

Decision 0007 (docs/decisions).
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from compass.domain.constraint import Constraint
from compass.domain.errors import QueryProblem
from compass.domain.expression import names_in
from compass.domain.mined import Mined
from compass.domain.query import Query
from compass.domain.space import Role, Space
from compass.engine.constants import remaining
from compass.engine.dependencies import kept_dependencies
from compass.language import parse_rule
from compass.learn.features import FeatureView
from compass.learn.store import ModelStore
from compass.prepare import Prepared
from compass.rules import Rule


@dataclass(frozen=True)
class Scope:
    """The columns of a question and the rules on them."""

    view: FeatureView
    outcomes: tuple[str, ...]  # everything that has to be predicted
    rules: tuple[Rule, ...]  # over the features
    conditions: tuple[Rule, ...]  # over features and outcomes
    kept: tuple[Mined, ...] = ()  # of the rules: dependencies that were found, not stated
    dropped: tuple[str, ...] = ()  # dependencies that what is given breaks


def scope_of(query: Query, store: ModelStore, standing: tuple[Constraint, ...]) -> Scope:
    """The scope of a bound query; `standing` are the rules of the study."""
    features = features_of(query, store.prepared.space)
    texts = _conditions(query, store.prepared, standing)
    names = {text: names_in(parse_rule(rest)) for text, rest in texts.items()}
    outcomes = _outcomes(query, features, names.values())
    view = store.view_of(features)
    plain = [text for text in texts if {*names[text]} <= {*features}]

    def rule_of(text: str, of: tuple[str, ...] = ()) -> Rule:
        rule = view.rule(texts[text], of)
        return rule if rule.text == text else replace(rule, text=text)

    kept, dropped = kept_dependencies(query, store, view, plain)
    return Scope(
        view=view,
        outcomes=outcomes,
        rules=(*(rule_of(text) for text in plain), *(view.rule(one.text) for one in kept)),
        conditions=tuple(rule_of(text, outcomes) for text in texts if text not in plain),
        kept=kept,
        dropped=dropped,
    )


def outcomes_of(
    query: Query, prepared: Prepared, standing: tuple[Constraint, ...]
) -> tuple[str, ...]:
    """Everything that has to be predicted for a bound query: goals, and outcomes in conditions."""
    rules = _conditions(query, prepared, standing).values()
    features = features_of(query, prepared.space)
    return _outcomes(query, features, (names_in(parse_rule(rule)) for rule in rules))


def _conditions(
    query: Query, prepared: Prepared, standing: tuple[Constraint, ...]
) -> dict[str, str]:
    """The rules and conditions of a query by their texts, with what they say of varying columns."""
    stated = dict.fromkeys(rule.text for rule in (*standing, *query.where))
    # Conditions on columns that never vary say something about the others, or hold.
    left = {text: remaining(text, prepared) for text in stated}
    return {text: rest for text, rest in left.items() if rest is not None}


def _outcomes(
    query: Query, features: tuple[str, ...], conditions: Iterable[Iterable[str]]
) -> tuple[str, ...]:
    found = dict.fromkeys(query.goals)
    for names in conditions:
        found.update(dict.fromkeys(name for name in names if name not in features))
    return tuple(found)


def features_of(query: Query, space: Space) -> tuple[str, ...]:
    """The columns that predictions are made from: roles are defaults that a query overrides."""
    named = {*query.ask, *query.change}
    features = tuple(
        p.name
        for p in space
        if p.name not in query.goals and (p.role in (Role.KNOB, Role.CONTEXT) or p.name in named)
    )
    if not features:
        raise QueryProblem(
            "no column is left to predict from",
            hint="give at least one column the role knob or context",
        )
    return features
