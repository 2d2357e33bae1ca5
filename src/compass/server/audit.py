"""The audit log: who did what when, with which data and models; lines are only ever added.

One file of JSON lines for each day in `state/audit`. A line tells whose request it was (`user`;
null: the holder of a token or key), from where, what was done (`action`: the operation of the
HTTP interface), to what (`dataset`, `engine`, ... by id), how it ended (`status`), and which data
and models stand behind it (`data`: fingerprint of the runs, `models`: digest of what was learnt,
`made_by`: the version of Compass). The end of a job has a line of its own. What people ask and
what their tables hold is never in it.
"""

import hashlib
import heapq
import json
import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from compass.domain.api import EngineInfo, Job
from compass.server import logs
from compass.server.connections import source_of
from compass.server.people import current, person_of
from compass.server.problems import Refused
from compass.server.store import AUDIT, Workspace

_READ = ("GET", "HEAD", "OPTIONS")  # methods that change nothing
_DAY = r"([0-9]{4}-[0-9]{2}-[0-9]{2})(\.[0-9a-f]{16})?\.jsonl"
# What is found out about the request that is being served.
_FACTS: ContextVar[dict[str, Any] | None] = ContextVar("facts", default=None)


def note(**facts: Any) -> None:
    """Add to the line of the request that is being served; nothing where none is."""
    known = _FACTS.get()
    if known is not None:
        known.update(facts)


class AuditLog:
    """The files of the log, one for each day; of servers that share a state, one of each.

    Lines of two machines that add to one file on a network could be lost.
    """

    def __init__(self, state: Path, server: str = "") -> None:
        self.end = f".{server}.jsonl" if server else ".jsonl"
        self.folder = state / AUDIT
        self.folder.mkdir(exist_ok=True, mode=0o700)
        self._writing = threading.Lock()

    def add(self, **line: Any) -> None:
        """Add a line; where the disk takes none, it goes to the log of the server instead."""
        moment = datetime.now(UTC)
        line = {"time": moment.isoformat(timespec="milliseconds"), **line}
        try:
            with self._writing:
                self._append(moment.date(), json.dumps(line, default=str).encode() + b"\n")
        except OSError as error:
            logs.trouble("audit", error, line=line)

    def _append(self, day: date, written: bytes) -> None:
        path = self.folder / f"{day}{self.end}"
        handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            end = os.fstat(handle).st_size
            # A line that a full disk or a loss of power cut short must not spoil the next one.
            if end and os.pread(handle, 1, end - 1) != b"\n":
                written = b"\n" + written
            if os.write(handle, written) < len(written):
                raise OSError("the disk took only a part of a line")
        finally:
            os.close(handle)

    def days(self) -> list[date]:
        """The days of which there are files, the oldest first."""
        found = (re.fullmatch(_DAY, name) for name in os.listdir(self.folder))
        days = []
        for one in found:
            with suppress(ValueError):  # 2026-13-01
                days += [] if one is None else [date.fromisoformat(one[1])]
        return sorted(set(days))

    def _files(self, day: date) -> list[Path]:
        return sorted(self.folder.glob(f"{day}*.jsonl"))

    def lines(self, day: date) -> Iterator[dict[str, Any]]:
        """The lines of a day; one that was cut short is left out."""
        files = [_lines(one) for one in self._files(day)]
        # Each file is in the order of its times, as its server saw them.
        yield from heapq.merge(*files, key=lambda line: str(line.get("time")))

    def expire(self, days: float) -> int:
        """Remove files whose last line is older than so many days; how many. 0 days: none."""
        if not days:
            return 0
        oldest = datetime.now(UTC) - timedelta(days=days)
        gone = [day for day in self.days() if day < oldest.date()]
        for one in (path for day in gone for path in self._files(day)):
            one.unlink(missing_ok=True)
        return len(gone)

    def ended(self, workspace: Workspace, job: Job) -> None:
        """Note the end of a job."""
        if job.kind == "complete":  # more of an answer that has a line already
            return
        someone = current()
        about = {name: getattr(job, name) for name in ("dataset", "engine", "outcome", "answer")}
        self.add(
            user=None if someone is None else someone.name,
            workspace=workspace.id,
            action=f"job_{job.kind}",
            state=job.state.value,
            job=job.id,
            **{name: value for name, value in about.items() if value is not None},
            **({"code": job.problem.code} if job.problem is not None else {}),
            **versions(workspace, job.engine),
        )


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with suppress(FileNotFoundError), path.open("rb") as file:
        for line in file:
            with suppress(ValueError):
                yield json.loads(line)


def versions(workspace: Workspace, engine: str | None) -> dict[str, str]:
    """Which data and models an engine has; nothing where it is gone, or not there yet."""
    if engine is None:
        return {}
    with suppress(OSError, Refused):  # a damaged engine tells so elsewhere
        mark = workspace.mark("engines", engine)
        return dict(_versions(workspace, engine, mark)) if mark else {}
    return {}


@lru_cache(256)
def _versions(workspace: Workspace, engine: str, _: str) -> tuple[tuple[str, str], ...]:
    """The same of an engine as its file is now: read once, for it may be large."""
    about = workspace.get("engines", engine, EngineInfo)
    models = json.dumps([one.model_dump(mode="json") for one in about.models])
    return (
        ("data", about.fingerprint),
        ("models", hashlib.sha256(models.encode()).hexdigest()[:16]),
        ("made_by", about.version),
    )


class Audited:
    """Adds a line for each request that changes, asks or takes something, and for each refusal."""

    def __init__(self, app: ASGIApp, service: Any) -> None:
        self.app = app
        self.service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        status = 500

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        with _facts() as facts:
            try:
                await self.app(scope, receive, noted)
            finally:
                if _matters(scope, status):
                    self._add(scope, status, facts)

    def _add(self, scope: Scope, status: int, facts: dict[str, Any]) -> None:
        someone = person_of(scope)
        route = scope.get("route")
        about = _named(scope) | facts
        self.service.audit.add(
            user=None if someone is None else someone.name,
            address=source_of(scope.get("client")),
            action=getattr(route, "unique_id", "other"),
            status=status,
            **about,
            **self._versions(about),
        )

    def _versions(self, about: dict[str, Any]) -> dict[str, str]:
        store, engine = self.service.store, about.get("engine")
        if engine is None or "workspace" not in about:
            return {}
        with suppress(Refused):  # it may have been deleted by this very request
            workspace = store.named(about["workspace"])
            return versions(self.service.owner_of(workspace, "engines", engine), engine)
        return {}


@contextmanager
def _facts() -> Iterator[dict[str, Any]]:
    facts: dict[str, Any] = {}
    token = _FACTS.set(facts)
    try:
        yield facts
    finally:
        _FACTS.reset(token)


def _named(scope: Scope) -> dict[str, Any]:
    """What the path of a request is about, by id: engines/{id}/... is about an engine."""
    name = scope.get("path_params", {}).get("id")
    pattern = getattr(scope.get("route"), "path", "")
    kind = re.match(r"/api/v1/(?:operator/)?([a-z]+)s/\{id\}", pattern)
    return {} if name is None or kind is None else {kind[1]: name}


def _matters(scope: Scope, status: int) -> bool:
    path = getattr(scope.get("route"), "path", "")
    takes = "/exports/" in path or path.startswith("/api/v1/operator")
    return scope["method"] not in _READ or takes or status in {401, 403}
