"""What a server keeps, on disk: it survives a kill at any moment.

state/
  shared/                    what the operator offers to everybody; a workspace like the others
  workspaces/<id>/           one for each person, group or program; `key` is a hash of the key
                             to it (`-`: none opens it, it is of whom about.json says)
    datasets/<id>/           about.json, and the uploaded file
    models/<id>/             about.json, and the model
    engines/<id>/            about.json, and the saved engine
    answers/<id>/            about.json, answer.json; while something is pending: unfinished-1.json
                             (as many parts are), question.json
    chats/<id>/  jobs/<id>/  about.json
    experiments/<id>/        about.json, and the store of its runs
    synthesizers/<id>/       about.json, and what was learnt
  passing/                   files on their way; emptied when a server starts
  briefs/                    summaries for lists; made again where they are missing
  quarantine/                what a server found and did not understand; never removed
  audit/                     who did what when: one file of JSON lines for each day

A thing is made in `passing` and moved to its place in one step, so it is there whole or not at
all; it is removed by moving it to `passing` first. One server at a time works on a state.
"""

import asyncio
import errno
import fcntl
import hashlib
import hmac
import json
import os
import re
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import ValidationError

from compass import files
from compass.domain.api import ID, WorkspaceInfo
from compass.domain.base import Noun
from compass.domain.errors import EnvironmentProblem
from compass.domain.limits import ServerLimits
from compass.server import logs
from compass.server.problems import Refused, damaged, not_found, too_large
from compass.server.quarantine import FOLDER, set_aside
from compass.server.sizes import readable_size, size_of

Kind = Literal[
    "datasets", "models", "engines", "answers", "chats", "jobs", "experiments", "synthesizers"
]
KINDS: tuple[Kind, ...] = (
    *("datasets", "models", "engines", "answers", "chats", "jobs", "experiments", "synthesizers"),
)
AUDIT = "audit"  # the folder of the audit log
DATABASE = "database"  # a file that names the database of a state which servers share
ABOUT = "about.json"  # what is known about a thing, in its folder
_KEY = "key"  # of a workspace: a hash of it
_NO_KEY = "-"  # in its place where there is none; no hash is like it
_DRAFT = r"((shared|[0-9a-f]{16})-)?[0-9a-f]{16}"  # names of what is on its way
_THERE = (errno.EEXIST, errno.ENOTEMPTY)  # of a folder that is to be moved where one is
_DAY, _HOUR = 86_400.0, 3_600.0

Thing = TypeVar("Thing", bound=Noun)
Written = bytes  # a workspace has a property of that name


def now() -> datetime:
    """The time now, in UTC."""
    return datetime.now(UTC)  # to the microsecond: of two things of one name the newer is meant


def new_id() -> str:
    """A new random id of 16 hexadecimal digits."""
    return secrets.token_hex(8)


