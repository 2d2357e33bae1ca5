"""The database of a state: its transactions, and the servers that are alive."""

import json
import os
import re
import secrets
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar
from urllib.parse import quote

from sqlalchemy import Connection, delete, func, inspect, literal_column, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import TimeoutError as NoConnection

from compass.domain.errors import BadInput, CompassError, EnvironmentProblem, ExperimentProblem
from compass.experiment.database import Database
from compass.experiment.place import is_database
from compass.experiment.tables import experiments
from compass.server import logs
from compass.server.database.tables import DEAD_AFTER, VERSION, locks, metadata, servers, state
from compass.server.problems import Refused, unreachable
from compass.server.store import new_id

Result = TypeVar("Result")

_PATIENCE = 10.0  # seconds that a transaction waits for others
_BEAT = 2.0  # seconds between two signs of life
CLOCK = func.clock_timestamp()  # also true after a transaction has waited for others
_MAKING = 2385072  # the number of a lock of the database: one server at a time makes tables


def seconds_ago(seconds: float) -> Any:
    """A moment so long ago, by the clock of the database."""
    return CLOCK - literal_column(f"interval '{float(seconds)} seconds'")


def alive() -> Any:
    """The servers that gave a sign of life lately."""
    return select(servers.c.id).where(servers.c.seen_at > seconds_ago(DEAD_AFTER))


