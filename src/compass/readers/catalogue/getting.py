"""Gets the files of a public dataset: from a mirror directory, the cache, or the network."""

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from compass import files
from compass.domain.errors import DataProblem, EnvironmentProblem
from compass.readers.catalogue.known import Piece, PublicDataset

MIRROR_VARIABLE = "COMPASS_DATA"
TRIES = 3  # a connection that is cut is tried again
TIMEOUT = 30.0  # seconds without an answer

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Obtained:
    """The files of a dataset on this machine."""

    paths: tuple[Path, ...]
    prepared: bool = False  # one table made from the authors' files, not the files themselves
    recorded: tuple[str, ...] = ()  # files whose checksum was unknown and is now recorded


def obtain(
    entry: PublicDataset, folder: Path | None = None, progress: Progress | None = None
) -> Obtained:
    """The files of a dataset, checked; `folder` is where they go instead of the cache."""
    mirrored = [_mirrored(entry, piece) for piece in entry.files]
    complete = mirrored and all(mirrored)
    if entry.prepared is not None and not complete:
        there = _in_mirror(entry.prepared.path)
        if there is not None:
            keeper = Path(os.environ[MIRROR_VARIABLE]).expanduser()
            _check(there, entry.prepared.sha256, f"ask whoever keeps {keeper}")
            return Obtained((_copied(there, folder, entry),), prepared=True)
    if not entry.downloads and not complete:
        raise EnvironmentProblem(
            f"{entry.name} cannot be downloaded by Compass",
            hint=entry.instructions or f"see {entry.page or entry.source}",
        )
    paths, recorded = [], []
    for piece, there in zip(entry.files, mirrored, strict=True):
        if there is not None:
            paths.append(_copied(there, folder, entry))
            continue
        place = (folder or files.cache_folder()) / entry.name
        path, new = _held(entry, piece, place, progress)
        paths.append(path)
        recorded += [piece.name] if new else []
    return Obtained(tuple(paths), recorded=tuple(recorded))


def _mirrored(entry: PublicDataset, piece: Piece) -> Path | None:
    for place in (f"{entry.name}/{piece.name}", piece.mirror):
        there = None if place is None else _in_mirror(place)
        if there is not None:
            if piece.sha256 is not None:
                _check(there, piece.sha256, f"fetch it again: {entry.address(piece)}")
            return there
    return None


def _in_mirror(place: str) -> Path | None:
    """A file of the directory of files that need no download: $COMPASS_DATA."""
    given = os.environ.get(MIRROR_VARIABLE)
    path = Path(given).expanduser() / place if given else None
    return path if path is not None and path.is_file() else None


def _held(
    entry: PublicDataset, piece: Piece, place: Path, progress: Progress | None
) -> tuple[Path, bool]:
    """The downloaded file, and whether its checksum was recorded just now."""
    target, note = place / piece.name, place / f"{piece.name}.sha256"
    known = piece.sha256 or _noted(note)
    if target.is_file() and known is not None and sha256(target) == known:
        return target, False
    _download(entry, piece, target, known, progress)
    if known is not None:
        return target, False
    with _writing(place):
        files.write_bytes(note, sha256(target).encode(), files.READABLE)
    return target, True


def _noted(note: Path) -> str | None:
    try:
        text = note.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return None
    return text if len(text) == 64 else None


def _download(
    entry: PublicDataset, piece: Piece, target: Path, known: str | None, progress: Progress | None
) -> None:
    import pooch
    from requests.exceptions import ChunkedEncodingError, RequestException, Timeout
    from requests.exceptions import ConnectionError as NoConnection

    pooch.get_logger().setLevel("ERROR")
    address = entry.address(piece)
    bar = _Bar(progress, piece.name) if progress is not None else False
    for left in reversed(range(TRIES)):
        try:
            with _writing(target.parent):
                target.unlink(missing_ok=True)  # it is not what it should be, or it is not there
                pooch.retrieve(
                    address,
                    known_hash=known and f"sha256:{known}",
                    fname=target.name,
                    path=target.parent,
                    downloader=pooch.HTTPDownloader(
                        progressbar=bar, chunk_size=1 << 18, timeout=TIMEOUT
                    ),
                )
            return
        except ValueError as problem:  # how pooch tells that the checksum is another one
            raise DataProblem(
                f"{address} is not the file that the catalogue knows: its SHA-256 is not "
                f"{known}; nothing was kept",
                hint="is a proxy in between? else the authors changed it: see "
                f"{entry.page or entry.source}",
            ) from problem
        except (NoConnection, ChunkedEncodingError, Timeout) as problem:
            if not left:
                raise _unreachable(entry, piece, _reason(problem)) from problem
        except RequestException as problem:
            raise _unreachable(entry, piece, _reason(problem)) from problem


def _unreachable(entry: PublicDataset, piece: Piece, why: str) -> EnvironmentProblem:
    address = entry.address(piece)
    return EnvironmentProblem(
        f"cannot get {piece.name} from {urlsplit(address).netloc}: {why}",
        hint=f"fetch it by hand: {address} , put it in DIR/{entry.name}/ and set "
        f"{MIRROR_VARIABLE}=DIR",
    )


def _reason(problem: Exception) -> str:
    response = getattr(problem, "response", None)
    if response is not None:
        return f"it answers {response.status_code} {response.reason}"
    kind = type(problem).__name__
    if "Timeout" in kind:
        return f"no answer for {TIMEOUT:.0f} s"
    if kind == "ChunkedEncodingError":
        return "the connection was cut"
    return "there is no connection"


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Tells problems with the disk in a person's words."""
    from requests.exceptions import RequestException

    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except RequestException:
        raise  # the errors of the network are of the family of OSError too, and not meant here
    except OSError as problem:
        raise EnvironmentProblem(
            f"cannot write to {folder}: {problem.strerror or problem}",
            hint=f"choose another folder: {files.CACHE_VARIABLE}=DIR, or -o DIR",
        ) from problem


class _Bar:
    """The progress bar that pooch asks for, which passes everything on to ours."""

    def __init__(self, progress: Progress, name: str) -> None:
        self.total = 0
        self._done = 0
        self._progress = progress
        self._name = name

    def update(self, count: int) -> None:
        """So many bytes more."""
        self._done += count
        self._progress(f"downloading {self._name}", self._done, int(self.total or 0))

    def reset(self) -> None:
        """From the beginning."""
        self._done = 0

    def close(self) -> None:
        """Nothing is left to draw."""


def sha256(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _check(path: Path, known: str, hint: str) -> None:
    try:
        found = sha256(path)
    except OSError as problem:
        raise DataProblem(
            f"cannot read {path}: {problem.strerror or problem}", hint=hint
        ) from problem
    if found != known:
        raise DataProblem(
            f"{path} is not the file that the catalogue knows: its SHA-256 is {found}, not {known}",
            hint=f"{hint}, or unset {MIRROR_VARIABLE}",
        )


def _copied(path: Path, folder: Path | None, entry: PublicDataset) -> Path:
    """The file itself, or its copy in the folder that a person wants it in."""
    if folder is None:
        return path
    place = folder / entry.name
    with _writing(place):
        target = place / path.name
        # Private files are of no use in a folder that a group shares.
        with files.replacing(target, files.READABLE) as temporary:
            shutil.copyfile(path, temporary)
    return target
