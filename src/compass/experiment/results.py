"""What came of runs: checked against the goals, told one by one or as a table."""

import math
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from compass.domain.base import Config, Value
from compass.domain.errors import BadInput, DataProblem, shortened, unknown
from compass.domain.experiment import ExperimentRun, MeasuredRun, RunChange, RunOrigin, RunState
from compass.domain.goal import IsClass
from compass.experiment.objective import Objective
from compass.experiment.space import complete_config
from compass.readers.words import says_failed

if TYPE_CHECKING:
    from compass.experiment.experiment import Experiment

NUMBER = "run"  # the column of a table that names runs by their number
FAILURE = "failure"  # the column that says why a run failed
_INFEASIBLE = "infeasible"  # begins the reason of a run that cannot be tried at all


class Told(NamedTuple):
    """What became of results that were told."""

    taken: int  # they are taken in
    known: int  # their runs had ended just so
    differ: int  # their runs had ended otherwise, and keep that end


def ended(
    run: ExperimentRun,
    outcomes: Mapping[str, Value],
    objective: Objective,
    *,
    failed: str | None = None,
    infeasible: str | None = None,
) -> RunChange:
    """The end of a run: done where every goal has its result, else failed with the reason."""
    if infeasible is not None:
        return RunChange(number=run.number, state=RunState.INFEASIBLE, reason=infeasible)
    known, problem = usable(outcomes, objective)
    reason = failed if failed is not None else problem
    if reason is not None:
        state = RunState.FAILED
        return RunChange(number=run.number, state=state, outcomes=known, reason=reason)
    return RunChange(number=run.number, state=RunState.DONE, outcomes=known)


def usable(outcomes: Mapping[str, Value], objective: Objective) -> tuple[Config, str | None]:
    """The outcomes as numbers and classes, and why they are no result, if they are none."""
    goals = objective.plan.goals
    known: Config = {}
    problem = None
    for name, value in outcomes.items():
        if name not in goals and name not in objective.plan.read:
            raise unknown("outcome", name, [*goals, *objective.plan.read])
        if name in goals and isinstance(goals[name], IsClass):
            known[name] = value
            continue
        number = _number(value)
        if number is None:
            if value is not None and name in goals:
                problem = problem or f"{name} is not a number: {str(value)[:80]!r}"
            continue
        known[name] = number
    absent = objective.missing(known)
    if problem is None and absent:
        problem = f"there is no {absent[0]}"
    if problem is None:
        problem = objective.other_class(known)
    return known, problem


def _number(value: Value) -> float | None:
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    return float(value) if value is not None and math.isfinite(value) else None


def told_runs(experiment: "Experiment", source: Any) -> Told:
    """Runs of a file or table, taken in."""
    from compass.readers import read as read_table

    table = read_table(source).arrow
    _check_columns(experiment, table.column_names)
    return tell_all(experiment, table.to_pylist())


def tell_all(experiment: "Experiment", rows: Iterable[Mapping[str, Any]]) -> Told:
    """Runs by the names of columns, taken in.

    Either all are taken in or, where one cannot be, none.
    """
    changes: list[RunChange] = []
    others: list[MeasuredRun] = []
    claimed: set[int] = set()  # a pending run is told once, however many rows are like it
    again: list[bool] = []  # whether the run of a change had its end before
    for place, row in enumerate(rows):
        outcomes = _outcomes(experiment, row)
        why = _failure(row, outcomes)
        if why is None and not outcomes:
            continue  # nothing was filled in
        try:
            run = _asked(experiment, row, outcomes, claimed)
            if run is None:
                others.append(_measured(experiment, row, outcomes, why))
                continue
            again.append(run.state.ended or run.number in claimed)
            claimed.add(run.number)
            changes.append(ended(run, outcomes, experiment.objective, **_end(why)))
        except BadInput as error:
            raise DataProblem(f"row {place}: {error.message}", hint=error.hint) from None
    holds = experiment.change(changes)
    known = sum(had and held for had, held in zip(again, holds, strict=True))
    added = len(experiment.store.attach(experiment.name, others))
    return Told(sum(holds) - known + added, known + len(others) - added, holds.count(False))


