"""Columns that nobody asked to move: they leave the start only where a rule leaves no other way.

An answer has them where `compass.generate.repair.restore_forced` puts them: bringing them back to
the start, one by one, those that equalities tie, or all together, would break a rule. The solver
gets the same constraints, else it would move them to meet a goal.
"""

from collections.abc import Mapping, Sequence

from compass.generate.repair import tied_forced
from compass.generate.task import SearchTask
from compass.prove.model import SolverModel
from compass.prove.rule_encoder import RuleEncoder
from compass.prove.scaled_integer import Lit, ScaledInteger


def keep_unforced(model: SolverModel, predicted: Mapping[str, ScaledInteger]) -> None:
    """State that every group of columns that has moved was forced to."""
    task = model.task
    moved = {}
    for name in (task.space.names[column] for column in task.forced):
        literal = _moved(model, name)
        if literal is None:
            return  # their values are not listed: they may move freely, which a bound allows for
        moved[name] = literal
    for group in _groups(task):
        _forced(model, predicted, group, [moved[name] for name in group])


def _groups(task: SearchTask) -> list[tuple[str, ...]]:
    names = [task.space.names[column] for column in task.forced]
    tied = [tuple(task.space.names[column] for column in group) for group in tied_forced(task)]
    return list(dict.fromkeys([*((name,) for name in names), *tied, tuple(names)]))


def _moved(model: SolverModel, name: str) -> Lit | None:
    """Whether a column is not where it started; None: its values are not listed."""
    variables, start = model.columns[name], model.start(name)
    if variables.listed is None:
        return None
    codes = variables.codes()[variables.listed == start]
    moved = model.cp.new_bool_var(f"{name} moved")
    if len(codes):
        model.add(variables.var == int(codes[0]), (~moved,))
        model.add(variables.var != int(codes[0]), (moved,))
    else:
        model.forbid((~moved,))
    return moved


def _forced(
    model: SolverModel,
    predicted: Mapping[str, ScaledInteger],
    group: Sequence[str],
    moved: Sequence[Lit],
) -> None:
    """If one of a group has moved, some rule breaks when all of the group return."""
    back = {name: model.start(name) for name in group}
    broken = []
    for rule in model.task.rules:
        if set(group) & set(rule.names):
            literal = model.cp.new_bool_var("")
            # Where the negation cannot be encoded, the literal is free, which only allows more.
            RuleEncoder(model, rule, predicted, back).add_negation((literal,))
            broken.append(literal)
    for one in moved:
        model.cp.add_bool_or([*broken, ~one])
