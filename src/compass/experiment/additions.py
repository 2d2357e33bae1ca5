"""Runs that enter an experiment: suggested ones, and those that were measured elsewhere."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from sqlalchemy import bindparam, func, insert, select

from compass.domain.experiment import ExperimentRun, MeasuredRun, NewRun, RunOrigin, RunState
from compass.experiment.ledger import Happened, Ledger
from compass.experiment.progress import Progress
from compass.experiment.rows import (
    asked_row,
    begun_run,
    measured_progress,
    progress_row,
    stored_time,
)
from compass.experiment.tables import STANDS, runs

_AT_ONCE = 500  # keys in one query: SQLite takes 999 values at least
_BATCH = 5000  # rows in one statement: bounds memory
# What a budget counts: history costs nothing, and neither does what was never run.
_OWN = [origin.value for origin in RunOrigin if origin is not RunOrigin.HISTORY]
_FREE = [RunState.CANCELLED.value, RunState.INFEASIBLE.value]

_OF_EXPERIMENT = runs.c.experiment == bindparam("of")
_OF_KEYS = (_OF_EXPERIMENT, runs.c.key.in_(bindparam("keys", expanding=True)), STANDS)
_ASKED = select(runs.c.key, runs.c.repeat).where(*_OF_KEYS)
_LAST_REPEATS = select(runs.c.key, func.max(runs.c.repeat)).where(*_OF_KEYS).group_by(runs.c.key)
_ATTACHED = select(runs.c.key, runs.c.state, runs.c.told).where(
    _OF_EXPERIMENT,
    runs.c.origin == bindparam("by"),
    runs.c.submitted_at.is_(None),  # nobody was asked for it
)
_SPENT = select(func.count()).where(
    _OF_EXPERIMENT, runs.c.origin.in_(_OWN), runs.c.state.not_in(_FREE)
)
_INSERT = insert(runs)

_Wanted = tuple[NewRun, dict[str, Any]]  # with its columns


def suggest(
    ledger: Ledger, wanted: Sequence[NewRun], budget: int | None, worker: str | None
) -> list[ExperimentRun]:
    """Add the runs that nobody has asked for yet, as many as the budget allows.

    `worker`: takes them at once.
    """
    fresh = _not_asked(ledger, [(run, asked_row(run)) for run in wanted])
    if budget is not None:
        fresh = fresh[: max(0, budget - _spent(ledger))]
    if not fresh:
        return []
    numbers = ledger.new_numbers(len(fresh))
    happened: list[Happened] = [(number, RunState.SUGGESTED, {}) for number in numbers]
    begun = Progress(RunState.SUGGESTED)
    if worker is not None:
        begun = Progress(RunState.SUBMITTED, worker=worker, submitted_at=ledger.now)
        happened += [(number, RunState.SUBMITTED, {"worker": worker}) for number in numbers]
    ids = ledger.add_events(happened)[-len(fresh) :]
    columns = progress_row(begun)
    _insert(ledger, [columns | row for _, row in fresh], numbers, ids)
    return [
        begun_run(run, row["key"], number, id_, begun, ledger.now)
        for (run, row), number, id_ in zip(fresh, numbers, ids, strict=True)
    ]


def measured_rows(measured: Sequence[MeasuredRun]) -> list[dict[str, Any]]:
    """Measured runs as rows, made before the transaction: there may be many."""
    now = datetime.now(UTC)
    return [asked_row(run) | progress_row(measured_progress(run, now)) for run in measured]


def attach(ledger: Ledger, measured: Sequence[dict[str, Any]]) -> range:
    """Add measured runs in bulk; those that are there already are not added again."""
    rows = _not_attached(ledger, measured)
    if not rows:
        return range(0)
    _set_repeats(ledger, rows)
    numbers = ledger.new_numbers(len(rows))
    fact = {"attached": len(rows), "first": numbers[0], "last": numbers[-1]}
    (event,) = ledger.add_events([(None, None, fact)])
    _insert(ledger, rows, numbers, [event] * len(rows))
    return numbers


def _insert(
    ledger: Ledger, rows: Sequence[dict[str, Any]], numbers: range, ids: Sequence[int]
) -> None:
    at = stored_time(ledger.now)
    complete = (
        row | {"experiment": ledger.id, "number": number, "event": id_, "suggested_at": at}
        for row, number, id_ in zip(rows, numbers, ids, strict=True)
    )
    while batch := list(islice(complete, _BATCH)):
        ledger.connection.execute(_INSERT, batch)


def _not_asked(ledger: Ledger, wanted: Sequence[_Wanted]) -> list[_Wanted]:
    """Those whose configuration and repeat are not among the runs yet, each once."""
    asked: set[tuple[str, int]] = set()
    for keys in _in_pieces([row["key"] for _, row in wanted]):
        found = ledger.connection.execute(_ASKED, {"of": ledger.id, "keys": keys})
        asked.update((row.key, row.repeat) for row in found)
    fresh = []
    for run, row in wanted:
        one = (row["key"], row["repeat"])
        if one not in asked:
            asked.add(one)
            fresh.append((run, row))
    return fresh


def _not_attached(ledger: Ledger, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows beyond those that were attached before: a file that has grown adds what is new."""
    there: Counter[tuple[str, str, str]] = Counter()
    for origin in {row["origin"] for row in rows}:
        known = ledger.connection.execute(_ATTACHED, {"of": ledger.id, "by": origin})
        there.update(tuple(row) for row in known)
    fresh = []
    for row in rows:
        one = (row["key"], row["state"], row["told"])
        if there[one]:
            there[one] -= 1
        else:
            fresh.append(row)
    return fresh


def _set_repeats(ledger: Ledger, rows: list[dict[str, Any]]) -> None:
    """Number the measurements of one configuration on from those that are there."""
    following: Counter[str] = Counter()
    for keys in _in_pieces([row["key"] for row in rows]):
        found = ledger.connection.execute(_LAST_REPEATS, {"of": ledger.id, "keys": keys})
        following.update({key: last + 1 for key, last in found})
    for place, row in enumerate(rows):
        rows[place] = row | {"repeat": following[row["key"]]}
        following[row["key"]] += 1


def _spent(ledger: Ledger) -> int:
    return int(ledger.connection.execute(_SPENT, {"of": ledger.id}).scalar_one())


def _in_pieces(keys: Sequence[str]) -> Iterator[list[str]]:
    each = iter(dict.fromkeys(keys))
    while piece := list(islice(each, _AT_ONCE)):
        yield piece