def answer_id(engine: str, question: dict[str, Any]) -> str:
    """The id of an answer: the same question to the same engine has the same one."""
    text = json.dumps([engine, question], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _file_size(path: Path) -> int:
    """Bytes of a file; 0: there is none."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


@dataclass(eq=False)
class Workspace:
    """The datasets, models, engines, answers, chats and jobs of one workspace."""

    folder: Path
    passing: Path
    limits: ServerLimits
    shared: bool = False
    coming: int = field(default=0, init=False)  # bytes of uploads that are on their way
    # When things were made, as far as they were listed; and one listing at a time.
    moments: dict[Kind, dict[str, int]] = field(default_factory=dict, init=False)
    listing: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    _bytes: int | None = field(default=None, init=False)
    # Answers are kept by threads: two of one name must not be moved at once, nor bytes miscounted.
    _moving: threading.RLock = field(default_factory=threading.RLock, init=False)

    @property
    def id(self) -> str:
        """The name of the workspace; it does not open it."""
        return self.folder.name

    @property
    def root(self) -> Path:
        """The state that it is in."""
        return self.passing.parent

    @property
    def briefs(self) -> Path:
        """Where summaries of its things are; they can be made again."""
        return self.root / "briefs" / self.id

    def place(self, kind: Kind, name: str) -> Path:
        """The folder of a thing, whether it is there or not."""
        if not re.fullmatch(ID, name):
            raise not_found(kind.removesuffix("s"))
        return self.folder / kind / name

    def has(self, kind: Kind, name: str) -> bool:
        """Whether there is such a thing."""
        return (self.place(kind, name) / ABOUT).is_file()

    def there(self, kind: Kind, name: str) -> bool:
        """Whether there is something of that name, in whatever state."""
        return self.place(kind, name).is_dir()

    def get(self, kind: Kind, name: str, noun: type[Thing]) -> Thing:
        """What is known about a thing: its `about.json`."""
        return self._parsed(kind, name, self._about(kind, name), noun)

    def _about(self, kind: Kind, name: str) -> bytes:
        """What is written about a thing."""
        try:
            return (self.place(kind, name) / ABOUT).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            if not self.there(kind, name):
                raise not_found(kind.removesuffix("s")) from None
        except IsADirectoryError:
            pass
        raise _damaged(kind, name)

    @staticmethod
    def _parsed(kind: Kind, name: str, written: bytes, noun: type[Thing]) -> Thing:
        try:
            return noun.model_validate_json(written)
        except ValidationError:
            if _is_json(written):
                raise Refused(
                    409,
                    "other-version",
                    f"this {kind.removesuffix('s')} was kept by another version of Compass",
                    hint="delete it and make it again",
                ) from None
        raise _damaged(kind, name)

    def update(
        self, kind: Kind, name: str, noun: type[Thing], changed: Callable[[Thing], Thing]
    ) -> Thing:
        """Change what is known about a thing, as it is now; nobody else changes it in between."""
        about = changed(self.get(kind, name, noun))
        self.put(kind, name, about)
        return about

    def names(self, kind: Kind) -> list[str]:
        """The names of all things of a kind."""
        with suppress(FileNotFoundError):
            return [n for n in os.listdir(self.folder / kind) if re.fullmatch(ID, n)]
        return []

    @contextmanager
    def making(self, kind: Kind, name: str) -> Iterator[Path]:
        """A folder to fill; it becomes the thing when nothing went wrong, else it is removed."""
        draft = self.passing / f"{self.id}-{secrets.token_hex(8)}"
        draft.mkdir(parents=True)
        try:
            yield draft
            self.adopt(kind, name, draft)
        finally:
            shutil.rmtree(draft, ignore_errors=True)

    def adopt(self, kind: Kind, name: str, draft: Path) -> None:
        """Make a filled folder the thing of that name, instead of the one that was."""
        added = size_of(draft)
        self.check_room(added)
        if not self.folder.is_dir():
            raise not_found("workspace")  # deleted while this was made
        place = self.place(kind, name)
        place.parent.mkdir(parents=True, exist_ok=True)
        files.sync_tree(draft)
        with self._moving:
            self.remove(kind, name)
            before = self.bytes
            os.rename(draft, place)
            self._bytes = before + added
        files.sync(place.parent)

    def put(self, kind: Kind, name: str, about: Noun) -> None:
        """Keep what is known about a thing; a new one or a change."""
        written = about.model_dump_json().encode()
        place = self.place(kind, name)
        if not place.is_dir():
            with self.making(kind, name) as draft:
                (draft / ABOUT).write_bytes(written)
            return
        self._replace(place, {ABOUT: written})

    def change(self, kind: Kind, name: str, file: str, content: bytes, about: Noun) -> None:
        """Add a file to a thing, then say so in what is known about it; one that is gone stays so.

        Nobody deletes it in between, nor makes another one of the same name.
        """
        self.check_room(len(content))
        try:
            written = {file: content, ABOUT: about.model_dump_json().encode()}
            self._replace(self.place(kind, name), written)
        except FileNotFoundError:
            raise not_found(kind.removesuffix("s")) from None  # deleted meanwhile

    def _replace(self, place: Path, contents: dict[str, bytes]) -> None:
        """Put files of a thing in their places, each in one step, in this order."""
        fresh = {place / name: self.passing / secrets.token_hex(8) for name in contents}
        try:
            for draft, content in zip(fresh.values(), contents.values(), strict=True):
                draft.write_bytes(content)
                files.sync(draft)
            with self._moving:
                for path, draft in fresh.items():
                    before, added = self.bytes - _file_size(path), _file_size(draft)
                    os.replace(draft, path)
                    self._bytes = before + added
                    files.sync(place)
        finally:
            for draft in fresh.values():
                draft.unlink(missing_ok=True)  # of a disk that is full

    def remove_file(self, kind: Kind, name: str, file: str) -> None:
        """Remove a file of a thing, if it is there."""
        path = self.place(kind, name) / file
        with self._moving:
            before = self.bytes - _file_size(path)
            path.unlink(missing_ok=True)
            self._bytes = before

    def remove(self, kind: Kind, name: str) -> bool:
        """Remove a thing; whether there was one."""
        place = self.place(kind, name)
        gone = self.passing / f"{self.id}-{secrets.token_hex(8)}"
        with self._moving:
            before = self.bytes
            try:
                os.rename(place, gone)
            except FileNotFoundError:
                return False
            self._bytes = max(0, before - size_of(gone))
        self._forget(kind, name)
        shutil.rmtree(gone, ignore_errors=True)
        return True

    def set_aside(self, kind: Kind, name: str, why: str) -> None:
        """Move a thing that is not understood out of the way."""
        place = self.place(kind, name)
        with self._moving:
            freed, before = size_of(place), self.bytes
            set_aside(self.root, place, f"{self.id}-{kind}-{name}", why)
            self._bytes = max(0, before - freed)
        self._forget(kind, name)

    def _forget(self, kind: Kind, name: str) -> None:
        self.moments.get(kind, {}).pop(name, None)
        (self.briefs / kind / name).unlink(missing_ok=True)

    @property
    def bytes(self) -> int:
        """How much is kept."""
        with self._moving:
            if self._bytes is None:
                self._bytes = size_of(self.folder)
            return self._bytes

    def count_again(self, kind: Kind, name: str) -> None:
        """Note that a working process has written into a thing of this workspace."""
        del kind, name  # all of it is counted again
        with self._moving:
            self._bytes = None

    def mark(self, kind: Kind, name: str) -> str:
        """A text that changes with what is known about a thing; empty: there is no such thing."""
        try:
            found = os.stat(self.place(kind, name) / ABOUT)
        except OSError:
            return ""  # whoever reads it tells what is wrong
        return f"{found.st_ino}-{found.st_mtime_ns}-{found.st_size}"

    def kept_briefs(self, kind: Kind, names: Sequence[str]) -> dict[str, tuple[str, Written]]:
        """The marks of things, and what was kept as their summaries; empty: nothing."""
        found = {}
        for name in names:
            kept = b""
            with suppress(OSError):
                kept = (self.briefs / kind / name).read_bytes()
            found[name] = self.mark(kind, name), kept
        return found

    def keep_brief(self, kind: Kind, name: str, written: Written) -> None:
        """Keep the summary of a thing."""
        with suppress(OSError):  # a full disk: it is made again the next time
            folder = self.briefs / kind
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            (folder / name).write_bytes(written)

    def uses(self, kind: Kind) -> dict[str, int]:
        """When each thing of a kind was last used, in microseconds since 1970."""
        found = {}
        for name in self.names(kind):
            with suppress(OSError):  # removed meanwhile
                found[name] = os.stat(self.place(kind, name)).st_mtime_ns // 1000
        return found

    def days_unused(self, kind: Kind | None = None, name: str = "") -> float:
        """The days since a thing, or the workspace itself, was last used; 0: it is gone."""
        place = self.folder if kind is None else self.place(kind, name)
        try:
            used = max(os.stat(one).st_mtime for one in (place / ABOUT, *([place] if kind else [])))
        except FileNotFoundError:
            return 0.0
        return (time.time() - used) / _DAY

    def check_room(self, added: int) -> None:
        """Refuse what does not fit into the workspace any more."""
        kept = 0 if self.shared else self.bytes
        if not self.shared and kept + self.coming + added > self.limits.workspace_bytes:
            raise self._full(kept)

    def _full(self, kept: int) -> Refused:
        return too_large(
            f"the workspace may keep {readable_size(self.limits.workspace_bytes)}, and has "
            f"{readable_size(kept)}",
            "delete datasets, engines or answers that are no longer needed",
        )

    def note_use(self) -> None:
        """Note that somebody uses it, to the hour: what nobody uses may be removed some day."""
        with suppress(OSError):  # it must not keep anybody from working
            about = self.folder / ABOUT
            if time.time() - about.stat().st_mtime > _HOUR:
                os.utime(about)

    @property
    def used(self) -> datetime:
        """When somebody last used it, to the hour."""
        try:
            return datetime.fromtimestamp((self.folder / ABOUT).stat().st_mtime, UTC)
        except FileNotFoundError:
            raise not_found("workspace") from None  # deleted meanwhile

    @property
    def info(self) -> WorkspaceInfo:
        """The workspace as a reply shows it."""
        try:
            about = WorkspaceInfo.model_validate_json((self.folder / ABOUT).read_bytes())
        except (FileNotFoundError, ValidationError):
            if not self.folder.is_dir():
                raise not_found("workspace") from None  # deleted meanwhile
            logs.trouble("damaged", kind="workspace", id=self.id)
            raise damaged(
                "workspace", "tell the operator; what is in it can still be used"
            ) from None
        return about.model_copy(update={"bytes": self.bytes})


class Store:
    """All workspaces of a server."""

    _holds = fcntl.LOCK_EX  # the state, for itself alone

    def __init__(self, root: Path, limits: ServerLimits) -> None:
        root = root.absolute()  # working processes hide it from people where they see it whole
        self.root = root
        self.limits = limits
        self.passing = root / "passing"
        self._known: dict[str, Workspace] = {}
        _check_ours(root)
        try:
            for folder in (root / "workspaces", root / "shared", root / "briefs", self.passing):
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            root.chmod(0o700)
            self._lock = os.open(root / "lock", os.O_CREAT | os.O_RDWR, 0o600)
        except OSError as error:
            raise EnvironmentProblem(
                f"cannot keep anything in {root}: {error.strerror}",
                hint="choose another folder with --state",
            ) from None
        try:
            fcntl.flock(self._lock, self._holds | fcntl.LOCK_NB)
            self._check_alone()
        except BlockingIOError:
            os.close(self._lock)
            raise EnvironmentProblem(
                f"another server works on {root}",
                hint="stop it, or choose another folder with --state",
            ) from None
        except BaseException:
            os.close(self._lock)
            raise
        self.shared = self._operators()
        self.tidy()

    def _check_alone(self) -> None:
        """Refuse a state whose records are in a database: here they would all seem damaged."""
        if (self.root / DATABASE).exists():
            raise EnvironmentProblem(
                f"what {self.root} is about is kept in a database",
                hint="name it with --store postgresql://...",
            )

    def _operators(self) -> Workspace:
        """The workspace of what the operator offers to everybody."""
        return Workspace(self.root / "shared", self.passing, self.limits, shared=True)

    def offers(self, own: set[str]) -> set[str]:
        """What is offered to everybody by all servers of this state, of which this one has some."""
        return own

    def close(self) -> None:
        """Let another server work on this state."""
        os.close(self._lock)

    def tidy(self) -> None:
        """Remove what was on its way when a server ended, and workspaces that were never used."""
        for path in self.passing.iterdir():
            if not re.fullmatch(_DRAFT, path.name):
                set_aside(self.root, path, f"passing-{path.name[:100]}", "it is not of a server")
            else:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        self._sweep(_DAY)
        kept = {"shared", *os.listdir(self.root / "workspaces")}
        for name in os.listdir(self.root / "briefs"):
            if re.fullmatch(ID, name) and name not in kept:
                shutil.rmtree(self.root / "briefs" / name)

    def _sweep(self, age: float) -> None:
        """Remove workspaces older than this and never used; set aside those that are not whole."""
        for name in os.listdir(self.root / "workspaces"):
            folder = self.root / "workspaces" / name
            if not re.fullmatch(ID, name) or not folder.is_dir():
                continue  # not of ours
            lacks = [one for one in (ABOUT, _KEY) if not (folder / one).is_file()]
            if lacks:
                self._known.pop(name, None)
                why = f"the workspace has no file {' and no file '.join(lacks)}"
                set_aside(self.root, folder, f"workspace-{name}", why)
                continue
            if self.unused(name) and time.time() - folder.stat().st_mtime > age:
                self._known.pop(name, None)
                shutil.rmtree(folder, ignore_errors=True)

    def unused(self, name: str) -> bool:
        """Whether there is a workspace of this name that has nothing in it yet."""
        try:
            return set(os.listdir(self.root / "workspaces" / name)) == {ABOUT, _KEY}
        except FileNotFoundError:
            return False

    def of(self, owner: str, own: ServerLimits | None = None) -> Workspace:
        """The workspace of a user or a group, made when it is first used; with limits of its own.

        It is named by a hash of its owner: found without an index, and the same on each server.
        """
        name = _name_of(owner)
        if not self._has(name):
            self._check_full()
            try:
                self._make(WorkspaceInfo(id=name, created=now(), owner=owner), _NO_KEY)
            except OSError as error:
                if error.errno not in _THERE:  # two requests at once: the first one stays
                    raise
        opened = self._opened(name)
        if opened.info.owner != owner:
            raise damaged("workspace", "tell the operator: it says that it is somebody else's")
        opened.limits = own or self.limits
        return opened

    def has(self, owner: str) -> bool:
        """Whether this user or group has a workspace already."""
        return self._has(_name_of(owner))

    def create(self) -> tuple[Workspace, str]:
        """A new workspace and the key to it."""
        name, secret = new_id(), secrets.token_urlsafe(32)
        self._check_full()
        self._make(WorkspaceInfo(id=name, created=now()), _hashed(secret))
        return self.open(f"{name}.{secret}"), f"{name}.{secret}"

    def _check_full(self) -> None:
        if self._full():
            self._sweep(_HOUR)  # or a program that makes them in a loop would keep everybody out
        if self._full():
            raise Refused(
                429,
                "too-many-workspaces",
                f"the server keeps at most {self.limits.workspaces} workspaces",
                hint="use one that you have, or ask the operator",
                retry_after=3600,
            )

    def _make(self, about: WorkspaceInfo, key: str) -> None:
        """Put an empty workspace in its place."""
        draft = self.passing / secrets.token_hex(8)
        draft.mkdir(mode=0o700)
        try:
            (draft / ABOUT).write_text(about.model_dump_json())
            (draft / _KEY).write_text(key)
            for path in (draft / ABOUT, draft / _KEY):
                files.sync(path)
            os.rename(draft, self.root / "workspaces" / about.id)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        files.sync(self.root / "workspaces")

    def _full(self) -> bool:
        return len(self._names()) >= self.limits.workspaces

    def _names(self) -> list[str]:
        """The names of all workspaces."""
        return os.listdir(self.root / "workspaces")

    def _has(self, name: str) -> bool:
        """Whether there is a workspace of this name."""
        return (self.root / "workspaces" / name / ABOUT).is_file()

    def _key_of(self, name: str) -> str:
        """The hash of the key to a workspace; empty: there is no such workspace."""
        try:
            return (self.root / "workspaces" / name / _KEY).read_text()
        except (FileNotFoundError, UnicodeDecodeError):
            return ""

    def open(self, key: str) -> Workspace:
        """The workspace that a key opens."""
        name, _, secret = key.partition(".")
        known = self._key_of(name) if re.fullmatch(ID, name) else ""
        # Also where there is no such workspace, so that the time tells nothing.
        if not hmac.compare_digest(known.encode(), _hashed(secret).encode()):
            raise Refused(
                401,
                "no-workspace",
                "the key opens no workspace",
                hint="make one with POST /api/v1/workspaces and send its key as Compass-Workspace",
            )
        return self._opened(name)

    def everybody(self) -> list[Workspace]:
        """All workspaces, for the work that goes on after a restart."""
        return [self.shared, *(self._opened(one) for one in self._names() if self._has(one))]

    def named(self, name: str) -> Workspace:
        """The workspace of this id, for the operator."""
        if not re.fullmatch(ID, name) or not self._has(name):
            raise not_found("workspace")
        return self._opened(name)

    def _opened(self, name: str) -> Workspace:
        # One object for each workspace, also where two threads open it at once.
        return self._known.setdefault(name, self._workspace(name))

    def _workspace(self, name: str) -> Workspace:
        return Workspace(self.root / "workspaces" / name, self.passing, self.limits)

    def forget(self, workspace: Workspace) -> None:
        """Remove a workspace with everything in it."""
        gone = self.passing / secrets.token_hex(8)
        with suppress(FileNotFoundError):  # it was deleted twice at once
            os.rename(workspace.folder, gone)
        self._known.pop(workspace.id, None)
        shutil.rmtree(workspace.briefs, ignore_errors=True)
        shutil.rmtree(gone, ignore_errors=True)


def _check_ours(root: Path) -> None:
    """Refuse a folder with other things in it: what looks left over is removed at each start."""
    try:
        found = {name for name in os.listdir(root) if not name.startswith(".")}
    except OSError:
        return  # there is none yet; or it cannot be used, which is told when that is tried
    ours = {"workspaces", "shared", "passing", "briefs", FOLDER, AUDIT, DATABASE, "lost+found"}
    if "lock" not in found and found - ours:
        raise EnvironmentProblem(
            f"{root} has other things in it, and is not the state of a server",
            hint="name an empty or a new folder with --state",
        )


def _is_json(written: bytes) -> bool:
    try:
        json.loads(written)
    except (ValueError, RecursionError):
        return False
    return True


def _name_of(owner: str) -> str:
    """The name of the workspace of a user or a group."""
    return hashlib.sha256(owner.encode()).hexdigest()[:16]


def _damaged(kind: Kind, name: str) -> Refused:
    logs.trouble("damaged", kind=kind.removesuffix("s"), id=name)
    return damaged(kind.removesuffix("s"))


def _hashed(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
