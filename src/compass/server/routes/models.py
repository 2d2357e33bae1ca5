"""Models that people bring for an outcome, in formats that run no code when they are opened."""

from typing import Annotated

from fastapi import Query, Request, Response

from compass.server.listing import MODELS
from compass.server.nouns import ModelBrief, ModelInfo, Name, now
from compass.server.problems import not_found
from compass.server.routes.datasets import FILE
from compass.server.routes.needs import (
    LISTED,
    After,
    Behind,
    Count,
    Here,
    IdPath,
    listed,
    problems,
    routes,
)
from compass.server.store import new_id
from compass.server.uploads import receive

router = routes("models", "/api/v1/models")


@router.post("/upload", status_code=201, responses=problems(408), openapi_extra=FILE)
async def upload(
    request: Request,
    service: Behind,
    workspace: Here,
    name: Annotated[Name, Query(description="the name of the file")],
) -> ModelInfo:
    """Upload a model: ONNX, LightGBM, XGBoost, skops, Keras or TorchScript. Pickles are refused."""
    service.askers.admit(workspace.id)
    made = new_id()
    about = ModelInfo(id=made, name=name, created=now())
    with workspace.making("models", made) as draft:
        came = await receive(request, draft / "model", workspace)
        service.metrics.uploaded.inc(came.bytes)
        task = {"path": str(draft / "model"), "name": name}
        found = await service.now(workspace, "bring", task)
        about = about.model_copy(update={**came._asdict(), **found})
        (draft / "about.json").write_text(about.model_dump_json())
    return about


@router.get("", response_model=list[ModelBrief], responses=problems() | LISTED)
async def listing(
    service: Behind, workspace: Here, count: Count = 100, after: After = None
) -> Response:
    """The models of the workspace, the newest first."""
    return await listed(service, [workspace], MODELS, count, after)


@router.get("/{id}", responses=problems())
async def show(workspace: Here, name: IdPath) -> ModelInfo:
    """One model."""
    return workspace.get("models", name, ModelInfo)


@router.delete("/{id}", status_code=204, responses=problems())
async def delete(workspace: Here, name: IdPath) -> None:
    """Delete a model. Engines that use it have their own copy."""
    if not workspace.remove("models", name):
        raise not_found("model")
