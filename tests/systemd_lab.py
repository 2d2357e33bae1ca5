"""A real systemd for tests: booted in a container that sees nothing of this machine but programs.

`systemd-nspawn --volatile=yes`: the container gets /usr to read, and all else in it is its own and
gone with it. Its network is its own too.
"""

import contextlib
import os
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil

_PATIENCE = 120.0  # seconds; it takes about five on a quiet machine
_NAME = "compass-tests"
_PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# What a first boot would ask at a terminal; services of this machine that have nothing to do there.
_NOT = ("systemd-firstboot.service", "console-getty.service", "getty@.service")


class NotHere(Exception):
    """Why there can be no systemd on this machine."""


@dataclass(frozen=True)
class SystemdLab:
    """The running systemd."""

    leader: int

    def run(self, *words: str, fails: bool = False) -> str:
        """Run a command inside; what it printed."""
        done = subprocess.run(
            ["nsenter", "-t", str(self.leader), "-a", "--", "/usr/bin/env", "-i", _PATH, *words],
            capture_output=True,
            text=True,
            check=False,
            timeout=_PATIENCE,
        )
        assert fails or done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    def until(self, *words: str, prints: str) -> None:
        """Run a command until it prints this."""
        end = time.monotonic() + _PATIENCE
        while prints not in (said := self.run(*words, fails=True)):
            assert time.monotonic() < end, (words, said)
            time.sleep(0.2)


@contextlib.contextmanager
def booted(units: Path, program: str, sources: Path, folder: Path) -> Iterator[SystemdLab]:
    """A systemd that has these units, and this program, which runs Compass from its sources."""
    if os.geteuid() != 0:
        raise NotHere("only root boots a container")
    if shutil.which("systemd-nspawn") is None:
        raise NotHere("systemd-nspawn is not installed (Debian: systemd-container)")
    starter = folder / "compass"
    starter.write_text(
        "#!/bin/sh\nexport LD_LIBRARY_PATH=/opt/python/lib PYTHONPATH=/opt/src:/opt/site\n"
        f'exec /opt/python/bin/python{sys.version_info[0]} -m compass.cli.main "$@"\n'
    )
    starter.chmod(0o755)
    shown = {
        Path(sys.base_prefix): "/opt/python",
        Path(sysconfig.get_path("purelib")): "/opt/site",
        sources: "/opt/src",
        starter: program,
        **{unit: f"/etc/systemd/system/{unit.name}" for unit in sorted(units.iterdir())},
    }
    with (folder / "boot.log").open("w") as log:
        container = subprocess.Popen(
            _words(shown), stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    try:
        lab = SystemdLab(_leader(container, folder / "boot.log"))
        lab.until("systemctl", "is-active", "basic.target", prints="active\n")
        yield lab
    finally:
        for one in reversed(_all(container.pid)):
            with contextlib.suppress(psutil.Error):
                one.kill()
        container.wait()


def _words(shown: Mapping[Path, str]) -> list[str]:
    return [
        *("unshare", "--mount", "--", "systemd-nspawn", "--quiet", "--directory=/"),
        *("--volatile=yes", "--boot", "--private-network", "--register=no", "--keep-unit"),
        *(f"--machine={_NAME}", "--link-journal=no", "--console=pipe"),
        *(f"--bind-ro={place}:{inside}" for place, inside in shown.items()),
        *(f"--bind-ro=/dev/null:/etc/systemd/system/{name}" for name in _NOT),
        *("--", "--unit=basic.target", "--show-status=0"),
    ]


def _leader(container: "subprocess.Popen[bytes]", log: Path) -> int:
    """The first process of the container, once it listens to commands."""
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        if container.poll() is not None:
            raise NotHere(f"no container can be booted: {log.read_text()[-500:]}")
        for one in _all(container.pid):
            with contextlib.suppress(psutil.Error):
                if (
                    one.name() == "systemd"
                    and Path(f"/proc/{one.pid}/root/run/systemd/private").exists()
                ):
                    return one.pid
        time.sleep(0.1)
    raise NotHere(f"the container does not start: {log.read_text()[-500:]}")


def _all(process: int) -> list[psutil.Process]:
    with contextlib.suppress(psutil.Error):
        first = psutil.Process(process)
        return [first, *first.children(recursive=True)]
    return []
