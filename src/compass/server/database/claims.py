"""Which server does which job: claimed in the database, so that each is done by one at a time.

A job is live until it is over. One whose server has given no sign of life for some time, or has let
it go, is free: another server claims it. Whoever changes a job says that it still has it; a server
that was thought dead finds that it has lost it, and leaves it alone.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, delete, func, or_, select, tuple_, update
from sqlalchemy.dialects.postgresql import insert

from compass.domain.api import Job
from compass.server.database.connection import CLOCK, StateDatabase, alive, seconds_ago
from compass.server.database.tables import LIVE, claims, things
from compass.server.database.workspace import created_of
from compass.server.jobs import Running, StoredJob
from compass.server.people import current
from compass.server.problems import workspace_busy

Key = tuple[str, str]  # workspace and job

_SHOWN_FOR = 60.0  # seconds that a job which is over and not kept is shown
_SOON = 10  # seconds after which work may be over
_LEARNING = ("fit", "learn", "tell", "synthesize")  # they wait in another line than the rest


@dataclass(frozen=True)
class Claim:
    """A job as it is in the database."""

    key: Key
    server: str | None
    stored: StoredJob
    kept: bool
    pending: int | None
    cancelled: bool
    over: bool
    status: int | None
    retry_after: int | None
    person: str | None


class Claims:
    """The jobs of a state that servers share, as one of them sees them."""

    def __init__(self, database: StateDatabase) -> None:
        self.database = database

    def add(
        self, running: Running, subject: str, *, of_workspace: int, of_user: int | None
    ) -> Claim | None:
        """Claim a new job; None: it is this server's. Else the one that is there about the same.

        Refused where a workspace or a user has as many as may wait or run.
        """
        someone = current()
        person = None if someone is None else someone.name
        values = {
            "workspace": running.workspace.id,
            "job": running.job.id,
            "kind": running.job.kind,
            "subject": subject,
            "server": self.database.server,
            "person": person,
            "stored": _stored(running).model_dump_json(),
            "kept": running.kept,
        }
        same = (claims.c.workspace == running.workspace.id) & (claims.c.subject == subject) & LIVE
        new = insert(claims).values(values)
        new = new.on_conflict_do_nothing(
            index_elements=[claims.c.workspace, claims.c.subject], index_where=LIVE
        )

        def work(connection: Connection) -> Claim | None:
            while True:
                there = connection.execute(select(claims).where(same)).first()
                if there is not None:
                    return _claim(there)
                line = claims.c.kind.in_(_LEARNING)
                line = line if running.job.kind in _LEARNING else ~line
                mine = line & (claims.c.workspace == running.workspace.id)
                _check(connection, mine, of_workspace)
                if of_user is not None:
                    own = claims.c.person == person
                    _check(connection, own, of_user, "pieces of your work")
                if connection.execute(new.returning(claims.c.job)).first() is not None:
                    return None

        return self.database.write(work)

    def save(self, running: Running) -> bool:
        """Keep a job as it is now; whether it is still this server's."""
        change = self._mine(running.key).values(stored=_stored(running).model_dump_json())
        return bool(self.database.write(lambda one: one.execute(change).rowcount))

    def end(self, running: Running) -> bool:
        """Keep how a job ended; whether it was still this server's."""
        problem = running.problem
        change = self._mine(running.key).values(
            stored=_stored(running).model_dump_json(),
            pending=running.pending,
            over=True,
            ended_at=CLOCK,
            status=None if problem is None else problem.status,
            retry_after=None if problem is None else problem.retry_after,
        )

        def work(connection: Connection) -> bool:
            row = connection.execute(change.returning(claims)).first()
            if row is not None and row.kept:
                connection.execute(_kept(row))
            return row is not None

        return self.database.write(work)

    def keep(self, key: Key) -> None:
        """Keep a job, also after it is over."""
        change = update(claims).where(_is(key)).values(kept=True).returning(claims)

        def work(connection: Connection) -> None:
            row = connection.execute(change).first()
            if row is not None and row.over:
                connection.execute(_kept(row))

        self.database.write(work)

    def release(self, running: Running) -> None:
        """Leave a job to another server."""
        change = self._mine(running.key).values(
            server=None, stored=_stored(running).model_dump_json()
        )
        self.database.write(lambda one: one.execute(change))

    def drop(self, keys: Collection[Key]) -> None:
        """Leave jobs that this server has by the database, and does not do."""
        mine = tuple_(claims.c.workspace, claims.c.job).in_(list(keys))
        change = update(claims).where(mine, claims.c.server == self.database.server, LIVE)
        self.database.write(lambda one: one.execute(change.values(server=None)))

    def cancel(self, key: Key) -> None:
        """Ask whoever does a job to end it."""
        change = update(claims).where(_is(key) & LIVE).values(cancelled=True)
        self.database.write(lambda one: one.execute(change))

    def get(self, key: Key) -> Claim | None:
        """A job that is live, or was a moment ago."""
        asked = select(claims).where(_is(key))
        row = self.database.read(lambda one: one.execute(asked).first())
        return None if row is None else _claim(row)

    def live(self, workspaces: Sequence[str]) -> list[Claim]:
        """The jobs of workspaces that are not over, at all servers."""
        asked = select(claims).where(claims.c.workspace.in_(workspaces) & LIVE)
        return [_claim(row) for row in self.database.read(lambda one: one.execute(asked).all())]

    def wanted(self, key: Key, seconds: float) -> bool:
        """Whether somebody at another server waited for a job that lately."""
        lately = claims.c.wanted_at > seconds_ago(seconds)
        asked = select(claims.c.job).where(_is(key) & lately)
        return self.database.read(lambda one: one.execute(asked).first()) is not None

    def look(
        self, changed: Sequence[Running], watched: Collection[Key], wanted: Collection[Key]
    ) -> dict[Key, Claim]:
        """Tell what is new of this server's jobs; all of these, and those that are watched."""
        key = tuple_(claims.c.workspace, claims.c.job)
        told = {one.key: one for one in changed}

        def work(connection: Connection) -> dict[Key, Claim]:
            # In one order at all servers: each changes jobs that another one does, too.
            for name in sorted({*told, *wanted}):
                if name in told:
                    connection.execute(self._told(told[name]))
                if name in wanted:
                    connection.execute(update(claims).where(_is(name)).values(wanted_at=CLOCK))
            own = (claims.c.server == self.database.server) & LIVE
            both = or_(own, key.in_(list(watched))) if watched else own
            found = map(_claim, connection.execute(select(claims).where(both)))
            return {one.key: one for one in found}

        writes = bool(changed or wanted)
        return self.database.write(work) if writes else self.database.read(work)

    def take(self, most: int) -> list[Claim]:
        """Claim jobs that nobody does, so many at most."""
        key = tuple_(claims.c.workspace, claims.c.job)
        free = or_(claims.c.server.is_(None), claims.c.server.not_in(alive()))
        some = select(claims.c.workspace, claims.c.job).where(free & LIVE).limit(most)
        some = some.with_for_update(skip_locked=True)  # another one takes what is left

        def work(connection: Connection) -> list[Claim]:
            keys = [tuple(row) for row in connection.execute(some)]
            if not keys:
                return []
            change = update(claims).where(key.in_(keys)).values(server=self.database.server)
            return [_claim(row) for row in connection.execute(change.returning(claims))]

        return self.database.write(work)

    def prune(self) -> None:
        """Forget jobs that have been over for some time; those that are kept stay."""
        old = delete(claims).where(claims.c.over, claims.c.ended_at < seconds_ago(_SHOWN_FOR))
        self.database.write(lambda one: one.execute(old))

    def _told(self, running: Running) -> Any:
        stored = _stored(running).model_dump_json()
        return self._mine(running.key).values(stored=stored, pending=running.pending)

    def _mine(self, key: Key) -> Any:
        return update(claims).where(_is(key), claims.c.server == self.database.server, LIVE)


