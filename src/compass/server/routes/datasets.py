"""Datasets: upload them or name a path, look at rows, say what columns mean."""

from pathlib import Path
from typing import Annotated, Any

from fastapi import Query, Request, Response
from pydantic import Field

from compass.domain.api import DatasetBrief, DatasetInfo, Job, Name, Page, RowNumber
from compass.domain.base import Noun
from compass.domain.study import Study
from compass.readers.catalogue import entry
from compass.server.file_checks import allowed
from compass.server.listing import DATASETS
from compass.server.problems import Refused
from compass.server.responses import noun_response
from compass.server.routes.dependencies import (
    LACKING,
    LIST_HEADERS,
    IdPath,
    ListDep,
    ServiceDep,
    Wait,
    WorkspaceDep,
    router_for,
)
from compass.server.routes.rules import RuleText
from compass.server.service import Service
from compass.server.store import Workspace, new_id, now
from compass.server.uploads import ending_of, receive

router = router_for("datasets", "/api/v1/datasets")
_MADE: dict[int | str, dict[str, Any]] = {
    201: {"model": DatasetInfo, "description": "The dataset, read."},
    202: {"model": Job, "description": "The job that reads it; it names the dataset."},
}
FILE = {
    "requestBody": {
        "required": True,
        "content": {
            "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
            "text/csv": {"schema": {"type": "string", "format": "binary"}},
        },
    }
}


class FromPath(Noun):
    """A file or folder on the server."""

    path: str = Field(min_length=1, max_length=4096, description="inside an allowed folder")
    name: Name | None = None


class FromCatalogue(Noun):
    """A public dataset."""

    name: str = Field(min_length=1, max_length=200, description="as the catalogue lists it")


@router.post(
    "/upload",
    status_code=201,
    response_model=DatasetInfo,
    responses=_MADE,
    openapi_extra=FILE,
)
async def upload(
    request: Request,
    service: ServiceDep,
    workspace: WorkspaceDep,
    name: Annotated[Name, Query(description="what to call it; its ending tells the format")],
    wait: Wait = 10,
) -> Response:
    """Upload a CSV, TSV or Parquet file as the body of the request."""
    ending = ending_of(name)
    service.ask_pool.admit(workspace.id)
    made = await keep_upload(request, service, workspace, name, ending)
    return await _read(service, workspace, made, wait)


async def keep_upload(
    request: Request, service: Service, workspace: Workspace, name: str, ending: str
) -> str:
    """Keep the file that is the body of a request as a dataset that is not read yet; its id."""
    made = new_id()
    about = DatasetInfo(id=made, name=name, created=now(), reader=ending)
    with workspace.making("datasets", made) as draft:
        came = await receive(request, draft / f"runs.{ending}", workspace)
        service.metrics.uploaded.inc(came.bytes)
        about = about.model_copy(update=came._asdict())
        (draft / "about.json").write_text(about.model_dump_json())
    return made


@router.post("/from-path", status_code=201, response_model=DatasetInfo, responses=_MADE)
async def from_path(
    service: ServiceDep, workspace: WorkspaceDep, given: FromPath, wait: Wait = 10
) -> Response:
    """Use a file or folder on the server, where the operator allows it. It is not copied."""
    path = allowed(given.path, service.settings.folders)
    service.ask_pool.admit(workspace.id)
    made = new_id()
    about = DatasetInfo(id=made, name=given.name or _called(path), created=now(), path=str(path))
    workspace.put("datasets", made, about)
    return await _read(service, workspace, made, wait)


@router.post(
    "/from-catalogue",
    status_code=201,
    response_model=DatasetInfo,
    responses=LACKING | _MADE,
)
async def from_catalogue(
    service: ServiceDep, workspace: WorkspaceDep, given: FromCatalogue, wait: Wait = 10
) -> Response:
    """Use a public dataset of the catalogue; the server downloads it if it has to."""
    known = entry(given.name)
    service.fit_pool.admit(workspace.id)
    made = new_id()
    about = DatasetInfo(id=made, name=known.name, created=now(), catalogue=known.name)
    workspace.put("datasets", made, about)
    return await _read(service, workspace, made, wait)


