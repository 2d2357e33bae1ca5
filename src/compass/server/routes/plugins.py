"""Plug-ins: families of models, reducers, embeddings and the like, chosen by name."""

from compass.domain.base import Noun
from compass.server.routes.needs import Behind, Here, problems, routes

router = routes("plugins", "/api/v1/plugins")


class Plugin(Noun):
    """Something that can be chosen by name."""

    joint: str
    name: str
    what: str


@router.get("", responses=problems())
async def listing(service: Behind, workspace: Here) -> list[Plugin]:
    """All plug-ins of the server, as `compass plugins` lists them."""
    found = await service.now(workspace, "plugins", {})
    return [Plugin.model_validate(one) for one in found]
