"""Work that takes its time on a server: followed as it happens, and ended with Ctrl-C."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

import httpx

from compass.client.link import Link
from compass.client.nouns import JobInfo, understood
from compass.client.problems import error_of
from compass.domain.errors import CompassError, EnvironmentProblem

Progress = Callable[[str, int, int], None]

_PAUSE = 0.5  # seconds between two looks at a server that is not there at the moment
_DATA = "data: "


def finished(link: Link, begun: JobInfo, progress: Progress | None = None) -> JobInfo:
    """Wait for a job to be done and report its progress; one that failed raises its problem.

    Whatever interrupts the wait (Ctrl-C, an error in `progress`) ends the job too. A server that
    is started again in between goes on with the job, and so does this.
    """
    try:
        job = _followed(link, begun, progress or _nobody)
    except CompassError:
        raise
    except BaseException:
        with suppress(CompassError):
            link.call("DELETE", f"/jobs/{begun.id}")
        raise
    if job.problem is not None:
        raise error_of(job.problem)
    if job.state != "done":
        raise EnvironmentProblem("the job was cancelled", hint="start it again")
    return job


def _nobody(_: str, __: int, ___: int) -> None:
    """Nobody wants to know."""


def _followed(link: Link, job: JobInfo, progress: Progress) -> JobInfo:
    lost: float | None = None
    while not job.over:
        for seen in _events(link, job.id):
            job, lost = seen, None
            if job.stage:
                progress(job.stage, job.done, job.total)
        if job.over:
            break
        try:
            job = understood(JobInfo, link.call("GET", f"/jobs/{job.id}"))
            lost = None
        except EnvironmentProblem:
            now = time.monotonic()
            lost = now if lost is None else lost
            if now - lost > link.patience:
                raise
        if not job.over:
            time.sleep(_PAUSE)
    return job


def _events(link: Link, name: str) -> Iterator[JobInfo]:
    """A job each time something about it is new, as long as the stream lasts."""
    stream = _stream(link, name)
    while True:
        try:
            seen = next(stream)
        # A stream that breaks, or is one too many for the server, is replaced by looking.
        except (StopIteration, httpx.TransportError, CompassError, ValueError):
            return
        yield seen


def _stream(link: Link, name: str) -> Iterator[JobInfo]:
    with link.lines(f"/jobs/{name}/events") as lines:
        for line in lines:
            if line.startswith(_DATA):
                yield understood(JobInfo, json.loads(line.removeprefix(_DATA)))
