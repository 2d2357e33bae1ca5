"""Files to upload: past runs and models."""

import hashlib
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

from compass.domain.api import About
from compass.domain.errors import BadInput

_PIECE = 1 << 20


@dataclass(frozen=True, eq=False)
class Sent:
    """A file to send."""

    name: str
    content: BinaryIO

    @property
    def digest(self) -> str:
        """SHA-256, by which a server knows what it has."""
        found = hashlib.sha256()
        self.content.seek(0)
        while piece := self.content.read(_PIECE):
            found.update(piece)
        return found.hexdigest()


@contextmanager
def as_file(source: Any, about: About, name: str | None = None) -> Iterator[Sent]:
    """Anything that `read` takes, as a file that the server takes.

    A CSV, TSV or Parquet file goes as it is; everything else is read here and goes as Parquet,
    called `name`.
    """
    path = Path(source) if isinstance(source, str | PathLike) else None
    if path is not None and _is_file(path) and path.suffix.lower()[1:] in about.uploads:
        with opened(path, about) as file:
            yield file
        return
    from compass.readers import read
    from compass.readers.write import write

    table = read(source)
    with tempfile.TemporaryDirectory(prefix="compass-") as folder:
        written = write(table, Path(folder) / "runs.parquet")
        with opened(written, about) as file:
            yield Sent(_name(source if name is None else name), file.content)


@contextmanager
def opened(path: Path, about: About) -> Iterator[Sent]:
    """A file to send as it is."""
    try:
        size = path.stat().st_size
        content = path.open("rb")
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}", hint="check the path") from None
    with content:
        # Refused before it is sent, not at the end.
        if size > about.limits.upload_bytes:
            raise BadInput(
                f"{path} is larger than the {about.limits.upload_bytes / 2**20:.0f} MiB that the "
                "server takes",
                hint="make a sample that stands for all rows with compass reduce, "
                "or leave columns out",
            )
        if not size:
            raise BadInput(f"{path} is empty", hint="name a file with runs in it")
        yield Sent(_printable(path.name), content)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError as error:  # a name that no file system takes
        raise BadInput(
            f"cannot open {str(path)[:80]}: {error.strerror}", hint="name a file or a folder"
        ) from None


def _name(source: Any) -> str:
    """The name of runs that were read on this side."""
    if isinstance(source, str | PathLike):
        return f"{_printable(Path(str(source)).name)[:150]}.parquet"
    return "runs.parquet"


def _printable(name: str) -> str:
    return "".join(sign if sign.isprintable() else "_" for sign in name)[-150:]
