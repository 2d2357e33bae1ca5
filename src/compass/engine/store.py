"""Fitted engines on disk: no code is run to load one, and a kill loses nothing.

An engine is a directory. Every save writes a new generation folder beside the old one, then
replaces the small file CURRENT, and only then removes the old generation.
"""

import fcntl
import os
import secrets
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from errno import EINVAL, EISDIR, ELOOP, ENAMETOOLONG, ENOENT, ENOTDIR
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from compass import files, registry
from compass.domain.arguments import path_name, takes
from compass.domain.errors import (
    BadInput,
    DataProblem,
    EngineProblem,
    EnvironmentProblem,
    UnknownName,
)
from compass.domain.study import Study
from compass.engine.dataset import Dataset
from compass.engine.generation import DATA, Generation, current, same_models, write
from compass.engine.saved import GENERATION, POINTER, generation_of, is_engine
from compass.learn.features import FeatureView
from compass.learn.outcomes import OutcomeModel
from compass.learn.saved_model import StoredModel, restored
from compass.learn.saved_view import StoredView, restored_view
from compass.learn.store import ModelStore
from compass.model.files.archive import array_of, mapped
from compass.readers.columnar import ParquetReader
from compass.readers.inflate import limits
from compass.readers.table import Table, TablePart

if TYPE_CHECKING:
    from compass.engine.compass import Compass

# Whatever the bytes of a file hold, one of these comes of it when it is not an engine's.
_BROKEN = (OSError, ValueError, LookupError, TypeError, RecursionError)
# What a system says of files that are missing or of another kind; None: a library says it. Anything
# else is about the machine: no right to read, too many open files, a disk that does not answer.
_NOT_AS_SAVED = (None, ENOENT, ENOTDIR, EISDIR, ELOOP, EINVAL, ENAMETOOLONG)
_AGAIN = "fit it again from the data"


def save(engine: "Compass", path: Path, stays: float = 0.0, *, merge: bool = False) -> Path:
    """Write the engine; the directory shows either the old or the new one, never a mixture.

    The files of the old one stay for so many seconds, for those who have opened it. `merge`: what
    is saved there of the same data, learnt in the same way, stays in the new one.
    """
    check_place(path)
    with _disk(path):
        path.mkdir(parents=True, exist_ok=True)
        with _alone(path):
            known = same_models(engine, path) if merge else None
            _new_generation(engine, path, known, stays)
    return path


def add(engine: "Compass", path: Path) -> None:
    """Add what an engine has learnt since to the saved engine that it was loaded from.

    Others may have added to it meanwhile, which stays; another engine in its place stays as well.
    """
    with _disk(path), _alone(path):
        known = same_models(engine, path)
        if known is None:
            raise EngineProblem(
                f"{path} was saved anew meanwhile, from other data or with other settings",
                hint="ask again: it is loaded as it is now",
            )
        _new_generation(engine, path, known, 0.0)


def refresh(engine: "Compass", path: Path) -> None:
    """Let a loaded engine use the models that were added to it on disk."""
    place = _Place(path, _AGAIN)
    with _telling(place):
        known = same_models(engine, path)
        if known is None:
            raise EngineProblem(f"{path} was saved anew meanwhile", hint="load it again")
        _offer(place, engine.store, known)


@contextmanager
def _disk(path: Path) -> Iterator[None]:
    """Tells of a disk that does not take it."""
    try:
        yield
    except OSError as error:
        raise EnvironmentProblem(
            f"cannot save to {path}: {error.strerror or error}",
            hint="check the disk and its permissions",
        ) from None


def _new_generation(engine: "Compass", path: Path, known: Generation | None, stays: float) -> None:
    """Write a generation and point to it; the folder is locked."""
    generation = path / f"{GENERATION}{secrets.token_hex(6)}"
    old = _in_use(path)
    try:
        generation.mkdir()
        write(engine, generation, known)
        files.write_text(path / POINTER, generation.name + "\n")
    except BaseException:
        _discard(path, generation)  # a full disk would stay full
        raise
    if old is not None:
        with suppress(OSError):
            os.utime(old)  # when it was replaced
    tidy(path, stays)