def _called(path: Path) -> str:
    """The name of a file as it is shown, whatever signs are in it."""
    shown = "".join(sign if sign.isprintable() else "_" for sign in path.name)
    return shown[-200:] or "data"


async def _read(service: Service, workspace: Workspace, made: str, wait: float) -> Response:
    running = service.jobs.start(workspace, "read", {"dataset": made}, dataset=made)
    if await service.jobs.wait(running, wait):
        about = workspace.get("datasets", made, DatasetInfo)
        return noun_response(about, 201)
    return noun_response(running.job, 202)


@router.get("", response_model=list[DatasetBrief], responses=LIST_HEADERS)
async def listing(listed: ListDep) -> Response:
    """The datasets of the workspace, then those that the operator offers to everybody."""
    return await listed.of(DATASETS, listed.with_shared)


@router.get("/{id}")
async def show(service: ServiceDep, workspace: WorkspaceDep, name: IdPath) -> DatasetInfo:
    """One dataset."""
    return service.dataset(workspace, name)


@router.delete("/{id}", status_code=204)
async def delete(service: ServiceDep, workspace: WorkspaceDep, name: IdPath) -> None:
    """Delete a dataset. Engines that learnt from it stay."""
    _own(service, workspace, name)
    workspace.remove("datasets", name)


@router.get("/{id}/rows")
async def rows(
    service: ServiceDep,
    workspace: WorkspaceDep,
    name: IdPath,
    first: Annotated[RowNumber, Query(description="number of the first row, from 0")] = 0,
    count: Annotated[int, Query(ge=1, le=1000)] = 50,
    where: Annotated[
        tuple[RuleText, ...], Query(max_length=20, description="only rows that obey these rules")
    ] = (),
    text: Annotated[str, Query(max_length=1000, description="only rows with it in a cell")] = "",
    sort: Annotated[str | None, Query(max_length=1000, description="by this column")] = None,
    down: Annotated[bool, Query(description="the largest first")] = False,
) -> Page:
    """Some rows as they were given; texts of more than 1,000 characters are cut."""
    wanted = {"first": first, "count": count, "where": list(where), "text": text}
    given = service.dataset_task(workspace, name) | wanted | {"sort": sort, "down": down}
    return Page.model_validate(await service.run_task(workspace, "rows", given))


@router.put("/{id}/study")
async def study(
    service: ServiceDep, workspace: WorkspaceDep, name: IdPath, given: Study
) -> DatasetInfo:
    """Say what columns mean: roles, units, legal values, rules. It replaces what was said before.

    Engines that exist keep what they learnt with; a new one takes this.
    """
    owned(service, workspace, name)
    task = {
        "path": str(service.data_path(workspace, name)),
        "study": given.model_dump(mode="json", exclude_defaults=True),
        "called": owned(service, workspace, name).name,
    }
    await service.run_task(workspace, "columns", task)  # refuses what does not fit the data
    # Looked at again: it may have been deleted meanwhile, and must not come back as a shell.
    owned(service, workspace, name)
    return workspace.update(
        "datasets", name, DatasetInfo, lambda about: about.model_copy(update={"study": given})
    )


def owned(service: Service, workspace: Workspace, name: str) -> DatasetInfo:
    """A dataset that may be changed."""
    _own(service, workspace, name)
    return service.dataset(workspace, name)


def _own(service: Service, workspace: Workspace, name: str) -> None:
    if service.owner_of(workspace, "datasets", name).shared:
        raise Refused(
            403,
            "shared",
            "this dataset is offered by the operator and stays as it is",
            hint="upload a copy to change it",
        )
