"""Whether the server is well, what it counts, and what it allows."""

from importlib.metadata import version
from typing import Literal

from fastapi import Response
from pydantic import Field

from compass.domain.base import Noun
from compass.server.limits import Limits
from compass.server.problems import closing
from compass.server.routes.needs import Behind, problems, routes
from compass.settings import TrustSettings

router = routes("about")
_TRUST = TrustSettings()  # of every engine of a server: a request cannot set them


class Health(Noun):
    """That the server answers."""

    status: Literal["ok"] = "ok"
    version: str


class About(Noun):
    """What this server is and allows."""

    version: str
    limits: Limits
    uploads: tuple[str, ...] = ("csv", "tsv", "parquet")
    paths: bool
    language_model: bool
    caution: float = Field(description="scores of trust from here on mean caution")
    unsupported: float = Field(description="scores of trust from here on mean unsupported")


@router.get("/healthz", responses=problems())
async def healthz(service: Behind) -> Health:
    """Whether the server can take work."""
    if service.askers.closed:
        raise closing()
    return Health(version=version("compass-hpc"))


@router.get(
    "/metrics",
    responses=problems() | {200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
    response_class=Response,
)
async def metrics(service: Behind) -> Response:
    """Counters for Prometheus."""
    for name, pool in (
        ("ask", service.askers),
        ("fit", service.fitters),
        ("chat", service.talkers),
    ):
        service.metrics.waiting.labels(name).set(pool.queued)
        service.metrics.busy.labels(name).set(pool.busy)
    return Response(service.metrics.text(), media_type="text/plain; version=0.0.4")


@router.get("/api/v1/about", responses=problems())
async def about(service: Behind) -> About:
    """What this server is, and its limits."""
    return About(
        version=version("compass-hpc"),
        limits=service.limits,
        paths=bool(service.settings.folders),
        language_model=service.settings.llm_url is not None,
        caution=_TRUST.caution,
        unsupported=_TRUST.unsupported,
    )
