"""Which files a person means, what format each has, and how to open it."""

import glob
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast
from urllib.parse import unquote, urlsplit

import pyarrow as pa

from compass import embedded, registry
from compass.domain.errors import DataProblem, nearest
from compass.readers.base import Reader
from compass.readers.inflate import COMPRESSED, Inflating, ending

_HEAD = 1 << 20  # bytes; the widest headers have some thousand columns


def opened(path: Path) -> pa.NativeFile:
    """The file as a stream of uncompressed bytes."""
    try:
        if path.suffix.lower() not in COMPRESSED:
            return pa.OSFile(str(path), "rb")
        # Only a plain stream can be read to its end without asking for its size first.
        return pa.BufferedInputStream(pa.PythonFile(Inflating(path), "r"), _HEAD)
    except OSError as problem:
        raise cannot_open(path, problem) from problem


def content(path: Path) -> pa.NativeFile:
    """The whole uncompressed file, for formats that have to jump about in it."""
    if path.suffix.lower() not in COMPRESSED:
        return opened(path)
    try:
        with Inflating(path) as stream:
            return pa.BufferReader(b"".join(iter(lambda: stream.read(_HEAD), b"")))
    except OSError as problem:
        raise cannot_inflate(path, problem) from problem


def head(path: Path) -> bytes:
    """The first bytes of the file, uncompressed."""
    with opened(path) as stream:
        try:
            return cast(bytes, stream.read(_HEAD))
        except OSError as problem:
            raise cannot_inflate(path, problem) from problem


def cannot_inflate(path: Path, problem: OSError) -> DataProblem:
    """The error for a compressed file that is damaged or something else."""
    return DataProblem(
        f"cannot uncompress {path}: {problem}",
        hint=f"is it really a {path.suffix} file, and complete?",
    )


def cannot_open(path: Path, problem: OSError) -> DataProblem:
    """The error for a file that the system does not let us open."""
    if isinstance(problem, PermissionError):
        return DataProblem(
            f"not allowed to read {path}", hint=f"ask its owner, or: chmod u+r {path}"
        )
    if isinstance(problem, FileNotFoundError):
        return missing(path)
    name = str(path) if len(str(path)) <= 200 else f"{str(path)[:200]}..."
    return DataProblem(f"cannot open {name}: {problem.strerror or problem}", hint="is it a file?")


def missing(path: Path) -> DataProblem:
    """The error for a file that does not exist; offers the nearest name beside it."""
    folder = path.parent
    if not folder.is_dir():
        return DataProblem(f"there is no file {path}", hint=f"there is no folder {folder} either")
    names = sorted(entry.name for entry in folder.iterdir() if not entry.name.startswith("."))
    close = nearest(path.name, names)
    if close is not None:
        hint = f"did you mean {folder / close}?"
    elif names:
        hint = f"{folder} holds: {', '.join(names[:8])}{', ...' if len(names) > 8 else ''}"
    else:
        hint = f"{folder} is empty"
    return DataProblem(f"there is no file {path}", hint=hint)


def readers() -> dict[str, Reader]:
    """Every reader by name, the most general first."""
    return {name: cast(Reader, plugin()) for name, plugin in registry.everything("reader").items()}


@dataclass(frozen=True)
class Located:
    """The files of a source, and the folder below which folder names may hold values."""

    paths: tuple[Path, ...]
    root: Path | None = None


def located(source: str | Path) -> Located:
    """The files that a path, a `file://` address, a glob or a folder (with those in it) holds.

    `embedded` is the table that comes with Compass; a file of that name is `./embedded`.
    """
    if source == embedded.NAME:
        return Located((embedded.path(),))
    path = Path(_local(source)).expanduser()
    if "\0" in str(path):
        raise DataProblem("no file has a name with a null character", hint="is it a path?")
    try:
        if path.is_dir():
            return Located(tuple(_in_folder(path)), path)
        if path.exists():
            return Located((path,))
    except OSError as problem:
        raise cannot_open(path, problem) from problem
    if not glob.has_magic(str(path)):
        raise missing(path)
    known = readers()
    matches = map(Path, glob.glob(str(path), recursive=True))
    found = sorted(p for p in matches if p.is_file() or _claiming(p, known))
    if not found:
        raise DataProblem(
            f"no file matches {path}", hint="check the folder, and quote the pattern in a shell"
        )
    fixed = next(i for i, part in enumerate(path.parts) if glob.has_magic(part))
    return Located(tuple(found), Path(*path.parts[:fixed]))


def located_all(sources: Iterator[str | Path]) -> Located:
    """The files of several sources in order, and the folder that they share."""
    paths = tuple(path for source in sources for path in located(source).paths)
    if not paths:
        return Located(())
    folders = {path.parent.absolute() for path in paths}
    shared = Path(os.path.commonpath(folders))
    # Partitions are looked for below the root, so paths and root must be written alike.
    inside = all(path.is_absolute() for path in paths)
    if not inside:
        current = Path.cwd()
        shared = shared.relative_to(current) if shared.is_relative_to(current) else shared
        inside = all(path.is_relative_to(shared) for path in paths)
    return Located(paths, shared if inside else None)


