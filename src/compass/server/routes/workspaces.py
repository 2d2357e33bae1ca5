"""Workspaces: places that nobody else sees."""

import asyncio

from fastapi import Request

from compass.domain.api import NewWorkspace, WorkspaceInfo
from compass.server import audit
from compass.server.connections import source_of
from compass.server.people import GROUP, MINE, person_of, workspace_of_key
from compass.server.problems import not_allowed
from compass.server.routes.dependencies import (
    ServiceDep,
    WorkspaceDep,
    router_for,
)
from compass.server.service import Service
from compass.server.store import Workspace

router = router_for("workspaces", "/api/v1/workspaces")


@router.post("", status_code=201)
async def create(request: Request, service: ServiceDep) -> NewWorkspace:
    """Make a workspace. Its key is told only here; whoever has it sees what is in it.

    Where the server knows you, this is the one that you have; its key is `mine`, for you only.
    """
    someone = person_of(request.scope)
    if someone is not None:
        own = workspace_of_key(service.store, MINE, someone, service.settings)
        audit.note(workspace=own.id)
        return NewWorkspace(workspace=own.info, key=MINE)
    address = source_of(request.client)
    service.creators.check(address)
    workspace, key = service.store.create()
    service.creators.note(address, workspace.id)
    audit.note(workspace=workspace.id)
    return NewWorkspace(workspace=workspace.info, key=key)


@router.get("/mine")
async def show(workspace: WorkspaceDep) -> WorkspaceInfo:
    """The workspace of the key, and how much is kept in it."""
    return workspace.info


@router.delete("/mine", status_code=204)
async def delete(request: Request, service: ServiceDep, workspace: WorkspaceDep) -> None:
    """Delete the workspace with everything in it; jobs that run for it are cancelled.

    That of a group is deleted by an operator; members delete what is in it.
    """
    someone = person_of(request.scope)
    if (workspace.info.owner or "").startswith(GROUP) and not (someone and someone.operator):
        raise not_allowed(
            "not-yours", "this workspace is of a group", "delete what is in it, or ask an operator"
        )
    await remove_workspace(service, workspace)


async def remove_workspace(service: Service, workspace: Workspace) -> None:
    """Cancel the jobs of a workspace and remove it."""
    for job in service.jobs.of(workspace):
        await service.jobs.cancel(workspace, job.id)
    await asyncio.to_thread(service.store.forget, workspace)  # there may be many files
