"""Backup and restore of a server's state: one archive whose content is checked, digest by digest.

A backup may be made while the server works. A thing (a dataset, an engine, ...) is read until it
did not change meanwhile; a store of runs is copied by SQLite itself. What is on its way, and what
can be made again, is left out. An archive is there whole or not at all, and so is a restored state.
"""

import gzip
import hashlib
import io
import json
import os
import re
import secrets
import shutil
import sqlite3
import tarfile
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path, PurePosixPath
from typing import IO, Any

from pydantic import Field, ValidationError

from compass import files
from compass.domain.base import Noun
from compass.domain.errors import BadInput, EnvironmentProblem
from compass.server.experiment_tasks import STORE
from compass.server.store import AUDIT, DATABASE

Progress = Callable[[str, int, int], None]

_FORMAT = 1
_MANIFEST = "manifest.json"
_KEPT = ("workspaces", "shared", AUDIT)  # the rest is on its way, or can be made again
_TRIES = 100  # readings of a thing that changes all the time
_MOMENT = 0.01  # seconds after which something is there that is being replaced
_PIECE = 1 << 20  # bytes that are read at once
_MANIFEST_BYTES = 1 << 30
_DIGEST = r"^[0-9a-f]{64}$"


class KeptFile(Noun):
    """A file of a backup."""

    bytes: int = Field(ge=0)
    sha256: str = Field(pattern=_DIGEST)


class Manifest(Noun):
    """What a backup holds; its last file, so that one that was cut short has none."""

    format: int
    version: str = Field(description="of the Compass that made it")
    files: dict[str, KeptFile]

    @property
    def bytes(self) -> int:
        """Bytes of all files."""
        return sum(one.bytes for one in self.files.values())


def back_up(state: Path, archive: Path, progress: Progress | None = None) -> Manifest:
    """Write everything that a state keeps to an archive (.tar.gz)."""
    from importlib.metadata import version

    if not (state / "workspaces").is_dir():
        raise BadInput(f"{state} is not the state of a server", hint="name it with --state")
    if (state / DATABASE).exists():
        raise BadInput(
            f"what {state} is about is kept in a database",
            hint="copy both: pg_dump of the database first, then the folder",
        )
    things = list(_things(state))
    kept: dict[str, KeptFile] = {}
    try:
        with (
            files.replacing(archive, files.PRIVATE) as draft,
            tarfile.open(draft, "w:gz", compresslevel=1) as tar,
            tempfile.TemporaryDirectory(dir=archive.parent) as place,
        ):
            for number, thing in enumerate(things):
                kept |= _add(tar, state, thing, Path(place))
                if progress is not None:
                    progress("backing up", number + 1, len(things))
            manifest = Manifest(format=_FORMAT, version=version("compass-hpc"), files=kept)
            written = manifest.model_dump_json().encode()
            tar.addfile(_entry(_MANIFEST, len(written)), io.BytesIO(written))
    except OSError as error:
        raise EnvironmentProblem(
            f"the backup cannot be written: {error.strerror or error}",
            hint="name a place with room for it",
        ) from None
    return manifest


def check(archive: Path, progress: Progress | None = None) -> Manifest:
    """Read a backup from the first byte to the last, and compare all digests."""
    return _walk(archive, None, progress)


def restore(archive: Path, state: Path, progress: Progress | None = None) -> Manifest:
    """Make a state of a backup, where there is none yet."""
    if state.exists() and (not state.is_dir() or any(state.iterdir())):
        raise BadInput(
            f"there is something in {state} already", hint="name a new folder with --state"
        )
    draft = state.with_name(f".{state.name[:50]}-{secrets.token_hex(6)}")
    try:
        draft.mkdir(parents=True, mode=0o700)
        manifest = _walk(archive, draft, progress)
        (draft / "workspaces").mkdir(exist_ok=True)
        files.sync_tree(draft)
        if state.exists():
            state.rmdir()
        os.rename(draft, state)
        files.sync(state.parent)
    except OSError as error:
        raise EnvironmentProblem(
            f"the state cannot be written: {error.strerror or error}",
            hint="name a place with room for it",
        ) from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return manifest


def _things(state: Path) -> Iterator[Path]:
    """What is consistent in itself: a thing of a workspace, what is about a workspace, a day."""
    for top in _KEPT:
        if top == "workspaces":
            for workspace in sorted((state / top).iterdir()):
                yield from _parts(workspace)
        elif (state / top).is_dir():
            yield from _parts(state / top)


def _parts(workspace: Path) -> Iterator[Path]:
    with suppress(FileNotFoundError):  # deleted meanwhile
        for one in sorted(workspace.iterdir()):
            if one.is_dir():
                yield from sorted(one.iterdir())
            else:
                yield one