def with_scheme(source: str) -> Reader | None:
    """The reader of `scheme:text`, if one has that scheme and no file that name."""
    scheme, colon, _ = source.partition(":")
    if not colon or not scheme.isidentifier() or is_there(source):
        return None
    known = readers().values()
    return next((one for one in known if scheme in getattr(one, "schemes", ())), None)


def is_there(source: str) -> bool:
    """Whether a text is the name of something on disk."""
    try:
        return Path(source).exists()
    except (OSError, ValueError):  # a name that no file system takes
        return False


def _local(source: str | Path) -> str | Path:
    """The path that a `file://` address names; other addresses cannot be read."""
    if not isinstance(source, str) or "://" not in source:
        return source
    parts = urlsplit(source)
    if parts.scheme.lower() != "file":
        raise DataProblem(
            f"{source[:200]} is not a file here",
            hint="download it first: curl -LO ADDRESS, and name the file",
        )
    if parts.netloc not in ("", "localhost"):
        raise DataProblem(
            f"{source[:200]} names the machine {parts.netloc}",
            hint="a file on this machine has three slashes: file:///data/jobs.csv",
        )
    return unquote(parts.path)


def _in_folder(folder: Path) -> list[Path]:
    """The data files in a folder and the folders in it, sorted; they must share one format."""
    known = readers()
    by_format: dict[str, list[Path]] = {}
    for path, owner in sorted(_walk(folder, known)):
        if owners := [owner] if owner else _by_suffix(path, known):
            by_format.setdefault(owners[0], []).append(path)
    if len(by_format) > 1:  # a study or settings beside the data are not data
        by_format = {n: p for n, p in by_format.items() if not getattr(known[n], "shy", False)}
    if not by_format:
        suffixes = dict.fromkeys(s for reader in known.values() for s in reader.suffixes)
        raise DataProblem(
            f"the folder {folder} holds no file that can be read",
            hint=f"data files end in {', '.join(suffixes)} (perhaps with {', '.join(COMPRESSED)}); "
            f"others are looked at if you name them: '{folder}/*'",
        )
    if len(by_format) > 1:
        example = next(iter(by_format.values()))[0]
        raise DataProblem(
            f"the folder {folder} holds files of several formats: {', '.join(sorted(by_format))}",
            hint=f"name the ones you mean, e.g. '{folder}/*{example.suffix}'",
        )
    return next(iter(by_format.values()))


def _claiming(path: Path, known: dict[str, Reader]) -> str:
    """The reader to which a folder as a whole belongs (a profile database), or an empty text."""
    if not path.is_dir():
        return ""
    claims = ((name, getattr(reader, "claims_folder", None)) for name, reader in known.items())
    return next((name for name, claim in claims if claim is not None and claim(path)), "")


def _walk(folder: Path, known: dict[str, Reader]) -> Iterator[tuple[Path, str]]:
    """The files below a folder, but for hidden ones and those of Spark (`_SUCCESS`).

    A folder that a reader claims comes as a whole, with that reader's name.
    """
    first = folder.stat()
    waiting, seen = [str(folder)], {(first.st_dev, first.st_ino)}
    while waiting:
        inner = waiting.pop()
        if owner := _claiming(Path(inner), known):
            yield Path(inner), owner
            continue
        try:
            with os.scandir(inner) as entries:
                for entry in entries:
                    if entry.name.startswith((".", "_")):
                        continue
                    if entry.is_dir():
                        place = entry.stat()
                        # Links may lead in a circle.
                        if (place.st_dev, place.st_ino) not in seen:
                            seen.add((place.st_dev, place.st_ino))
                            waiting.append(entry.path)
                    elif entry.is_file():
                        yield Path(entry.path), ""
        except OSError as problem:
            raise cannot_open(Path(inner), problem) from problem


def _by_suffix(path: Path, known: dict[str, Reader]) -> list[str]:
    return [name for name, reader in known.items() if ending(path) in reader.suffixes]


def reader_for(path: Path) -> Reader:
    """The reader that this file's suffix names, or else the one that recognises its content."""
    known = readers()
    if owner := _claiming(path, known):
        return known[owner]
    by_suffix = _by_suffix(path, known)
    if len(by_suffix) == 1:
        return known[by_suffix[0]]
    start = head(path)
    # The most general readers come first, and plug-ins last: the last to say yes knows best.
    for name in reversed(by_suffix or list(known)):
        if known[name].sniff(path, start):
            return known[name]
    if by_suffix:
        return known[by_suffix[0]]
    if not start:
        raise empty(path)
    raise DataProblem(
        f"cannot tell what kind of file {path} is",
        hint=f"readable formats: {', '.join(known)}; the file's ending tells which",
    )


def empty(path: Path) -> DataProblem:
    """The error for a file without content."""
    return DataProblem(f"{path} is empty", hint="was the run that writes it cut short?")


def looks_like(path: Path, start: bytes) -> str | None:
    """The binary format that a file's first bytes announce, if any."""
    for name in ("parquet", "feather"):
        if registry.get("reader", name)().sniff(path, start):
            return name
    return None
