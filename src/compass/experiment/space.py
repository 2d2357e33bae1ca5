"""What an experiment may choose from: the columns of its plan as a space, and its rules on it."""

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from pydantic import ValidationError

from compass.domain.base import Config, Value
from compass.domain.constraint import Constraint, Source
from compass.domain.errors import StudyProblem, UnknownName, unknown
from compass.domain.experiment import ExperimentPlan
from compass.domain.goal import Extreme, Within
from compass.domain.space import Category, Number, Role, Space
from compass.domain.study import ColumnChoice
from compass.language import format_value, parse_rule
from compass.language.bind import bind_constraint, bind_value
from compass.prepare.encode import Encoder
from compass.prepare.legal import legal, summary
from compass.rules import Rule, compile_rule, domains_of, propagate

# The columns that a table of runs has beside settings and outcomes.
OF_TABLE = (
    *("run", "predicted", "predicted_low", "predicted_high", "label", "origin", "state"),
    *("failure", "seconds", "ended_at"),
)
_EXAMPLE = "for example threads: {allowed: [1, 2, 4, 8]} or tile: {low: 16, high: 256, step: 16}"


def predicted_columns(plan: ExperimentPlan) -> dict[str | None, tuple[str, str, str]]:
    """The columns of predicted values and interval ends, by outcome.

    None: of all goals together, of which nothing is predicted.
    """
    extremes = [name for name, goal in plan.goals.items() if isinstance(goal, Extreme)]
    bounded = [name for name, goal in plan.goals.items() if isinstance(goal, Within)]
    traded = len(extremes) > 1 and not plan.weights
    own: dict[str | None, str] = {name: f"predicted_{name}" for name in extremes}
    if not traded:
        own = {extremes[0] if len(extremes) == 1 else None: "predicted"}
        own |= {name: f"predicted_{name}" for name in bounded}
    return {name: (head, f"{head}_low", f"{head}_high") for name, head in own.items()}


def space_of(plan: ExperimentPlan) -> Space:
    """The columns that a run is made of; what is fixed has one legal value."""
    outcomes = {*plan.goals, *plan.read}
    of_predictions = [head for heads in predicted_columns(plan).values() for head in heads]
    taken = tuple(dict.fromkeys([*OF_TABLE, *of_predictions]))
    for name in (*plan.study.columns, *plan.fixed, *plan.goals, *plan.read):
        if name in taken:
            raise StudyProblem(
                f"'{name}' is a column of every table of runs",
                hint=f"give it another name, such as {name}_1; taken are {', '.join(taken)}",
            )
    if len(set(of_predictions)) < len(of_predictions):
        raise StudyProblem(
            "the predictions of two outcomes would have columns of the same name",
            hint="no outcome can be called like another one with _low or _high behind it",
        )
    parameters: list[Number | Category] = []
    for name, choice in plan.study.columns.items():
        set_by_nobody = name in outcomes or choice.role in (Role.OUTCOME, Role.IGNORED)
        if not set_by_nobody and name not in plan.fixed:
            with _explained(name):
                parameters.append(_parameter(name, choice))
    for name, value in plan.fixed.items():
        with _explained(name):
            parameters.append(_constant(name, value, plan))
    for name in plan.fixed:
        if name in outcomes:
            raise StudyProblem(
                f"'{name}' is measured, so it cannot be fixed", hint="say it as a goal instead"
            )
    space = Space(parameters=tuple(parameters))
    if not space.having(Role.KNOB):
        raise StudyProblem("the experiment has nothing to vary", hint=_EXAMPLE)
    return space


@contextmanager
def _explained(name: str) -> Iterator[None]:
    """Say in a person's words what is wrong with the legal values of a column."""
    try:
        yield
    except ValidationError as error:
        message = str(error.errors()[0]["msg"]).removeprefix("Value error, ")
        raise StudyProblem(f"{message} (column {name})", hint=_EXAMPLE) from None


def _parameter(name: str, choice: ColumnChoice) -> Number | Category:
    """A column that runs may differ in."""
    role = Role.KNOB
    optional = choice.missing == "none"
    if choice.values is not None:
        values = (*choice.values, *((None,) if optional and None not in choice.values else ()))
        return Category(name=name, role=role, values=values)
    if choice.allowed is not None:
        numbers = tuple(sorted(set(choice.allowed)))
        return Number(
            name=name,
            role=role,
            low=numbers[0],
            high=numbers[-1],
            step=1.0 if all(float(one).is_integer() for one in numbers) else None,
            allowed=numbers,
            unit=choice.unit,
            optional=optional,
        )
    if choice.low is None or choice.high is None:
        raise StudyProblem(
            f"it is not said which values '{name}' may have", hint=f"name them: {_EXAMPLE}"
        )
    if not math.isfinite(choice.high - choice.low):
        raise StudyProblem(f"the range of '{name}' is too large", hint="name a smaller one")
    return Number(
        name=name,
        role=role,
        low=choice.low,
        high=choice.high,
        step=choice.step,
        unit=choice.unit,
        optional=optional,
    )


def _constant(name: str, value: Value, plan: ExperimentPlan) -> Number | Category:
    """A column that is the same in all runs."""
    choice = plan.study.columns.get(name, ColumnChoice())
    if isinstance(value, bool) or not isinstance(value, int | float):
        return Category(name=name, role=Role.CONTEXT, values=(value,))
    number = float(value)
    return Number(
        name=name,
        role=Role.CONTEXT,
        low=number,
        high=number,
        allowed=(number,),
        unit=choice.unit,
    )


def rules_of(plan: ExperimentPlan, space: Space) -> tuple[Rule, ...]:
    """The rules of the plan; an error where they contradict each other or the legal values."""
    rules = []
    for text in (*plan.study.rules, *plan.study.dependencies):
        try:
            bound = bind_constraint(Constraint(text=text, source=Source.STUDY), space)
        except UnknownName as error:
            if error.name in plan.goals or error.name in plan.read:
                raise StudyProblem(
                    f"the rule '{text}' speaks of {error.name}, which is known after a run only",
                    hint=f"make it a goal: {error.name}: '<= 10'",
                ) from None
            raise
        rules.append(compile_rule(parse_rule(bound.text), space, space.names, bound.text))
    propagate(rules, domains_of(space, space.names), {})
    return tuple(rules)


def complete_config(given: Mapping[str, Value], space: Space, rules: Iterable[Rule]) -> Config:
    """A configuration that somebody names, in the space's terms and order, or why it cannot be."""
    known = space.names
    for name in given:
        if name not in space:
            raise unknown("column", name, known, where="in the configuration")
    config: Config = {}
    for parameter in space:
        only = _only_value(parameter)
        if parameter.name not in given and only is None:
            raise StudyProblem(
                f"the configuration does not say {parameter.name}",
                hint=f"it may be {summary(parameter)}",
            )
        value = bind_value(given.get(parameter.name, only), parameter)
        if not legal(parameter, value):
            raise StudyProblem(
                f"{parameter.name} = {format_value(value)} is not legal",
                hint=f"it may be {summary(parameter)}",
            )
        config[parameter.name] = value
    x = Encoder(space).encode(config)[None]
    broken = [rule.text for rule in rules if not rule.holds(x)[0]]
    if broken:
        raise StudyProblem(
            f"the configuration breaks the rule {broken[0]}",
            hint="change it, or leave out the rule",
        )
    return config


def _only_value(parameter: Number | Category) -> Value:
    values = parameter.values if isinstance(parameter, Category) else parameter.allowed
    return values[0] if values is not None and len(values) == 1 else None
