"""Which drivers of an experiment are there: what a dead one was making is taken over.

On this machine a driver is there as long as it holds the lock of a file of its own, which the
kernel takes away whenever it ends. Of other machines it is known by what it told the store.
"""

import fcntl
import os
import secrets
import socket
from pathlib import Path
from typing import TYPE_CHECKING

from compass.domain.errors import EnvironmentProblem

if TYPE_CHECKING:
    from compass.experiment.experiment import Experiment

SILENT = 300.0  # seconds after which a driver of another machine counts as gone
BEAT = 20.0  # seconds between two signs of life
_PREFIX = "driver"


class DriverMark:
    """The name of this driver, and the lock that tells others that it is there."""

    def __init__(self, folder: Path) -> None:
        token = secrets.token_hex(4)
        self.name = f"{_PREFIX} {socket.gethostname()} {os.getpid()} {token}"
        self._path = folder / f".{_PREFIX}-{token}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as problem:
            raise EnvironmentProblem(
                f"{folder} cannot be used for the runs: {problem.strerror or problem}",
                hint="start this where you may write, or name another store",
            ) from None

    def close(self) -> None:
        """Be there no more."""
        self._path.unlink(missing_ok=True)
        os.close(self._handle)


def is_gone(worker: str, experiment: "Experiment", folder: Path) -> bool:
    """Whether a worker is a driver that makes nothing any more."""
    parts = worker.split(" ")
    if len(parts) != 4 or parts[0] != _PREFIX:
        return False  # somebody who asked for runs and will tell them
    _, host, _, token = parts
    if host != socket.gethostname():
        return worker not in experiment.store.heard_of(experiment.name, SILENT)
    try:
        handle = os.open(folder / f".{_PREFIX}-{token}", os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(handle)
    return True