def _check_columns(experiment: "Experiment", names: list[str]) -> None:
    """Raises DataProblem or UnknownName unless the table can tell runs."""
    if not set(names) & {*experiment.plan.goals, FAILURE}:
        raise DataProblem(
            f"the table has no column {' or '.join(experiment.plan.goals)}",
            hint=f"its columns are {', '.join(names[:12])}",
        )
    for name in () if NUMBER in names else experiment.space.names:
        if name not in names and name not in experiment.plan.fixed:
            raise unknown("column", name, names, where="in the table")


def _outcomes(experiment: "Experiment", row: Mapping[str, Any]) -> Config:
    told = dict.fromkeys([*experiment.plan.goals, *experiment.plan.read])
    return {name: row[name] for name in told if row.get(name) is not None}


def _failure(given: Mapping[str, Any], outcomes: Mapping[str, Any]) -> str | None:
    """Why a row says that its run failed; None: it does not."""
    said = given.get(FAILURE)
    if said is not None and str(said).strip():
        return str(said).strip()
    for value in outcomes.values():
        if isinstance(value, str) and (says_failed(value) or _infeasible(value) is not None):
            kind, _, rest = value.partition(":")
            return rest.strip() if kind.strip().lower() == "failed" and rest.strip() else value
    return None


def _infeasible(why: str | None) -> str | None:
    """The reason in `infeasible: REASON`; None: it says something else."""
    kind, _, reason = (why or "").partition(":")
    return reason.strip() if kind.strip().lower() == _INFEASIBLE else None


def _end(why: str | None) -> dict[str, str | None]:
    """Why a run gave no result, as `ended` takes it."""
    reason = _infeasible(why)
    return {"failed": why} if reason is None else {"infeasible": reason}


def _asked(
    experiment: "Experiment", row: Mapping[str, Any], outcomes: Config, claimed: Collection[int]
) -> ExperimentRun | None:
    """The run that a row tells of: by its number, or by its configuration.

    Of a configuration it is one that waits, else one that was told to have ended just so.
    """
    if row.get(NUMBER) is not None:
        return experiment.run(_run_number(row[NUMBER]))
    runs = experiment.store.repeats(experiment.name, _config(experiment, row))
    free = [run for run in runs if run.number not in claimed]
    waiting = [run for run in free if run.state.pending]
    known = usable(outcomes, experiment.objective)[0]
    same = [run for run in free if run.state.ended and run.outcomes == known]
    return next(iter([*waiting, *same]), None)


def _run_number(given: Any) -> int:
    """The number of a run as a table has it; a column with gaps has 3.0 for 3."""
    with suppress(ValueError, TypeError):
        number = math.nan if isinstance(given, bool) else float(given)
        if number.is_integer() and 1 <= number < 2**31:
            return int(number)
    raise DataProblem(f"{shortened(repr(given))} is no number of a run", hint="runs count from 1")


def _config(experiment: "Experiment", row: Mapping[str, Any]) -> Config:
    given = {name: row[name] for name in experiment.space.names if name in row}
    return complete_config(given, experiment.space, experiment.rules)


def _measured(
    experiment: "Experiment", row: Mapping[str, Any], outcomes: Config, why: str | None
) -> MeasuredRun:
    """A run that nobody was asked for."""
    if _infeasible(why) is not None:
        raise BadInput(
            "only a run that was suggested can be infeasible",
            hint="leave this one out, or say that it failed",
        )
    known, problem = usable(outcomes, experiment.objective)
    reason = why if why is not None else problem
    return MeasuredRun(
        config=_config(experiment, row),
        origin=RunOrigin.PERSON,
        state=RunState.DONE if reason is None else RunState.FAILED,
        outcomes=known,
        reason=reason or "",
        why="told by a person",
    )
