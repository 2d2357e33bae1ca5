"""A database that several processes write to: one transaction after the other, with patience."""

import os
import random
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event, inspect, make_url, select
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.pool import QueuePool

from compass.domain.errors import BadInput, EnvironmentProblem, ExperimentProblem
from compass.experiment import tables
from compass.experiment.database_problems import damaged, passes, problem_of

PATIENCE = 60.0  # seconds; a write takes milliseconds, so that many processes get their turn
_PAUSE = 0.005  # seconds before the second attempt; twice as long before each further one
_LONGEST_PAUSE = 0.5
# Seconds that PostgreSQL keeps a transaction in which nothing happens: what a program holds that
# was stopped, or whose machine is gone, would keep all others waiting.
_IDLE = 30
# How soon a machine is found gone that does not answer any more.
_FOUND_GONE = {
    "connect_timeout": 10,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,  # milliseconds
}
_OPTUNA = {"studies", "trials"}

Result = TypeVar("Result")
Work = Callable[[Connection], Result]


class Database:
    """The tables of a store in a SQLite file or a PostgreSQL database."""

    def __init__(self, place: str | Path, patience: float = PATIENCE) -> None:
        self.patience = patience
        text = str(place)
        self._url = _server_url(text) if "://" in text else None
        self._file = None if self._url is not None else Path(text)
        self.place = text if self._url is None else _shown(self._url)  # without its password
        self._engine: Engine | None = None
        self._process = os.getpid()
        self._lock = Lock()
        self._has_tables = False
        self._opened: tuple[int, int] | None = None  # device and inode of the file

    def read(self, work: Work[Result]) -> Result:
        """The result of a transaction that changes nothing."""
        self._check()
        return self._attempts(work, writes=False)

    def write(self, work: Work[Result]) -> Result:
        """The result of a transaction: all of it is stored, or nothing."""
        self._check()
        return self._attempts(work, writes=True)

    def make_tables(self) -> None:
        """Make the tables where there are none."""
        if self._has_tables:
            return
        if self._file is None:
            self._attempts(self._make_tables, writes=True)
            return
        _make_folder(self._file.parent)
        engine = _sqlite_engine(self._file, self.patience, "rwc")
        try:
            self._attempts(self._make_tables, writes=True, engine=engine)
        finally:
            engine.dispose()

    def exists(self) -> bool:
        """Whether there are tables of a store; a foreign or newer database is an error."""
        if self._has_tables:
            self._check_same_file()
            return True
        if self._file is not None and not self._file.exists():
            return False
        self._has_tables = self._attempts(self._known_version, writes=False) is not None
        self._opened = _identity(self._file)
        return self._has_tables

    def close(self) -> None:
        """Close all connections; they are opened again where they are needed."""
        with self._lock:
            if self._engine is not None and self._process == os.getpid():
                self._engine.dispose()
            self._engine = None

    def _check(self) -> None:
        if not self.exists():
            raise ExperimentProblem(
                f"there is no experiment in {self.place}",
                hint="check the path, or start an experiment, which makes it",
            )

    def _check_same_file(self) -> None:
        """What is written into a file that was removed would be lost without a word."""
        if self._opened is not None and self._opened != _identity(self._file):
            raise ExperimentProblem(
                f"{self.place} was removed or replaced while it was in use",
                hint="put it back, or start again with the file that is there now",
            )

    def _attempts(
        self, work: Work[Result], *, writes: bool, engine: Engine | None = None
    ) -> Result:
        """One transaction, tried again while somebody else is writing, until patience ends."""
        limit, pause = time.monotonic() + self.patience, _PAUSE
        engine = engine or self._connected()
        while True:
            try:
                with engine.connect() as connection:
                    connection.execution_options(compass_writes=writes)
                    with connection.begin():
                        return work(connection)
            except DBAPIError as error:
                if not passes(error) or time.monotonic() + pause > limit:
                    raise problem_of(error, self.place, self.patience) from None
            except UnicodeDecodeError:  # of the message with which SQLite complains
                raise damaged(self.place) from None
            # Of unequal length, so that those who met do not meet again.
            time.sleep(pause * random.uniform(0.5, 1.0))  # noqa: S311
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _connected(self) -> Engine:
        with self._lock:
            if self._engine is not None and self._process != os.getpid():
                # Connections do not survive a fork; those of the parent stay open there.
                self._engine.dispose(close=False)
                self._engine = None
            if self._engine is None:
                self._process = os.getpid()
                self._engine = self._new_engine()
            return self._engine

    def _new_engine(self) -> Engine:
        if self._file is not None:
            return _sqlite_engine(self._file, self.patience, "rw")
        return _server_engine(self._url, self.patience)

    def _make_tables(self, connection: Connection) -> None:
        if self._url is not None:
            # Two that make the same tables at once: the second one waits and finds them.
            connection.exec_driver_sql("SELECT pg_advisory_xact_lock(2385071)")
        if self._known_version(connection) is None:
            tables.metadata.create_all(connection)
            connection.execute(tables.store.insert(), {"version": tables.VERSION})

    def _known_version(self, connection: Connection) -> int | None:
        """The version of the tables; None: there are none, and none of another program."""
        names = set(inspect(connection).get_table_names())
        if tables.store.name not in names:
            if names and self._file is not None:
                raise _foreign(self.place, names)
            return None
        version = connection.execute(select(tables.store.c.version)).scalar()
        if not isinstance(version, int):
            raise ExperimentProblem(
                f"{self.place} does not say which version its tables have",
                hint="it is damaged: restore it from a copy",
            )
        if version > tables.VERSION:
            raise ExperimentProblem(
                f"{self.place} was made by a later version of Compass "
                f"(its tables are of version {version}, this one knows {tables.VERSION})",
                hint="use that version or a later one: pip install --upgrade compass-hpc",
            )
        return version


