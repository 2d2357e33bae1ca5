"""Describes the machine a measurement was made on, without naming the host or its paths."""

from __future__ import annotations

import datetime
import os
import platform
import shlex
import shutil
import subprocess
from pathlib import Path

from compass.domain.errors import EnvironmentProblem
from compass.execute.processors import affinity

_CPU_INFO = Path("/proc/cpuinfo")
_MEMORY_INFO = Path("/proc/meminfo")
_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_COMPILERS = ("gcc", "cc", "clang")
_INSTALL_HINT = "Install a C compiler with OpenMP, for example gcc, or name one in the CC variable."


def find_compiler() -> list[str]:
    """Returns the command of the C compiler: the CC variable if set, else gcc, cc or clang."""
    wanted = shlex.split(os.environ.get("CC", ""))
    for command in [wanted] if wanted else [[name] for name in _COMPILERS]:
        if shutil.which(command[0]) is not None:
            return command
    named = f"'{wanted[0]}' (from the CC variable)" if wanted else "gcc, cc or clang"
    raise EnvironmentProblem(f"No C compiler found: looked for {named}.", hint=_INSTALL_HINT)


def compiler_version(compiler: list[str]) -> str:
    """Returns the first line the compiler prints about its version, or 'unknown'."""
    answer = subprocess.run(  # noqa: S603 - the compiler the person chose
        [*compiler, "--version"], capture_output=True, text=True, check=False, timeout=30
    )
    lines = answer.stdout.splitlines()
    return lines[0].strip() if lines else "unknown"


def describe(compiler: list[str]) -> dict[str, object]:
    """Returns what a reader needs to judge measured times: processor, caches, memory, compiler."""
    return {
        "cpu": _cpu_field("model name") or platform.machine(),
        "architecture": platform.machine(),
        "cores": affinity(),
        "caches_kib": caches_kib(),
        "memory_mib": _memory_mib(),
        "virtual_machine": "hypervisor" in _cpu_field("flags").split(),
        "compiler": compiler_version(compiler),
        "operating_system": f"{platform.system()} {platform.release()}",
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }


def caches_kib(root: Path = _CACHES) -> dict[str, int]:
    """Returns the size in KiB of each cache level of the first core, as far as it is known."""
    sizes: dict[str, int] = {}
    for entry in sorted(root.glob("index*")):
        kind, level = _read(entry / "type").strip(), _read(entry / "level").strip()
        size = _read(entry / "size").strip()
        if kind in ("Data", "Unified") and size.endswith("K"):
            sizes[f"L{level}"] = int(size[:-1])
    return sizes


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""  # not Linux, or not shown by this kernel: the field stays unknown


def _cpu_field(name: str) -> str:
    for line in _read(_CPU_INFO).splitlines():
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return ""


def _memory_mib() -> int:
    for line in _read(_MEMORY_INFO).splitlines():
        if line.startswith("MemTotal:"):
            return int(line.split()[1]) // 1024
    return 0
