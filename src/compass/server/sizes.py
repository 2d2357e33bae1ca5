"""Sizes in bytes: of folders, and as text."""

import os
from contextlib import suppress
from pathlib import Path


def size_of(folder: Path) -> int:
    """Bytes of all files below a folder."""
    total = 0
    for base, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += os.lstat(os.path.join(base, name)).st_size
    return total


def readable_size(count: float) -> str:
    """A number of bytes as text, e.g. `4 GiB`."""
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if count < 1024 or unit == "GiB":
            return (
                f"{count:.0f} {unit}" if count >= 10 or unit == "bytes" else f"{count:.1f} {unit}"
            )
        count /= 1024
    raise AssertionError
