"""Memory of working processes, as the system reports it; where it does not, nothing is claimed."""

import re
import resource
from pathlib import Path

from compass.server.sizes import readable_size

# Of the group of processes that the server is in (cgroup v2), and of the whole machine.
_COUNTERS = (Path("/sys/fs/cgroup/memory.events"), Path("/proc/vmstat"))


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
    try:
        found = re.search(r"^oom_kill (\d+)$", path.read_text(), re.MULTILINE)
    except OSError:
        return 0
    return int(found[1]) if found else 0


def described(held: int, limit: int) -> str:
    """How much memory a process held, for people; empty: not known."""
    if not held:
        return ""
    return f"it held {readable_size(held)} of the {readable_size(limit)} of memory that it may"
