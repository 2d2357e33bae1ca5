"""Streams of uncompressed bytes that stop before a small hostile file fills the machine."""

import io
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from compass.domain.errors import BadInput, DataProblem

COMPRESSED = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2", ".xz": "xz", ".lz4": "lz4"}
LIMIT_VARIABLE = "COMPASS_INFLATED_GIB"

_GIB = 1 << 30
_DEEPEST = 1000  # levels; Arrow's parser takes this many, and ends the whole process at 100,000


@dataclass(frozen=True)
class InflateLimits:
    """How far a compressed file may grow before reading it is refused."""

    total: int = 64 * _GIB  # bytes, whatever the file
    ratio: int = 500  # times its size on disk; a guess at what no table of real runs reaches
    free: int = _GIB // 4  # bytes that are always allowed, so that small regular files pass

    def allowed(self, size: int) -> int:
        """The most bytes that a file of this size on disk may become."""
        return min(self.total, max(self.free, self.ratio * size))


def ending(path: Path) -> str:
    """The ending that tells a file's format, in lower case: .csv of x.CSV.gz; empty: none."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    kept = suffixes[:-1] if suffixes and suffixes[-1] in COMPRESSED else suffixes
    return kept[-1] if kept else ""


def limits() -> InflateLimits:
    """The limits in force: the defaults, or what the person allows."""
    text = os.environ.get(LIMIT_VARIABLE, "").strip()
    if not text:
        return InflateLimits()
    try:
        total = float(text)
    except ValueError:
        total = float("nan")
    if not 0 < total < 1 << 30:
        raise BadInput(
            f"{LIMIT_VARIABLE}={text[:40]} is not a number of GiB", hint=f"e.g. {LIMIT_VARIABLE}=64"
        )
    # Who names a limit means it: the ratio, which guesses what is plausible, no longer counts.
    return InflateLimits(total=int(total * _GIB), free=int(total * _GIB))


def too_large(path: Path, allowed: int) -> DataProblem:
    """The error for a file that would grow beyond its limit."""
    size = path.stat().st_size
    return DataProblem(
        f"{path} has {_size_text(size)} but holds more than {_size_text(allowed)} when read",
        hint=f"if that is right, allow more: {LIMIT_VARIABLE}={2 * allowed / _GIB:.3g} (in GiB)",
    )


def _size_text(count: int) -> str:
    size = float(count)
    for unit in ("bytes", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.3g} {unit}"
        size /= 1024
    return f"{size:.3g} GiB"


class Inflating(io.RawIOBase):
    """The uncompressed bytes of a file, counted against its limit."""

    def __init__(self, path: Path) -> None:
        codec = COMPRESSED[path.suffix.lower()]
        if codec == "xz":
            import lzma  # Arrow has no codec for it

            self._source = lzma.open(path)  # noqa: SIM115  closed with this stream
        else:
            self._source = pa.input_stream(str(path), compression=codec)
        self._path = path
        self._left = self._allowed = limits().allowed(path.stat().st_size)

    def readable(self) -> bool:
        """Streams are read."""
        return True

    def read(self, size: int = -1) -> bytes:
        """The next bytes; an error once there are more than the file may hold."""
        try:
            piece: bytes = self._source.read(self._left + 1 if size < 0 else size)
        except (EOFError, pa.ArrowException, ValueError) as problem:  # EOFError: lzma, cut short
            raise OSError(str(problem)) from problem
        except Exception as problem:
            if type(problem).__name__ == "LZMAError":
                raise OSError(str(problem)) from problem
            raise
        self._left -= len(piece)
        if self._left < 0:
            raise too_large(self._path, self._allowed)
        return piece

    def close(self) -> None:
        """Close the file below too."""
        if not self.closed:
            self._source.close()
        super().close()


class Shallow(io.RawIOBase):
    """JSON lines that pass unless one is nested so deep that parsing it would end the process."""

    def __init__(self, source: pa.NativeFile, path: Path) -> None:
        self._source = source
        self._path = path
        self._depth = 0

    def readable(self) -> bool:
        """Streams are read."""
        return True

    def read(self, size: int = -1) -> bytes:
        """The next bytes, once they are found to be harmless."""
        piece: bytes = self._source.read() if size < 0 else self._source.read(size)
        if piece and self._deepest(piece) > _DEEPEST:
            raise DataProblem(
                f"{self._path} holds JSON that is nested more than {_DEEPEST} deep",
                hint="is it a table? each line must be one object",
            )
        return piece

    def _deepest(self, piece: bytes) -> int:
        """How deep the deepest line of this piece goes; brackets in texts count too."""
        letters = np.frombuffer(piece, np.uint8)
        depth = np.cumsum(_STEP[letters], dtype=np.int64) + self._depth
        ends = np.flatnonzero(letters == ord("\n"))
        # A line starts at depth 0, however many brackets the texts of the last one left open.
        base = np.zeros(len(letters), np.int64)
        base[ends] = np.diff(depth[ends], prepend=0)
        levels = depth - np.cumsum(base)
        self._depth = int(levels[-1])
        return int(levels.max())


_STEP = np.zeros(256, np.int8)
_STEP[[ord("["), ord("{")]] = 1
_STEP[[ord("]"), ord("}")]] = -1
