"""Jobs: how far work is, its progress as it happens, and ending it."""

from fastapi import Request, Response
from fastapi.responses import StreamingResponse

from compass.domain.api import Job
from compass.server.jobs import JOBS
from compass.server.people import holder_of
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
from compass.server.store import Workspace
from compass.server.streams import Event, Events, EventStream, documented

router = router_for("jobs", "/api/v1/jobs")


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
    responses=documented("A stream of `event: job` with the job as data, until it is over.", "job"),
)
async def events(
    request: Request, service: ServiceDep, workspace: WorkspaceDep, name: IdPath
) -> StreamingResponse:
    """Follow a job as it happens (server-sent events)."""
    owner = _owner(service, workspace, name)
    holder = (workspace.id, holder_of(request))
    return EventStream(
        service.streams, holder, _followed(service, owner, name), service.limits.stream_seconds
    )


def _owner(service: Service, workspace: Workspace, name: str) -> Workspace:
    """Whose job it is: one's own, or the operator's for everybody."""
    try:
        service.jobs.get(workspace, name)
    except Refused:
        service.jobs.get(service.store.shared, name)
        return service.store.shared
    return workspace


async def _followed(service: Service, workspace: Workspace, name: str) -> Events:
    async for job in service.jobs.follow(workspace, name):
        yield Event("job", job.model_dump_json().encode())
