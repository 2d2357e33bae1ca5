"""Retention: what nobody used for as long as the operator keeps things is removed, and noted."""

import asyncio

from compass.server import logs
from compass.server.audit import AuditLog
from compass.server.problems import Refused
from compass.server.service import Service
from compass.server.store import Kind, Workspace

_PAUSE = 3600.0  # seconds between two looks
_AGING: tuple[Kind, ...] = ("answers", "chats")  # made again by asking again


async def keep(service: Service) -> None:
    """Look at what is kept, now and every hour, until the server stops."""
    while True:
        try:
            async with service.alone("retention"):
                gone = await expire(service)
        except OSError as error:
            logs.trouble("retention", error)
        except Refused:
            pass  # logged; it is tried again in an hour
        else:
            if any(gone.values()):
                logs.event("retention", **gone)
        await asyncio.sleep(_PAUSE)


async def expire(service: Service) -> dict[str, int]:
    """Remove what is older than the limits say; how many things of each kind."""
    limits = service.limits
    gone: dict[str, int] = {"workspaces": 0, "answers": 0, "chats": 0}
    for workspace in service.store.everybody()[1:]:
        if service.jobs.of(workspace):
            continue  # it is being used
        if limits.keep_workspaces_days and workspace.days_unused() > limits.keep_workspaces_days:
            await asyncio.to_thread(service.store.forget, workspace)
            service.audit.add(action="expired", user=None, workspace=workspace.id)
            gone["workspaces"] += 1
        elif limits.keep_answers_days:
            old = await asyncio.to_thread(
                _removed, workspace, limits.keep_answers_days, service.audit
            )
            gone = {kind: count + old.get(kind, 0) for kind, count in gone.items()}
    gone["audit"] = await asyncio.to_thread(service.audit.expire, limits.keep_audit_days)
    return gone


def _removed(workspace: Workspace, days: float, audit: AuditLog) -> dict[str, int]:
    gone: dict[str, int] = {}
    for kind in _AGING:
        old = [name for name in workspace.names(kind) if workspace.days_unused(kind, name) > days]
        removed = [name for name in old if workspace.remove(kind, name)]
        gone[kind] = len(removed)
        for name in removed:
            named = {kind.removesuffix("s"): name}
            audit.add(action="expired", user=None, workspace=workspace.id, **named)
    return gone
