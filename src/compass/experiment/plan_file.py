"""Plan files: an experiment as a person writes it down, in YAML.

command: ./triad --threads {threads} --tile {tile}
columns:
  threads: {allowed: [1, 2, 4, 8]}
  tile: {low: 16, high: 256, step: 16}
rules: [threads * tile <= 1024]
goals: {runtime: minimize, power: "<= 200"}
read: {runtime: seconds, power: "/average power: (\\S+)/"}
history: runs-of-the-old-machine.csv
budget: 40
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from compass.domain.base import input_problem
from compass.domain.errors import BadInput, StudyProblem, nearest, shortened
from compass.domain.experiment import ExperimentPlan
from compass.domain.goal import Goal
from compass.domain.query import Kind, Query
from compass.domain.study import Study
from compass.language import parse_query
from compass.language.format import format_name

_OF_STUDY = ("columns", "rules", "map")
_BESIDE = ("name", "history")  # of the experiment, and with what it begins: no part of its plan
_KEYS = (
    *("name", "command", "columns", "rules", "fixed", "goals", "weights", "reference", "read"),
    *(
        "history",
        "budget",
        "starts",
        "repeats",
        "stop_below",
        "acquisition",
        "seed",
        "runner",
        "time_limit",
        "map",
    ),
)


def load_plan(path: str | Path) -> dict[str, Any]:
    """What a plan file says, as plain data."""
    from compass.prepare.yaml_text import from_yaml

    path = Path(path)
    try:
        raw = from_yaml(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        near = nearest(path.name, [one.name for one in path.parent.glob("*.y*ml")])
        raise StudyProblem(
            f"there is no plan {path}",
            hint=f"did you mean {near}?" if near else "compass run --help shows how to write one",
        ) from None
    except (OSError, UnicodeDecodeError) as problem:
        raise StudyProblem(
            f"cannot read the plan {path}: {problem}", hint="it must be text (UTF-8)"
        ) from problem
    except ValueError as problem:
        raise StudyProblem(
            f"the plan {path} is not well formed: {problem}", hint="check that place"
        ) from problem
    if not isinstance(raw, Mapping):
        raise StudyProblem(
            f"the plan {path} must be a mapping", hint=f"its keys are: {', '.join(_KEYS)}"
        )
    return dict(raw)


def name_of(raw: Mapping[str, Any]) -> str | None:
    """How the experiment of a plan is called; None: it is not said."""
    name = raw.get("name")
    if name is None or (isinstance(name, str) and name.strip()):
        return name
    raise StudyProblem(f"name: {shortened(repr(name))} is no name", hint="for example name: tune")


def history_of(raw: Mapping[str, Any], folder: Path) -> str | None:
    """The past runs that a plan begins with; a file is looked for from the folder of the plan."""
    from compass.readers.files import with_scheme

    history = raw.get("history")
    if history is None:
        return None
    if not isinstance(history, str) or not history.strip():
        raise StudyProblem(
            f"history: {shortened(repr(history))} names no past runs",
            hint="for example history: runs.csv",
        )
    named_elsewhere = "://" in history or with_scheme(history) is not None
    return history if named_elsewhere else str(folder / history)


def plan_of(raw: Mapping[str, Any], *, where: str = "the plan") -> ExperimentPlan:
    """A plan from plain data, with errors that say where."""
    from compass.experiment.readings import parse_reading

    for key in raw:
        if key not in _KEYS:
            near = nearest(str(key), _KEYS)
            raise StudyProblem(
                f"{where} has an unknown key '{shortened(str(key))}'",
                hint=f"did you mean {near}?" if near else f"the keys are: {', '.join(_KEYS)}",
            )
    given = {key: value for key, value in raw.items() if key not in (*_BESIDE, *_OF_STUDY)}
    given["study"] = {key: raw[key] for key in _OF_STUDY if raw.get(key) is not None}
    given["goals"] = {
        str(name): goal_of(str(name), goal) for name, goal in _mapping(raw, "goals", where).items()
    }
    given["read"] = {
        str(name): parse_reading(f"{name}={one}")[1] if isinstance(one, str) else one
        for name, one in _mapping(raw, "read", where).items()
    }
    return validated(given, where)


def validated(given: Mapping[str, Any], where: str) -> ExperimentPlan:
    """A plan from its fields."""
    try:
        return ExperimentPlan.model_validate(
            {key: value for key, value in given.items() if value is not None}
        )
    except ValidationError as error:
        problem = input_problem(error, StudyProblem)
        raise StudyProblem(f"{where}: {problem.message}", hint=problem.hint) from None


def _mapping(raw: Mapping[str, Any], key: str, where: str) -> Mapping[str, Any]:
    found = raw.get(key) or {}
    if not isinstance(found, Mapping):
        raise StudyProblem(f"{where}, {key}: it must be a mapping", hint=f"{key}: {{runtime: ...}}")
    return found


def goal_of(name: str, text: Any) -> Goal | Mapping[str, Any]:
    """A goal from its text: minimize, `<= 200 W`, [10, 20], a class, or ? to observe it."""
    if isinstance(text, Mapping):
        return text
    try:
        if not name.strip():
            raise BadInput("its outcome has no name")
        if text is None or isinstance(text, bool):
            raise BadInput("it says nothing")
        aim = f"{{{format_name(name)}: {text}}}"
        query: Query = parse_query(f"Recommend a configuration X = {{x_: ?}} to achieve Y = {aim}")
    except BadInput as error:
        raise StudyProblem(
            f"'{name}: {shortened(str(text))}' is no goal: {error.message}",
            hint="for example minimize, maximize, '<= 200', [10, 20], valid",
        ) from None
    # What a text says of the baseline is refused later, where the goals are understood.
    kept = query.model_copy(update={"stated": {}})
    if list(query.goals) != [name] or kept != Query(
        kind=Kind.RECOMMEND, ask=("x_",), goals=query.goals
    ):
        raise StudyProblem(
            f"'{name}: {shortened(str(text))}' says more than one goal",
            hint="name each outcome with a goal of its own",
        )
    return query.goals[name]


def plain(plan: ExperimentPlan) -> dict[str, Any]:
    """A plan as plain data that `plan_of` understands."""
    from compass.experiment.readings import format_reading
    from compass.language.format import format_goal

    raw = plan.model_dump(mode="json", exclude_defaults=True, exclude={"study", "goals", "read"})
    study = plan.study.model_dump(mode="json", exclude_defaults=True)
    for name, choice in plan.study.columns.items():
        study["columns"][name] = choice.model_dump(mode="json", exclude_none=True)
    raw |= {key: value for key, value in study.items() if key in _OF_STUDY}
    raw["goals"] = {name: format_goal(goal) for name, goal in plan.goals.items()}
    if plan.read:
        raw["read"] = {
            name: format_reading(name, one).partition("=")[2] for name, one in plan.read.items()
        }
    return raw


def study_of_plan(plan: ExperimentPlan) -> Study:
    """The study of the table that the runs of a plan make."""
    from compass.domain.goal import IsClass
    from compass.domain.space import Role
    from compass.domain.study import ColumnChoice

    columns = dict(plan.study.columns)
    for name in plan.fixed:
        columns[name] = columns.get(name, ColumnChoice()).model_copy(update={"role": Role.CONTEXT})
    for name, choice in columns.items():
        if choice.role is None:
            columns[name] = choice.model_copy(update={"role": Role.KNOB})
    for name, goal in plan.goals.items():
        kind = "category" if isinstance(goal, IsClass) else "number"
        known = columns.get(name, ColumnChoice())
        columns[name] = known.model_copy(update={"role": Role.OUTCOME, "kind": kind})
    return plan.study.model_copy(update={"columns": columns})
