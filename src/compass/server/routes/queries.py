"""Queries: a question as Compass understands it, before anything is answered."""

from typing import Annotated

from pydantic import Field

from compass.domain.api import QueryView, RowNumber
from compass.domain.base import Config, Noun
from compass.domain.query import Query
from compass.server.routes.dependencies import (
    IdPath,
    ServiceDep,
    WorkspaceDep,
    problem_responses,
    router_for,
)
from compass.server.routes.rules import RuleText

router = router_for("queries", "/api/v1/engines/{id}/queries")
Text = Annotated[str, Field(min_length=1, max_length=8000)]


class Options(Noun):
    """What may be said besides a question; it adds to what the question says."""

    run: RowNumber | Config | None = Field(None, description="where to start: row or configuration")
    where: tuple[RuleText, ...] = Field((), max_length=200)
    count: int | None = Field(None, ge=1, le=1000, description="how many suggestions")
    seed: int | None = Field(None, ge=0, lt=2**32)
    weights: dict[str, float] | None = Field(None, description="costs of changing parameters")
    diversity: float | None = Field(None, ge=0, le=1000)
    prove: float | None = Field(None, ge=0, le=3600, description="seconds for a proof; 0: none")
    level: float | None = Field(None, gt=0, lt=1, description="share of new runs in intervals")


class Question(Options):
    """A question, as text in the query language or as a Query."""

    question: Text | Query
    curve: tuple[str, ...] = Field((), max_length=50, description="parameters to draw curves of")


@router.post("", responses=problem_responses())
async def understand(
    service: ServiceDep, workspace: WorkspaceDep, name: IdPath, given: Question
) -> QueryView:
    """The question with every name a column and every value in its unit, as text and as JSON."""
    task = {
        "engine": str(service.engine_path(workspace, name)),
        "question": given.model_dump(mode="json"),
    }
    return QueryView.model_validate(await service.run_task(workspace, "bind", task))
