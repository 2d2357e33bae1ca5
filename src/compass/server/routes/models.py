"""Models that people bring for an outcome, in formats that run no code when they are opened."""

from typing import Annotated

from fastapi import Query, Request, Response

from compass.domain.api import ModelBrief, ModelInfo, Name
from compass.server.listing import MODELS
from compass.server.problems import not_found
from compass.server.routes.datasets import FILE
from compass.server.routes.dependencies import (
    LIST_HEADERS,
    IdPath,
    ListDep,
    ServiceDep,
    WorkspaceDep,
    router_for,
)
from compass.server.store import new_id, now
from compass.server.uploads import receive

router = router_for("models", "/api/v1/models")


@router.post("/upload", status_code=201, openapi_extra=FILE)
async def upload(
    request: Request,
    service: ServiceDep,
    workspace: WorkspaceDep,
    name: Annotated[Name, Query(description="the name of the file")],
) -> ModelInfo:
    """Upload a model: ONNX, LightGBM, XGBoost, skops, Keras or TorchScript. Pickles are refused."""
    service.ask_pool.admit(workspace.id)
    made = new_id()
    about = ModelInfo(id=made, name=name, created=now())
    with workspace.making("models", made) as draft:
        came = await receive(request, draft / "model", workspace)
        service.metrics.uploaded.inc(came.bytes)
        task = {"path": str(draft / "model"), "name": name}
        found = await service.run_task(workspace, "bring", task)
        about = about.model_copy(update={**came._asdict(), **found})
        (draft / "about.json").write_text(about.model_dump_json())
    return about


@router.get("", response_model=list[ModelBrief], responses=LIST_HEADERS)
async def listing(listed: ListDep) -> Response:
    """The models of the workspace, the newest first."""
    return await listed.of(MODELS)


@router.get("/{id}")
async def show(workspace: WorkspaceDep, name: IdPath) -> ModelInfo:
    """One model."""
    return workspace.get("models", name, ModelInfo)


@router.delete("/{id}", status_code=204)
async def delete(workspace: WorkspaceDep, name: IdPath) -> None:
    """Delete a model. Engines that use it have their own copy."""
    if not workspace.remove("models", name):
        raise not_found("model")
