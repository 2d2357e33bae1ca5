"""Advice for people who submit jobs, from a dataset of accounting; requested against used."""

from typing import Self

from pydantic import Field, model_validator

from compass.domain.advice import AdviceList, JobRequest
from compass.domain.base import Noun
from compass.domain.usage import UsageReport
from compass.server.routes.dependencies import IdPath, ServiceDep, WorkspaceDep, router_for

router = router_for("advice", "/api/v1/datasets")


class AdviceRequest(Noun):
    """What is asked about: a past job, a request, a pasted text, or the kinds of the last jobs."""

    job: str | None = Field(None, max_length=200, description="the number of a past job")
    request: JobRequest | None = None
    pasted: str | None = Field(
        None,
        min_length=1,
        max_length=200_000,
        description="the number of a job, lines of sacct, or a job script",
    )
    last: int = Field(20, ge=1, le=1000, description="jobs, where none of the others is given")
    user: str | None = Field(None, max_length=200, description="whose jobs")
    risk: float = Field(0.05, gt=0, lt=0.5, description="chance of running out that is accepted")

    @model_validator(mode="after")
    def _one(self) -> Self:
        if sum(one is not None for one in (self.job, self.request, self.pasted)) > 1:
            raise ValueError("give a job, a request or a pasted text, not several of them")
        return self


@router.post("/{id}/advice")
async def advise(
    service: ServiceDep, workspace: WorkspaceDep, name: IdPath, asked: AdviceRequest
) -> AdviceList:
    """What the next jobs should ask Slurm for, learnt from this dataset of accounting."""
    task = service.dataset_task(workspace, name) | {"asked": asked.model_dump(mode="json")}
    return AdviceList.model_validate(await service.run_task(workspace, "advise", task))


@router.get("/{id}/usage")
async def usage(service: ServiceDep, workspace: WorkspaceDep, name: IdPath) -> UsageReport:
    """What these jobs asked for against what they used, and what would free most."""
    given = service.dataset_task(workspace, name)
    return UsageReport.model_validate(await service.run_task(workspace, "usage", given))
