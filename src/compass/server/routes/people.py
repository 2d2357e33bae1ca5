"""People: who you are here, and where you may work."""

import asyncio

from fastapi import Request

from compass.domain.people import Me, Place
from compass.server.people import GROUP, MINE, Person, limits_of, person_of, workspace_of_key
from compass.server.routes.dependencies import ServiceDep, router_for
from compass.server.service import Service

router = router_for("people", "/api/v1/me")


@router.get("")
async def show(request: Request, service: ServiceDep) -> Me:
    """Who the server takes you for, the workspaces that you may use, and how much of them."""
    someone = person_of(request.scope)
    if someone is None:
        return Me()
    places = await asyncio.to_thread(_places, service, someone)
    own = limits_of(someone.owner, service.limits, service.settings)
    return Me(
        user=someone.name,
        groups=someone.groups,
        operator=someone.operator,
        workspaces=places,
        waiting=service.users.held[someone.name],
        waiting_most=own.waiting_per_user,
    )


def _places(service: Service, someone: Person) -> tuple[Place, ...]:
    """One's own workspace, then those of one's groups; of a group without one, what it may be."""
    found = []
    for name in (MINE, *(f"{GROUP}{group}" for group in someone.groups)):
        owner = someone.owner if name == MINE else name
        most = limits_of(owner, service.limits, service.settings).workspace_bytes
        used = 0
        if service.store.has(owner):
            used = workspace_of_key(service.store, name, someone, service.settings).bytes
        found.append(Place(name=name, bytes=used, most=most))
    return tuple(found)
