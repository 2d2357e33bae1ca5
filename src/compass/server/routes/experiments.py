"""Experiments: which runs to make next, what came of them, how far they are."""

import asyncio
import json
from pathlib import Path
from typing import Annotated, Any

from fastapi import Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import Field

from compass.domain.api import (
    AttachedRuns,
    ExperimentInfo,
    ExperimentView,
    Id,
    Name,
    NextExperimentRuns,
    ToldRuns,
)
from compass.domain.base import Config, Noun
from compass.domain.experiment import ExperimentReport, ExperimentRun, ExperimentStatus
from compass.server.experiment_tasks import STORE
from compass.server.listing import EXPERIMENTS
from compass.server.people import holder_of
from compass.server.problems import Refused, not_found, unreachable
from compass.server.routes.dependencies import (
    LIST_HEADERS,
    IdPath,
    ListDep,
    ServiceDep,
    WorkspaceDep,
    router_for,
)
from compass.server.routes.queries import Text
from compass.server.service import Service
from compass.server.store import ABOUT, Workspace, new_id, now
from compass.server.streams import Event, Events, EventStream, documented

router = router_for("experiments", "/api/v1/experiments")

_LOOK = 0.5  # seconds between two looks at a store that is followed
_PART = 500  # events that are read at a time


class NewExperiment(Noun):
    """An experiment to begin."""

    name: Name = "experiment"
    plan: dict[str, Any] = Field(
        description="as a plan file has it: columns, rules, fixed, goals, weights, reference, "
        "budget, starts, repeats, stop_below, acquisition, seed; no command, as the server makes "
        "no runs"
    )


class NextRequest(Noun):
    """How many runs, and for whom."""

    count: int = Field(1, ge=1, le=100)
    worker: str = Field("by hand", min_length=1, max_length=200, description="who makes them")


class ToldRequest(Noun):
    """What came of runs."""

    results: tuple[Config, ...] = Field(
        min_length=1,
        max_length=10_000,
        description="by name: `run` (its number) or the settings; outcomes; or `failure` "
        "(`infeasible: ...`: it cannot be made, and costs no budget)",
    )


class AddRequest(Noun):
    """Configurations of a person's own, to be run before what models choose."""

    configs: tuple[Config, ...] = Field(min_length=1, max_length=1000)
    repeats: int | None = Field(None, ge=1, le=1000, description="how often each; as the plan says")


class CancelRequest(Noun):
    """Runs that nobody waits for any more."""

    runs: tuple[int, ...] = Field((), max_length=10_000, description="none: all that are awaited")


class AttachRequest(Noun):
    """Past runs to learn from."""

    dataset: Id
    where: tuple[Text, ...] = Field((), max_length=50, description="those that obey these rules")


@router.post("", status_code=201)
async def start(
    service: ServiceDep, workspace: WorkspaceDep, given: NewExperiment
) -> ExperimentInfo:
    """Begin an experiment: from nothing but a space, rules and goals."""
    service.ask_pool.admit(workspace.id)
    made = new_id()
    with workspace.making("experiments", made) as draft:
        task = _kept_in(service, draft, made) | {"name": given.name, "plan": given.plan}
        found = await service.run_task(workspace, "experiment_start", task)
        about = ExperimentInfo(id=made, name=given.name, created=now(), plan=found["plan"])
        (draft / ABOUT).write_text(about.model_dump_json())
    return about


@router.get("", response_model=list[ExperimentInfo], responses=LIST_HEADERS)
async def listing(listed: ListDep) -> Response:
    """The experiments of the workspace, the newest first."""
    return await listed.of(EXPERIMENTS)


@router.get("/{id}")
async def show(service: ServiceDep, workspace: WorkspaceDep, name: IdPath) -> ExperimentView:
    """One experiment, and how far it is."""
    about = workspace.get("experiments", name, ExperimentInfo)
    status = await _task(service, workspace, name, "status")
    return ExperimentView(experiment=about, status=ExperimentStatus.model_validate(status))


@router.delete("/{id}", status_code=204)
async def delete(workspace: WorkspaceDep, name: IdPath) -> None:
    """Delete an experiment with all its runs."""
    if not workspace.remove("experiments", name):
        raise not_found("experiment")


@router.get("/{id}/report")
async def report(service: ServiceDep, workspace: WorkspaceDep, name: IdPath) -> ExperimentReport:
    """What was found, the learning curve, and how good predictions were by label."""
    return ExperimentReport.model_validate(await _task(service, workspace, name, "report"))


@router.get("/{id}/runs")
async def runs(
    service: ServiceDep,
    workspace: WorkspaceDep,
    name: IdPath,
    after: Annotated[int, Query(ge=0, lt=2**31, description="those behind this number")] = 0,
    event: Annotated[
        int, Query(ge=0, lt=2**62, description="those of which something was told after this event")
    ] = 0,
    count: Annotated[int, Query(ge=1, le=1000, description="at most so many")] = 100,
) -> list[ExperimentRun]:
    """The runs by number."""
    asked = {"after": after, "event": event, "count": count}
    found = await _task(service, workspace, name, "runs", **asked)
    return [ExperimentRun.model_validate(one) for one in found]


