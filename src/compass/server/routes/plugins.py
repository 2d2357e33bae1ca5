"""Plug-ins: families of models, reducers, embeddings and the like, chosen by name."""

from compass.domain.api import Plugin
from compass.server.routes.dependencies import (
    ServiceDep,
    WorkspaceDep,
    router_for,
)

router = router_for("plugins", "/api/v1/plugins")


@router.get("")
async def listing(service: ServiceDep, workspace: WorkspaceDep) -> list[Plugin]:
    """All plug-ins of the server, as `compass plugins` lists them."""
    found = await service.run_task(workspace, "plugins", {})
    return [Plugin.model_validate(one) for one in found]
