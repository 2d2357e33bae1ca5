"""The store of experiments: what was asked, who makes it, what came out; every event is kept.

One SQLite file, or a PostgreSQL database for many nodes that write at once. Each method is one
transaction: a process may be ended at any moment, and others may ask and tell meanwhile.
Importing this module imports SQLAlchemy: import it where it is needed.
"""

import math
import time
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from sqlalchemy import Connection, insert, select, update

from compass.domain.base import Config
from compass.domain.errors import BadInput, ExperimentProblem, shortened
from compass.domain.experiment import (
    ExperimentPlan,
    ExperimentRun,
    MeasuredRun,
    NewRun,
    RunChange,
    RunEvent,
    RunState,
)
from compass.experiment import additions, changes, lookups
from compass.experiment.database import PATIENCE, Database
from compass.experiment.key import configuration_key
from compass.experiment.ledger import Ledger
from compass.experiment.rows import (
    BROKEN,
    changed_parts,
    event_of,
    plan_of,
    plan_text,
    run_of,
    same_plan,
    stored_time,
    with_changes,
)
from compass.experiment.tables import experiments

Result = TypeVar("Result")
_LONGEST_NAME = 200  # characters of the name of an experiment or a worker
_HEARD_FOR = 1.0  # seconds until a worker that asks and tells is noted again; leases are longer
_MOST_RUNS = 2**31 - 1  # numbers that a column holds


