"""Columns that nobody asked to move: they leave the start only where a rule leaves no other way.

An answer is settled (see `compass.generate.repair.settle`): bringing such columns back to the
start, one by one, those that equalities tie, or all together, would break a rule. The solver is
told the same, else it would move them to meet a goal.
"""

from collections.abc import Mapping, Sequence

from compass.domain.expression import Comparison
from compass.generate.task import SearchTask
from compass.prove.model import Model
from compass.prove.quantity import Lit, Quantity
from compass.prove.state_rule import Stater
from compass.rules import components


def keep_unforced(model: Model, predicted: Mapping[str, Quantity]) -> None:
    """State that every group of columns that has moved was forced to."""
    task = model.task
    moved = {}
    for name in (task.space.names[column] for column in task.forced):
        literal = _moved(model, name)
        if literal is None:
            return  # not told apart finely enough: they may move freely, which a bound allows for
        moved[name] = literal
    for group in _groups(task):
        _forced(model, predicted, group, [moved[name] for name in group])


def _groups(task: SearchTask) -> list[tuple[str, ...]]:
    names = [task.space.names[column] for column in task.forced]
    equalities = [
        rule
        for rule in task.rules
        if isinstance(rule.expression, Comparison) and rule.expression.op == "=="
    ]
    tied = [group for group in components(equalities, names) if len(group) > 1]
    return list(dict.fromkeys([*((name,) for name in names), *tied, tuple(names)]))


def _moved(model: Model, name: str) -> Lit | None:
    """Whether a column is not where it started; None: its values are not listed."""
    variables, start = model.columns[name], model.start(name)
    if variables.listed is None:
        return None
    codes = variables.codes()[variables.listed == start]
    moved = model.solver.new_bool_var(f"{name} moved")
    if len(codes):
        model.add(variables.var == int(codes[0]), (~moved,))
        model.add(variables.var != int(codes[0]), (moved,))
    else:
        model.forbid((~moved,))
    return moved


def _forced(
    model: Model,
    predicted: Mapping[str, Quantity],
    group: Sequence[str],
    moved: Sequence[Lit],
) -> None:
    """If one of a group has moved, some rule breaks when all of the group return."""
    back = {name: model.start(name) for name in group}
    broken = []
    for rule in model.task.rules:
        if set(group) & set(rule.names):
            literal = model.solver.new_bool_var("")
            # A rule whose breaking cannot be said leaves the literal free, which only allows more.
            Stater(model, rule, predicted, back).deny((literal,))
            broken.append(literal)
    for one in moved:
        model.solver.add_bool_or([*broken, ~one])
