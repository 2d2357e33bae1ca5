"""Which paths on the server people may name."""

import os
from collections.abc import Sequence
from pathlib import Path

from compass.server.problems import Refused, too_large

_MOST_FILES = 10_000  # they are looked at whenever the folder is used


def allowed(path: str, folders: Sequence[Path]) -> Path:
    """A path inside one of the folders; links are followed before it is judged."""
    if not folders:
        raise Refused(
            403,
            "no-folders",
            "this server reads no files by path",
            hint="upload the file; an operator can allow a folder with --allow",
        )
    denied = Refused(
        403,
        "not-allowed",
        "this path is not in a folder that the operator allows",
        hint="upload the file, or ask the operator",
    )
    try:
        real = Path(os.path.realpath(path, strict=True))
    except (OSError, ValueError):
        raise denied from None  # whether it exists is not told either
    if not _inside(real, folders) or not (real.is_file() or real.is_dir()):
        raise denied
    seen = 0
    for base, below, files in os.walk(real):
        seen += len(below) + len(files)
        if seen > _MOST_FILES:
            raise too_large(
                f"the folder has more than {_MOST_FILES:,} files and folders below it",
                "name a folder further down, or a file",
            )
        links = [one for name in (*below, *files) if (one := Path(base, name)).is_symlink()]
        if not all(_inside(Path(os.path.realpath(link)), folders) for link in links):
            raise denied
    return real


def _inside(real: Path, folders: Sequence[Path]) -> bool:
    return any(real.is_relative_to(os.path.realpath(one)) for one in folders)
