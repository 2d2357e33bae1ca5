"""What may become of a run, and what a change makes of it. Nothing is stored here."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from compass.domain.base import Value
from compass.domain.experiment import RunChange, RunState
from compass.experiment.key import configuration_key

_ENDS = frozenset(state for state in RunState if state.ended)
# A scheduler may put a run that has begun back into its queue; a run that nobody makes any more
# goes back among the suggested ones. What has ended stays as it is, but for a failed run whose
# output is read again.
LEGAL: Mapping[RunState, frozenset[RunState]] = {
    RunState.SUGGESTED: _ENDS | {RunState.SUBMITTED, RunState.RUNNING},
    RunState.SUBMITTED: _ENDS | {RunState.SUGGESTED, RunState.SUBMITTED, RunState.RUNNING},
    RunState.RUNNING: _ENDS | {RunState.SUGGESTED, RunState.SUBMITTED, RunState.RUNNING},
    **{state: frozenset[RunState]() for state in _ENDS},
}


@dataclass(frozen=True)
class Progress:
    """How far a run has come: everything of it that changes."""

    state: RunState
    job: str | None = None
    worker: str | None = None
    outcomes: Mapping[str, Value] = field(default_factory=dict)
    reason: str = ""
    seconds: float | None = None
    output: str | None = None
    submitted_at: datetime | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None


def changed(now: Progress, change: RunChange, at: datetime) -> Progress | None:
    """What a change makes of a run, `now` itself where it says nothing new; None: not legal."""
    if now.state is RunState.FAILED and change.read_again and change.state is RunState.DONE:
        return replace(now, state=RunState.DONE, outcomes=change.outcomes, reason="")
    if now.state.ended:
        return now if _same_end(now, change) else None
    if change.state not in LEGAL[now.state]:
        return None
    if change.state is RunState.SUGGESTED:
        return Progress(RunState.SUGGESTED, reason=change.reason)
    told = replace(
        now,
        state=change.state,
        job=change.job or now.job,
        worker=change.worker or now.worker,
        outcomes={**now.outcomes, **change.outcomes},
        reason=change.reason or now.reason,
        seconds=now.seconds if change.seconds is None else change.seconds,
        output=change.output or now.output,
    )
    return now if _same(now, told) else _timed(told, at)


def _timed(told: Progress, at: datetime) -> Progress:
    """With the moment at which it came so far."""
    submitted = told.submitted_at or at
    if told.state is RunState.SUBMITTED:
        return replace(told, submitted_at=submitted, started_at=None)
    if told.state is RunState.RUNNING:
        return replace(told, submitted_at=submitted, started_at=told.started_at or at)
    return replace(told, ended_at=at)


def _same(now: Progress, told: Progress) -> bool:
    """Whether nothing is new, however numbers are written."""
    alike = replace(told, outcomes=now.outcomes) == now
    return alike and configuration_key(now.outcomes) == configuration_key(told.outcomes)


def _same_end(now: Progress, change: RunChange) -> bool:
    """Whether an ended run is told to have ended just so: the words of a reason do not count."""
    told = {**now.outcomes, **change.outcomes}
    return change.state is now.state and configuration_key(told) == configuration_key(now.outcomes)
