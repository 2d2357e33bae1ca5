"""Past runs as the beginning of an experiment: its own kind, and runs of another kind."""

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from compass.domain.base import Config, Value
from compass.domain.errors import DataProblem, unknown
from compass.domain.experiment import ExperimentRun, MeasuredRun, RunOrigin, RunState
from compass.domain.goal import Observe
from compass.domain.space import Category, Number
from compass.experiment.results import usable
from compass.language import parse_rule
from compass.language.bind import bind_rule
from compass.prepare.encode import Encoder
from compass.prepare.legal import legal
from compass.rules.definition import obeys

if TYPE_CHECKING:
    from compass.engine.dataset import Dataset
    from compass.experiment.experiment import Experiment


class Attached(NamedTuple):
    """What became of past runs."""

    own: int  # with the fixed values of the plan
    others: int  # of another machine, input size or version
    left_out: int  # not legal here: values or rules of the plan forbid them


def attached(experiment: "Experiment", data: "Dataset", where: Iterable[str] = ()) -> Attached:
    """Take in the past runs that the plan allows."""
    plan, space = experiment.plan, experiment.space
    table = data.table.arrow
    names = set(table.column_names)
    needed = [name for name in space.names if name not in plan.fixed]
    goals = [name for name, goal in plan.goals.items() if not isinstance(goal, Observe)]
    for name in (*needed, *goals):
        if name not in names:
            raise unknown("column", name, table.column_names, where="among the past runs")
    known = data.inferred[0]
    conditions = [bind_rule(parse_rule(text), known) for text in where]
    parameters = {parameter.name: parameter for parameter in known}
    kept: list[MeasuredRun] = []
    own = left_out = 0
    columns = [n for n in table.column_names if n in space or n in plan.goals or n in plan.read]
    absent = {name for name in plan.fixed if name not in names}
    cells = {name: table.column(name).to_pylist() for name in (*columns, *_named(conditions))}
    for place in range(table.num_rows):
        row = {name: column[place] for name, column in cells.items()}
        if not all(obeys(condition, row, parameters) for condition in conditions):
            continue
        config = _config(row, experiment, absent)
        if config is None:
            left_out += 1
            continue
        outcomes, problem = usable({n: row.get(n) for n in goals}, experiment.objective)
        state = RunState.DONE if problem is None else RunState.FAILED
        kept.append(
            MeasuredRun(config=config, state=state, outcomes=outcomes, reason=problem or "")
        )
        own += all(config.get(name) == value for name, value in plan.fixed.items())
    if not kept:
        raise DataProblem(
            "no past run has values that the experiment allows",
            hint="its columns, labels, values and rules must be those of the plan",
        )
    experiment.store.attach(experiment.name, kept)
    return Attached(own, len(kept) - own, left_out)


def _named(conditions: Iterable[Any]) -> set[str]:
    from compass.domain.expression import names_in

    return {name for condition in conditions for name in names_in(condition)}


def _config(
    row: Mapping[str, Any], experiment: "Experiment", absent: Collection[str]
) -> Config | None:
    """The settings of a past run; None where the plan allows no such run.

    A fixed column that is absent from the whole table has its fixed value. One that has no value in
    a row is another kind of run.
    """
    fixed = experiment.plan.fixed
    config: Config = {}
    for parameter in experiment.space:
        name, value = parameter.name, row.get(parameter.name)
        if name in fixed:
            config[name] = fixed[name] if name in absent else value
            continue
        found, fits = _known(value, parameter)
        if not fits:
            return None
        config[name] = found
    # Rules are those of runs that are made here: with the fixed values of the plan.
    x = Encoder(experiment.space).encode({**config, **fixed})[None]
    return config if all(rule.holds(x)[0] for rule in experiment.rules) else None


def _known(value: Value, parameter: Number | Category) -> tuple[Value, bool]:
    if isinstance(parameter, Category):
        for label in parameter.values:
            if label == value or str(label) == str(value):
                return label, True
        return None, False
    if value is None:
        return None, parameter.optional
    try:
        number = float(value)
    except ValueError:
        return None, False
    return number, legal(parameter, number)


def is_own(run: ExperimentRun, fixed: Mapping[str, Value]) -> bool:
    """Whether a run has the fixed values of the plan."""
    if run.origin is not RunOrigin.HISTORY:
        return True
    return all(run.config.get(name, value) == value for name, value in fixed.items())
