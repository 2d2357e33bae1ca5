"""Dependencies of routes: the service, the workspace of the request, and documented responses."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Path, Query, Request, Response
from fastapi.routing import APIRoute

from compass.domain.api import ID, Problem
from compass.server import audit
from compass.server.listing import CURSOR, Listing, part_of
from compass.server.people import person_of, workspace_of_key
from compass.server.problems import no_workspace
from compass.server.service import Service
from compass.server.store import Workspace


def router_for(tag: str, prefix: str = "") -> APIRouter:
    """The router of a noun; generated clients call its routes tag_name."""
    return APIRouter(
        prefix=prefix, tags=[tag], responses=_FAILURES, generate_unique_id_function=_operation
    )


def _operation(route: APIRoute) -> str:
    """The name of a route for clients that are generated: datasets_upload, jobs_cancel, ..."""
    return "_".join([*map(str, route.tags[:1]), route.name])


async def service_of(request: Request) -> Service:  # not in a thread: there is nothing to wait for
    """The service behind the routes."""
    service: Service = request.app.state.service
    return service


ServiceDep = Annotated[Service, Depends(service_of)]


def workspace_of(
    request: Request,
    service: ServiceDep,
    key: Annotated[
        str,
        Header(
            alias="Compass-Workspace",
            max_length=210,
            description="the key of a workspace; `mine` or `group:NAME` where you are known",
        ),
    ] = "",
) -> Workspace:
    """The workspace that the request names, by its key or as somebody's."""
    # Also of people who are known: no page of another site can send this header.
    if not key:
        raise no_workspace("the request names no workspace")
    opened = workspace_of_key(service.store, key, person_of(request.scope), service.settings)
    audit.note(workspace=opened.id)
    opened.note_use()
    _ = opened.bytes  # counted once, here in a thread: there may be many files
    return opened


WorkspaceDep = Annotated[Workspace, Depends(workspace_of)]
IdPath = Annotated[str, Path(alias="id", pattern=ID, description="of 16 hexadecimal digits")]
Wait = Annotated[
    float,
    Query(ge=0, le=60, description="seconds to wait for the result; after that a job is returned"),
]

# Of every list: what it has to say besides its entries.
LIST_HEADERS: dict[int | str, dict[str, Any]] = {
    200: {
        "headers": {
            "Compass-Next": {
                "schema": {"type": "string"},
                "description": "send it as `after` to get what follows; absent: that was all",
            }
        }
    }
}


@dataclass(frozen=True)
class ListRequest:
    """Which part of a list is asked for."""

    service: ServiceDep
    workspace: WorkspaceDep
    count: Annotated[int, Query(ge=1, le=1000, description="at most so many")] = 100
    after: Annotated[
        str | None,
        Query(pattern=CURSOR, description="go on after these: the header Compass-Next of the last"),
    ] = None

    @property
    def with_shared(self) -> list[Workspace]:
        """One's own workspace, then the one that everybody may use."""
        return [self.workspace, self.service.store.shared]

    async def of(
        self,
        kind: Listing[Any, Any],
        workspaces: Sequence[Workspace] = (),
        live: Mapping[tuple[str, str], Any] | None = None,
    ) -> Response:
        """Some entries, read and written in a thread: others are served meanwhile."""

        def made() -> tuple[bytes, str | None]:
            places = workspaces or [self.workspace]
            found, more = part_of(places, kind, self.count, self.after, live)
            return b"[" + b",".join(one.model_dump_json().encode() for one in found) + b"]", more

        # One at a time of each workspace: or one that lists a lot would hold all threads.
        async with self.workspace.listing:
            threads = self.service.list_threads
            written, more = await asyncio.get_running_loop().run_in_executor(threads, made)
        headers = {} if more is None else {"Compass-Next": more}
        return Response(written, media_type="application/json", headers=headers)


ListDep = Annotated[ListRequest, Depends()]
_WHY = {
    400: "The request cannot be read.",
    401: "A token or the key of a workspace is missing or wrong.",
    403: "Not allowed: the path, host or origin.",
    404: "There is no such thing in this workspace.",
    405: "This method is not for this path.",
    408: "The request came too slowly.",
    409: "It is not in a state in which this can be done; where it soon is, see Retry-After.",
    413: "More than the server allows: size, rows, columns, memory.",
    415: "The body is not of the type that is expected.",
    422: "What was given cannot be used; the hint says what to do.",
    424: "The server lacks what this needs: an optional package, a connection.",
    429: "This workspace has too much work waiting; see Retry-After.",
    431: "The address and the headers of the request are too long.",
    500: "A fault of Compass.",
    503: "The server is too busy or shutting down; see Retry-After.",
}
_RETRY = {"Retry-After": {"schema": {"type": "integer"}, "description": "seconds to wait"}}
_ALWAYS = (400, 401, 403, 404, 405, 408, 409, 413, 415, 422, 429, 431, 503)


def _failure(status: int) -> dict[str, Any]:
    described = {"model": Problem, "description": _WHY[status]}
    return described | ({"headers": _RETRY} if status in {409, 429, 503} else {})


# The documented failures of every route, and that of one which needs more than Compass itself.
_FAILURES: dict[int | str, dict[str, Any]] = {status: _failure(status) for status in _ALWAYS}
LACKING: dict[int | str, dict[str, Any]] = {424: _failure(424)}
