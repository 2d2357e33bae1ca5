"""Jobs on a server: their progress is followed, and Ctrl-C ends them."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import httpx

from compass.client.connection import ServerConnection
from compass.client.problems import error_of
from compass.client.replies import understood
from compass.domain.api import Job, State
from compass.domain.errors import CompassError, EnvironmentProblem

Progress = Callable[[str, int, int], None]

PAUSE = 0.5  # seconds between two looks at a server that is not there at the moment
_EVENT, _DATA = "event: ", "data: "


def finished(connection: ServerConnection, begun: Job, progress: Progress | None = None) -> Job:
    """Wait for a job to be done and report its progress; one that failed raises its problem.

    Whatever interrupts the wait (Ctrl-C, an error in `progress`) ends the job too. A server that
    is started again in between goes on with the job, and so does this.
    """
    try:
        job = _followed(connection, begun, progress or _nobody)
    except CompassError:
        raise
    except BaseException:
        with suppress(CompassError):
            connection.call("DELETE", f"/jobs/{begun.id}")
        raise
    if job.problem is not None:
        raise error_of(job.problem)
    if job.state is not State.DONE:
        raise EnvironmentProblem("the job was cancelled", hint="start it again")
    return job


def _nobody(_: str, __: int, ___: int) -> None:
    """Report progress to nobody."""


def _followed(connection: ServerConnection, job: Job, progress: Progress) -> Job:
    patience = Patience(connection.patience)
    while not job.state.over:
        for seen in _events(connection, job.id):
            job = seen
            patience.renew()
            if job.stage:
                progress(job.stage, job.done, job.total)
        if job.state.over:
            break
        with patience:
            job = understood(Job, connection.call("GET", f"/jobs/{job.id}"))
        if not job.state.over:
            time.sleep(PAUSE)
    return job


class Patience:
    """Bears with a server that is not there, for some seconds: it may be started again."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.lost: float | None = None

    def renew(self) -> None:
        """The server is there."""
        self.lost = None

    def __enter__(self) -> None:
        """Begin to look for it."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        """Go on where it was not there, unless that has taken too long."""
        if not isinstance(error, EnvironmentProblem):
            self.renew()
            return False
        now = time.monotonic()
        self.lost = now if self.lost is None else self.lost
        return now - self.lost <= self.seconds


def _events(connection: ServerConnection, name: str) -> Iterator[Job]:
    """A job each time something about it is new, as long as the stream lasts."""
    return (understood(Job, data) for _, data in events(connection, f"/jobs/{name}/events"))


def events(connection: ServerConnection, path: str) -> Iterator[tuple[str, Any]]:
    """The events of a stream, each with its name and data, as long as it lasts."""
    stream_of = stream(connection, path)
    while True:
        try:
            seen = next(stream_of)
        # A stream that breaks, or is one too many for the server, is replaced by looking.
        except (StopIteration, httpx.TransportError, CompassError, ValueError):
            return
        yield seen


def stream(connection: ServerConnection, path: str) -> Iterator[tuple[str, Any]]:
    """The events of a stream; raises what ends it before the server does."""
    name = ""
    with connection.lines(path) as lines:
        for line in lines:
            if line.startswith(_EVENT):
                name = line.removeprefix(_EVENT)
            if line.startswith(_DATA):
                yield name, json.loads(line.removeprefix(_DATA))
