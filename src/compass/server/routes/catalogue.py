"""The catalogue: public datasets that the server can get by name."""

from compass.domain.api import CatalogueEntry
from compass.readers.catalogue import PublicDataset, catalogue
from compass.server.routes.dependencies import router_for

router = router_for("catalogue", "/api/v1/catalogue")


@router.get("")
async def listing() -> list[CatalogueEntry]:
    """All public datasets, as `compass datasets` lists them."""
    return [_entry(one) for one in catalogue().values()]


def _entry(known: PublicDataset) -> CatalogueEntry:
    return CatalogueEntry(
        name=known.name,
        about=known.about,
        rows=known.rows,
        bytes=known.bytes,
        licence=known.licence,
        page=known.page,
        downloads=bool(known.downloads),
        instructions=known.instructions,
    )