def check_place(path: Path) -> None:
    """Refuse a place that holds something else; what a killed save left behind is no obstacle."""
    try:
        place = next(known for known in (path, *path.absolute().parents) if known.exists())
        if not place.is_dir():
            why = f"{place} is not a folder"
        elif not os.access(place, os.W_OK):
            why = f"not allowed to write into {place}"
        elif place != path or is_engine(path) or all(_is_ours(p.name) for p in path.iterdir()):
            return
        else:
            why = "the folder holds something else"
    except OSError as error:
        why = str(error.strerror)
    raise EngineProblem(
        f"cannot save to {str(path)[:200]}: {why}", hint="choose another name, e.g. x.compass"
    )


def _is_ours(name: str) -> bool:
    return name.startswith((GENERATION, f".{POINTER}-"))


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """One save at a time; the lock goes with the process, so that a kill leaves none behind."""
    handle = os.open(path, os.O_RDONLY)
    try:
        with suppress(OSError):  # some parallel file systems know no locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _in_use(path: Path) -> Path | None:
    """The generation that the pointer names; None: there is no pointer, or a damaged one."""
    try:
        return generation_of(path)
    except (FileNotFoundError, ValueError, EngineProblem):
        return None


def _discard(path: Path, generation: Path) -> None:
    """Remove what a failed save has written, unless it is in use already."""
    with suppress(OSError):
        if _in_use(path) != generation:
            shutil.rmtree(generation)


def tidy(path: Path, stays: float = 0.0) -> None:
    """Remove old engines and what killed saves left behind, after so many seconds."""
    current = _in_use(path)
    for item in path.iterdir():
        if item == current or not _is_ours(item.name):
            continue
        with suppress(OSError):
            if stays and time.time() - item.stat().st_mtime < stays:
                continue
            if item.is_dir():
                shutil.rmtree(item, ignore_errors=True)
            else:
                item.unlink()


@takes(path=path_name)
def load(path: str | Path) -> "Compass":
    """An engine as it was saved; it gives the same answers."""
    return loaded(Path(path))


@dataclass(frozen=True)
class Renamed:
    """What is said of the data of a saved engine now: its study, and the files it came from."""

    study: Study
    files: tuple[str | None, ...]


@dataclass(frozen=True)
class _Place:
    """Where an engine is, and what to do if it is damaged."""

    path: Path
    hint: str


def loaded(path: Path, now: Renamed | None = None, hint: str = _AGAIN) -> "Compass":
    """The engine as it was saved, or with what is said of its data `now`.

    `hint` tells what to do if it turns out to be damaged, now or when a question needs more of it.
    """
    while True:
        pointed = _pointer(path)
        try:
            return _loaded(_Place(path, hint), now)
        except (EngineProblem, EnvironmentProblem):
            # Somebody saved while this was reading: the files of the new engine are whole.
            if pointed is None or _pointer(path) in (None, pointed):
                raise


def _pointer(path: Path) -> bytes | None:
    try:
        return (path / POINTER).read_bytes()
    except OSError:
        return None


def _loaded(place: _Place, now: Renamed | None) -> "Compass":
    from compass.engine.compass import Compass

    path = place.path
    try:
        if not is_engine(path):
            raise EngineProblem(
                f"{path} is not a saved engine", hint="make one: compass fit DATA -o X"
            )
        saved = current(path)
    except _BROKEN as error:
        raise _problem(place, error) from None
    manifest = saved.manifest
    data = _data(place, saved)
    rules = manifest.rules
    if now is not None:
        data, rules = _renamed(path, data, now), ()  # its rules are in the study
    engine = Compass(data, rules=rules, settings=manifest.settings)
    with _telling(place):
        _offer(place, engine.store, saved)
    return engine