def _foreign(place: str, names: set[str]) -> ExperimentProblem:
    if names >= _OPTUNA:
        return ExperimentProblem(
            f"{place} holds studies of Optuna, not experiments",
            hint="name another file; results of the studies can be attached as history, as a table",
        )
    shown = ", ".join(sorted(names)[:3]) + (", ..." if len(names) > 3 else "")
    return ExperimentProblem(
        f"{place} belongs to another program (its tables are {shown})", hint="name another file"
    )


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EnvironmentProblem(
            f"cannot make the folder {folder}: {error.strerror}", hint="check its permissions"
        ) from None


def _identity(file: Path | None) -> tuple[int, int] | None:
    try:
        facts = None if file is None else file.stat()
    except OSError:
        return (0, 0)  # of no file
    return None if facts is None else (facts.st_dev, facts.st_ino)


def _sqlite_engine(file: Path, patience: float, mode: str) -> Engine:
    address = f"file:{quote(str(file.absolute()))}?mode={mode}"
    # SQLite waits by itself for a second at most: Ctrl-C is heard between two attempts.
    wait = min(1.0, patience)

    def connect() -> sqlite3.Connection:
        made = sqlite3.connect(
            address, uri=True, timeout=wait, isolation_level=None, check_same_thread=False
        )
        try:
            # Not WAL: it needs memory shared by all who write, which network file systems lack.
            made.execute("PRAGMA journal_mode=DELETE").close()
            made.execute("PRAGMA synchronous=FULL").close()
        except BaseException:
            made.close()
            raise
        return made

    engine = create_engine("sqlite://", creator=connect, poolclass=QueuePool)
    event.listen(engine, "begin", _begin)
    return engine


def _begin(connection: Connection) -> None:
    # One that writes takes the lock at once: there is no deadlock of two that read first.
    writes = connection.get_execution_options().get("compass_writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _server_engine(url: Any, patience: float) -> Engine:
    try:
        engine = create_engine(url, pool_pre_ping=True, connect_args=_FOUND_GONE)
    except ImportError:
        raise EnvironmentProblem(
            "a store in PostgreSQL needs the package psycopg, which is not installed",
            hint="pip install 'psycopg[binary]'",
        ) from None

    def connected(connection: Any, _record: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute(f"SET lock_timeout = {max(1, int(1000 * min(1.0, patience)))}")
            cursor.execute(f"SET idle_in_transaction_session_timeout = '{_IDLE} s'")
        connection.commit()

    event.listen(engine, "connect", connected)
    return engine


def _server_url(text: str) -> Any:
    """The address of a PostgreSQL database, for psycopg."""
    scheme, _, rest = text.partition("://")
    if scheme not in ("postgresql", "postgres"):
        raise BadInput(
            f"a store is a file or a database of PostgreSQL, not {scheme}://...",
            hint="write a path such as tune.experiment, or postgresql://user@host/database",
        )
    shape = "postgresql://user:password@host:5432/database"
    if rest.count("@") > 1:
        raise BadInput(
            "the address of the store has more than one @",
            hint=f"write {shape}, with %40 for an @ in the password",
        )
    try:
        return make_url("postgresql+psycopg://" + rest)
    except (ArgumentError, ValueError):
        # What was given is not repeated: it may hold a password.
        raise BadInput(
            "this is no address of a PostgreSQL database", hint=f"write {shape}"
        ) from None


def _shown(url: Any) -> str:
    """An address without user, password and options."""
    host = url.host or url.query.get("host") or "localhost"
    port = f":{url.port}" if url.port else ""
    return f"postgresql://{host}{port}/{url.database or ''}"
