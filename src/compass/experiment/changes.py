"""Runs that are taken, changed and given back."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import bindparam, insert, select, update

from compass.domain.errors import UnknownName, shortened
from compass.domain.experiment import ExperimentRun, RunChange, RunOrigin, RunState
from compass.experiment.ledger import Happened, Ledger
from compass.experiment.progress import Progress, changed
from compass.experiment.rows import (
    change_facts,
    progress_of,
    progress_row,
    run_of,
    stored_time,
    text_of,
)
from compass.experiment.tables import events, runs, workers

_TAKEN = [RunState.SUBMITTED.value, RunState.RUNNING.value]
_AT_ONCE = 500  # numbers in one query: SQLite takes 999 values at least
_OF_EXPERIMENT = runs.c.experiment == bindparam("of")
_OLDEST = (
    select(runs)
    .where(_OF_EXPERIMENT, runs.c.state == RunState.SUGGESTED.value)
    # What a person added comes before what models chose.
    .order_by(runs.c.origin != RunOrigin.PERSON.value, runs.c.number)
    .limit(bindparam("most"))
    .with_for_update(skip_locked=True)
)
_WITH_NUMBERS = (
    select(runs)
    .where(_OF_EXPERIMENT, runs.c.number.in_(bindparam("numbers", expanding=True)))
    .order_by(runs.c.number)
    .with_for_update()
)
_UPDATE = (
    update(runs)
    .where(runs.c.experiment == bindparam("of"), runs.c.number == bindparam("one"))
    .values(
        {
            name: bindparam(f"new_{name}")
            for name in (
                *("state", "event", "job", "worker", "told"),
                *("submitted_at", "started_at", "ended_at"),
            )
        }
    )
)
_SEEN = (
    update(workers)
    .where(workers.c.experiment == bindparam("of"), workers.c.worker == bindparam("who"))
    .values(seen_at=bindparam("at"))
)


def claim(ledger: Ledger, count: int, worker: str) -> list[ExperimentRun]:
    """Take the oldest suggested runs that nobody else is taking at this moment."""
    wanted = ledger.connection.execute(_OLDEST, {"of": ledger.id, "most": count})
    free = [run_of(row) for row in wanted]
    taken = Progress(RunState.SUBMITTED, worker=worker, submitted_at=ledger.now)
    facts = {"worker": worker}
    ids = ledger.add_events([(run.number, RunState.SUBMITTED, facts) for run in free])
    _update(ledger, [(run.number, taken, id_) for run, id_ in zip(free, ids, strict=True)])
    news = {"state": RunState.SUBMITTED, "worker": worker, "submitted_at": ledger.now, "reason": ""}
    return [
        run.model_copy(update={**news, "event": id_}) for run, id_ in zip(free, ids, strict=True)
    ]


def change(ledger: Ledger, changes: Sequence[RunChange], worker: str | None) -> list[bool]:
    """Make the changes that are legal; each is told whether its run is now as it says."""
    known = _locked(ledger, sorted({one.number for one in changes}))
    happened: list[Happened] = []
    last: dict[int, int] = {}  # run -> the last of these events that is about it
    holds = []
    for one in changes:
        before = known[one.number]
        after = changed(before, one, ledger.now) if _may(before, worker) else None
        holds.append(after is not None)
        if after is None:
            refused = _refused(ledger, one, worker)
            happened += [event for event in refused if event not in happened]
        elif after is not before:
            last[one.number] = len(happened)
            known[one.number] = after
            happened.append((one.number, one.state, change_facts(one)))
    ids = ledger.add_events(happened)
    _update(ledger, [(number, known[number], ids[place]) for number, place in last.items()])
    return holds


def release(
    ledger: Ledger, worker: str | None, silent_for: float | None, with_jobs: bool
) -> list[int]:
    """Give the runs of a worker, or of all workers that were silent for long, back."""
    wanted = (
        select(runs)
        .where(runs.c.experiment == ledger.id, runs.c.state.in_(_TAKEN))
        .order_by(runs.c.number)
        .with_for_update(skip_locked=True)
    )
    if worker is not None:
        wanted = wanted.where(runs.c.worker == worker)
    if silent_for is not None:
        limit = stored_time(ledger.now - timedelta(seconds=silent_for))
        heard = select(workers.c.worker).where(
            workers.c.experiment == ledger.id, workers.c.seen_at >= limit
        )
        wanted = wanted.where(runs.c.worker.not_in(heard))
    if not with_jobs:
        wanted = wanted.where(runs.c.job.is_(None))
    found = [(row.number, progress_of(row)) for row in ledger.connection.execute(wanted)]
    free = Progress(RunState.SUGGESTED)
    ids = ledger.add_events(
        [
            (number, RunState.SUGGESTED, _facts(released_from=was.worker, job=was.job))
            for number, was in found
        ]
    )
    _update(ledger, [(number, free, id_) for (number, _), id_ in zip(found, ids, strict=True)])
    return [number for number, _ in found]


def beat(ledger: Ledger, worker: str) -> None:
    """Note that a worker is there."""
    seen = {"of": ledger.id, "who": worker, "at": stored_time(ledger.now)}
    if ledger.connection.execute(_SEEN, seen).rowcount == 0:
        ledger.connection.execute(
            insert(workers), {"experiment": ledger.id, "worker": worker, "seen_at": seen["at"]}
        )


def _may(before: Progress, worker: str | None) -> bool:
    """Whether a worker may change a run: it is its own, or nobody's; an ended one has no owner."""
    return before.state.ended or worker is None or before.worker in (None, worker)


def _locked(ledger: Ledger, numbers: Sequence[int]) -> dict[int, Progress]:
    found: dict[int, Progress] = {}
    for start in range(0, len(numbers), _AT_ONCE):
        piece = numbers[start : start + _AT_ONCE]
        rows = ledger.connection.execute(_WITH_NUMBERS, {"of": ledger.id, "numbers": piece})
        found.update((row.number, progress_of(row)) for row in rows)
    for number in numbers:
        if number not in found:
            raise no_run(ledger, number)
    return found


def no_run(ledger: Ledger, number: int) -> UnknownName:
    """The error for a number that no run has."""
    count = ledger.last_run
    return UnknownName(
        f"{ledger.name} has no run {shortened(str(number))}",
        hint=f"its runs are 1 to {count}" if count else "it has no runs yet",
        name=str(number),
        kind="run",
    )


def _refused(ledger: Ledger, one: RunChange, worker: str | None) -> list[Happened]:
    """An event for a result that came too late: it is kept, once, and changes nothing."""
    if not one.state.ended or one.state is RunState.CANCELLED:
        return []
    facts = {"refused": one.state.value, **change_facts(one), **_facts(told_by=worker)}
    same = select(events.c.id).where(
        events.c.experiment == ledger.id,
        events.c.number == one.number,
        events.c.facts == text_of(facts),
    )
    return [] if ledger.connection.execute(same).first() else [(one.number, None, facts)]


def _facts(**facts: Any) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if value is not None}


def _update(ledger: Ledger, news: Sequence[tuple[int, Progress, int]]) -> None:
    if news:
        rows = [
            {
                "of": ledger.id,
                "one": number,
                "new_event": event,
                **{f"new_{name}": value for name, value in progress_row(progress).items()},
            }
            for number, progress, event in news
        ]
        ledger.connection.execute(_UPDATE, rows)
