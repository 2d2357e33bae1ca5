"""What is looked up in an experiment.

Runs and events come as rows: nouns are made of them after the transaction, as nobody can write to
a SQLite file while one is read.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import func, select

from compass.domain.experiment import RunOrigin, RunState
from compass.experiment.ledger import Ledger
from compass.experiment.rows import stored_time
from compass.experiment.tables import STANDS, events, runs, workers


def runs_in(
    ledger: Ledger, states: Collection[RunState] | None, after: int | None
) -> Sequence[Any]:
    """Runs in these states of which something was told after an event."""
    wanted = select(runs).where(runs.c.experiment == ledger.id).order_by(runs.c.number)
    if states is not None:
        wanted = wanted.where(runs.c.state.in_([state.value for state in states]))
    if after is not None:
        wanted = wanted.where(runs.c.event > after)
    return _rows(ledger, wanted)


def own_runs_in(ledger: Ledger, behind: int, after: int, limit: int) -> Sequence[Any]:
    """The first runs behind a number, history left out, that were told of after an event."""
    wanted = select(runs).where(
        runs.c.experiment == ledger.id,
        runs.c.number > behind,
        runs.c.event > after,
        runs.c.origin != RunOrigin.HISTORY.value,
    )
    return _rows(ledger, wanted.order_by(runs.c.number).limit(limit))


def runs_with_numbers(ledger: Ledger, numbers: range) -> Sequence[Any]:
    """Runs of numbers without gaps."""
    wanted = select(runs).where(
        runs.c.experiment == ledger.id, runs.c.number.between(numbers[0], numbers[-1])
    )
    return _rows(ledger, wanted.order_by(runs.c.number))


def runs_by_job(ledger: Ledger, job: str) -> Sequence[Any]:
    """Runs that the machine knows by this name, first suggested first."""
    wanted = select(runs).where(runs.c.experiment == ledger.id, runs.c.job == job)
    return _rows(ledger, wanted.order_by(runs.c.number))


def runs_of_key(ledger: Ledger, key: str) -> Sequence[Any]:
    """Runs of one configuration; cancelled ones are left out."""
    wanted = select(runs).where(runs.c.experiment == ledger.id, runs.c.key == key, STANDS)
    return _rows(ledger, wanted.order_by(runs.c.repeat))


def events_after(ledger: Ledger, after: int, limit: int) -> Sequence[Any]:
    """The next events."""
    wanted = (
        select(events)
        .where(events.c.experiment == ledger.id, events.c.id > after)
        .order_by(events.c.id)
        .limit(limit)
    )
    return _rows(ledger, wanted)


def heard_of(ledger: Ledger, since: datetime) -> frozenset[str]:
    """The workers that told something since a moment."""
    wanted = select(workers.c.worker).where(
        workers.c.experiment == ledger.id, workers.c.seen_at >= stored_time(since)
    )
    return frozenset(ledger.connection.execute(wanted).scalars())


def counts_of(ledger: Ledger) -> dict[RunState, int]:
    """How many runs are in each state, those attached as history left out."""
    own = [origin.value for origin in RunOrigin if origin is not RunOrigin.HISTORY]
    counted = (
        select(runs.c.state, func.count())
        .where(runs.c.experiment == ledger.id, runs.c.origin.in_(own))
        .group_by(runs.c.state)
    )
    found = {RunState(state): count for state, count in ledger.connection.execute(counted)}
    return {state: found.get(state, 0) for state in RunState}


def _rows(ledger: Ledger, wanted: Any) -> Sequence[Any]:
    found: Sequence[Any] = ledger.connection.execute(wanted).all()
    return found
