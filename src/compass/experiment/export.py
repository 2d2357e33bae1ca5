"""The runs of an experiment in other forms: a table, past runs for an engine, a study of Optuna."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from compass import files
from compass.domain.answer import Prediction
from compass.domain.base import Value
from compass.domain.errors import BadInput, DataProblem
from compass.domain.experiment import ExperimentPlan, ExperimentRun, RunOrigin, RunState
from compass.domain.goal import Observe
from compass.domain.space import Category, Number, Space
from compass.experiment.history import is_own
from compass.experiment.place import is_database
from compass.experiment.plan_file import study_of_plan
from compass.experiment.space import predicted_columns

if TYPE_CHECKING:
    from compass.engine.dataset import Dataset

FAILURE = "failure"


def table_of(plan: ExperimentPlan, space: Space, runs: Sequence[ExperimentRun]) -> pa.Table:
    """The runs that ended: settings, outcomes, what was predicted, and how each ended."""
    kept = [run for run in runs if run.state.ended and is_own(run, plan.fixed)]
    columns: dict[str, Any] = {"run": pa.array([run.number for run in kept], pa.int64())}
    for parameter in space:
        columns[parameter.name] = _settings([r.config[parameter.name] for r in kept], parameter)
    for name in dict.fromkeys([*plan.goals, *plan.read]):
        columns[name] = _column([run.outcomes.get(name) for run in kept])
    for outcome, heads in predicted_columns(plan).items():
        told = [_prediction(run, outcome) for run in kept]
        parts = [None if one is None else (one.value, one.low, one.high) for one in told]
        for place, head in enumerate(heads):
            columns[head] = _column([None if part is None else part[place] for part in parts])
    columns["label"] = _texts([None if run.label is None else run.label.value for run in kept])
    columns["origin"] = _texts([run.origin.value for run in kept])
    columns["state"] = _texts([run.state.value for run in kept])
    columns[FAILURE] = _texts([run.reason or None for run in kept])
    columns["seconds"] = _column([run.seconds for run in kept])
    columns["ended_at"] = pa.array([run.ended_at for run in kept], pa.timestamp("us", tz="UTC"))
    return pa.table(columns)


def _prediction(run: ExperimentRun, outcome: str | None) -> Prediction | None:
    """What was predicted of an outcome."""
    return next((one for one in run.predicted if one.name == outcome), None)


def _settings(values: list[Value], parameter: Number | Category) -> pa.Array:
    if isinstance(parameter, Number) and parameter.whole:
        whole = [None if v is None else int(v) for v in values if not isinstance(v, str)]
        return pa.array(whole, pa.int64()) if len(whole) == len(values) else _column(values)
    return _column(values)


def _texts(values: list[str | None]) -> pa.Array:
    return pa.array(values, pa.large_string())


def _column(values: list[Any]) -> pa.Array:
    if not any(value is not None for value in values):
        return pa.nulls(len(values), pa.float64())
    if any(isinstance(value, str) for value in values):
        return pa.array([None if v is None else str(v) for v in values], pa.large_string())
    if all(value is None or isinstance(value, bool) for value in values):
        return pa.array(values, pa.bool_())
    return pa.array([None if v is None else float(v) for v in values], pa.float64())


def dataset_of(plan: ExperimentPlan, space: Space, runs: Sequence[ExperimentRun]) -> "Dataset":
    """The runs as past runs with their roles; those that failed say why."""
    from compass.domain.space import Role
    from compass.domain.study import ColumnChoice
    from compass.engine.dataset import read

    told = {*space.names, *plan.goals, *plan.read, FAILURE}
    counted = [run for run in runs if run.state in (RunState.DONE, RunState.FAILED)]
    if not any(run.state is RunState.DONE for run in counted):
        raise DataProblem("no run has a result yet", hint="make and tell some runs first")
    whole = table_of(plan, space, counted)
    table = whole.select([name for name in whole.column_names if name in told])
    study = study_of_plan(plan)
    columns = {**study.columns, FAILURE: ColumnChoice(role=Role.IGNORED)}
    return read(table, study=study.model_copy(update={"columns": columns}))


def write_table(
    plan: ExperimentPlan, space: Space, runs: Sequence[ExperimentRun], path: Path
) -> None:
    """The runs that ended as CSV or Parquet, by the ending of the file's name."""
    import pyarrow.csv
    import pyarrow.parquet

    from compass.exporters.spreadsheet import guarded

    table = table_of(plan, space, runs)
    kind = path.suffix.lower()
    if kind not in (".csv", ".parquet"):
        raise BadInput(f"cannot tell the form of {path}", hint="name it .csv or .parquet")
    sink = pa.BufferOutputStream()
    if kind == ".csv":
        safe = [
            pa.array(map(guarded, column.to_pylist()), column.type)
            if pa.types.is_large_string(column.type)
            else column
            for column in table.columns
        ]
        names = [str(guarded(name)) for name in table.column_names]
        pyarrow.csv.write_csv(pa.Table.from_arrays(safe, names), sink)
    else:
        pyarrow.parquet.write_table(table, sink)
    try:
        files.write_bytes(path, sink.getvalue().to_pybytes())
    except OSError as error:
        raise BadInput(
            f"cannot write {path}: {error.strerror or error}", hint="choose another folder"
        ) from error


