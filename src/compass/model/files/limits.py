"""What the process that runs a model may use, and how it gives up everything else."""

import ctypes
import os
import resource
import struct
from contextlib import suppress
from typing import Any

from pydantic import Field

from compass.domain.base import Noun


class Limits(Noun):
    """What a model that somebody brought may use."""

    size: int = Field(512 * 2**20, gt=0, description="bytes that its file may have")
    memory: int = Field(4 * 2**30, gt=0, description="bytes of address space of its process")
    seconds: float = Field(10.0, gt=0, description="for a call of up to 65,536 rows")
    loading: float = Field(120.0, gt=0, description="seconds to import its library and load it")


_NEW_USER, _NEW_NET = 0x10000000, 0x40000000
_NO_NEW_PRIVILEGES = 38  # PR_SET_NO_NEW_PRIVS
_LANDLOCK_CREATE, _LANDLOCK_RESTRICT = 444, 446  # system calls, the same on every architecture
# Landlock's rights: execute, write, and everything that creates, moves or removes a file.
_EXECUTE, _WRITE, _CHANGES = 1 << 0, 1 << 1, sum(1 << bit for bit in range(4, 13))
_REFER, _TRUNCATE = 1 << 13, 1 << 14


def without_network() -> bool:
    """Leave the network; must come first, while there is one thread. Tells whether it worked."""
    kernel = _kernel()
    if kernel is None:
        return False
    user, group = os.getuid(), os.getgid()
    if kernel.unshare(_NEW_NET) == 0:
        return True
    if kernel.unshare(_NEW_USER | _NEW_NET) != 0:
        return False
    # The person stays the same person inside; some libraries ask who that is.
    with suppress(OSError):
        for file, text in (
            ("setgroups", "deny"),
            ("uid_map", f"{user} {user} 1"),
            ("gid_map", f"{group} {group} 1"),
        ):
            with open(f"/proc/self/{file}", "w", encoding="ascii") as target:
                target.write(text)
    return True


def bounded(memory: int) -> None:
    """Bound the address space, and leave no core file."""
    _lower(resource.RLIMIT_CORE, 0)
    if hasattr(resource, "RLIMIT_AS"):
        _lower(resource.RLIMIT_AS, memory)


def read_only() -> bool:
    """Give up writing to files and starting programs; tells whether the kernel takes part.

    Where it does not know Landlock, files still cannot grow, but empty ones can be made.
    """
    _lower(resource.RLIMIT_FSIZE, 0)
    kernel = _kernel()
    if kernel is None:
        return False
    kernel.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    version = landlock()
    if version < 1:
        return False
    rights = _EXECUTE | _WRITE | _CHANGES
    rights |= (_REFER if version >= 2 else 0) | (_TRUNCATE if version >= 3 else 0)
    wanted = struct.pack("=Q", rights)
    rules = kernel.syscall(_LANDLOCK_CREATE, wanted, len(wanted), 0)
    if rules < 0:
        return False
    done = bool(kernel.syscall(_LANDLOCK_RESTRICT, rules, 0) == 0)
    os.close(rules)
    return done


def landlock() -> int:
    """The version of Landlock that the kernel knows; below 1: none."""
    kernel = _kernel()
    return -1 if kernel is None else int(kernel.syscall(_LANDLOCK_CREATE, None, 0, 1))


def at_most(seconds: float) -> None:
    """Let the kernel end this process after so much more processor time."""
    # Compass ends a call that takes too long; this ends one that nobody waits for any more.
    used = resource.getrusage(resource.RUSAGE_SELF)
    end = int(used.ru_utime + used.ru_stime + 2 * seconds) + 2
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    soft = end if hard == resource.RLIM_INFINITY else min(end, hard)
    resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def _lower(what: int, wanted: int) -> None:
    _, hard = resource.getrlimit(what)
    value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    with suppress(OSError, ValueError):  # some systems refuse limits on address space
        resource.setrlimit(what, (value, value))


def _kernel() -> Any:
    if os.uname().sysname != "Linux":
        return None
    kernel = ctypes.CDLL(None, use_errno=True)
    kernel.syscall.restype = ctypes.c_long
    return kernel
