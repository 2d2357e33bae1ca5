"""Answers: ask an engine, look at answers again, at their evidence and their curves."""

from typing import Annotated

from fastapi import Query, Response

from compass.domain.answer import Curve
from compass.domain.api import AnswerInfo, AnswerView, EvidenceRow, Job
from compass.server.listing import ANSWERS
from compass.server.problems import not_found
from compass.server.responses import noun_response
from compass.server.routes.dependencies import (
    LIST_HEADERS,
    IdPath,
    ListDep,
    ServiceDep,
    Wait,
    WorkspaceDep,
    router_for,
)
from compass.server.routes.queries import Question

router = router_for("answers", "/api/v1")
Which = Annotated[int, Query(alias="suggestion", ge=1, le=1000, description="which one, from 1")]


@router.post(
    "/engines/{id}/answers",
    response_model=AnswerView,
    responses={
        200: {"model": AnswerView, "description": "The answer."},
        202: {"model": Job, "description": "The job that answers it; it names the answer."},
    },
)
async def ask(
    service: ServiceDep, workspace: WorkspaceDep, name: IdPath, given: Question, wait: Wait = 60
) -> Response:
    """Ask. The same question to the same engine has the same answer, and is answered once."""
    service.owner_of(workspace, "engines", name)
    made, running = service.answer_job(workspace, name, given.model_dump(mode="json"))
    if running is not None and not await service.jobs.wait(running, wait):
        service.jobs.keep(running)
        return noun_response(running.job, 202)
    return Response(await service.answer_view(workspace, made), media_type="application/json")


@router.get("/answers", response_model=list[AnswerInfo], responses=LIST_HEADERS)
async def listing(listed: ListDep) -> Response:
    """The last answers of the workspace, the newest first."""
    return await listed.of(ANSWERS)


@router.get("/answers/{id}", response_model=AnswerView)
async def show(service: ServiceDep, workspace: WorkspaceDep, name: IdPath) -> Response:
    """An answer with everything needed to act on it, check it and repeat it."""
    return Response(await service.answer_view(workspace, name), media_type="application/json")


@router.delete("/answers/{id}", status_code=204)
async def delete(workspace: WorkspaceDep, name: IdPath) -> None:
    """Delete an answer."""
    if not workspace.remove("answers", name):
        raise not_found("answer")


@router.get("/answers/{id}/evidence")
async def evidence(
    service: ServiceDep, workspace: WorkspaceDep, name: IdPath, which: Which = 1
) -> list[EvidenceRow]:
    """The past runs that support a suggestion, with all their columns."""
    found = (await service.suggestion(workspace, name, which)).trust.evidence
    if not found:
        return []
    engine = workspace.get("answers", name, AnswerInfo).engine
    numbers = [one.row for one in found]
    page = await service.run_engine_task(workspace, engine, "rows", numbers=numbers)
    return [
        EvidenceRow(
            row=one.row, distance=one.distance, values=dict(zip(page["names"], row, strict=True))
        )
        for one, row in zip(found, page["rows"], strict=True)
    ]


@router.get("/answers/{id}/curves")
async def curves(
    service: ServiceDep,
    workspace: WorkspaceDep,
    name: IdPath,
    parameter: Annotated[list[str], Query(min_length=1, max_length=50)],
    which: Which = 1,
) -> list[Curve]:
    """How the outcomes of a suggestion answer to single parameters, all others as they are."""
    chosen = await service.suggestion(workspace, name, which)
    engine = workspace.get("answers", name, AnswerInfo).engine
    outcomes = tuple(outcome.name for outcome in chosen.outcomes)
    return await service.curves(workspace, engine, chosen.config, tuple(parameter), outcomes)