def to_optuna(
    plan: ExperimentPlan, space: Space, runs: Sequence[ExperimentRun], place: str, name: str
) -> int:
    """Add the runs that ended to a study of Optuna, for its dashboard; how many were added.

    Its outcomes are those that are minimised or maximised; a run that gave none is a failed trial.
    """
    import optuna
    from optuna.distributions import (
        BaseDistribution,
        CategoricalDistribution,
        FloatDistribution,
        IntDistribution,
    )
    from optuna.trial import TrialState, create_trial

    from compass.experiment.objective import Objective

    def distribution(one: Number | Category) -> BaseDistribution:
        if isinstance(one, Category):
            return CategoricalDistribution(list(one.values))
        if one.allowed is not None:
            return CategoricalDistribution([*one.allowed, *((None,) if one.optional else ())])
        if one.step is None:
            return FloatDistribution(one.low, one.high)
        if one.whole:
            return IntDistribution(int(one.low), int(one.high), step=int(one.step))
        return FloatDistribution(one.low, one.high, step=one.step)

    def unset(name: str, run: ExperimentRun) -> bool:
        # For Optuna a number that is none is a parameter that the trial does not have.
        categorical = isinstance(varied[name], CategoricalDistribution)
        return run.config[name] is None and not categorical

    def contains(one: BaseDistribution, value: Value) -> bool:
        try:
            return bool(one._contains(one.to_internal_repr(value)))
        except ValueError:  # so a choice is refused that there is not
            return False

    extremes = Objective(plan).extremes
    if not extremes:
        raise BadInput(
            "a study of Optuna needs something to minimise or maximise",
            hint="the goals of this experiment are bounds only",
        )
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    storage = place if "://" in place or is_database(place) else f"sqlite:///{place}"
    study = optuna.create_study(
        storage=storage,
        study_name=name,
        directions=["minimize" if sign > 0 else "maximize" for sign in extremes.values()],
        load_if_exists=True,
    )
    known = {trial.user_attrs.get("run") for trial in study.get_trials(deepcopy=False)}
    varied = {p.name: distribution(p) for p in space if p.name not in plan.fixed}
    added = 0
    for run in runs:
        if not run.state.ended or run.number in known or not is_own(run, plan.fixed):
            continue
        done = run.state is RunState.DONE
        values = [float(run.outcomes[outcome] or 0) for outcome in extremes] if done else None
        params = {n: run.config[n] for n in varied if not unset(n, run)}
        if not all(contains(varied[name], value) for name, value in params.items()):
            continue  # a past run may have values that the plan does not allow
        study.add_trial(
            create_trial(
                state=TrialState.COMPLETE if done else TrialState.FAIL,
                values=values,
                params=params,
                distributions={name: varied[name] for name in params},
                user_attrs={
                    "run": run.number,
                    "label": run.label.value if run.label else None,
                    "origin": run.origin.value,
                    "reason": run.reason,
                    **{n: v for n, v in run.outcomes.items() if n not in extremes},
                },
            )
        )
        added += 1
    return added


def awaited(plan: ExperimentPlan, space: Space, runs: Sequence[ExperimentRun]) -> str:
    """The runs that are to be made as CSV, with empty outcomes to fill in and tell."""
    import csv
    import io

    from compass.exporters.spreadsheet import guarded

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    goals = [name for name, goal in plan.goals.items() if not isinstance(goal, Observe)]
    writer.writerow(["run", *(guarded(n) for n in (*space.names, *goals)), FAILURE])
    for run in runs:
        if run.origin is not RunOrigin.HISTORY and run.state.pending:
            values = [guarded(run.config[name]) for name in space.names]
            writer.writerow([run.number, *values, *("" for _ in goals), ""])
    return out.getvalue()
