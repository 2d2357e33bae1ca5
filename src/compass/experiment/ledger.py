"""One experiment inside a transaction: its numbers of runs, and the events that are added to it."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, bindparam, insert, select, update

from compass.domain.errors import unknown
from compass.domain.experiment import RunState
from compass.experiment.rows import stored_time, text_of
from compass.experiment.tables import events, experiments

_FIND = select(experiments.c.id, experiments.c.last_run, experiments.c.last_event).where(
    experiments.c.name == bindparam("wanted")
)
_HOLD = _FIND.with_for_update(key_share=True)
_NAMES = select(experiments.c.name).order_by(experiments.c.id)
_COUNT = (
    update(experiments)
    .where(experiments.c.id == bindparam("which"))
    .values(last_run=bindparam("run"), last_event=bindparam("event"))
)
_ADD = insert(events)

Happened = tuple[int | None, RunState | None, Mapping[str, Any]]  # run, state, facts


class Ledger:
    """An experiment that a transaction works on."""

    def __init__(self, connection: Connection, name: str, *, hold: bool = False) -> None:
        """`hold`: nobody else adds runs or events to it until the transaction ends."""
        self.connection = connection
        self.name = name
        self.now = datetime.now(UTC)
        # Whoever writes to a SQLite file has all of it.
        self._held = hold or connection.dialect.name == "sqlite"
        self.id, self._last_run, self._last_event = self._found(_HOLD if hold else _FIND)

    @property
    def last_run(self) -> int:
        """The largest number of a run: how many there are."""
        return self._last_run

    def new_numbers(self, count: int) -> range:
        """The next numbers of runs, for one who holds the experiment and adds events of them."""
        first, self._last_run = self._last_run + 1, self._last_run + count
        return range(first, self._last_run + 1)

    def add_events(self, happened: Sequence[Happened]) -> range:
        """Add events, and return their ids.

        Whoever adds events holds the experiment until the end of the transaction: this comes last.
        """
        if not happened:
            return range(0)
        if not self._held:
            _, self._last_run, self._last_event = self._found(_HOLD)
            self._held = True
        first, self._last_event = self._last_event + 1, self._last_event + len(happened)
        ids = range(first, self._last_event + 1)
        at = stored_time(self.now)
        counts = {"which": self.id, "run": self._last_run, "event": self._last_event}
        self.connection.execute(_COUNT, counts)
        self.connection.execute(
            _ADD,
            [
                {
                    "experiment": self.id,
                    "id": id_,
                    "at": at,
                    "number": number,
                    "state": None if state is None else state.value,
                    "facts": text_of(facts),
                }
                for id_, (number, state, facts) in zip(ids, happened, strict=True)
            ],
        )
        return ids

    def _found(self, statement: Any) -> tuple[int, int, int]:
        row = self.connection.execute(statement, {"wanted": self.name}).first()
        if row is None:
            raise unknown("experiment", self.name, self.connection.execute(_NAMES).scalars())
        return row.id, row.last_run, row.last_event
