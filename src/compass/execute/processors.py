"""How many processors this process may use."""

import math
import os
from functools import cache
from pathlib import Path

_CGROUPS = Path("/sys/fs/cgroup")
_most = 1 << 20


def cores() -> int:
    """How many processors this process may use: its affinity and the share of its container."""
    share = _container()
    allowed = min(affinity(), _most)
    return allowed if share is None else max(1, min(allowed, math.ceil(share)))


def affinity() -> int:
    """How many processors this process may run on, whatever share of them a container gets."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def at_most(count: int) -> None:
    """Use no more than this from now on: several processes share the machine."""
    global _most  # noqa: PLW0603 - it is about the whole process
    _most = max(1, count)


@cache
def _container() -> float | None:
    """The share of the container, read once: every compiled loop asks for it."""
    return _share(_CGROUPS)


def _share(groups: Path) -> float | None:
    """Processors that a container may use at a time, or None where nobody set a limit."""
    # Control groups of version 2 say `150000 100000`, or `max 100000`; of version 1 -1 means none.
    quota, _, period = _text(groups / "cpu.max").partition(" ")
    first = [_text(groups / "cpu" / f"cpu.cfs_{what}_us") for what in ("quota", "period")]
    limits = [_quotient(quota, period), _quotient(*first)]
    return min((limit for limit in limits if limit is not None), default=None)


def _quotient(quota: str, period: str) -> float | None:
    if not (quota.strip().isdigit() and period.strip().isdigit() and int(period)):
        return None
    return int(quota) / int(period) or None


def _text(file: Path) -> str:
    try:
        return file.read_text()
    except OSError:
        return ""
