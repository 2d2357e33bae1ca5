"""Models of raw tables that were learnt before, kept in the person's cache folder.

An entry is an ordinary saved engine, named by everything that decides what is learnt (cache_key).
Decision 0036 (docs/decisions).
"""

import fcntl
import json
import math
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from compass import files
from compass.domain.errors import BadInput, EngineProblem, EnvironmentProblem
from compass.domain.study import Study
from compass.engine.saved import POINTER, generation_of, is_engine

if TYPE_CHECKING:
    from compass.engine.compass import Compass

LIMIT_VARIABLE = "COMPASS_CACHE_GIB"

_FOLDER = "models"
_GIB = 1 << 30
_MOST = 1 << 33  # GiB; no disk holds more bytes than a 64-bit number can count
_LIMIT = 2.0  # GiB of all entries; an engine of 30,000 runs takes some 10 to 30 MiB
_REMOVE = "remove it with all others: compass cache clear"
# Seconds for which an engine stays after it was replaced: another machine that shares the folder
# may have mapped its files into memory, and would be ended by the system.
_STAYS = 24 * 3600.0


@dataclass(frozen=True)
class CacheEntry:
    """One engine in the cache, for listing."""

    key: str
    files: tuple[str, ...]
    rows: int
    outcomes: tuple[str, ...]
    bytes: int
    used: float  # seconds since 1970


@dataclass(frozen=True)
class Cleared:
    """What was removed from the cache, and what stayed there."""

    removed: tuple[CacheEntry, ...]
    stayed: Mapping[str, str]  # the reason, by key


@dataclass(frozen=True)
class ModelCache:
    """A folder of saved engines; when they take too much room, the least recently used go."""

    folder: Path
    limit: int  # bytes

    @classmethod
    def of_person(cls) -> "ModelCache":
        """The cache of whoever runs this: $COMPASS_CACHE, or the user's cache folder."""
        return cls(files.cache_folder() / _FOLDER, _limit())

    def find(self, key: str, study: Study, names: Sequence[str | None]) -> "Compass | None":
        """The engine of this key, with the study and the names of files that the data has now.

        None: there is none. One that is damaged is removed, and raises an EngineProblem; one that
        cannot be read at the moment raises an EnvironmentProblem.
        """
        from compass.engine.store import Renamed, loaded

        entry = self.folder / key
        try:
            if not is_engine(entry):
                return None
            try:
                engine = loaded(entry, Renamed(study, tuple(names)), _REMOVE)
            except EngineProblem:
                if not is_engine(entry):  # it was removed while this was reading
                    return None
                self._remove(entry)
                raise
        except OSError as error:
            raise _unusable(entry, error) from None
        with suppress(OSError):
            os.utime(entry / POINTER)
        return engine

    def keep(self, key: str, engine: "Compass") -> None:
        """Save what an engine has learnt, and remove others until all have room.

        What other processes have kept of the same data meanwhile stays.
        """
        from compass.engine.store import save

        self._check_size("the data has", engine.data.table.arrow.nbytes)  # before it is written
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # it holds people's data
        place = self.folder / key
        try:
            save(engine, place, _STAYS, merge=True)
            self._check_size("they take", _size(generation_of(place)))
        finally:
            self._make_room()

    def _check_size(self, what: str, size: int) -> None:
        """Refuse what is larger than all entries may be."""
        if size > self.limit:
            raise EnvironmentProblem(
                f"{what} {size / _GIB:.2g} GiB, the limit is {self.limit / _GIB:.2g}",
                hint=f"allow more: {LIMIT_VARIABLE}={2 * size / _GIB:.2g}",
            )

    def entries(self) -> list[CacheEntry]:
        """What is kept, the most recently used first; what cannot be read is listed too."""
        listed = [_entry(place) for place in self._places()]
        return sorted(listed, key=lambda entry: entry.used, reverse=True)

    def clear(self) -> Cleared:
        """Remove everything that nobody is writing at the moment."""
        listed = self.entries()
        why = {entry.key: self._remove(self.folder / entry.key) for entry in listed}
        return Cleared(
            tuple(entry for entry in listed if not why[entry.key]),
            {key: reason for key, reason in why.items() if reason},
        )

    def _places(self) -> list[Path]:
        try:
            return [path for path in self.folder.iterdir() if path.is_dir()]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise _unusable(self.folder, error) from None

    def _make_room(self) -> None:
        """Remove what is too large by itself, then the least recently used.

        Before them, what was replaced: a day later, or at once where there is no room for it.
        """
        self._tidy(_STAYS)
        if sum(entry.bytes for entry in self.entries()) > self.limit:
            self._tidy(0.0)
        kept = [
            entry
            for entry in self.entries()
            if entry.bytes <= self.limit or self._remove(self.folder / entry.key)
        ]
        taken = sum(entry.bytes for entry in kept)
        for entry in reversed(kept):
            if taken <= self.limit:
                return
            if not self._remove(self.folder / entry.key):
                taken -= entry.bytes

    def _tidy(self, stays: float) -> None:
        from compass.engine.store import tidy

        for place in self._places():
            with suppress(OSError), _unwritten(place):
                tidy(place, stays)

    def _remove(self, place: Path) -> str:
        """Remove an entry, unless somebody is just writing it; why it stays, empty: it is gone."""
        try:
            with _unwritten(place):
                # The pointer first: from then on nobody begins to read it.
                (place / POINTER).unlink(missing_ok=True)
                shutil.rmtree(place)
        except FileNotFoundError:
            return ""  # somebody else removed it
        except BlockingIOError:
            return "it is being written"
        except OSError as error:
            return error.strerror or str(error)
        return ""


