"""The catalogue: public datasets that the server can get by name."""

from compass.domain.api import CatalogueEntry
from compass.readers.catalogue import catalogue
from compass.server.routes.dependencies import router_for

router = router_for("catalogue", "/api/v1/catalogue")


@router.get("")
async def listing() -> list[CatalogueEntry]:
    """All public datasets, as `compass datasets` lists them."""
    return [
        CatalogueEntry(
            name=one.name,
            about=one.about,
            rows=one.rows,
            bytes=one.bytes,
            licence=one.licence,
            page=one.page,
            downloads=bool(one.downloads),
            instructions=one.instructions,
        )
        for one in catalogue().values()
    ]
