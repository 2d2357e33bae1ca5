"""Runs and events as rows of tables, and back."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import ValidationError

from compass.domain.experiment import (
    ExperimentPlan,
    ExperimentRun,
    MeasuredRun,
    NewRun,
    RunChange,
    RunEvent,
    RunState,
)
from compass.experiment.key import configuration_key
from compass.experiment.progress import Progress

_ASKED = set(NewRun.model_fields)
_TOLD = ("outcomes", "reason", "seconds", "output")
_TIMES = ("submitted_at", "started_at", "ended_at")
_NOTHING: tuple[object, ...] = (None, "", {})
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

# Whatever stands in a damaged row, one of these comes of it.
BROKEN = (ValidationError, ValueError, LookupError, TypeError, OverflowError)


def text_of(facts: Mapping[str, Any]) -> str:
    """Facts as JSON text; `nan` and the infinities stay what they are."""
    return json.dumps(facts, separators=(",", ":"))


def stored_time(at: datetime | None) -> int | None:
    """Microseconds since 1970."""
    return None if at is None else (at - _EPOCH) // _MICROSECOND


def time_of(stored: int | None) -> datetime | None:
    """The same moment, in UTC."""
    return None if stored is None else _EPOCH + stored * _MICROSECOND


def asked_row(run: NewRun) -> dict[str, Any]:
    """The columns that say which run is asked for; they never change."""
    return {
        "key": configuration_key(run.config),
        "repeat": run.repeat,
        "origin": run.origin.value,
        "asked": text_of(run.model_dump(include=_ASKED, exclude_defaults=True)),
    }


def measured_progress(run: MeasuredRun, at: datetime) -> Progress:
    """How far a run has come that was made elsewhere: to its end."""
    return Progress(
        run.state, outcomes=run.outcomes, reason=run.reason, seconds=run.seconds, ended_at=at
    )


def progress_row(progress: Progress) -> dict[str, Any]:
    """The columns that say how far a run has come."""
    told = {name: fact for name in _TOLD if (fact := getattr(progress, name)) not in _NOTHING}
    return {
        "state": progress.state.value,
        "job": progress.job,
        "worker": progress.worker,
        "told": text_of(told),
        **{name: stored_time(getattr(progress, name)) for name in _TIMES},
    }


def progress_of(row: Any) -> Progress:
    """How far the run of a row has come."""
    times: dict[str, Any] = {name: time_of(getattr(row, name)) for name in _TIMES}
    told = json.loads(row.told)
    return Progress(RunState(row.state), job=row.job, worker=row.worker, **told, **times)


def run_of(row: Any) -> ExperimentRun:
    """The run of a row."""
    facts = json.loads(row.asked) | json.loads(row.told)
    return ExperimentRun.model_validate(
        {
            **facts,
            "number": row.number,
            "key": row.key,
            "repeat": row.repeat,
            "origin": row.origin,
            "state": row.state,
            "event": row.event,
            "job": row.job,
            "worker": row.worker,
            "suggested_at": time_of(row.suggested_at),
            **{name: time_of(getattr(row, name)) for name in _TIMES},
        }
    )


def begun_run(
    run: NewRun, key: str, number: int, event: int, begun: Progress, at: datetime
) -> ExperimentRun:
    """A run that has just been asked for, and may be taken already."""
    asked = {name: getattr(run, name) for name in _ASKED}  # valid already
    return ExperimentRun.model_construct(
        **asked,
        key=key,
        number=number,
        event=event,
        state=begun.state,
        worker=begun.worker,
        suggested_at=at,
        submitted_at=begun.submitted_at,
    )


def event_of(row: Any) -> RunEvent:
    """The event of a row."""
    return RunEvent(
        id=row.id,
        at=time_of(row.at),
        number=row.number,
        state=row.state,
        facts=json.loads(row.facts),
    )


def change_facts(change: RunChange) -> dict[str, Any]:
    """What a change says, as the facts of an event."""
    return change.model_dump(exclude_defaults=True, exclude={"number", "state"})


def plan_text(plan: ExperimentPlan) -> str:
    """A plan as JSON text."""
    return text_of(plan.model_dump())


def plan_of(text: str) -> ExperimentPlan:
    """The plan of a text."""
    return ExperimentPlan.model_validate(json.loads(text))


# What may change while an experiment goes on: nothing that tells runs apart, or what they are for.
CHANGEABLE = ("command", "read", "runner", "time_limit", "budget", "stop_below")


def with_changes(plan: ExperimentPlan, other: ExperimentPlan) -> ExperimentPlan:
    """A plan with the changeable parts of another one."""
    return plan.model_copy(update={name: getattr(other, name) for name in CHANGEABLE})


def changed_parts(before: ExperimentPlan, plan: ExperimentPlan) -> dict[str, object]:
    """The changeable parts that differ, as they are now."""
    now = plan.model_dump(mode="json")
    return {name: now[name] for name in CHANGEABLE if getattr(before, name) != getattr(plan, name)}


def same_plan(one: ExperimentPlan, other: ExperimentPlan) -> bool:
    """Whether two plans say the same, in whichever order."""
    first, second = (json.dumps(plan.model_dump(), sort_keys=True) for plan in (one, other))
    return first == second
