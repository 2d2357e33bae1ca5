"""Columns: what each is taken for, and why."""

from typing import Any

from pydantic import Field

from compass.domain.base import Noun
from compass.domain.study import Study
from compass.engine.columns import ColumnsView
from compass.server.routes.dependencies import (
    IdPath,
    ServiceDep,
    WorkspaceDep,
    router_for,
)

router = router_for("columns", "/api/v1")


class ColumnsCheck(Noun):
    """What columns are said to mean, to see what would become of it."""

    study: Study | None = Field(None, description="instead of what was said before")
    mine: bool = Field(False, description="look for rules that hold on all rows too")


@router.get("/datasets/{id}/columns")
async def show(service: ServiceDep, workspace: WorkspaceDep, name: IdPath) -> ColumnsView:
    """Type, role, unit, range and missing values of each column, and what cleaning did."""
    given = service.dataset_task(workspace, name)
    return ColumnsView.model_validate(await service.run_task(workspace, "columns", given))


@router.post("/datasets/{id}/columns/check")
async def check(
    service: ServiceDep, workspace: WorkspaceDep, name: IdPath, given: ColumnsCheck
) -> ColumnsView:
    """The same, seen through another study, which is not kept."""
    task = service.dataset_task(workspace, name, _plain(given)) | {"mine": given.mine}
    return ColumnsView.model_validate(await service.run_task(workspace, "columns", task))


@router.post("/engines/{id}/columns/check")
async def of_engine(
    service: ServiceDep, workspace: WorkspaceDep, name: IdPath, given: ColumnsCheck
) -> ColumnsView:
    """The same for all runs that an engine knows, those that it was told included."""
    about = service.engine(workspace, name)
    study = _plain(given)
    if study is None:
        study = about.study.model_dump(mode="json", exclude_defaults=True)
    found = await service.run_engine_task(workspace, name, "columns", study=study, mine=given.mine)
    return ColumnsView.model_validate(found)


def _plain(given: ColumnsCheck) -> dict[str, Any] | None:
    if given.study is None:
        return None
    return given.study.model_dump(mode="json", exclude_defaults=True)
