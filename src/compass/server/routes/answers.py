"""Answers: ask an engine, look at answers again, at their evidence and their curves."""

from typing import Annotated

from fastapi import Query, Response

from compass.domain.answer import Curve
from compass.server.listing import ANSWERS
from compass.server.nouns import AnswerInfo, AnswerView, EvidenceRow, Job
from compass.server.problems import not_found
from compass.server.replies import shown
from compass.server.routes.needs import (
    LISTED,
    After,
    Behind,
    Count,
    Here,
    IdPath,
    Wait,
    listed,
    problems,
    routes,
)
from compass.server.routes.queries import Question

router = routes("answers", "/api/v1")
Which = Annotated[int, Query(alias="suggestion", ge=1, le=1000, description="which one, from 1")]


@router.post(
    "/engines/{id}/answers",
    response_model=AnswerView,
    responses=problems()
    | {
        200: {"model": AnswerView, "description": "The answer."},
        202: {"model": Job, "description": "The job that answers it; it names the answer."},
    },
)
async def ask(
    service: Behind, workspace: Here, name: IdPath, given: Question, wait: Wait = 60
) -> Response:
    """Ask. The same question to the same engine has the same answer, and is answered once."""
    service.owner_of(workspace, "engines", name)
    made, running = service.asking(workspace, name, given.model_dump(mode="json"))
    if running is not None and not await service.jobs.wait(running, wait):
        service.jobs.keep(running)
        return shown(running.job, 202)
    return Response(await service.answer_view(workspace, made), media_type="application/json")


@router.get("/answers", response_model=list[AnswerInfo], responses=problems() | LISTED)
async def listing(
    service: Behind, workspace: Here, count: Count = 100, after: After = None
) -> Response:
    """The last answers of the workspace, the newest first."""
    return await listed(service, [workspace], ANSWERS, count, after)


@router.get("/answers/{id}", response_model=AnswerView, responses=problems())
async def show(service: Behind, workspace: Here, name: IdPath) -> Response:
    """An answer with everything needed to act on it, check it and repeat it."""
    return Response(await service.answer_view(workspace, name), media_type="application/json")


@router.delete("/answers/{id}", status_code=204, responses=problems())
async def delete(workspace: Here, name: IdPath) -> None:
    """Delete an answer."""
    if not workspace.remove("answers", name):
        raise not_found("answer")


@router.get("/answers/{id}/evidence", responses=problems())
async def evidence(
    service: Behind, workspace: Here, name: IdPath, which: Which = 1
) -> list[EvidenceRow]:
    """The past runs that support a suggestion, with all their columns."""
    found = (await service.suggestion(workspace, name, which)).trust.evidence
    if not found:
        return []
    engine = workspace.get("answers", name, AnswerInfo).engine
    task = {
        "engine": str(service.engine_path(workspace, engine)),
        "numbers": [one.row for one in found],
    }
    page = await service.now(workspace, "rows", task)
    return [
        EvidenceRow(
            row=one.row, distance=one.distance, values=dict(zip(page["names"], row, strict=True))
        )
        for one, row in zip(found, page["rows"], strict=True)
    ]


@router.get("/answers/{id}/curves", responses=problems())
async def curves(
    service: Behind,
    workspace: Here,
    name: IdPath,
    parameter: Annotated[list[str], Query(min_length=1, max_length=50)],
    which: Which = 1,
) -> list[Curve]:
    """How the outcomes of a suggestion answer to single parameters, all others as they are."""
    chosen = await service.suggestion(workspace, name, which)
    engine = workspace.get("answers", name, AnswerInfo).engine
    outcomes = tuple(outcome.name for outcome in chosen.outcomes)
    return await service.curves(workspace, engine, chosen.config, tuple(parameter), outcomes)
