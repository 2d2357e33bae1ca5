"""Runs on several machines: what a dataset tells of them, and forecasts on every machine."""

from typing import Annotated

from pydantic import Field

from compass.domain.base import Noun, Real, Whole
from compass.domain.machines import MachinesView, PlatformAnswer
from compass.server.routes.dependencies import IdPath, ServiceDep, WorkspaceDep, router_for

router = router_for("machines", "/api/v1/datasets")

Label = Annotated[str, Field(min_length=1, max_length=1000)]
ByMachine = Annotated[dict[Label, Annotated[Real, Field(ge=0, le=1e15)]], Field(max_length=1000)]


class ForecastRequest(Noun):
    """Which application is asked about, and what else is known of the machines."""

    application: Label
    source: Label = Field(description="a machine that it was run on")
    machines: Annotated[tuple[Label, ...], Field(max_length=1000)] = Field(
        (), description="only these and the source; empty: all"
    )
    prices: ByMachine = Field(default_factory=dict, description="per unit of the runtime")
    power: ByMachine = Field(default_factory=dict, description="while it runs something")
    level: Real = Field(0.9, ge=0.5, le=0.99, description="share of runs that intervals hold")
    first: Whole = Field(
        0, ge=0, le=10**9, description="of the inputs and configurations; 60 of them are told"
    )
    seed: Whole = Field(7, ge=0, lt=2**32)


@router.get("/{id}/machines")
async def show(service: ServiceDep, workspace: WorkspaceDep, name: IdPath) -> MachinesView:
    """What this dataset tells of runs on several machines, and by which columns."""
    given = service.dataset_task(workspace, name)
    return MachinesView.model_validate(await service.run_task(workspace, "machines", given))


@router.post("/{id}/machines")
async def forecast(
    service: ServiceDep, workspace: WorkspaceDep, name: IdPath, asked: ForecastRequest
) -> PlatformAnswer:
    """What an application does on every machine, from its runs on one, and in which order."""
    task = service.dataset_task(workspace, name) | {"asked": asked.model_dump(mode="json")}
    reply = await service.run_task(workspace, "machine_forecast", task)
    return PlatformAnswer.model_validate(reply)
