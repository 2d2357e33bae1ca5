"""Files that are replaced whole or not at all, whatever happens while they are written.

The content goes to a temporary file first, reaches the disk, and only then takes the place of the
old file in one step; the new name reaches the disk, too. A program that is killed, or a disk that
is full, leaves the old file as it was.

    with files.replacing(path) as temporary:
        temporary.write_bytes(content)

Also the folder in which a person's programs keep what can be made again.
"""

import errno
import hashlib
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from compass.domain.errors import EnvironmentProblem

PRIVATE = 0o600  # for its owner only, at no moment anybody else's
READABLE = 0o644  # for everybody, however strict the person's own files are

CACHE_VARIABLE = "COMPASS_CACHE"

# A folder that may be written to but not read, or a file system that cannot sync folders.
_NO_FOLDER_SYNC = (errno.EACCES, errno.EPERM, errno.EINVAL, errno.ENOTSUP, errno.EBADF)


@contextmanager
def replacing(path: Path, mode: int | None = None, folder: Path | None = None) -> Iterator[Path]:
    """An empty file to fill, which takes the place of `path` unless an exception is raised.

    `mode` are its permissions; without them, those that the person's umask gives to any file.
    `folder` is where it is until then, on the same file system; by default the folder of `path`.
    """
    # A long name must not make the temporary one too long.
    temporary = (folder or path.parent) / f".{path.name[:50]}-{secrets.token_hex(6)}"
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    handle = os.open(temporary, flags, 0o666 if mode is None else PRIVATE)
    try:
        yield temporary
        if mode is not None:
            os.fchmod(handle, mode)
        os.fsync(handle)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    finally:
        os.close(handle)
    sync_folder(path.parent)


def write_bytes(path: Path, content: bytes, mode: int | None = None) -> None:
    """Replace a file by one with this content; what is no file (/dev/stdout) is written to."""
    if path.exists() and not path.is_file():
        path.write_bytes(content)
        return
    with replacing(path, mode) as temporary:
        temporary.write_bytes(content)


def write_text(path: Path, text: str, mode: int | None = None) -> None:
    """Replace a file by one with this text, in UTF-8 and with its line ends as they are."""
    write_bytes(path, text.encode("utf-8"), mode)


def sync(path: Path) -> None:
    """Return when the content of a file, or the names in a folder, have reached the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_folder(folder: Path) -> None:
    """Return when the names in a folder have reached the disk, where the system can tell."""
    try:
        sync(folder)
    except OSError as error:
        if error.errno not in _NO_FOLDER_SYNC:
            raise


def sync_tree(folder: Path) -> None:
    """Return when a folder and everything in it has reached the disk."""
    for base, _, names in os.walk(folder):
        for name in names:
            sync(Path(base, name))
        sync(Path(base))


def digest(path: Path) -> str:
    """A short hash of what is in a file, to tell it from another or from a damaged one."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def cache_folder() -> Path:
    """Where what can be made again is kept: $COMPASS_CACHE, or the user's cache folder."""
    given = os.environ.get(CACHE_VARIABLE)
    if given:
        try:
            return Path(given).expanduser()
        except RuntimeError:  # a person that this machine does not know
            raise EnvironmentProblem(
                f"{CACHE_VARIABLE}={given[:200]}: there is no such home folder",
                hint=f"write the whole path: {CACHE_VARIABLE}=/home/NAME/...",
            ) from None
    from platformdirs import user_cache_path  # the folder that the system means for this

    return user_cache_path("compass")
