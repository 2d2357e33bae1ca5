"""Files that commands write, and lines on standard error."""

import io
import os
import shlex
import sys
from pathlib import Path

from compass.domain.errors import BadInput


def check_output(*paths: Path | None) -> None:
    """Refuse before the work, not after it, a file that cannot be written."""
    for path in paths:
        if path is None:
            continue
        if path.is_dir():
            raise BadInput(f"cannot write {path}: it is a folder", hint="name a file in it")
        if not path.parent.is_dir():
            raise BadInput(
                f"cannot write {path}: there is no folder {path.parent}",
                hint=f"make it first: mkdir -p {shlex.quote(str(path.parent))}",
            )
        if not os.access(path.parent, os.W_OK):
            raise BadInput(f"not allowed to write into {path.parent}", hint="choose another folder")


def visible(words: str) -> str:
    """Words as they are, but for control characters, which could move the cursor."""
    return "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in words)


def print_line(text: str) -> None:
    """A line on standard error, beside what a command prints.

    Names in it may come from a stranger's table.
    """
    sys.stderr.write(visible(text) + "\n")


def print_utf8(text: str) -> None:
    """A line of JSON on standard output: in UTF-8, whatever the terminal is."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    sys.stdout.write(text + "\n")