class StateDatabase:
    """What servers that share a state know, as one of them sees it."""

    def __init__(self, address: str) -> None:
        if not is_database(address):
            raise BadInput(
                "--store names a database of PostgreSQL",
                hint="such as postgresql://user@host/database; without it, all is kept in files",
            )
        self.address = _with_password(address)
        self.server = new_id()
        self._database = Database(self.address, _PATIENCE)
        self._beaten = 0.0  # when a sign of life was last given
        self._steady = 0.0  # from when on it was given without a gap
        self._ends = threading.Event()
        self._unlocked: set[str] = set()  # locks that are to be given up
        self._unlocking = threading.Lock()
        try:
            self._database.make_tables()  # of experiments
            self.name = self._database.write(self._made)
        except ExperimentProblem as error:
            raise EnvironmentProblem(error.message, hint=error.hint) from None
        self.beat()
        self._beating = threading.Thread(target=self._beat_on, name="alive", daemon=True)
        self._beating.start()

    @staticmethod
    def _made(connection: Connection) -> str:
        """The name of the state, whose tables are made where there are none."""
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_MAKING})")
        if not inspect(connection).has_table(state.name):
            metadata.create_all(connection)
            made = {"version": VERSION, "name": secrets.token_hex(16)}
            connection.execute(state.insert(), made)
        version, name = connection.execute(select(state.c.version, state.c.name)).one()
        if version > VERSION:
            raise EnvironmentProblem(
                "the database was made by a later version of Compass",
                hint="use that version or a later one: pip install --upgrade compass-hpc",
            )
        return str(name)

    def read(self, work: Callable[[Connection], Result]) -> Result:
        """The result of a transaction that changes nothing."""
        return self._done(self._database.read, work)

    def write(self, work: Callable[[Connection], Result]) -> Result:
        """The result of a transaction: all of it is kept, or nothing."""
        return self._done(self._database.write, work)

    @staticmethod
    def _done(
        way: Callable[[Callable[[Connection], Result]], Result],
        work: Callable[[Connection], Result],
    ) -> Result:
        try:
            return way(work)
        except (EnvironmentProblem, ExperimentProblem, NoConnection) as error:
            told = error.message if isinstance(error, CompassError) else "too many at once"
            logs.trouble("database", problem=told)
            raise unreachable() from None

    # Signs of life

    @property
    def reached(self) -> bool:
        """Whether others know that this server is alive."""
        return time.monotonic() - self._beaten < DEAD_AFTER

    @property
    def knows_others(self) -> bool:
        """Whether others have had the time to give a sign of life, too.

        After a pause of the database all seem dead, and those who come back first are not to
        take the jobs of those who come back a moment later.
        """
        return self.reached and time.monotonic() >= self._steady

    def _beat_on(self) -> None:
        while not self._ends.wait(_BEAT):
            try:
                self.beat()
                self._unlock()
            except Refused:
                continue  # logged; the others take over what this server had
            except Exception as error:
                logs.note_fault(error)  # a thread that ends would be a server that seems dead

    def beat(self) -> None:
        """Give a sign of life."""

        def work(connection: Connection) -> None:
            seen = insert(servers).values(id=self.server, seen_at=CLOCK)
            connection.execute(
                seen.on_conflict_do_update(index_elements=["id"], set_={"seen_at": CLOCK})
            )

        self.write(work)
        now = time.monotonic()
        if self._beaten and now - self._beaten >= DEAD_AFTER:
            self._steady = now + DEAD_AFTER
        self._beaten = now

    def dead(self) -> list[str]:
        """The servers that ended without saying so."""
        gone = select(servers.c.id).where(servers.c.id.not_in(alive()))
        return self.read(lambda connection: list(connection.execute(gone).scalars()))

    def bury(self, server: str) -> None:
        """Forget a server that is dead; it is none any more if it has come back."""
        gone = delete(servers).where(servers.c.id == server, servers.c.id.not_in(alive()))
        self.write(lambda connection: connection.execute(gone))

    def offers(self, own: set[str]) -> set[str]:
        """What the living servers offer to everybody, now that this one offers these."""

        def work(connection: Connection) -> set[str]:
            mine = update(servers).where(servers.c.id == self.server)
            connection.execute(mine.values(offers=json.dumps(sorted(own))))
            living = select(servers.c.offers).where(servers.c.id.in_(alive()))
            return own.union(*map(json.loads, connection.execute(living).scalars()))

        return self.write(work)

    # One server at a time

    def lock(self, name: str) -> bool:
        """Whether this server may go on alone, as no other one that is alive does."""

        def work(connection: Connection) -> bool:
            taken = insert(locks).values(name=name, server=self.server)
            taken = taken.on_conflict_do_update(
                index_elements=["name"],
                set_={"server": self.server},
                where=locks.c.server.not_in(alive()),
            )
            return connection.execute(taken.returning(locks.c.name)).first() is not None

        return self.write(work)

    def unlock(self, name: str) -> None:
        """Let others go on; where the database does not answer, as soon as it does."""
        self._unlocked.add(name)
        with suppress(Refused):  # logged; a server that lives would hold it for ever
            self._unlock()

    def _unlock(self) -> None:
        with self._unlocking:
            names = list(self._unlocked)
            if not names:
                return
            self._unlocked.difference_update(names)
            mine = delete(locks).where(locks.c.name.in_(names), locks.c.server == self.server)
            try:
                self.write(lambda connection: connection.execute(mine))
            except Refused:
                self._unlocked.update(names)
                raise

    def last_event(self, experiment: str) -> int | None:
        """The number of what happened last in an experiment; None: there is no such experiment."""
        asked = select(experiments.c.last_event).where(experiments.c.name == experiment)
        found: int | None = self.read(lambda connection: connection.execute(asked).scalar())
        return found

    def close(self) -> None:
        """Leave; this server is known to have ended."""
        self._ends.set()
        self._beating.join()

        def work(connection: Connection) -> None:
            connection.execute(delete(locks).where(locks.c.server == self.server))
            connection.execute(delete(servers).where(servers.c.id == self.server))

        with suppress(Refused):  # logged; it is found dead
            self.write(work)
        self._database.close()


def _with_password(address: str) -> str:
    """The address with the password of PGPASSWORD, which working processes are not given."""
    password = os.environ.get("PGPASSWORD")
    found = re.fullmatch(r"([^:/]+://[^:@/]+)(@.*)", address)
    return f"{found[1]}:{quote(password, safe='')}{found[2]}" if found and password else address