@router.post("/{id}/next")
async def next_runs(
    service: ServiceDep, workspace: WorkspaceDep, name: IdPath, given: NextRequest
) -> NextExperimentRuns:
    """The runs to make now; nobody else is given them."""
    found = await _changed(service, workspace, name, "next", **given.model_dump())
    return NextExperimentRuns.model_validate(found)


@router.post("/{id}/tell")
async def tell(
    service: ServiceDep, workspace: WorkspaceDep, name: IdPath, given: ToldRequest
) -> ToldRuns:
    """What came of runs, also of those that nobody was asked for. Nothing is taken in twice."""
    found = await _changed(service, workspace, name, "tell", results=given.results)
    return ToldRuns.model_validate(found)


@router.post("/{id}/add")
async def add(
    service: ServiceDep, workspace: WorkspaceDep, name: IdPath, given: AddRequest
) -> ExperimentStatus:
    """Add configurations of your own."""
    found = await _changed(service, workspace, name, "add", **given.model_dump(mode="json"))
    return ExperimentStatus.model_validate(found)


@router.post("/{id}/cancel")
async def cancel(
    service: ServiceDep, workspace: WorkspaceDep, name: IdPath, given: CancelRequest
) -> ExperimentStatus:
    """Wait for runs no longer."""
    found = await _changed(service, workspace, name, "cancel", runs=given.runs)
    return ExperimentStatus.model_validate(found)


@router.post("/{id}/attach")
async def attach(
    service: ServiceDep, workspace: WorkspaceDep, name: IdPath, given: AttachRequest
) -> AttachedRuns:
    """Learn from the past runs of a dataset."""
    data = service.dataset_task(workspace, given.dataset)
    found = await _changed(service, workspace, name, "attach", data=data, where=given.where)
    return AttachedRuns.model_validate(found)


@router.get(
    "/{id}/events",
    response_class=StreamingResponse,
    responses=documented(
        "A stream of `event: run` with what happened as data, from behind the event `after` on.",
        "run",
    ),
)
async def events(
    request: Request,
    service: ServiceDep,
    workspace: WorkspaceDep,
    name: IdPath,
    after: Annotated[int, Query(ge=0, lt=2**62)] = 0,
) -> StreamingResponse:
    """Follow an experiment as it happens (server-sent events)."""
    workspace.get("experiments", name, ExperimentInfo)
    holder = (workspace.id, holder_of(request))
    return EventStream(
        service.streams,
        holder,
        _followed(service, workspace, name, after),
        service.limits.stream_seconds,
    )


async def _followed(service: Service, workspace: Workspace, name: str, after: int) -> Events:
    before = None
    while not service.ask_pool.closed:
        mark = await asyncio.to_thread(_mark, service, workspace, name)
        if mark is None:
            return  # deleted meanwhile
        if mark == before:
            await asyncio.sleep(_LOOK)
            continue
        part = await _task(service, workspace, name, "events", after=after, count=_PART)
        for one in part:
            after = one["id"]
            yield Event("run", json.dumps(one).encode())
        if len(part) < _PART:
            before = mark


def _mark(service: Service, workspace: Workspace, name: str) -> object:
    """What changes whenever something is told; None: the experiment is gone."""
    if service.database is not None:
        return service.database.last_event(name)
    try:
        found = (workspace.place("experiments", name) / STORE).stat()
    except FileNotFoundError:
        return None
    return found.st_mtime_ns, found.st_size


def _kept_in(service: Service, folder: Path, name: str) -> dict[str, str]:
    """Where the runs of an experiment are, as a working process needs it."""
    if service.database is None:
        return {"store": str(folder / STORE)}
    return {"store": service.database.address, "id": name}


async def _task(service: Service, workspace: Workspace, name: str, task: str, **given: Any) -> Any:
    """Do something with the runs of an experiment, in a working process."""
    called = workspace.get("experiments", name, ExperimentInfo).name
    where = _kept_in(service, workspace.place("experiments", name), name)
    about = where | {"name": called, **given}
    try:
        return await service.run_task(workspace, f"experiment_{task}", about)
    except Refused as refused:
        if service.database is not None and refused.problem.code == "not-available":
            raise unreachable() from None  # its address is nobody's business
        raise


async def _changed(
    service: Service, workspace: Workspace, name: str, task: str, **given: Any
) -> Any:
    """The same, where it adds to what is kept."""
    workspace.check_room(0)
    try:
        return await _task(service, workspace, name, task, **given)
    finally:
        workspace.count_again("experiments", name)
