"""Which files a person means, what format each has, and how to open it."""

import glob
from pathlib import Path
from typing import cast

import pyarrow as pa

from compass import registry
from compass.domain.errors import DataProblem, nearest
from compass.readers.base import Reader

_COMPRESSED = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}
_HEAD = 1 << 20  # bytes; the widest headers have some thousand columns


def opened(path: Path) -> pa.NativeFile:
    """The file as a stream of uncompressed bytes."""
    try:
        codec = _COMPRESSED.get(path.suffix.lower())
        if codec is None:
            return pa.OSFile(str(path), "rb")
        return pa.input_stream(str(path), compression=codec)
    except OSError as problem:
        raise cannot_open(path, problem) from problem


def content(path: Path) -> pa.NativeFile:
    """The whole uncompressed file, for formats that have to jump about in it."""
    if path.suffix.lower() not in _COMPRESSED:
        return opened(path)
    with opened(path) as stream:
        return pa.BufferReader(stream.read_buffer())


def head(path: Path) -> bytes:
    """The first bytes of the file, uncompressed."""
    with opened(path) as stream:
        try:
            return cast(bytes, stream.read(_HEAD))
        except OSError as problem:
            raise DataProblem(
                f"cannot uncompress {path}: {problem}",
                hint=f"is it really a {path.suffix} file, and complete?",
            ) from problem


def cannot_open(path: Path, problem: OSError) -> DataProblem:
    """The error for a file that the system does not let us open."""
    if isinstance(problem, PermissionError):
        return DataProblem(
            f"not allowed to read {path}", hint=f"ask its owner, or: chmod u+r {path}"
        )
    if isinstance(problem, FileNotFoundError):
        return missing(path)
    return DataProblem(f"cannot open {path}: {problem.strerror or problem}", hint="is it a file?")


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


def expand(source: str | Path) -> list[Path]:
    """The files that a path, a glob or a folder stands for."""
    path = Path(source).expanduser()
    try:
        if path.is_dir():
            return _in_folder(path)
        if path.exists():
            return [path]
    except PermissionError as problem:
        raise cannot_open(path, problem) from problem
    if not glob.has_magic(str(path)):
        raise missing(path)
    found = sorted(p for p in map(Path, glob.glob(str(path), recursive=True)) if p.is_file())
    if not found:
        raise DataProblem(
            f"no file matches {path}", hint="check the folder, and quote the pattern in a shell"
        )
    return found


def _in_folder(folder: Path) -> list[Path]:
    """The data files directly inside a folder, sorted; they must share one format."""
    known = readers()
    try:
        names = sorted(entry for entry in folder.iterdir() if not entry.name.startswith((".", "_")))
    except PermissionError as problem:
        raise cannot_open(folder, problem) from problem
    by_format: dict[str, list[Path]] = {}
    for path in names:
        if path.is_file() and (owners := _by_suffix(path, known)):
            by_format.setdefault(owners[0], []).append(path)
    if not by_format:
        endings = ", ".join(s for reader in known.values() for s in reader.suffixes)
        raise DataProblem(
            f"the folder {folder} holds no file that can be read",
            hint=f"data files end in {endings} (perhaps with .gz or .zst)",
        )
    if len(by_format) > 1:
        example = next(iter(by_format.values()))[0]
        raise DataProblem(
            f"the folder {folder} holds files of several formats: {', '.join(sorted(by_format))}",
            hint=f"name the ones you mean, e.g. '{folder}/*{example.suffix}'",
        )
    return next(iter(by_format.values()))


def _by_suffix(path: Path, known: dict[str, Reader]) -> list[str]:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    if not suffixes:
        return []
    return [name for name, reader in known.items() if suffixes[-1] in reader.suffixes]


def reader_for(path: Path) -> Reader:
    """The reader that this file's suffix names, or else the one that recognises its content."""
    known = readers()
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
