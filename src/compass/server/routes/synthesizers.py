"""Synthesizers: learn a dataset, draw rows like it, fill in cells, decide, predict, judge."""

from typing import Annotated, Any, Self

from fastapi import Response
from pydantic import Field, model_validator

from compass.domain.api import Id, Job, Name, SynthesizerInfo
from compass.domain.base import Config, Noun, Real, Value, Whole
from compass.domain.study import Study
from compass.server.listing import SYNTHESIZERS
from compass.server.problems import not_found
from compass.server.responses import noun_response
from compass.server.routes.dependencies import (
    LACKING,
    LIST_HEADERS,
    IdPath,
    ListDep,
    ServiceDep,
    Wait,
    WorkspaceDep,
    router_for,
)
from compass.server.routes.queries import Plugin
from compass.server.routes.rules import RuleText
from compass.server.service import Service
from compass.server.store import Workspace, new_id
from compass.server.synthesis_tasks import FILE, MOST_ROWS
from compass.synth.decide import Decision
from compass.synth.predict import Predictions
from compass.synth.quality.plane import Picture
from compass.synth.quality.report import QualityReport
from compass.synth.report import SynthesisReport

router = router_for("synthesizers", "/api/v1/synthesizers")

Column = Annotated[str, Field(min_length=1, max_length=1000)]
Rules = Annotated[tuple[RuleText, ...], Field(max_length=200)]
Seed = Annotated[Whole | None, Field(ge=0, lt=2**32, description="as it was learnt with")]
_COUNT = Field(ge=1, le=MOST_ROWS)


class ChosenSettings(Noun):
    """Settings of a synthesizer; which it has, its own defaults tell."""

    epochs: Annotated[Whole, Field(ge=1, le=10_000)] | None = None
    batch: Annotated[Whole, Field(ge=2, le=100_000)] | None = None
    steps: Annotated[Whole, Field(ge=1, le=20)] | None = Field(
        None, description="of the discriminator for each one of the generator (ctgan)"
    )
    rate: Annotated[Real, Field(gt=0, le=1)] | None = None
    least: Annotated[Whole, Field(ge=1, le=10_000)] | None = Field(
        None, description="rows of a leaf (cart)"
    )


class NewSynthesizer(Noun):
    """What to learn, and how."""

    dataset: Id
    name: Name | None = None
    study: Study | None = Field(
        None, description="what columns mean; as the dataset says if not said"
    )
    synthesizer: Plugin = "cart"
    rules: Rules = ()
    seed: Seed = None
    settings: ChosenSettings = ChosenSettings()
    tune: Real = Field(0.0, ge=0, le=3600, description="seconds for better settings")


class SampleRequest(Noun):
    """Which rows to draw."""

    count: int = Field(1000, ge=1, le=MOST_ROWS)
    where: Rules = Field((), description="conditions, as rules")
    given: dict[Column, Value | tuple[Value, ...]] = Field(
        default_factory=dict, max_length=2000, description="a value, or a list, by column"
    )
    seed: Seed = None


class DecideRequest(SampleRequest):
    """Limits, and what is given; the rest is drawn."""

    count: int = Field(500, ge=1, le=MOST_ROWS)


class FillRequest(Noun):
    """Rows with gaps: themselves, or those of a dataset."""

    rows: tuple[Config, ...] = Field((), max_length=MOST_ROWS)
    dataset: Id | None = Field(None, description="whose rows, in place of `rows`")
    where: Rules = ()
    draws: int = Field(1, ge=1, le=MOST_ROWS, description="how often each row: a distribution")
    seed: Seed = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if bool(self.rows) == (self.dataset is not None):
            raise ValueError("give rows or a dataset, one of them")
        return self


class PredictRequest(Noun):
    """Rows whose features are given."""

    rows: tuple[Config, ...] = Field(min_length=1, max_length=MOST_ROWS)
    draws: int = Field(50, ge=1, le=MOST_ROWS)
    engine: Id | None = Field(None, description="whose surrogate stands beside it")
    seed: Seed = None


class CheckRequest(Noun):
    """Two datasets to compare."""

    real: Id
    synthetic: Id
    test: Id | None = Field(None, description="real rows that nothing was learnt from")
    study: Study | None = Field(None, description="what columns mean; as the real dataset says")
    target: Column | None = None
    picture: Picture = "pca"
    seed: Seed = None


class SyntheticPage(Noun):
    """Rows that were drawn, and what came of it."""

    names: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    report: SynthesisReport


