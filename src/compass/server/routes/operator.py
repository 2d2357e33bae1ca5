"""What operators see: whose workspaces there are and how large, and the audit log."""

import asyncio
from datetime import UTC, date, datetime
from typing import Annotated, Any

from fastapi import Depends, Query, Request

from compass.domain.people import WorkspaceUse
from compass.server import audit
from compass.server.people import person_of
from compass.server.problems import Refused, not_allowed
from compass.server.routes.dependencies import IdPath, ServiceDep, router_for
from compass.server.routes.workspaces import remove_workspace
from compass.server.service import Service


def operator_only(request: Request) -> None:
    """Refuse everybody but operators."""
    someone = person_of(request.scope)
    if someone is None or not someone.operator:
        raise not_allowed(
            "not-operator", "only operators may do this", "they are named with --operator"
        )


router = router_for("operator", "/api/v1/operator")
router.dependencies.append(Depends(operator_only))


@router.get("/workspaces")
async def workspaces(service: ServiceDep) -> list[WorkspaceUse]:
    """All workspaces, the largest first: whose they are, never what is in them."""
    return await asyncio.to_thread(_uses, service)


def _uses(service: Service) -> list[WorkspaceUse]:
    found = []
    for workspace in service.store.everybody()[1:]:
        try:
            about, used = workspace.info, workspace.used
        except Refused:
            continue  # deleted meanwhile, or damaged, which the log tells
        found.append(
            WorkspaceUse(
                id=about.id,
                owner=about.owner,
                created=about.created,
                used=used,
                bytes=about.bytes,
            )
        )
    return sorted(found, key=lambda one: one.bytes, reverse=True)


@router.delete("/workspaces/{id}", status_code=204)
async def remove(service: ServiceDep, name: IdPath) -> None:
    """Delete a workspace with everything in it, such as that of somebody who has left."""
    audit.note(workspace=name)
    await remove_workspace(service, service.store.named(name))


@router.get("/audit")
async def audit_lines(
    service: ServiceDep,
    day: Annotated[date | None, Query(description="of which day (UTC); today if not said")] = None,
    first: Annotated[int, Query(ge=0, le=10**9, description="leave out so many lines")] = 0,
    count: Annotated[int, Query(ge=1, le=10_000, description="at most so many")] = 1000,
) -> list[dict[str, Any]]:
    """The lines of the audit log of a day, the oldest first."""

    def read() -> list[dict[str, Any]]:
        lines = service.audit.lines(day or datetime.now(UTC).date())
        return [line for _, line in zip(range(first + count), lines, strict=False)][first:]

    return await asyncio.to_thread(read)
