"""Memory of working processes, as the system reports it; where it does not, nothing is claimed."""

import os
import re
import resource
from pathlib import Path

from compass.server.sizes import readable_size

_CGROUPS = Path("/sys/fs/cgroup")
# Of the group of processes that the server is in (cgroup v2), and of the whole machine.
_COUNTERS = (Path("/sys/fs/cgroup/memory.events"), Path("/proc/vmstat"))


def of_machine() -> int:
    """Bytes that all processes here may hold together: of the machine, or of the container."""
    limits = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    # Control groups of version 2 say a number or `max`; of version 1 a huge number where there is
    # no limit.
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        limits += map(int, re.findall(r"^[1-9][0-9]*$", _text(_CGROUPS / name), re.MULTILINE))
    return min(limits)


def resident(pid: int) -> int:
    """Bytes that a process holds; 0: not known."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize()
    except (OSError, ValueError, IndexError):
        return 0


def shortages() -> int:
    """How many processes the system has ended because there was no more memory."""
    return sum(_count(path) for path in _COUNTERS)


def _count(path: Path) -> int:
    found = re.search(r"^oom_kill (\d+)$", _text(path), re.MULTILINE)
    return int(found[1]) if found else 0


def described(held: int, limit: int) -> str:
    """How much memory a process held, for people; empty: not known."""
    if not held:
        return ""
    return f"it held {readable_size(held)} of the {readable_size(limit)} of memory that it may"


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