def _is(key: Key) -> Any:
    return (claims.c.workspace == key[0]) & (claims.c.job == key[1])


def _check(
    connection: Connection, whose: Any, most: int, what: str = "pieces of work of this workspace"
) -> None:
    count = select(func.count()).select_from(claims).where(whose & LIVE)
    held = connection.execute(count).scalar_one()
    if held >= most:
        raise workspace_busy(_SOON, held, f"{what} are already waiting or running")


def _stored(running: Running) -> StoredJob:
    return StoredJob(job=running.job, given=running.given, attempts=running.attempts)


def _claim(row: "Row[Any]") -> Claim:
    return Claim(
        key=(row.workspace, row.job),
        server=row.server,
        stored=StoredJob.model_validate_json(row.stored),
        kept=row.kept,
        pending=row.pending,
        cancelled=row.cancelled,
        over=row.over,
        status=row.status,
        retry_after=row.retry_after,
        person=row.person,
    )


def _kept(row: "Row[Any]") -> Any:
    """A job that is over, as a thing of its workspace."""
    job: Job = StoredJob.model_validate_json(row.stored).job
    new = insert(things).values(
        workspace=row.workspace,
        kind="jobs",
        name=job.id,
        about=row.stored,
        created=created_of(row.stored.encode()),
        bytes=0,  # they are few and small
    )
    return new.on_conflict_do_nothing()
