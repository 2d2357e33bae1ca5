"""What a run printed or wrote, read in bounded memory: outputs may be gigabytes long."""

import os
import re
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from compass.domain.errors import DataProblem

CHUNK = 4 * 2**20  # bytes that are looked at together
_END = 2**16  # of the end that is looked at for a last line
_BREAK = re.compile(rb"[\r\n]")
_SHOWN = 200  # characters of an output that a reason repeats


class Text:
    """Files that are one text, the one after the other."""

    def __init__(self, paths: Sequence[Path], what: str) -> None:
        self.paths = tuple(paths)
        self.what = what  # for messages: the output, or the name of a file

    def chunks(self) -> Iterator[str]:
        """All lines, as many at a time as fit into a chunk; a longer line comes in pieces."""
        left = b""
        for path in self.paths:
            with opened(path, self.what) as file:
                while piece := file.read(CHUNK):
                    whole = left + piece
                    end = max(whole.rfind(b"\n"), whole.rfind(b"\r")) + 1
                    if not end and len(whole) > 2 * CHUNK:
                        end = len(whole)
                    left = whole[end:]
                    yield _as_text(whole[:end])
        if left:
            yield _as_text(left)

    def end(self, size: int) -> str:
        """The last bytes as text, from the beginning of a line on where the text is longer."""
        found = b""
        for path in reversed(self.paths):
            with opened(path, self.what) as file:
                length = file.seek(0, os.SEEK_END)
                file.seek(max(0, length - (size - len(found))))
                found = file.read(size - len(found)) + found
            if len(found) >= size:
                cut = _BREAK.search(found)
                found = found[cut.end() :] if cut else found
                break
        return found.decode("utf-8", errors="replace")

    def last_line(self) -> str:
        """The last line that is not empty; an empty text if there is none."""
        lines = re.split(r"[\r\n]", self.end(_END))
        return next((line.strip() for line in reversed(lines) if line.strip()), "")


def opened(path: Path, what: str) -> BinaryIO:
    """A file for reading; DataProblem unless it is there and a regular one."""
    try:
        # Without O_NONBLOCK a named pipe would be waited for.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as problem:
        reason = "is not there" if isinstance(problem, FileNotFoundError) else problem.strerror
        raise DataProblem(f"{what} {reason}") from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise DataProblem(f"{what} is no file that can be read")
    return os.fdopen(handle, "rb")


def shown(text: str) -> str:
    """The end of a text as a reason repeats it: one line, short, without signs for terminals."""
    line = " ".join(text[-4 * _SHOWN :].split())
    line = "".join(sign if sign.isprintable() else "?" for sign in line)
    return line if len(line) <= _SHOWN else "..." + line[-_SHOWN:]


def _as_text(content: bytes) -> str:
    return content.replace(b"\r", b"\n").decode("utf-8", errors="replace")
