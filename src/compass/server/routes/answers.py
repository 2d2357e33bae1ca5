"""Answers: ask an engine, look at answers again, at their evidence and their curves."""

from typing import Annotated

from fastapi import Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import Field

from compass.domain.answer import Curve
from compass.domain.api import AnswerInfo, AnswerView, EvidenceRow, Job, Name
from compass.domain.base import Noun
from compass.server import answers
from compass.server.listing import ANSWERS
from compass.server.people import holder_of
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
from compass.server.streams import EventStream, documented

router = router_for("answers", "/api/v1")
Completion = Annotated[
    float, Query(ge=0, le=60, description="seconds to wait for what is pending of it")
]
Which = Annotated[int, Query(alias="suggestion", ge=1, le=1000, description="which one, from 1")]


class AnswerName(Noun):
    """What a person calls an answer."""

    name: Name | None = Field(None, description="None: its question names it again")


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
    """Ask. The same question to the same engine has the same answer, and is answered once.

    The answer comes as soon as it is found. What takes longer, its proof and the runs to make next,
    is worked out while somebody waits for it: see its events.
    """
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
async def show(
    service: ServiceDep, workspace: WorkspaceDep, name: IdPath, wait: Completion = 0
) -> Response:
    """An answer with everything needed to act on it, check it and repeat it."""
    problem = await service.completed(workspace, name, wait)
    written = await service.answer_view(workspace, name, problem)
    return Response(written, media_type="application/json")


@router.get(
    "/answers/{id}/events",
    response_class=StreamingResponse,
    responses=documented(
        "A stream of `event: answer` with the AnswerView as data: as it is now, then each time "
        "there is more of it, until nothing is pending; or `event: problem`, and why it will never "
        "be whole. A stream that ends before is opened again.",
        "answer",
        "problem",
    ),
)
async def events(
    request: Request, service: ServiceDep, workspace: WorkspaceDep, name: IdPath
) -> StreamingResponse:
    """Follow an answer until it is whole: its proof, the runs to make next (server-sent events).

    They are worked out while somebody follows it; a stream that broke is simply opened again.
    """
    running = service.completing(workspace, name)  # refused here, if at all: not in the stream
    holder = (workspace.id, holder_of(request))
    return EventStream(
        service.streams,
        holder,
        service.answer_events(workspace, name, running),
        service.limits.stream_seconds,
    )


@router.put("/answers/{id}/name")
async def call(workspace: WorkspaceDep, name: IdPath, given: AnswerName) -> AnswerInfo:
    """Give an answer a name, to find it again and to tell it from others."""
    return answers.named(workspace, name, given.name)


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
