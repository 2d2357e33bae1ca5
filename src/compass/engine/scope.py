"""What a question is about: the features it predicts from, its outcomes, and the rules on both."""

from dataclasses import dataclass

from compass.domain.constraint import Constraint
from compass.domain.errors import QueryProblem
from compass.domain.expression import names_in
from compass.domain.query import Query
from compass.domain.space import Role, Space
from compass.language import parse_rule
from compass.rules import Rule, compile_rule


@dataclass(frozen=True)
class Scope:
    """The columns of a question and the rules on them."""

    features: tuple[str, ...]
    outcomes: tuple[str, ...]  # everything that has to be predicted
    rules: tuple[Rule, ...]  # over the features
    conditions: tuple[Rule, ...]  # over features and outcomes


def scope_of(query: Query, space: Space, standing: tuple[Constraint, ...]) -> Scope:
    """The scope of a bound query; `standing` are the rules of the study."""
    features = features_of(query, space)
    trees = {rule.text: parse_rule(rule.text) for rule in (*standing, *query.where)}
    names = {text: names_in(tree) for text, tree in trees.items()}
    outcomes = dict.fromkeys(query.goals)
    for found in names.values():
        outcomes.update(dict.fromkeys(name for name in found if name not in features))
    columns = (*features, *outcomes)
    over_features, extended = space.select(features), space.select(columns)
    plain = [text for text in trees if set(names[text]) <= set(features)]
    return Scope(
        features=features,
        outcomes=tuple(outcomes),
        rules=tuple(compile_rule(trees[t], over_features, features, t) for t in plain),
        conditions=tuple(
            compile_rule(tree, extended, columns, t) for t, tree in trees.items() if t not in plain
        ),
    )


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
