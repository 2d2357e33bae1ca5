"""A workspace whose records are in a database; the files of things are in the state folder.

A thing is there when its record is. Who changes anything in a workspace holds its row until the
end of the transaction; files are put in their places last, just before. A server that is killed in
between leaves files without a record, which the next thing of that name replaces.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from sqlalchemy import Connection, delete, extract, func, select, update
from sqlalchemy.dialects.postgresql import insert

from compass import files
from compass.domain.api import WorkspaceInfo
from compass.domain.base import Noun
from compass.experiment import tables as experiment_tables
from compass.server import logs
from compass.server.database.connection import CLOCK, StateDatabase, seconds_ago
from compass.server.database.tables import things, workspaces
from compass.server.problems import Refused, damaged, not_found
from compass.server.sizes import size_of
from compass.server.store import ABOUT, Kind, Thing, Workspace, Written, new_id

# Kinds without files; the runs of experiments are in the same database.
_WITHOUT_FILES: tuple[Kind, ...] = ("chats", "jobs", "experiments")
_HOUR, _DAY = 3600.0, 86_400.0
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(eq=False, kw_only=True)
class DatabaseWorkspace(Workspace):
    """The same as a workspace of files, for several servers at once."""

    database: StateDatabase = field()

    @property
    def root(self) -> Path:
        """The state that it is in; each server has a folder of its own in `passing`."""
        return self.passing.parent.parent

    def has(self, kind: Kind, name: str) -> bool:
        """Whether there is such a thing."""
        self.place(kind, name)
        found = select(things.c.name).where(self._is(kind, name))
        return self.database.read(lambda one: one.execute(found).first() is not None)

    def there(self, kind: Kind, name: str) -> bool:
        """Whether there is something of that name, in whatever state."""
        return self.has(kind, name)

    def _about(self, kind: Kind, name: str) -> bytes:
        self.place(kind, name)
        found = select(things.c.about).where(self._is(kind, name))
        about = self.database.read(lambda one: one.execute(found).scalar())
        if about is None:
            raise not_found(kind.removesuffix("s"))
        return str(about).encode()

    def names(self, kind: Kind) -> list[str]:
        """The names of all things of a kind."""
        asked = select(things.c.name, things.c.created).where(self._of(kind))
        found = self.database.read(lambda one: one.execute(asked).all())
        self.moments[kind] = {row.name: row.created for row in found}
        return [row.name for row in found]

    @contextmanager
    def making(self, kind: Kind, name: str) -> Iterator[Path]:
        """A folder to fill; it becomes the thing when nothing went wrong, else nothing is left."""
        try:
            with super().making(kind, name) as draft:
                yield draft
        except BaseException:
            if kind == "experiments":
                with suppress(Refused):  # logged; nobody can find them
                    self.database.write(partial(self._drop_runs, name=name))
            raise

    def _drop_runs(self, connection: Connection, name: str) -> None:
        """Remove what was begun of an experiment that did not become a thing."""
        found = select(things.c.name).where(self._is("experiments", name))
        if connection.execute(found).first() is None:
            remove_experiments(connection, [name])

    def adopt(self, kind: Kind, name: str, draft: Path) -> None:
        """Make a filled folder the thing of that name; where another server did, that one stays."""
        added, about = size_of(draft), (draft / ABOUT).read_bytes()
        self.check_room(added)
        place = self.place(kind, name)
        files.sync_tree(draft)

        def work(connection: Connection) -> None:
            self._hold(connection)
            if not self._added(connection, kind, name, about, added):
                return
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.rmtree(place, ignore_errors=True)  # without a record: of a server that ended
            os.rename(draft, place)

        self.database.write(work)
        with suppress(FileNotFoundError):  # deleted meanwhile
            files.sync(place.parent)

    def put(self, kind: Kind, name: str, about: Noun) -> None:
        """Keep what is known about a thing; a new one or a change."""
        written = about.model_dump_json().encode()
        if kind not in _WITHOUT_FILES and not self.has(kind, name):
            with self.making(kind, name) as draft:
                (draft / ABOUT).write_bytes(written)
            return

        def work(connection: Connection) -> None:
            self._hold(connection)
            if not self._changed(connection, kind, name, written):
                self._added(connection, kind, name, written, len(written))

        self.database.write(work)

    def update(
        self, kind: Kind, name: str, noun: type[Thing], changed: Callable[[Thing], Thing]
    ) -> Thing:
        """Change what is known about a thing, as it is now; nobody else changes it in between."""

        def work(connection: Connection) -> Thing:
            self._hold(connection)
            found = select(things.c.about).where(self._is(kind, name))
            before = connection.execute(found).scalar()
            if before is None:
                raise not_found(kind.removesuffix("s"))
            about = changed(self._parsed(kind, name, before.encode(), noun))
            self._changed(connection, kind, name, about.model_dump_json().encode())
            return about

        return self.database.write(work)

    def change(self, kind: Kind, name: str, file: str, content: bytes, about: Noun) -> None:
        """Add a file to a thing, then say so in what is known about it; one that is gone stays so.

        Nobody deletes it in between, nor makes another one of the same name.
        """
        self.check_room(len(content))
        written = about.model_dump_json().encode()

        def work(connection: Connection) -> None:
            self._hold(connection)
            if not self._changed(connection, kind, name, written, {file: content}):
                raise not_found(kind.removesuffix("s"))

        self.database.write(work)

    def remove_file(self, kind: Kind, name: str, file: str) -> None:
        """Remove a file of a thing, if it is there."""
        (self.place(kind, name) / file).unlink(missing_ok=True)
        self.count_again(kind, name)

    def remove(self, kind: Kind, name: str) -> bool:
        """Remove a thing; whether there was one."""
        place = self.place(kind, name)
        self._make_passing()
        gone = self.passing / new_id()

        def work(connection: Connection) -> bool:
            self._hold(connection)
            found = delete(things).where(self._is(kind, name)).returning(things.c.bytes)
            size = connection.execute(found).scalar()
            if size is None:
                return False
            self._weigh(connection, -size)
            if kind == "experiments":
                remove_experiments(connection, [name])
            with suppress(FileNotFoundError):
                os.rename(place, gone)
            return True

        try:
            there = self.database.write(work)
        except BaseException:
            with suppress(OSError):  # its record stays, and so do its files
                os.rename(gone, place)
            raise
        shutil.rmtree(gone, ignore_errors=True)
        return there

    def set_aside(self, kind: Kind, name: str, why: str) -> None:
        """Move a thing that is not understood out of the way, with what was known about it."""
        if self.place(kind, name).is_dir():
            super().set_aside(kind, name, why)
        self.remove(kind, name)

    @property
    def bytes(self) -> int:
        """How much is kept."""
        return int(self._row().bytes)

    def count_again(self, kind: Kind, name: str) -> None:
        """Count what is kept of a thing into whose files something was written."""

        def work(connection: Connection) -> None:
            self._hold(connection)
            found = select(things.c.about).where(self._is(kind, name))
            about = connection.execute(found).scalar()
            if about is not None:
                self._count(connection, kind, name, about.encode())

        self.database.write(work)

    def mark(self, kind: Kind, name: str) -> str:
        """A text that changes with what is known about a thing; empty: there is no such thing."""
        return self.kept_briefs(kind, [name]).get(name, ("", b""))[0]

    def kept_briefs(self, kind: Kind, names: Sequence[str]) -> dict[str, tuple[str, Written]]:
        """The marks of things, and what was kept as their summaries; empty: nothing."""
        columns = (things.c.name, things.c.version, things.c.created, things.c.brief)
        asked = select(*columns).where(self._of(kind) & things.c.name.in_(names))
        found = self.database.read(lambda one: one.execute(asked).all())
        return {one.name: (f"{one.created}-{one.version}", one.brief or b"") for one in found}

    def keep_brief(self, kind: Kind, name: str, written: Written) -> None:
        """Keep the summary of a thing."""
        kept = update(things).where(self._is(kind, name)).values(brief=written)
        self.database.write(lambda connection: connection.execute(kept))

    def uses(self, kind: Kind) -> dict[str, int]:
        """When each thing of a kind was last used, in microseconds since 1970."""
        asked = select(things.c.name, things.c.used_at).where(self._of(kind))
        found = self.database.read(lambda one: one.execute(asked).all())
        return {row.name: (row.used_at - _EPOCH) // timedelta(microseconds=1) for row in found}

    def days_unused(self, kind: Kind | None = None, name: str = "") -> float:
        """The days since a thing, or the workspace itself, was last used; 0: it is gone."""
        if kind is None:
            asked = select(_seconds_since(workspaces.c.used_at)).where(workspaces.c.id == self.id)
        else:
            asked = select(_seconds_since(things.c.used_at)).where(self._is(kind, name))
        seconds = self.database.read(lambda one: one.execute(asked).scalar())
        return float(seconds or 0.0) / _DAY

    def note_use(self) -> None:
        """Note that somebody uses it, to the hour: what nobody uses may be removed some day."""
        stale = workspaces.c.used_at < seconds_ago(_HOUR)
        mine = workspaces.c.id == self.id
        asked = select(stale).where(mine)
        if self.database.read(lambda one: one.execute(asked).scalar()):
            used = update(workspaces).where(mine).values(used_at=CLOCK)
            self.database.write(lambda connection: connection.execute(used))

    @property
    def used(self) -> datetime:
        """When somebody last used it, to the hour."""
        found: datetime = self._row().used_at
        return found.astimezone(UTC)

    @property
    def info(self) -> WorkspaceInfo:
        """The workspace as a reply shows it."""
        row = self._row()
        try:
            about = WorkspaceInfo.model_validate_json(row.about)
        except ValidationError:
            logs.trouble("damaged", kind="workspace", id=self.id)
            raise damaged(
                "workspace", "tell the operator; what is in it can still be used"
            ) from None
        return about.model_copy(update={"bytes": int(row.bytes)})

    def _make_passing(self) -> None:
        """Make the folder of what is on its way: others remove that of a server that seems dead."""
        self.passing.mkdir(parents=True, exist_ok=True, mode=0o700)

    # Inside transactions

    def _is(self, kind: Kind, name: str) -> Any:
        return self._of(kind) & (things.c.name == name)

    def _of(self, kind: Kind) -> Any:
        return (things.c.workspace == self.id) & (things.c.kind == kind)

    def _row(self) -> Any:
        asked = select(workspaces).where(workspaces.c.id == self.id)
        found = self.database.read(lambda one: one.execute(asked).first())
        if found is None:
            raise not_found("workspace")  # deleted meanwhile
        return found

    def _hold(self, connection: Connection) -> None:
        """Let nobody else change this workspace until the transaction ends."""
        mine = select(workspaces.c.id).where(workspaces.c.id == self.id)
        if connection.execute(mine.with_for_update(key_share=True)).first() is None:
            raise not_found("workspace")  # deleted meanwhile

    def _weigh(self, connection: Connection, added: int) -> None:
        """Count what was added; what does not fit any more is refused."""
        mine = update(workspaces).where(workspaces.c.id == self.id)
        total = connection.execute(
            mine.values(bytes=workspaces.c.bytes + added).returning(workspaces.c.bytes)
        ).scalar_one()
        if added > 0 and not self.shared and total > self.limits.workspace_bytes:
            raise self._full(total - added)

    def _added(
        self, connection: Connection, kind: Kind, name: str, about: Written, size: int
    ) -> bool:
        """Whether a new thing was added; there may be one of that name."""
        new = insert(things).values(
            workspace=self.id,
            kind=kind,
            name=name,
            about=about.decode(),
            created=created_of(about),
            bytes=size,
        )
        new = new.on_conflict_do_nothing().returning(things.c.name)
        if connection.execute(new).first() is None:
            return False
        self._weigh(connection, size)
        return True

    def _changed(
        self,
        connection: Connection,
        kind: Kind,
        name: str,
        about: Written,
        contents: dict[str, Written] | None = None,
    ) -> bool:
        """Whether there was such a thing to change; its files are replaced before the record."""
        change = update(things).where(self._is(kind, name))
        values = {"about": about.decode(), "version": things.c.version + 1, "used_at": CLOCK}
        if not connection.execute(change.values(values)).rowcount:
            return False
        if kind not in _WITHOUT_FILES:
            self._make_passing()
            for file, content in {**(contents or {}), ABOUT: about}.items():
                with files.replacing(self.place(kind, name) / file, folder=self.passing) as fresh:
                    fresh.write_bytes(content)
        self._count(connection, kind, name, about)
        return True

    def _count(self, connection: Connection, kind: Kind, name: str, about: Written) -> None:
        mine = self._is(kind, name)
        before = connection.execute(select(things.c.bytes).where(mine)).scalar_one()
        if kind == "experiments":
            size = len(about) + _bytes_of_experiment(connection, name)
        else:
            size = len(about) if kind in _WITHOUT_FILES else size_of(self.place(kind, name))
        if size != before:
            connection.execute(update(things).where(mine).values(bytes=size))
            # What is there already stays: it is what comes next that does not fit.
            own = update(workspaces).where(workspaces.c.id == self.id)
            connection.execute(own.values(bytes=workspaces.c.bytes + (size - before)))


def _seconds_since(moment: Any) -> Any:
    return extract("epoch", CLOCK - moment)


def created_of(about: Written) -> int:
    """When a thing was made, as it says itself, in microseconds since 1970."""
    found = json.loads(about)
    created = datetime.fromisoformat((found.get("job") or found)["created"])
    return (created - _EPOCH) // timedelta(microseconds=1)


def _bytes_of_experiment(connection: Connection, name: str) -> int:
    runs, known = experiment_tables.runs, experiment_tables.experiments
    size = func.sum(func.octet_length(runs.c.asked) + func.octet_length(runs.c.told))
    asked = select(size).select_from(runs).join(known, known.c.id == runs.c.experiment)
    return int(connection.execute(asked.where(known.c.name == name)).scalar() or 0)


def remove_experiments(connection: Connection, names: Sequence[str]) -> None:
    """Remove experiments with all their runs."""
    known = experiment_tables.experiments
    # Whoever writes into one holds its row: what is written meanwhile is removed, too.
    held = select(known.c.id).where(known.c.name.in_(names)).order_by(known.c.id).with_for_update()
    ids = list(connection.execute(held).scalars())
    for table in (experiment_tables.runs, experiment_tables.events, experiment_tables.workers):
        connection.execute(delete(table).where(table.c.experiment.in_(ids)))
    connection.execute(delete(known).where(known.c.id.in_(ids)))
