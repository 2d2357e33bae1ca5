"""Exports: an answer as CSV, JSON, a job script, a job array, or the Python that repeats it."""

import asyncio
from contextlib import suppress
from enum import StrEnum
from typing import Any

from fastapi import Response
from pydantic import Field

from compass import registry
from compass.domain.answer import Answer
from compass.domain.api import AnswerInfo
from compass.domain.base import Noun
from compass.exporters.repeat import repeating
from compass.server.problems import Refused, unfinished
from compass.server.routes.answers import Which
from compass.server.routes.dependencies import (
    IdPath,
    ServiceDep,
    WorkspaceDep,
    router_for,
)
from compass.server.service import Service
from compass.server.store import Workspace

router = router_for("exports", "/api/v1/answers/{id}/exports")


class ExportForm(StrEnum):
    """The forms of an answer."""

    CSV = "csv"
    JSON = "json"
    SBATCH = "sbatch"
    PYTHON = "python"
    ARRAY = "array"


_TYPES = {
    ExportForm.CSV: ("text/csv; charset=utf-8", "csv"),
    ExportForm.JSON: ("application/json", "json"),
    ExportForm.SBATCH: ("text/x-shellscript; charset=utf-8", "sh"),
    ExportForm.PYTHON: ("text/x-python; charset=utf-8", "py"),
    ExportForm.ARRAY: ("text/x-shellscript; charset=utf-8", "sh"),
}
_WHOLE = (ExportForm.JSON, ExportForm.ARRAY)  # they hold proofs and runs to make, which come later
_PATIENCE = 30.0  # seconds that these are waited for at once: proxies end what is silent for long
_FILES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The file.",
        "content": {
            kind.partition(";")[0]: {"schema": {"type": "string"} if ending != "json" else {}}
            for kind, ending in _TYPES.values()
        },
    }
}


class Template(Noun):
    """A site's job script with {names} of columns to be filled in."""

    template: str = Field(min_length=1, max_length=100_000)


@router.get("/{form}", response_class=Response, responses=_FILES)
async def show(
    service: ServiceDep, workspace: WorkspaceDep, name: IdPath, form: ExportForm, which: Which = 1
) -> Response:
    """An answer as a file; of a job script, `suggestion` says of which one.

    JSON and a job array hold what may still be worked out: 409 `unfinished` until it is.
    """
    if form is ExportForm.PYTHON:
        return _file(name, form, await _script(service, workspace, name))
    if form is ExportForm.SBATCH:
        return _file(name, form, await _job(service, workspace, name, which))
    if form in _WHOLE:
        return _file(name, form, await _rendered(await _whole(service, workspace, name), form))
    return _file(name, form, await _rendered(await service.answer(workspace, name), form))


@router.post("/sbatch", response_class=Response, responses=_FILES)
async def fill(
    service: ServiceDep, workspace: WorkspaceDep, name: IdPath, given: Template, which: Which = 1
) -> Response:
    """A suggestion in a job script of one's own."""
    return _file(
        name, ExportForm.SBATCH, await _job(service, workspace, name, which, given.template)
    )


async def _whole(service: Service, workspace: Workspace, name: str) -> Answer:
    """An answer of which nothing is pending, or that says why it will stay so."""
    problem = await service.completed(workspace, name, _PATIENCE)
    answer = await service.answer(workspace, name)
    if not answer.pending:
        return answer
    if problem is None:
        raise unfinished()
    missing = " and ".join(part.value for part in answer.pending)
    note = f"not in here, as it could not be worked out: {missing} ({problem.error})"
    return answer.model_copy(update={"notes": (*answer.notes, note)})


async def _job(
    service: Service, workspace: Workspace, name: str, which: int, template: str | None = None
) -> str:
    answer = await service.answer(workspace, name)
    if which > 1:
        chosen = service.nth(answer, which)
        answer = answer.model_copy(update={"suggestions": (chosen,)})
    return await _rendered(answer, ExportForm.SBATCH, template)


async def _rendered(answer: Answer, form: ExportForm, template: str | None = None) -> str:
    """The text of a file, written in a thread: others are served meanwhile."""
    render = registry.get("exporter", form.value).render
    rendered: str = await asyncio.to_thread(render, answer, template)
    return rendered


async def _script(service: Service, workspace: Workspace, name: str) -> str:
    answer = await service.answer(workspace, name)
    about = workspace.get("answers", name, AnswerInfo)
    engine = service.engine(workspace, about.engine)
    source = engine.name
    if engine.dataset is not None:
        with suppress(Refused):
            data = service.dataset(workspace, engine.dataset)
            source = data.path or data.name
    notes = []
    if engine.parent is not None:
        notes.append("The engine was told more runs: put them and the first ones into one file.")
    notes += [
        f"Give your model of {outcome!r} too: models={{{outcome!r}: 'FILE'}}."
        for outcome in engine.brought
    ]
    return repeating(answer, source, engine.study, engine.options, notes)


def _file(name: str, form: ExportForm, text: str) -> Response:
    kind, ending = _TYPES[form]
    # Only of our own making: nothing that a person typed gets into a header.
    shown = f'attachment; filename="compass-{name}.{ending}"'
    return Response(text, media_type=kind, headers={"Content-Disposition": shown})
