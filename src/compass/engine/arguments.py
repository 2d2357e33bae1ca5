"""Checks of the arguments of Python calls about questions: goals, changes, options, models."""

from collections.abc import Iterable, Mapping
from typing import Any, get_args

from compass.domain.answer import Proposal
from compass.domain.arguments import Kind as Argument
from compass.domain.arguments import Mismatch, items, named, options_of, start, texts, whole
from compass.domain.base import Value, scalar, shown, valid
from compass.domain.constraint import Constraint
from compass.domain.errors import QueryProblem
from compass.domain.goal import Extreme, Goal
from compass.domain.options import FitKeywords, QueryKeywords
from compass.domain.query import Edit, Kind, Plus, Query, SetTo, Times
from compass.model.files import ModelFile

RULES: Argument = texts("for example rules=['gpus <= 4 * nodes']")
WEIGHTS: Argument = named("for example weights={'nodes': 5}")
REFERENCE: Argument = named("for example reference={'runtime': 120}")
LOSS: Argument = named("for example loss={'valid': 1, 'proximity': 0}")
RUNS: Argument = whole(1, 1000)
REPEATS: Argument = whole(2, 1000)  # two are needed to tell how exact a mean is
POINTS: Argument = whole(2, 1000)
LINES: Argument = whole(0, 1000)
# Options of a question that name columns, or terms of the loss, with numbers.
_NUMBERS: dict[str, Any] = {"weights": WEIGHTS, "reference": REFERENCE, "loss": LOSS}
# The others are checked as fields of `QueryOptions`.
_PLAIN = tuple(n for n in QueryKeywords.__annotations__ if n not in _NUMBERS)
OPTIONS: Argument = options_of(*_PLAIN, **_NUMBERS)

_FITTED = tuple(name for name in FitKeywords.__annotations__ if name != "rules")
FIT: Argument = options_of(*_FITTED, what="option of a fit", rules=RULES)

_GOALS = get_args(get_args(Goal)[0])
_GOAL = "for example goals={'runtime': cp.minimize, 'power': cp.at_most(600)}"
_MODEL = "for example models={'runtime': cp.bring('model.onnx')}"
_CHANGE = "for example {'gpus': 2, 'nodes': cp.times(2)}"
_QUESTION = (
    "for example 'Recommend a configuration X = {gpus: ?} to achieve Y = {runtime: minimize}'"
)
NAMES: Argument = texts("for example ['gpus']")
CONDITIONS: Argument = texts("for example where=[\"app == 'amg'\"]")

BATCH: Argument = items("is a list of questions", "for example ask_all([first, second])")


def goals(given: Any) -> dict[str, Any]:
    """Outcomes with what each should become."""
    found: dict[str, Any] = named(_GOAL)(given)
    for name, goal in found.items():
        # A mapping is a goal as it travels in JSON; the query reads it.
        if not isinstance(goal, (*_GOALS, Mapping)):
            raise Mismatch(f"has no goal for {name}: {shown(goal)} is none", _GOAL)
    return found


def outcomes(given: Any) -> dict[str, Any] | tuple[str, ...]:
    """Outcomes, or outcomes with what each should become."""
    if isinstance(given, Mapping):
        return goals(given)
    found: tuple[str, ...] = texts("for example outcomes=['runtime']")(given)
    return found


def changes(given: Any) -> dict[str, Any]:
    """Parameters with what each becomes: an edit, or the new value."""
    found: dict[str, Any] = named(_CHANGE)(given)
    for name, value in found.items():
        if not isinstance(value, SetTo | Times | Plus | bool | int | float | str | None):
            raise Mismatch(f"has no value for {name}: {shown(value)} is none", _CHANGE)
    return found


def question(given: Any) -> str | Query:
    """A question as text or as a Query."""
    if not isinstance(given, str | Query):
        raise Mismatch(f"is a text or a Query, not {shown(given)}", _QUESTION)
    return given


def questions(given: Any) -> tuple[str | Query, ...]:
    """Several questions; a single one is a list of one."""
    if isinstance(given, str | Query):
        return (given,)
    return tuple(question(one) for one in items("is a list of questions", _QUESTION)(given))


# One question of a batch that is given as a mapping.
ONE_OF_MANY: Argument = options_of(
    "question", *_PLAIN, run=start, where=CONDITIONS, curve=NAMES, **_NUMBERS
)
# Arguments that `ask`, `query` and `run_next` share, and those of the three questions as methods.
ASKED = {"question": question, "run": start, "where": CONDITIONS}
METHOD = {
    "ask": NAMES,
    "where": CONDITIONS,
    "options": options_of("curve", *_PLAIN, **_NUMBERS),
}


def pending(given: Any) -> tuple[dict[str, Value], ...]:
    """Runs that are being made: proposals, or configurations."""
    example = "for example pending=engine.run_next(4, question)"
    found = []
    for one in items("is a list of runs", example)(given):
        config = one.config if isinstance(one, Proposal) else one
        found.append({name: scalar(v) for name, v in named(example)(config).items()})
    return tuple(found)


def label(given: Any) -> Value:
    """One label."""
    if not isinstance(plain := scalar(given), bool | int | float | str | None):
        raise Mismatch(f"is one label, not {shown(given)}")
    return plain


def models(given: Any) -> dict[str, Any]:
    """Outcomes with the model of each: a function, or a model from a file."""
    found: dict[str, Any] = named(_MODEL)(given)
    for name, model in found.items():
        if not (callable(model) or isinstance(model, ModelFile)):
            raise Mismatch(f"has no model for {name}: {shown(model)} is none", _MODEL)
    return found


def several(
    minimize: Iterable[str], maximize: Iterable[str], goals: Mapping[str, Goal]
) -> dict[str, Goal]:
    """The goals of a front: two outcomes or more that are directed, and limits beside them."""
    extremes: dict[str, Goal] = {}
    for names, direction in ((minimize, "minimize"), (maximize, "maximize")):
        for name in names:
            if name in extremes or name in goals:
                raise QueryProblem(f"'{name}' is given twice", hint="give each outcome once")
            extremes[name] = valid(Extreme, {"direction": direction})
    directed = [*extremes, *(n for n, goal in goals.items() if isinstance(goal, Extreme))]
    if len(directed) < 2:
        raise QueryProblem(
            "a front needs two outcomes or more",
            hint="for example pareto(minimize=['runtime', 'power'], ask=['nodes'])",
        )
    return {**extremes, **goals}


def edit(value: Edit | Value) -> Edit:
    """A change that was given as an edit, or as the new value."""
    if isinstance(value, SetTo | Times | Plus):
        return value
    return SetTo(value=scalar(value))


def query_of(
    kind: Kind,
    ask: Iterable[str],
    change: Mapping[str, Edit],
    wanted: Mapping[str, Goal],
    where: Iterable[str],
) -> Query:
    """The query of a method call; options go to `ask`."""
    given = {
        "kind": kind,
        "ask": tuple(ask),
        "change": dict(change),
        "goals": dict(wanted),
        "where": tuple(Constraint(text=text) for text in where),
    }
    return valid(Query, given)
