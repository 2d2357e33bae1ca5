"""A state in a database, as servers see it that are not there: several stores on one PostgreSQL."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import update

from compass.domain.limits import ServerLimits
from compass.server.database.claims import Claims
from compass.server.database.connection import StateDatabase, seconds_ago
from compass.server.database.store import DatabaseStore
from compass.server.database.tables import DEAD_AFTER, servers
from compass.server.store import Workspace
from postgres_lab import PostgresLab

LIMITS = ServerLimits(workspace_bytes=20_000, workspaces=4, waiting_per_workspace=3)


@dataclass
class Two:
    """Two stores of one state, their databases, and the folder."""

    folder: Path
    databases: list[StateDatabase]
    stores: list[DatabaseStore]

    @property
    def claims(self) -> list[Claims]:
        return [Claims(one) for one in self.databases]

    def both(self) -> list[Workspace]:
        """A new workspace, as each of them opens it."""
        _, key = self.stores[0].create()
        return [one.open(key) for one in self.stores]

    def alive(self) -> list[StateDatabase]:
        """Both, after a sign of life."""
        for one in self.databases:
            one.beat()
        return self.databases

    def seems_dead(self, which: int) -> None:
        """As if one had given no sign of life for some time, which it will do in two seconds."""
        own = servers.c.id == self.databases[which].server
        old = update(servers).where(own).values(seen_at=seconds_ago(2 * DEAD_AFTER))
        self.databases[which].write(lambda one: one.execute(old))


@contextmanager
def opened(lab: PostgresLab, folder: Path, count: int = 2) -> Iterator[Two]:
    address = lab.database()
    databases = [StateDatabase(address) for _ in range(count)]
    found = Two(folder, databases, [DatabaseStore(folder, LIMITS, one) for one in databases])
    try:
        yield found
    finally:
        for store in found.stores:
            store.close()
