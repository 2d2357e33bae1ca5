"""Exports: an answer as CSV, JSON, a job script, or the Python that repeats it."""

from contextlib import suppress
from enum import StrEnum
from typing import Any

from fastapi import APIRouter, Response
from pydantic import Field

from compass import registry
from compass.domain.base import Noun
from compass.engine.repeat import repeating
from compass.server.nouns import AnswerInfo
from compass.server.problems import Refused
from compass.server.routes.needs import Behind, Here, IdPath, problems
from compass.server.service import Service
from compass.server.store import Workspace

router = APIRouter(prefix="/api/v1/answers/{id}/exports", tags=["exports"])


class Form(StrEnum):
    """The forms of an answer."""

    CSV = "csv"
    JSON = "json"
    SBATCH = "sbatch"
    PYTHON = "python"


_TYPES = {
    Form.CSV: ("text/csv; charset=utf-8", "csv"),
    Form.JSON: ("application/json", "json"),
    Form.SBATCH: ("text/x-shellscript; charset=utf-8", "sh"),
    Form.PYTHON: ("text/x-python; charset=utf-8", "py"),
}
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


@router.get("/{form}", response_class=Response, responses=problems() | _FILES)
async def show(service: Behind, workspace: Here, name: IdPath, form: Form) -> Response:
    """An answer as a file."""
    if form is Form.PYTHON:
        return _file(name, form, _script(service, workspace, name))
    return _file(name, form, _rendered(service, workspace, name, form.value))


@router.post("/sbatch", response_class=Response, responses=problems() | _FILES)
async def fill(service: Behind, workspace: Here, name: IdPath, given: Template) -> Response:
    """The first suggestion in a job script of one's own."""
    return _file(name, Form.SBATCH, _rendered(service, workspace, name, "sbatch", given.template))


def _rendered(
    service: Service, workspace: Workspace, name: str, form: str, template: str | None = None
) -> str:
    answer = service.answer(workspace, name)
    rendered: str = registry.get("exporter", form).render(answer, template)
    return rendered


def _script(service: Service, workspace: Workspace, name: str) -> str:
    answer = service.answer(workspace, name)
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


def _file(name: str, form: Form, text: str) -> Response:
    kind, ending = _TYPES[form]
    # Only of our own making: nothing that a person typed gets into a header.
    shown = f'attachment; filename="compass-{name}.{ending}"'
    return Response(text, media_type=kind, headers={"Content-Disposition": shown})