@contextmanager
def _unwritten(place: Path) -> Iterator[None]:
    """Holds the lock that saving takes; a BlockingIOError where somebody else holds it."""
    handle = os.open(place, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise
        except OSError:
            pass  # some parallel file systems know no locks
        yield
    finally:
        os.close(handle)


def _unusable(place: Path, error: OSError) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"cannot read {place}: {error.strerror or error}",
        hint=f"check its permissions, or set {files.CACHE_VARIABLE}=DIR to use another folder",
    )


def _entry(place: Path) -> CacheEntry:
    """What an entry says of itself, as far as it can be read."""
    taken = _size(place)
    used = 0.0
    with suppress(OSError):
        used = place.stat().st_mtime
        used = (place / POINTER).stat().st_mtime
    try:
        manifest = json.loads((generation_of(place) / "engine.json").read_bytes())
        parts = [(str(file), int(rows)) for file, rows in manifest["parts"]]
        outcomes = dict.fromkeys(str(model["target"]) for model in manifest["models"])
    except (OSError, ValueError, LookupError, TypeError, EngineProblem):
        return CacheEntry(place.name, (), 0, (), taken, used)
    return CacheEntry(
        place.name,
        tuple(file for file, _ in parts),
        sum(rows for _, rows in parts),
        tuple(outcomes),
        taken,
        used,
    )


def _size(place: Path) -> int:
    """The bytes of all files in a folder."""
    taken = 0
    for base, _, names in os.walk(place):
        for name in names:
            with suppress(OSError):
                taken += Path(base, name).stat().st_size
    return taken


def _limit() -> int:
    """The bytes that all entries may take together."""
    text = os.environ.get(LIMIT_VARIABLE, "").strip()
    try:
        size = float(text) if text else _LIMIT
    except ValueError:
        size = math.nan
    if not 0 <= size < _MOST:
        raise BadInput(
            f"{LIMIT_VARIABLE}={text[:40]} is not a number of GiB",
            hint=f"e.g. {LIMIT_VARIABLE}=2, or 0 to keep nothing",
        )
    return int(size * _GIB)