def _offer(place: _Place, store: ModelStore, saved: Generation) -> None:
    """Let the store restore each model and view when a question first needs it.

    That the files are what was saved is checked now; what they mean is checked then. What the store
    has already stays.
    """
    manifest, folder = saved.manifest, saved.folder
    listed = [kept.file for kept in manifest.models] + [view.file for view in manifest.views]
    named = [(kept.features, kept.target) for kept in manifest.models]
    seen = [view.features for view in manifest.views]
    if any(len(set(some)) != len(some) for some in (listed, named, seen)):
        raise ValueError("two things in one file, or of one name")
    left = limits().allowed(sum((folder / file).stat().st_size for file in listed))
    for kept, name in zip(manifest.models, named, strict=True):
        if name in store.trained:
            continue
        registry.get("surrogate", kept.recipe.family)
        arrays = _arrays(folder / kept.file, kept.digest, left)
        left -= arrays.size
        store.trained.later(name, _Model(place, kept, arrays, store))
    for view in manifest.views:
        if view.features in store.views:
            continue
        arrays = _arrays(folder / view.file, view.digest, left)
        left -= arrays.size
        store.views.later(view.features, _View(place, view, arrays, store))


@dataclass(frozen=True)
class _Arrays:
    """The arrays of a file, which is mapped into memory."""

    members: Mapping[str, memoryview]

    @property
    def size(self) -> int:
        return sum(map(len, self.members.values()))

    def read(self) -> dict[str, NDArray[Any]]:
        named = {n.removesuffix(".npy").replace("|", "/"): one for n, one in self.members.items()}
        return {name: array_of(content) for name, content in named.items()}


def _arrays(file: Path, digest: str, most: int) -> _Arrays:
    if files.digest(file) != digest:
        raise ValueError(file.name)
    return _Arrays(mapped(file, most))


@dataclass(frozen=True)
class _Model:
    """A model in a file."""

    place: _Place
    kept: StoredModel
    arrays: _Arrays
    store: ModelStore

    def __call__(self) -> OutcomeModel:
        with _telling(self.place):
            space, settings = self.store.prepared.space, self.store.settings
            return restored(self.kept, self.arrays.read(), space, settings)


@dataclass(frozen=True)
class _View:
    """A view in a file."""

    place: _Place
    kept: StoredView
    arrays: _Arrays
    store: ModelStore

    def __call__(self) -> FeatureView:
        with _telling(self.place):
            store = self.store
            data = (store.prepared, store.everything, store.settings)
            return restored_view(self.kept, self.arrays.read(), *data)


@contextmanager
def _telling(place: _Place) -> Iterator[None]:
    """Tells of anything that cannot be restored that the engine is damaged, or the machine."""
    try:
        yield
    except UnknownName:
        raise  # a plug-in that is not installed here: the engine may be whole
    except (BadInput, *_BROKEN) as error:
        raise _problem(place, error) from None


def _data(place: _Place, saved: Generation) -> Dataset:
    """The data of an engine, if it is what was saved."""
    manifest = saved.manifest
    try:
        table = ParquetReader().read(saved.folder / DATA)
    except (DataProblem, OSError) as error:
        raise _problem(place, error) from None
    parts = [TablePart(file, rows) for file, rows in manifest.parts]
    data = Dataset(Table.of(table, parts), manifest.study, manifest.steps)
    whole = sum(part.rows for part in parts) == data.table.rows
    if not whole or data.table.fingerprint != manifest.fingerprint:
        raise EngineProblem(f"the data inside {place.path} is not what was saved", hint=place.hint)
    return data


def _renamed(path: Path, data: Dataset, now: Renamed) -> Dataset:
    parts = data.table.parts
    if len(parts) != len(now.files):
        raise EngineProblem(f"{path} was made of other files", hint="fit it again from the data")
    named = tuple(TablePart(file, part.rows) for file, part in zip(now.files, parts, strict=True))
    return replace(data, table=replace(data.table, parts=named), study=now.study)


def _problem(place: _Place, error: Exception) -> EngineProblem | EnvironmentProblem:
    """What is wrong with an engine that cannot be read: itself, or the machine at the moment."""
    cause = error if isinstance(error, OSError) else error.__cause__
    if isinstance(cause, OSError) and cause.errno not in _NOT_AS_SAVED:
        return EnvironmentProblem(
            f"cannot read {place.path}: {cause.strerror or cause}",
            hint="check its permissions and the limits of this machine, then try again",
        )
    why, hint = "its files are not as they were saved", place.hint
    if isinstance(error, OSError):
        why = error.strerror or why
    if isinstance(error, BadInput):
        why = error.message
        hint = (error.hint or hint) if hint == _AGAIN else hint
    return EngineProblem(f"{place.path} is damaged: {why}", hint=hint)
