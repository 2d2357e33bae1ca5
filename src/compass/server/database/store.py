"""All workspaces of a state that servers share."""

import fcntl
import shutil
from pathlib import Path

from sqlalchemy import Connection, delete, exists, func, select
from sqlalchemy.dialects.postgresql import insert

from compass import files
from compass.domain.api import WorkspaceInfo
from compass.domain.errors import BadInput
from compass.domain.limits import ServerLimits
from compass.server.database.connection import StateDatabase, seconds_ago
from compass.server.database.tables import claims, things, workspaces
from compass.server.database.workspace import DatabaseWorkspace, remove_experiments
from compass.server.store import DATABASE, Store, Workspace

_SHARED = "shared"  # the workspace of what the operator offers to everybody
_NO_KEY = "-"  # no hash of a key is like it


class DatabaseStore(Store):
    """All workspaces, for several servers at once."""

    _holds = fcntl.LOCK_SH  # so that no server that would be alone works on this state

    def __init__(self, root: Path, limits: ServerLimits, database: StateDatabase) -> None:
        self.database = database
        super().__init__(root, limits)

    def _check_alone(self) -> None:
        """Make sure that the database and the folder belong together."""
        marker = self.root / DATABASE
        if not marker.exists():
            used = any(self.root.glob("workspaces/*")) or any(self.root.glob("shared/*"))
            known = self.database.read(lambda one: one.execute(select(workspaces.c.id)).first())
            if not marker.exists():  # another server that starts at the same time may have begun
                if used or known is not None:
                    raise _apart(self.root)
                files.write_text(marker, self.database.name)
        if marker.read_text() != self.database.name:
            raise _apart(self.root)
        # What is on its way is this server's: no other one takes it for left over.
        self.passing = self.root / "passing" / self.database.server
        self.passing.mkdir(mode=0o700)

    def offers(self, own: set[str]) -> set[str]:
        """What is offered to everybody by all servers of this state, of which this one has some."""
        return self.database.offers(own)

    def _operators(self) -> Workspace:
        new = insert(workspaces).values(id=_SHARED, key=_NO_KEY, about="{}")
        self.database.write(lambda one: one.execute(new.on_conflict_do_nothing()))
        return self._object(self.root / "shared", shared=True)

    def _object(self, folder: Path, *, shared: bool = False) -> DatabaseWorkspace:
        return DatabaseWorkspace(
            folder, self.passing, self.limits, shared=shared, database=self.database
        )

    def _workspace(self, name: str) -> Workspace:
        return self._object(self.root / "workspaces" / name)

    def close(self) -> None:
        """Leave this state to the other servers."""
        shutil.rmtree(self.passing, ignore_errors=True)
        self.database.close()
        super().close()

    def tidy(self) -> None:
        """Remove what was on its way in servers that are dead, and workspaces never used."""
        for server in self.database.dead():
            shutil.rmtree(self.root / "passing" / server, ignore_errors=True)
            self.database.bury(server)
        self._sweep(86_400.0)

    def _sweep(self, age: float) -> None:
        old = delete(workspaces).where(
            workspaces.c.made_at < seconds_ago(age),
            workspaces.c.id != _SHARED,
            ~exists().where(things.c.workspace == workspaces.c.id),
            ~exists().where(claims.c.workspace == workspaces.c.id),
        )
        gone = old.returning(workspaces.c.id)
        for name in self.database.write(lambda one: list(one.execute(gone).scalars())):
            self._known.pop(name, None)

    def unused(self, name: str) -> bool:
        """Whether there is a workspace of this name that has nothing in it yet."""
        asked = select(workspaces.c.id).where(
            workspaces.c.id == name, ~exists().where(things.c.workspace == workspaces.c.id)
        )
        return self.database.read(lambda one: one.execute(asked).first() is not None)

    def _make(self, about: WorkspaceInfo, key: str) -> None:
        new = insert(workspaces).values(id=about.id, key=key, about=about.model_dump_json())
        self.database.write(lambda one: one.execute(new.on_conflict_do_nothing()))

    def _full(self) -> bool:
        count = select(func.count()).select_from(workspaces)
        # One more is there: that of what the operator offers.
        there: int = self.database.read(lambda one: one.execute(count).scalar_one())
        return there > self.limits.workspaces

    def _names(self) -> list[str]:
        asked = select(workspaces.c.id).where(workspaces.c.id != _SHARED)
        return self.database.read(lambda one: list(one.execute(asked).scalars()))

    def everybody(self) -> list[Workspace]:
        """All workspaces."""
        return [self.shared, *map(self._opened, self._names())]

    def _has(self, name: str) -> bool:
        return bool(self._key_of(name))

    def _key_of(self, name: str) -> str:
        asked = select(workspaces.c.key).where(workspaces.c.id == name)
        return self.database.read(lambda one: one.execute(asked).scalar()) or ""

    def forget(self, workspace: Workspace) -> None:
        """Remove a workspace with everything in it."""

        def work(connection: Connection) -> None:
            mine = (things.c.workspace == workspace.id) & (things.c.kind == "experiments")
            own = list(connection.execute(select(things.c.name).where(mine)).scalars())
            remove_experiments(connection, own)
            connection.execute(delete(workspaces).where(workspaces.c.id == workspace.id))

        self.database.write(work)
        self._known.pop(workspace.id, None)
        shutil.rmtree(workspace.folder, ignore_errors=True)


def _apart(root: Path) -> BadInput:
    return BadInput(
        f"the database is not that of {root}",
        hint="a state and its database are begun together: name a new folder with --state and an "
        "empty database with --store, or the two that belong together",
    )