@router.post(
    "",
    status_code=201,
    response_model=SynthesizerInfo,
    responses=LACKING
    | {
        201: {"model": SynthesizerInfo, "description": "The synthesizer, ready to draw."},
        202: {"model": Job, "description": "The job that makes it; it names the synthesizer."},
    },
)
async def create(
    service: ServiceDep, workspace: WorkspaceDep, given: NewSynthesizer, wait: Wait = 10
) -> Response:
    """Learn to draw rows like those of a dataset."""
    service.ready_dataset(workspace, given.dataset)
    service.fit_pool.admit(workspace.id)
    made = new_id()
    options = given.model_dump(mode="json", include={"synthesizer", "rules", "seed", "tune"})
    work: dict[str, Any] = {
        "synthesizer": made,
        "dataset": given.dataset,
        "name": given.name,
        "study": given.study and given.study.model_dump(mode="json", exclude_defaults=True),
        "options": options | {"settings": given.settings.model_dump(exclude_none=True)},
    }
    jobs = service.jobs
    running = jobs.start(workspace, "synthesize", work, synthesizer=made, dataset=given.dataset)
    if await jobs.wait(running, wait):
        return noun_response(workspace.get("synthesizers", made, SynthesizerInfo), 201)
    return noun_response(running.job, 202)


@router.get("", response_model=list[SynthesizerInfo], responses=LIST_HEADERS)
async def listing(listed: ListDep) -> Response:
    """The synthesizers of the workspace, the newest first."""
    return await listed.of(SYNTHESIZERS)


@router.post("/check", response_model=QualityReport, responses=LACKING)
async def check(service: ServiceDep, workspace: WorkspaceDep, given: CheckRequest) -> Response:
    """How like the rows of one dataset those of another are, each measure beside its floor."""
    test = None if given.test is None else service.dataset_task(workspace, given.test)
    said = given.study
    study = None if said is None else said.model_dump(mode="json", exclude_defaults=True)
    task = {
        "real": service.dataset_task(workspace, given.real, study),
        "synthetic": service.dataset_task(workspace, given.synthetic),
        "test": test,
        "target": given.target,
        "picture": given.picture,
        "seed": given.seed,
    }
    return _reply(await service.run_task_bytes(workspace, "synth_check", task))


@router.get("/{id}")
async def show(workspace: WorkspaceDep, name: IdPath) -> SynthesizerInfo:
    """One synthesizer."""
    return workspace.get("synthesizers", name, SynthesizerInfo)


@router.delete("/{id}", status_code=204)
async def delete(workspace: WorkspaceDep, name: IdPath) -> None:
    """Delete a synthesizer; what it drew stays where it was taken."""
    if not workspace.remove("synthesizers", name):
        raise not_found("synthesizer")


@router.post("/{id}/sample", response_model=SyntheticPage, responses=LACKING)
async def sample(
    service: ServiceDep, workspace: WorkspaceDep, name: IdPath, given: SampleRequest
) -> Response:
    """Draw rows; every one obeys the rules and conditions."""
    return await _drawn(service, workspace, name, "sample", given)


@router.post("/{id}/fill", response_model=SyntheticPage, responses=LACKING)
async def fill(
    service: ServiceDep, workspace: WorkspaceDep, name: IdPath, given: FillRequest
) -> Response:
    """Fill in the cells that rows lack; the column `filled` names them."""
    task = None if given.dataset is None else service.dataset_task(workspace, given.dataset)
    return await _drawn(service, workspace, name, "fill", given, dataset=task)


@router.post("/{id}/decide", response_model=Decision, responses=LACKING)
async def decide(
    service: ServiceDep, workspace: WorkspaceDep, name: IdPath, given: DecideRequest
) -> Response:
    """What runs within limits look like: how often which values, and which together."""
    return await _drawn(service, workspace, name, "decide", given)


@router.post("/{id}/predict", response_model=Predictions, responses=LACKING)
async def predict(
    service: ServiceDep, workspace: WorkspaceDep, name: IdPath, given: PredictRequest
) -> Response:
    """The outcomes of rows by drawing them, beside the surrogate of an engine."""
    engine = given.engine and str(service.engine_path(workspace, given.engine))
    return await _drawn(service, workspace, name, "predict", given, engine=engine)


async def _drawn(
    service: Service, workspace: Workspace, name: str, task: str, given: Noun, **more: Any
) -> Response:
    workspace.get("synthesizers", name, SynthesizerInfo)
    path = str(workspace.place("synthesizers", name) / FILE)
    asked = given.model_dump(mode="json") | more | {"synthesizer": path}
    return _reply(await service.run_task_bytes(workspace, f"synth_{task}", asked))


def _reply(written: bytes) -> Response:
    return Response(written, media_type="application/json")
