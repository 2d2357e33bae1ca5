"""Engines: learn from a dataset once, to ask many times; and what has been learnt."""

import json
from typing import Annotated, Any

from fastapi import Query, Response
from pydantic import AfterValidator, Field

from compass.chat.draft import Inquiry
from compass.chat.outcomes import NEEDS_MODEL, outcome_meant
from compass.domain import option
from compass.domain.answer import Curve, Suggestion
from compass.domain.api import EngineBrief, EngineInfo, Id, Job, Name, Points, RowNumber
from compass.domain.base import Config, Noun, Real
from compass.domain.explanation import Dependence, Explanation, Importance
from compass.domain.findings import Findings
from compass.domain.options import FitOptions, field
from compass.domain.overview import Overview
from compass.domain.study import Study
from compass.language.bind import outcomes_named
from compass.server.learning import learn_named, learning
from compass.server.listing import ENGINES
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
from compass.server.routes.queries import Plugin
from compass.server.routes.rules import RuleText
from compass.server.store import new_id

router = router_for("engines", "/api/v1/engines")
_OPTIONS = set(FitOptions.model_fields)
Column = Annotated[str, Field(min_length=1, max_length=1000)]


def _is_text(given: Any) -> Any:
    """Refuse halves of Unicode pairs, which JSON can hold and no file can."""
    try:
        json.dumps(given, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError("a name or a value is no valid text") from None
    return given


class NewEngine(FitOptions):
    """What to learn from, and how; what is not given has a default."""

    dataset: Id
    name: Name | None = None
    study: Study | None = Field(
        None, description="what columns mean; as the dataset says if not said"
    )
    rules: tuple[RuleText, ...] = field(option.RULES, (), max_length=200)
    surrogate: Plugin | None = field(option.SURROGATE)
    generator: Plugin | None = field(option.GENERATOR)
    reducer: Plugin | None = field(option.REDUCER)
    tune: Real | None = field(option.TUNE, le=3600)
    represent: Plugin | None = field(option.REPRESENT)
    models: dict[Column, Id] = Field(
        default_factory=dict, max_length=100, description="models that were uploaded, by outcome"
    )
    model_columns: Annotated[dict[Column, list[Any] | dict[str, Any]], AfterValidator(_is_text)] = (
        Field(default_factory=dict, max_length=100, description="which columns such a model takes")
    )


class OutcomeRequest(Noun):
    """What to learn."""

    outcome: Column


class ExplanationRequest(Noun):
    """What to explain: a past run, a configuration, or a suggestion of an answer."""

    run: RowNumber | Config | None = Field(None, description="a row number or a configuration")
    answer: Id | None = None
    suggestion: int = Field(1, ge=1, le=1000, description="which one of the answer")
    given: Suggestion | None = Field(None, description="a suggestion as an answer told it")
    outcomes: tuple[Column, ...] = Field((), max_length=100)
    against: RowNumber | Config | None = Field(None, description="one run to compare with")


class CurvesRequest(Noun):
    """Where curves are wanted."""

    run: RowNumber | Config
    parameters: tuple[Column, ...] = Field(min_length=1, max_length=50)
    outcomes: tuple[Column, ...] = Field((), max_length=50)


class InquiryRequest(Inquiry):
    """What to tell of what is known already."""

    outcome: Column | None = None
    row: RowNumber | None = None
    places: tuple[int, ...] = Field((), max_length=2, description="two rows to compare")
    where: tuple[RuleText, ...] = Field((), max_length=200)


@router.post(
    "",
    status_code=201,
    response_model=EngineInfo,
    responses=LACKING
    | {
        201: {"model": EngineInfo, "description": "The engine, ready to be asked."},
        202: {"model": Job, "description": "The job that makes it; it names the engine."},
    },
)
async def create(
    service: ServiceDep, workspace: WorkspaceDep, given: NewEngine, wait: Wait = 10
) -> Response:
    """Make an engine of a dataset; an outcome is learnt when a question first needs it."""
    service.ready_dataset(workspace, given.dataset)
    for model in given.models.values():
        service.model_task(workspace, model)
    service.fit_pool.admit(workspace.id)
    made = new_id()
    work: dict[str, Any] = {
        "engine": made,
        "dataset": given.dataset,
        "name": given.name,
        "study": given.study and given.study.model_dump(mode="json", exclude_defaults=True),
        "options": given.model_dump(mode="json", include=_OPTIONS, exclude_defaults=True),
        "models": given.models,
        "columns": given.model_columns,
    }
    running = service.jobs.start(workspace, "fit", work, engine=made, dataset=given.dataset)
    if await service.jobs.wait(running, wait):
        about = workspace.get("engines", made, EngineInfo)
        return noun_response(about, 201)
    return noun_response(running.job, 202)


@router.get("", response_model=list[EngineBrief], responses=LIST_HEADERS)
async def listing(listed: ListDep) -> Response:
    """The engines of the workspace, then those that the operator offers to everybody."""
    return await listed.of(ENGINES, listed.with_shared)


@router.get("/{id}")
async def show(service: ServiceDep, workspace: WorkspaceDep, name: IdPath) -> EngineInfo:
    """What an engine learnt, and how well."""
    return service.engine(workspace, name)


@router.delete("/{id}", status_code=204)
async def delete(service: ServiceDep, workspace: WorkspaceDep, name: IdPath) -> None:
    """Delete an engine. Answers that it gave stay."""
    if service.owner_of(workspace, "engines", name).shared:
        raise Refused(403, "shared", "this engine is offered by the operator and stays")
    for job in service.jobs.of(workspace):
        if (job.kind, job.engine) == ("learn", name):
            await service.jobs.cancel(workspace, job.id)
    service.unlearnt.pop(name, None)
    workspace.remove("engines", name)


@router.post(
    "/{id}/outcomes",
    response_model=EngineInfo,
    responses={
        200: {"model": EngineInfo, "description": "The engine, which has learnt it."},
        202: {"model": Job, "description": "The job that learns it."},
    },
)
async def learn(
    service: ServiceDep,
    workspace: WorkspaceDep,
    name: IdPath,
    given: OutcomeRequest,
    wait: Wait = 10,
) -> Response:
    """Learn an outcome before a question needs it. One that is learnt stays as it is."""
    about = service.engine(workspace, name)
    (outcome,) = outcomes_named([given.outcome], about.space)
    running = learning(service, workspace, name, outcome)
    if running is not None and not await service.jobs.wait(running, wait):
        return noun_response(running.job, 202)
    return noun_response(service.engine(workspace, name), 200)


@router.post("/{id}/explanations")
async def explain(
    service: ServiceDep, workspace: WorkspaceDep, name: IdPath, given: ExplanationRequest
) -> list[Explanation]:
    """Why the model predicts this of a past run, a configuration or a suggestion."""
    task: dict[str, Any] = {
        "engine": str(service.engine_path(workspace, name)),
        "run": given.run,
        "outcomes": given.outcomes,
        "against": given.against,
    }
    if [given.run, given.answer, given.given].count(None) != 2:
        raise Refused(
            422,
            "bad-input",
            "name one thing to explain",
            hint="give one of `run`, `answer`, `given`",
        )
    if given.answer is not None:
        chosen = await service.suggestion(workspace, given.answer, given.suggestion)
        task["suggestion"] = chosen.model_dump(mode="json")
    if given.given is not None:
        task["suggestion"] = given.given.model_dump(mode="json")
    if "suggestion" not in task:
        await learn_named(service, workspace, name, given.outcomes)
    found = await service.run_task(workspace, "explain", task)
    return [Explanation.model_validate(one) for one in found]


@router.get("/{id}/importance")
async def importance(
    service: ServiceDep,
    workspace: WorkspaceDep,
    name: IdPath,
    outcome: Annotated[str, Query(min_length=1, max_length=1000)],
    repeats: Annotated[int, Query(ge=1, le=100)] = 10,
) -> Importance:
    """Which columns the model of an outcome relies on."""
    await learn_named(service, workspace, name, [outcome])
    asked = {"outcome": outcome, "repeats": repeats}
    found = await service.run_engine_task(workspace, name, "importance", **asked)
    return Importance.model_validate(found)


@router.get("/{id}/dependence")
async def dependence(
    service: ServiceDep,
    workspace: WorkspaceDep,
    name: IdPath,
    outcome: Annotated[str, Query(min_length=1, max_length=1000)],
    column: Annotated[str, Query(min_length=1, max_length=1000)],
    points: Annotated[int, Query(ge=2, le=200)] = 20,
    label: Annotated[
        str | None, Query(max_length=1000, description="which class, of classes")
    ] = None,
    lines: Annotated[int, Query(ge=0, le=200, description="single runs to follow")] = 0,
) -> Dependence:
    """How the prediction of an outcome answers to a column, over the past runs."""
    await learn_named(service, workspace, name, [outcome])
    asked = {"outcome": outcome, "column": column, "points": points, "label": label}
    found = await service.run_engine_task(workspace, name, "dependence", lines=lines, **asked)
    return Dependence.model_validate(found)


@router.get("/{id}/points", response_model=Points)
async def points(
    service: ServiceDep,
    workspace: WorkspaceDep,
    name: IdPath,
    column: Annotated[list[Column], Query(min_length=1, max_length=8)],
    count: Annotated[
        int, Query(ge=1, le=100_000, description="at most; of more a sample")
    ] = 10_000,
) -> Response:
    """Some columns of the past runs, to draw them: clean values, column by column."""
    path = str(service.engine_path(workspace, name))
    task = {"engine": path, "columns": column, "count": count}
    written = await service.run_task_bytes(workspace, "points", task)
    return Response(written, media_type="application/json")


@router.get("/{id}/overview")
async def overview(service: ServiceDep, workspace: WorkspaceDep, name: IdPath) -> Overview:
    """What the past runs tell by themselves: the best of them, failures, what they cannot tell."""
    return Overview.model_validate(await service.run_engine_task(workspace, name, "overview"))


@router.post("/{id}/findings")
async def look_up(
    service: ServiceDep, workspace: WorkspaceDep, name: IdPath, given: InquiryRequest
) -> Findings:
    """What is known already: past runs, what matters most, how well outcomes are predicted."""
    if given.topic in NEEDS_MODEL:
        space = service.engine(workspace, name).space
        await learn_named(service, workspace, name, [outcome_meant(space, given.outcome)])
    inquiry = given.model_dump(mode="json")
    return Findings.model_validate(
        await service.run_engine_task(workspace, name, "look_up", inquiry=inquiry)
    )


@router.post("/{id}/curves")
async def curves(
    service: ServiceDep, workspace: WorkspaceDep, name: IdPath, given: CurvesRequest
) -> list[Curve]:
    """How outcomes answer to single parameters, everything else as in a run or configuration."""
    await learn_named(service, workspace, name, given.outcomes)
    return await service.curves(workspace, name, given.run, given.parameters, given.outcomes)
