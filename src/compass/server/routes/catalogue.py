"""The catalogue: public datasets that the server can get by name."""

from pydantic import Field

from compass.domain.base import Noun
from compass.readers.catalogue import PublicDataset, catalogue
from compass.server.routes.needs import problems, routes

router = routes("catalogue", "/api/v1/catalogue")


class CatalogueEntry(Noun):
    """A public dataset."""

    name: str
    about: str
    rows: int | None = None
    bytes: int | None = Field(None, description="how much there is to download, where it is known")
    licence: str
    page: str | None = None
    downloads: bool = Field(description="whether the server can get it by itself")
    instructions: str | None = Field(None, description="how to get it by hand, where it cannot")


@router.get("", responses=problems())
async def listing() -> list[CatalogueEntry]:
    """All public datasets, as `compass datasets` lists them."""
    return [_told(one) for one in catalogue().values()]


def _told(known: PublicDataset) -> CatalogueEntry:
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
