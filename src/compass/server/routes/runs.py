"""Runs: which to make next, and new runs for an engine to learn."""

from typing import Annotated, Any

from fastapi import Query, Request, Response
from pydantic import Field, ValidationError

from compass.domain.api import DatasetInfo, EngineInfo, Job, Name, RunNext, TellView
from compass.domain.base import Config, Noun, Value
from compass.domain.query import Query as Asked
from compass.domain.tell import TellReport
from compass.server import logs
from compass.server.job_work import TELL_REPORT
from compass.server.learning import learn_for
from compass.server.problems import Refused, damaged, not_found
from compass.server.responses import noun_response
from compass.server.routes.datasets import FILE, keep_upload
from compass.server.routes.dependencies import (
    IdPath,
    ServiceDep,
    Wait,
    WorkspaceDep,
    router_for,
)
from compass.server.routes.queries import RequestOptions, Text
from compass.server.service import Service
from compass.server.store import Workspace, new_id, now
from compass.server.uploads import ending_of, write_rows
from compass.slurm.script import job_array

router = router_for("runs", "/api/v1/engines/{id}")


class RunNextRequest(RequestOptions):
    """Which runs to propose: for a question, or without one those that teach most."""

    runs: int = Field(5, ge=1, le=1000, description="how many")
    question: Text | Asked | None = None
    pending: tuple[Config, ...] = Field(
        (), max_length=1000, description="configurations that are being run already"
    )


class NewRuns(Noun):
    """Measured runs, as columns and rows."""

    names: tuple[str, ...] = Field(min_length=1, max_length=2000)
    rows: tuple[tuple[Value, ...], ...] = Field(min_length=1, max_length=10_000)
    questions: tuple[Text, ...] = Field((), max_length=20, description="what changes for these")
    called: Name | None = Field(None, description="what to call the new engine; as the old one")


_MADE: dict[int | str, dict[str, Any]] = {
    201: {"model": TellView, "description": "The engine that knows the runs, and what changed."},
    202: {"model": Job, "description": "The job that takes them in; it names the new engine."},
}


@router.post("/run-next")
async def run_next(
    service: ServiceDep, workspace: WorkspaceDep, name: IdPath, given: RunNextRequest
) -> RunNext:
    """The runs that would help a question most."""
    if given.question is None and (given.run is not None or given.seed is not None):
        raise Refused(
            422,
            "bad-input",
            "a run to start from and a seed belong to a question",
            hint="give the question too",
        )
    asked = given.model_dump(mode="json", exclude={"runs", "pending"})
    await learn_for(service, workspace, name, asked)
    reply = await service.run_engine_task(
        workspace, name, "next", count=given.runs, question=asked, pending=given.pending
    )
    found = RunNext.model_validate(reply)
    script = job_array(found.run_next, found.units) if found.run_next else ""
    return found.model_copy(update={"script": script})


@router.post("/tell", status_code=201, response_model=TellView, responses=_MADE)
async def tell(
    service: ServiceDep, workspace: WorkspaceDep, name: IdPath, given: NewRuns, wait: Wait = 10
) -> Response:
    """Tell an engine new runs. It stays as it is; a new one knows them."""
    service.owner_of(workspace, "engines", name)
    service.fit_pool.admit(workspace.id)
    if any(len(row) != len(given.names) for row in given.rows):
        raise Refused(
            422, "bad-input", "a row has more or fewer values than there are names", hint="fill it"
        )
    runs = new_id()
    about = DatasetInfo(id=runs, name="runs that were told", created=now(), reader="csv")
    with workspace.making("datasets", runs) as draft:
        write_rows(draft / "runs.csv", given.names, given.rows)
        (draft / "about.json").write_text(about.model_dump_json())
    return await _tell(service, workspace, name, runs, given.questions, given.called, wait)


@router.post(
    "/tell/upload",
    status_code=201,
    response_model=TellView,
    responses=_MADE,
    openapi_extra=FILE,
)
async def tell_file(
    request: Request,
    service: ServiceDep,
    workspace: WorkspaceDep,
    name: IdPath,
    file: Annotated[Name, Query(alias="name", description="its ending tells the format")],
    ask: Annotated[
        list[Text], Query(max_length=20, description="say what changes for these questions")
    ] = [],  # noqa: B006 - FastAPI copies it
    called: Annotated[
        Name | None, Query(description="what to call the new engine; as the old one")
    ] = None,
    wait: Wait = 10,
) -> Response:
    """The same with a file as the body of the request."""
    service.owner_of(workspace, "engines", name)
    ending = ending_of(file)
    service.fit_pool.admit(workspace.id)
    runs = await keep_upload(request, service, workspace, file, ending)
    return await _tell(service, workspace, name, runs, tuple(ask), called, wait)


@router.get("/tell-report")
async def tell_report(service: ServiceDep, workspace: WorkspaceDep, name: IdPath) -> TellReport:
    """What the last new runs changed, for an engine that was made by `tell`."""
    return _report(service, workspace, name)


def _report(service: Service, workspace: Workspace, name: str) -> TellReport:
    place = service.owner_of(workspace, "engines", name).place("engines", name) / TELL_REPORT
    if not place.is_file():
        raise not_found("telling: this engine was fitted, not told")
    try:
        return TellReport.model_validate_json(place.read_bytes())
    except ValidationError:
        logs.trouble("damaged", kind="telling", id=name)
        raise damaged("telling", "tell the runs again") from None


async def _tell(
    service: Service,
    workspace: Workspace,
    name: str,
    runs: str,
    questions: tuple[str, ...],
    called: str | None,
    wait: float,
) -> Response:
    made = new_id()
    work = {
        "engine": made,
        "parent": name,
        "runs": runs,
        "questions": questions,
        "name": called,
    }
    running = service.jobs.start(workspace, "tell", work, engine=made)
    if not await service.jobs.wait(running, wait):
        return noun_response(running.job, 202)
    found = TellView(
        engine=workspace.get("engines", made, EngineInfo), report=_report(service, workspace, made)
    )
    return noun_response(found, 201)
