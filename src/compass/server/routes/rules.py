"""Rules: which hold for every answer, and how many past runs break each."""

from typing import Annotated

from fastapi import Query
from pydantic import Field

from compass.domain.api import RulesView
from compass.domain.base import Noun
from compass.server.routes.dependencies import (
    IdPath,
    ServiceDep,
    WorkspaceDep,
    router_for,
)

router = router_for("rules", "/api/v1/datasets/{id}/rules")
RuleText = Annotated[str, Field(min_length=1, max_length=8000)]


class RuleTexts(Noun):
    """Rules to try."""

    rules: tuple[RuleText, ...] = Field(max_length=200)


@router.get("")
async def show(
    service: ServiceDep,
    workspace: WorkspaceDep,
    name: IdPath,
    mine: Annotated[bool, Query(description="look for rules that hold on all rows too")] = False,
) -> RulesView:
    """The rules of a dataset's study, with the count of rows that break each."""
    given = service.dataset_task(workspace, name) | {"mine": mine}
    return RulesView.model_validate(await service.run_task(workspace, "rules", given))


@router.post("/check")
async def check(
    service: ServiceDep, workspace: WorkspaceDep, name: IdPath, given: RuleTexts
) -> RulesView:
    """Try rules without keeping them: how many rows break each."""
    task = service.dataset_task(workspace, name) | {"rules": given.rules}
    return RulesView.model_validate(await service.run_task(workspace, "rules", task))
