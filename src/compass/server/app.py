"""The application: routes, limits and the life of a server."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from importlib.metadata import version
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware

from compass.domain.api import Problem
from compass.domain.errors import CompassError
from compass.server import logs
from compass.server.access import Access
from compass.server.audit import Audited
from compass.server.bodies import BodyLimit
from compass.server.metrics import RequestMetrics
from compass.server.page import add_page
from compass.server.problems import disk_problem
from compass.server.responses import problem_response
from compass.server.retention import keep
from compass.server.service import Service
from compass.server.settings import ServerSettings

ROUTES = (
    "about",
    "people",
    "operator",
    "workspaces",
    "datasets",
    "catalogue",
    "columns",
    "rules",
    "advice",
    "machines",
    "models",
    "plugins",
    "engines",
    "queries",
    "answers",
    "exports",
    "runs",
    "chats",
    "experiments",
    "synthesizers",
    "jobs",
)
UPLOADS = ("/upload",)  # paths that end so take files
PACKED_FROM = 10_000  # bytes; a thousand suggestions are 7.1 MB, and 1.1 MB packed


def create_app(settings: ServerSettings) -> FastAPI:
    """A server that is ready to be run."""
    service = Service(settings)

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        resumed = service.resume()
        logs.event("started", version=version("compass-hpc"), resumed=resumed)
        keeping = asyncio.create_task(keep(service))
        try:
            yield
        finally:
            keeping.cancel()
            await service.close()
            logs.event("stopped")

    app = FastAPI(
        title="Compass",
        summary="What configuration to use, the smallest change, and what happens if.",
        version=version("compass-hpc"),
        lifespan=life,
        docs_url=None,  # its page would load scripts from another host
        redoc_url=None,
    )
    app.state.service = service
    for name in ROUTES:
        # Not `include_router`: it makes every route once more, while the first request waits.
        app.router.routes.extend(import_module(f"compass.server.routes.{name}").router.routes)
    add_page(app)
    _handle(app)
    app.add_middleware(GZipMiddleware, minimum_size=PACKED_FROM, compresslevel=1)
    app.add_middleware(BodyLimit, limits=service.limits, uploads=UPLOADS)
    app.add_middleware(Access, settings=settings)
    app.add_middleware(Audited, service=service)
    app.add_middleware(RequestMetrics, metrics=service.metrics)
    return app


def _handle(app: FastAPI) -> None:
    """Give every failure the same shape."""

    @app.exception_handler(CompassError)
    async def _compass(_: Request, error: CompassError) -> JSONResponse:
        return problem_response(error)

    @app.exception_handler(OSError)
    async def _disk(_: Request, error: OSError) -> JSONResponse:
        logs.trouble("disk", error)
        return problem_response(disk_problem(error))

    @app.exception_handler(RequestValidationError)
    async def _invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        unreadable = first["type"] == "json_invalid"
        problem = Problem(
            error=f"{place}: {first['msg']}",
            hint="see /openapi.json for what is expected",
            code="invalid",
            place=place,
        )
        return JSONResponse(problem.model_dump(mode="json"), 400 if unreadable else 422)

    @app.exception_handler(HTTPException)
    async def _http(_: Request, error: HTTPException) -> JSONResponse:
        problem = Problem(
            error=str(error.detail), hint="see /openapi.json for what there is", code="http"
        )
        headers: Any = error.headers
        return JSONResponse(problem.model_dump(mode="json"), error.status_code, headers)
