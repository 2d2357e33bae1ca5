"""Notices when other work disturbs a measurement, so that it can be made again."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

Result = TypeVar("Result")

# Cores' worth of other work. A tick based clock is wrong by about 0.03 for half a second.
DISTURBED_ABOVE = 0.08
_STAT = Path("/proc/stat")
_IDLE_FIELDS = (3, 4)  # idle and waiting for input or output
_COUNTED_FIELDS = 8  # up to stolen time; guest time is already part of user time


def watched(action: Callable[[], Result]) -> tuple[Result, float]:
    """Runs an action; returns its result and how many cores other work used meanwhile."""
    began, busy, own = time.monotonic(), _busy_seconds(), _own_seconds()
    result = action()
    took = max(time.monotonic() - began, 1e-9)
    others = (_busy_seconds() - busy) - (_own_seconds() - own)
    return result, max(0.0, others) / took


def _busy_seconds() -> float:
    """Returns the seconds all cores worked, or were taken by other machines, since the start."""
    try:
        first = _STAT.read_text(encoding="ascii").split("\n", 1)[0]
    except OSError:
        return _own_seconds()  # not Linux: other work stays unseen
    ticks = [int(text) for text in first.split()[1 : 1 + _COUNTED_FIELDS]]
    busy = sum(count for field, count in enumerate(ticks) if field not in _IDLE_FIELDS)
    return busy / os.sysconf("SC_CLK_TCK")


def _own_seconds() -> float:
    """Returns the processor seconds of this process and of its finished children."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


class QuietWait:
    """Waits for other work to end, for a limited time in all, so that a sweep always ends."""

    def __init__(self, seconds: float) -> None:
        self.left = seconds

    def wait_until_quiet(self, look: float = 0.3) -> None:
        """Returns when other work has ended or the time for it has."""
        began = time.monotonic()
        while time.monotonic() - began < self.left:
            _, others = watched(lambda: time.sleep(look))
            if others <= DISTURBED_ABOVE:
                break
        self.left = max(0.0, self.left - (time.monotonic() - began))
