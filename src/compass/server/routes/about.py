"""Whether the server is well, what it counts, and what it allows."""

from importlib.metadata import version

from fastapi import Response

from compass.domain.api import About, Health
from compass.server.problems import closing
from compass.server.routes.dependencies import ServiceDep, router_for
from compass.settings import TrustSettings

router = router_for("about")
_TRUST = TrustSettings()  # of every engine whose study states nothing else


@router.get("/healthz")
async def healthz() -> Health:
    """Whether the server runs at all; also while it is being stopped in good order."""
    return Health(version=version("compass-hpc"))


@router.get("/readyz")
async def readyz(service: ServiceDep) -> Health:
    """Whether the server takes work: 503 from the moment that it is to stop."""
    if not service.ready:
        raise closing()
    return Health(version=version("compass-hpc"))


@router.get(
    "/metrics",
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
    response_class=Response,
)
async def metrics(service: ServiceDep) -> Response:
    """Counters for Prometheus."""
    for name, pool in (
        ("ask", service.ask_pool),
        ("fit", service.fit_pool),
        ("chat", service.chat_pool),
    ):
        service.metrics.waiting.labels(name).set(pool.queued)
        service.metrics.busy.labels(name).set(pool.busy)
    return Response(service.metrics.text(), media_type="text/plain; version=0.0.4")


@router.get("/api/v1/about")
async def about(service: ServiceDep) -> About:
    """What this server is, and its limits."""
    return About(
        version=version("compass-hpc"),
        limits=service.limits,
        paths=bool(service.settings.folders),
        people=service.settings.knows_people,
        language_model=service.settings.llm_url is not None,
        caution=_TRUST.caution,
        unsupported=_TRUST.unsupported,
    )
