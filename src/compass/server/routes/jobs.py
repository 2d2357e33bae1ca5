"""Jobs: how far work is, its progress as it happens, and ending it."""

import asyncio
from collections.abc import AsyncIterator

from fastapi import Request, Response
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from compass.domain.api import Job
from compass.server.connections import source_of
from compass.server.jobs import JOBS
from compass.server.problems import Refused
from compass.server.routes.dependencies import (
    LIST_HEADERS,
    IdPath,
    ListDep,
    ServiceDep,
    WorkspaceDep,
    router_for,
)
from compass.server.service import Service
from compass.server.slots import Slots
from compass.server.store import Workspace

router = router_for("jobs", "/api/v1/jobs")
_EVENT = {
    "type": "object",
    "properties": {
        "event": {"const": "job"},
        "data": {"type": "string", "contentMediaType": "application/json"},
    },
}
_HEARTBEAT = 15.0  # seconds; proxies close streams that are silent for long


class _Held(StreamingResponse):
    """A stream that holds one of the places for streams until it ends."""

    def __init__(self, slots: Slots, holder: tuple[str, str], stream: AsyncIterator[str]) -> None:
        super().__init__(stream, media_type="text/event-stream")
        self.slots = slots
        self.holder = holder

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self.slots.one(*self.holder):
            await super().__call__(scope, receive, send)


@router.get("", response_model=list[Job], responses=LIST_HEADERS)
async def listing(listed: ListDep) -> Response:
    """The jobs of the workspace, the newest first, then those of what the operator offers."""
    both = listed.with_shared
    return await listed.of(JOBS, both, listed.service.jobs.live(both))


@router.get("/{id}")
async def show(service: ServiceDep, workspace: WorkspaceDep, name: IdPath) -> Job:
    """How a job stands."""
    return service.jobs.get(_owner(service, workspace, name), name)


@router.delete("/{id}")
async def cancel(service: ServiceDep, workspace: WorkspaceDep, name: IdPath) -> Job:
    """End a job. One that is over stays as it is."""
    if _owner(service, workspace, name).shared:
        raise Refused(403, "shared", "this is work of the operator and goes on")
    return await service.jobs.cancel(workspace, name)


@router.get(
    "/{id}/events",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "A stream of `event: job` with the job as data, until it is over.",
            "content": {"text/event-stream": {"schema": _EVENT}},
        }
    },
)
async def events(
    request: Request, service: ServiceDep, workspace: WorkspaceDep, name: IdPath
) -> StreamingResponse:
    """Follow a job as it happens (server-sent events)."""
    owner = _owner(service, workspace, name)
    holder = (workspace.id, source_of(request.client))
    return _Held(service.streams, holder, _stream(service, owner, name))


def _owner(service: Service, workspace: Workspace, name: str) -> Workspace:
    """Whose job it is: one's own, or the operator's for everybody."""
    try:
        service.jobs.get(workspace, name)
    except Refused:
        service.jobs.get(service.store.shared, name)
        return service.store.shared
    return workspace


async def _stream(service: Service, workspace: Workspace, name: str) -> AsyncIterator[str]:
    following = service.jobs.follow(workspace, name)
    pending: asyncio.Future[Job] | None = None
    try:
        while True:
            pending = pending or asyncio.ensure_future(anext(following))
            done, _ = await asyncio.wait([pending], timeout=_HEARTBEAT)
            if not done:
                yield ": still there\n\n"
                continue
            try:
                job = pending.result()
            except StopAsyncIteration:
                return
            pending = None
            yield f"event: job\ndata: {job.model_dump_json()}\n\n"
    finally:
        if pending is not None:
            pending.cancel()