class ExperimentStore:
    """Experiments with their runs and events, shared by all processes that open the same place."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._heard: dict[tuple[str, str], float] = {}  # when a worker was noted to be there

    @classmethod
    def open(cls, place: str | Path, patience: float = PATIENCE) -> Self:
        """The store in a file or at `postgresql://...`; nothing is made before `create`.

        `patience`: seconds that a transaction waits for others before it is an error.
        """
        return cls(Database(place, patience))

    @property
    def place(self) -> str:
        """Where it is, without a password."""
        return self._database.place

    def close(self) -> None:
        """Close its connections."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def create(self, name: str, plan: ExperimentPlan) -> None:
        """Begin an experiment; to begin it again with the same plan changes nothing.

        What says how runs are made, and how many, may change (`rows.CHANGEABLE`): as an event.
        """
        _check_name("an experiment", name)
        text = plan_text(plan)

        def work(connection: Connection) -> None:
            row = connection.execute(_plan_of(name)).first()
            if row is None:
                begun = {"name": name, "plan": text, "created_at": stored_time(datetime.now(UTC))}
                connection.execute(insert(experiments), {**begun, "last_run": 0, "last_event": 0})
                Ledger(connection, name).add_events([(None, None, {"created": name})])
                return
            before = plan_of(row.plan)
            if same_plan(before, plan):
                return
            if not same_plan(before, with_changes(plan, before)):
                raise ExperimentProblem(
                    f"there is an experiment '{shortened(name)}' with another plan in {self.place}",
                    hint="give this one another name, or go on with the plan that is there",
                )
            own = experiments.c.name == name
            connection.execute(update(experiments).where(own).values(plan=text))
            news = [(None, None, {"changed": changed_parts(before, plan)})]
            Ledger(connection, name).add_events(news)

        self._database.make_tables()
        self._understood(lambda: self._database.write(work))

    def names(self) -> tuple[str, ...]:
        """The experiments, oldest first."""
        if not self._database.exists():
            return ()
        wanted = select(experiments.c.name).order_by(experiments.c.id)
        return self._database.read(lambda connection: tuple(connection.execute(wanted).scalars()))

    def plan(self, name: str) -> ExperimentPlan:
        """What stays the same during an experiment."""

        def work(ledger: Ledger) -> ExperimentPlan:
            return plan_of(ledger.connection.execute(_plan_of(name)).scalar_one())

        return self._reading(name, work)

    def suggest(
        self,
        name: str,
        runs: Sequence[NewRun],
        *,
        budget: int | None = None,
        worker: str | None = None,
    ) -> tuple[ExperimentRun, ...]:
        """Ask for runs; those whose configuration and repeat were asked for are left out.

        Cancelled runs may be asked for again. `budget`: how many runs the experiment may have in
        all, without history and without cancelled and infeasible ones; the rest is left out.
        `worker`: takes them at once, as `claim` does, in the same transaction.
        """
        if worker is not None:
            _check_name("a worker", worker)

        def work(ledger: Ledger) -> list[ExperimentRun]:
            return additions.suggest(ledger, runs, budget, worker)

        return tuple(self._writing(name, work, worker, adds_runs=True))

    def attach(self, name: str, runs: Sequence[MeasuredRun]) -> range:
        """Add runs that were made without having been suggested, and return their numbers.

        Those that are there already are left out: a file may be attached again when it has grown.
        """
        rows = additions.measured_rows(runs)
        return self._writing(name, lambda ledger: additions.attach(ledger, rows), adds_runs=True)

    def claim(self, name: str, count: int, worker: str) -> tuple[ExperimentRun, ...]:
        """Take the oldest suggested runs, which nobody else gets; they are submitted now."""
        _check_name("a worker", worker)
        return tuple(
            self._writing(name, lambda ledger: changes.claim(ledger, count, worker), worker)
        )

    def change(
        self, name: str, changed: Sequence[RunChange], worker: str | None = None
    ) -> tuple[bool, ...]:
        """Tell what became of runs; True: so it is now, False: refused, the run stays as it was.

        Telling the same twice changes nothing. An ended run keeps its end; another result of it
        is kept as an event. `worker`: runs that another one has taken are refused.
        """
        if worker is not None:
            _check_name("a worker", worker)
        return tuple(
            self._writing(name, lambda ledger: changes.change(ledger, changed, worker), worker)
        )

    def heartbeat(self, name: str, worker: str) -> None:
        """Note that a worker is there, though it has nothing to tell."""
        _check_name("a worker", worker)
        self._writing(name, lambda ledger: changes.beat(ledger, worker))

    def heard_of(self, name: str, seconds: float) -> frozenset[str]:
        """The workers that told something, or that they are there, within so many seconds."""
        since = datetime.now(UTC) - timedelta(seconds=seconds)
        return self._reading(name, lambda ledger: lookups.heard_of(ledger, since))

    def release(
        self,
        name: str,
        *,
        worker: str | None = None,
        silent_for: float | None = None,
        with_jobs: bool = False,
    ) -> tuple[int, ...]:
        """Make runs suggested again that nobody makes any more; their numbers.

        Those of a worker, or of workers that were silent for so many seconds. A run with a job
        stays, as the machine may still make it, unless `with_jobs`.
        """
        return tuple(
            self._writing(
                name, lambda ledger: changes.release(ledger, worker, silent_for, with_jobs)
            )
        )

    def runs(
        self, name: str, states: Collection[RunState] | None = None, after: int | None = None
    ) -> tuple[ExperimentRun, ...]:
        """The runs by number; `after`: those of which something was told after this event.

        Whoever reads again and again gives the largest `event` of the runs that it has.
        """
        return self._runs(name, lambda ledger: lookups.runs_in(ledger, states, after))

    def own_runs(self, name: str, behind: int, after: int, limit: int) -> tuple[ExperimentRun, ...]:
        """At most so many runs behind a number, history left out, told of after an event."""
        return self._runs(name, lambda ledger: lookups.own_runs_in(ledger, behind, after, limit))

    def size(self, name: str) -> int:
        """How many runs are kept, whatever became of them, history included."""
        return self._reading(name, lambda ledger: ledger.last_run)

    def run(self, name: str, number: int) -> ExperimentRun:
        """One run."""

        known = 0 < number <= _MOST_RUNS  # what else a person gives may not fit into a column
        wanted = range(number, number + 1)

        def look(ledger: Ledger) -> Sequence[Any]:
            found = lookups.runs_with_numbers(ledger, wanted) if known else ()
            if not found:
                raise changes.no_run(ledger, number)
            return found

        return self._runs(name, look)[0]

    def by_job(self, name: str, job: str) -> tuple[ExperimentRun, ...]:
        """The runs that the machine knows by this name; the tasks of an array may share one."""
        return self._runs(name, lambda ledger: lookups.runs_by_job(ledger, job))

    def repeats(self, name: str, config: Config) -> tuple[ExperimentRun, ...]:
        """All runs of a configuration; cancelled ones are left out."""
        key = configuration_key(config)
        return self._runs(name, lambda ledger: lookups.runs_of_key(ledger, key))

    def events(self, name: str, after: int = 0, limit: int = 1000) -> tuple[RunEvent, ...]:
        """The events after one, in the order in which they happened."""
        rows = self._reading(name, lambda ledger: lookups.events_after(ledger, after, limit))
        return self._understood(lambda: tuple(map(event_of, rows)))

    def counts(self, name: str) -> dict[RunState, int]:
        """How many runs are in each state; history is not counted."""
        return self._reading(name, lookups.counts_of)

    def _runs(
        self, name: str, work: Callable[[Ledger], Sequence[object]]
    ) -> tuple[ExperimentRun, ...]:
        rows = self._reading(name, work)
        return self._understood(lambda: tuple(map(run_of, rows)))

    def _reading(self, name: str, work: Callable[[Ledger], Result]) -> Result:
        return self._understood(
            lambda: self._database.read(lambda connection: work(Ledger(connection, name)))
        )

    def _writing(
        self,
        name: str,
        work: Callable[[Ledger], Result],
        worker: str | None = None,
        *,
        adds_runs: bool = False,
    ) -> Result:
        now, pair = time.monotonic(), (name, worker or "")
        note = worker if now - self._heard.get(pair, -math.inf) > _HEARD_FOR else None

        def transaction(connection: Connection) -> Result:
            ledger = Ledger(connection, name, hold=adds_runs)
            if note is not None:
                changes.beat(ledger, note)
            return work(ledger)

        result = self._understood(lambda: self._database.write(transaction))
        if note is not None:
            self._heard[pair] = now
        return result

    def _understood(self, result: Callable[[], Result]) -> Result:
        try:
            return result()
        except BROKEN as error:
            raise ExperimentProblem(
                f"{self.place} holds something that is no run of an experiment: "
                f"{shortened(str(error).splitlines()[0], 200)}",
                hint="was it changed by another program? restore it from a copy",
            ) from error


def _plan_of(name: str) -> object:
    return select(experiments.c.plan).where(experiments.c.name == name)


def _check_name(what: str, name: str) -> None:
    if not name.strip() or len(name) > _LONGEST_NAME or not name.isprintable():
        raise BadInput(
            f"'{shortened(name)}' is no name of {what}",
            hint=f"use 1 to {_LONGEST_NAME} characters that can be printed",
        )
