"""Workspaces: places that nobody else sees."""

import asyncio

from fastapi import Request

from compass.server.connections import source_of
from compass.server.nouns import NewWorkspace, WorkspaceInfo
from compass.server.routes.needs import Behind, Here, problems, routes

router = routes("workspaces", "/api/v1/workspaces")


@router.post("", status_code=201, responses=problems())
async def create(request: Request, service: Behind) -> NewWorkspace:
    """Make a workspace. Its key is told only here; whoever has it sees what is in it."""
    address = source_of(request.client)
    service.makers.check(address)
    workspace, key = service.store.create()
    service.makers.note(address, workspace.id)
    return NewWorkspace(workspace=workspace.info, key=key)


@router.get("/mine", responses=problems())
async def show(workspace: Here) -> WorkspaceInfo:
    """The workspace of the key, and how much is kept in it."""
    return workspace.info


@router.delete("/mine", status_code=204, responses=problems())
async def delete(service: Behind, workspace: Here) -> None:
    """Delete the workspace with everything in it; jobs that run for it are cancelled."""
    for job in service.jobs.of(workspace):
        await service.jobs.cancel(workspace, job.id)
    await asyncio.to_thread(service.store.forget, workspace)  # there may be many files
