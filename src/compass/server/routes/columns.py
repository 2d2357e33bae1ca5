"""Columns: what each is taken for, and why."""

from fastapi import APIRouter

from compass.server.nouns import ColumnsView
from compass.server.routes.needs import Behind, Here, IdPath, problems

router = APIRouter(prefix="/api/v1/datasets/{id}/columns", tags=["columns"])


@router.get("", responses=problems())
async def show(service: Behind, workspace: Here, name: IdPath) -> ColumnsView:
    """Type, role, unit, range and missing values of each column, and what cleaning did."""
    given = service.given_data(workspace, name)
    return ColumnsView.model_validate(await service.now(workspace, "columns", given))