def _add(tar: tarfile.TarFile, state: Path, thing: Path, place: Path) -> dict[str, KeptFile]:
    """Copy a thing until it did not change meanwhile, then put it into the archive."""
    for attempt in range(_TRIES):
        copy = place / str(attempt)
        try:
            before = _marks(thing)
            _copy(thing, copy)
            if before == _marks(thing):
                break
        except (FileNotFoundError, shutil.Error):
            # Deleted, or replaced right now by another of its name: then it is there soon.
            time.sleep(_MOMENT)
        shutil.rmtree(copy, ignore_errors=True)
    else:
        if not thing.exists():
            return {}
        raise EnvironmentProblem(
            f"{thing.relative_to(state)} changes all the time", hint="stop the server meanwhile"
        )
    kept = {}
    found = [copy] if copy.is_file() else sorted(one for one in copy.rglob("*") if one.is_file())
    for one in found:
        name = (thing / one.relative_to(copy)).relative_to(state).as_posix()
        size, digest = _sum(one)
        with one.open("rb") as content:
            tar.addfile(_entry(name, size), content)
        kept[name] = KeptFile(bytes=size, sha256=digest)
    if copy.is_dir():
        shutil.rmtree(copy)
    else:
        copy.unlink()
    return kept


def _marks(thing: Path) -> list[tuple[str, int, int, int]]:
    """What changes whenever a file of a thing does; the store of runs is left to SQLite."""
    found = [thing] if thing.is_file() else sorted(thing.rglob("*"))
    marks = []
    for one in found:
        if one.name.startswith(STORE):
            continue
        try:
            facts = os.lstat(one)
        except FileNotFoundError:
            continue
        marks.append((str(one), facts.st_ino, facts.st_mtime_ns, facts.st_size))
    return marks


def _copy(thing: Path, copy: Path) -> None:
    if thing.is_file():
        shutil.copyfile(thing, copy)
        return
    stores = [one for one in thing.rglob(STORE) if one.is_file()]
    leave = {one.name + end for one in stores for end in ("", "-wal", "-shm", "-journal")}
    shutil.copytree(thing, copy, symlinks=True, ignore=lambda _, names: leave & set(names))
    for store in stores:
        target = copy / store.relative_to(thing)
        with (
            closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as source,
            closing(sqlite3.connect(target)) as made,
        ):
            source.backup(made)


def _sum(path: Path) -> tuple[int, str]:
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
            size += len(piece)
    return size, digest.hexdigest()


def _entry(name: str, size: int) -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.size, made.mode = size, 0o600
    return made


def _walk(archive: Path, target: Path | None, progress: Progress | None) -> Manifest:
    """Read all files of a backup, written below `target` if there is one, and compare them."""
    found: dict[str, KeptFile] = {}
    manifest: Manifest | None = None
    try:
        whole = archive.stat().st_size
        with (
            archive.open("rb") as packed,
            gzip.GzipFile(fileobj=packed) as unpacked,
            tarfile.open(fileobj=unpacked, mode="r:") as tar,
        ):
            for member in tar:
                content = tar.extractfile(member) if member.isreg() else None
                if content is None or manifest is not None or member.name in found:
                    raise _damaged(archive, f"'{member.name[:100]}' has no business in it")
                if member.name == _MANIFEST:
                    manifest = _manifest(archive, content)
                    continue
                name = _safe(archive, member.name)
                place = None if target is None else target / name
                found[member.name] = _taken(content, place)
                if progress is not None:
                    progress("reading the backup", min(packed.tell(), whole), whole)
            while unpacked.read(_PIECE):  # to its very end, where gzip has a sum of its own
                pass
    except FileNotFoundError:
        raise BadInput(f"there is no file {archive}", hint="check the path") from None
    except (tarfile.TarError, zlib.error, EOFError, ValueError) as error:
        raise _damaged(archive, type(error).__name__) from None
    except OSError as error:
        if error.errno is not None:
            raise
        raise _damaged(archive, str(error)) from None  # of gzip, which has no class for it
    if manifest is None:
        raise _damaged(archive, "its end is missing")
    if found != manifest.files:
        wrong = sorted(set(found.items() ^ manifest.files.items()))
        raise _damaged(archive, f"{wrong[0][0]} is not as it was written")
    return manifest


def _manifest(archive: Path, content: IO[bytes]) -> Manifest:
    written = content.read(_MANIFEST_BYTES)
    try:
        found: dict[str, Any] = json.loads(written)
        if isinstance(found, dict) and found.get("format") != _FORMAT:
            raise BadInput(
                f"{archive} is of another format, of Compass {str(found.get('version'))[:20]}",
                hint="restore it with that version",
            )
        return Manifest.model_validate(found)
    except (ValidationError, ValueError, RecursionError):
        raise _damaged(archive, "its list of files cannot be read") from None


def _safe(archive: Path, name: str) -> PurePosixPath:
    """A name below the state, where a backup of ours puts files."""
    path = PurePosixPath(name)
    parts = path.parts
    if not parts or parts[0] not in _KEPT or ".." in parts or re.search(r"[\x00\\]", name):
        raise _damaged(archive, f"'{name[:100]}' has no business in it")
    return path


def _taken(content: IO[bytes], place: Path | None) -> KeptFile:
    """Read a file, and write it where it is wanted."""
    if place is not None:
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    digest, size = hashlib.sha256(), 0
    with open(os.devnull if place is None else place, "wb") as file:
        while piece := content.read(_PIECE):
            digest.update(piece)
            file.write(piece)
            size += len(piece)
    return KeptFile(bytes=size, sha256=digest.hexdigest())


def _damaged(archive: Path, why: str) -> BadInput:
    return BadInput(f"{archive} is no whole backup: {why}", hint="take another one")
