"""Work that the tests of executors hand out: importable by every worker."""

import os
import signal
import time
from pathlib import Path
from typing import Any


class Odd(Exception):
    """An exception that cannot be unpacked: it wants two arguments."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(f"{one} and {two}")


def double(item: int) -> int:
    return 2 * item


def odd(item: int) -> int:
    raise Odd("this", "that")


def process(item: int) -> int:
    """The process that did the work; slow enough for others to get some."""
    time.sleep(0.02)
    return os.getpid()


def marked(item: tuple[str, int, float]) -> int:
    """Leaves a file behind, so that it can be counted what has begun."""
    folder, number, seconds = item
    (Path(folder) / f"{number}-{time.monotonic_ns()}").touch()
    time.sleep(seconds)
    return number


def deadly(item: tuple[str, int, int]) -> int:
    """Dies without a word the first `times` times that it gets this number."""
    folder, number, times = item
    place = Path(folder)
    if len(list(place.glob(f"died-{number}-*"))) < times:
        (place / f"died-{number}-{time.monotonic_ns()}").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    (place / f"done-{number}-{time.monotonic_ns()}").touch()
    return number


def unpackable(item: int) -> object:
    """A result that cannot travel."""
    return lambda: item


def slow(seconds: float) -> None:
    time.sleep(seconds)


def total(data: Any, factor: float) -> float:
    return float(factor * data.sum())
