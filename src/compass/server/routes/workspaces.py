"""Workspaces: places that nobody else sees."""

import asyncio

from fastapi import Request

from compass.domain.api import NewWorkspace, WorkspaceInfo
from compass.server.connections import source_of
from compass.server.routes.dependencies import (
    ServiceDep,
    WorkspaceDep,
    router_for,
)

router = router_for("workspaces", "/api/v1/workspaces")


@router.post("", status_code=201)
async def create(request: Request, service: ServiceDep) -> NewWorkspace:
    """Make a workspace. Its key is told only here; whoever has it sees what is in it."""
    address = source_of(request.client)
    service.creators.check(address)
    workspace, key = service.store.create()
    service.creators.note(address, workspace.id)
    return NewWorkspace(workspace=workspace.info, key=key)


@router.get("/mine")
async def show(workspace: WorkspaceDep) -> WorkspaceInfo:
    """The workspace of the key, and how much is kept in it."""
    return workspace.info


@router.delete("/mine", status_code=204)
async def delete(service: ServiceDep, workspace: WorkspaceDep) -> None:
    """Delete the workspace with everything in it; jobs that run for it are cancelled."""
    for job in service.jobs.of(workspace):
        await service.jobs.cancel(workspace, job.id)
    await asyncio.to_thread(service.store.forget, workspace)  # there may be many files
