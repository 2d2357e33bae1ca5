"""The rules that hold for every answer: of the study, of the person, and confirmed dependencies."""

import shlex
from collections.abc import Iterable

from compass.domain.constraint import Constraint, Source
from compass.domain.errors import UnknownName
from compass.domain.expression import names_in
from compass.domain.space import Role, Space
from compass.engine.constants import remaining
from compass.engine.dataset import Dataset
from compass.language import parse_rule
from compass.language.bind import bind_constraint
from compass.prepare import Prepared
from compass.rules import Rule, compile_rule


def standing(data: Dataset, rules: Iterable[str] = ()) -> tuple[Constraint, ...]:
    """The standing rules with their names resolved, each once."""
    study = data.study
    texts = [
        *((text, Source.STUDY) for text in (*study.rules, *rules)),
        *((text, Source.DEPENDENCY) for text in study.dependencies),
    ]
    found = {}
    known = data.prepared.with_constants
    for text, source in texts:
        rule = Constraint(text=text, source=source)
        try:
            bound = bind_constraint(rule, known)
        except UnknownName as error:
            raise ignored_column(error, data.prepared) from None
        left = remaining(bound.text, data.prepared)
        if left is not None:
            found[left] = bound.model_copy(update={"text": left})
    bound_rules = tuple(found.values())
    compiled(bound_rules, data.prepared.space, data.prepared.space.names)  # refuses what is wrong
    return bound_rules


def compiled(
    rules: Iterable[Constraint], space: Space, columns: tuple[str, ...]
) -> tuple[Rule, ...]:
    """The rules that speak of these columns only, ready to check matrices of them."""
    view = space.select(columns)
    trees = [(parse_rule(rule.text), rule.text) for rule in rules]
    return tuple(
        compile_rule(tree, view, columns, text)
        for tree, text in trees
        if set(names_in(tree)) <= set(columns)
    )


def broken_by(prepared: Prepared, rules: Iterable[Constraint]) -> dict[str, int]:
    """How many past runs break each rule."""
    checks = compiled(rules, prepared.space, prepared.space.names)
    values = prepared.values[prepared.measured]
    return {rule.text: int((~rule.holds(values)).sum()) for rule in checks}


def ignored_column(error: UnknownName, prepared: Prepared) -> UnknownName:
    """The error about an unknown name; that of an ignored column says how to use it."""
    for report in prepared.columns:
        meant = error.kind == "column" and error.name == report.name
        if report.role is Role.IGNORED and meant:
            role = shlex.quote(f"{report.name}=context")
            use = f"to use it, make it a context, a knob or an outcome (--role {role})"
            if report.same_as is not None:
                use = f"ask for {report.same_as} instead; {use}"
            return UnknownName(
                f"column '{report.name}' is ignored ({report.note or 'by the study'})",
                hint=use if report.distinct else "it has no values",
                name=report.name,
                kind="column",
            )
    return error
