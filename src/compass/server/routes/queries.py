"""Queries: a question as Compass understands it, before anything is answered."""

from typing import Annotated

from pydantic import Field

from compass.domain import option
from compass.domain.api import QueryView, RowNumber
from compass.domain.base import Config
from compass.domain.options import QueryOptions, field
from compass.domain.query import Query
from compass.server.routes.dependencies import (
    IdPath,
    ServiceDep,
    WorkspaceDep,
    router_for,
)
from compass.server.routes.rules import RuleText

router = router_for("queries", "/api/v1/engines/{id}/queries")
Text = Annotated[str, Field(min_length=1, max_length=8000)]
Plugin = Annotated[str, Field(min_length=1, max_length=100)]


class RequestOptions(QueryOptions):
    """What may be given besides a question, with the limits of a request."""

    run: RowNumber | Config | None = field(option.RUN)
    where: tuple[RuleText, ...] = field(option.WHERE, (), max_length=200)
    generator: Plugin | None = field(option.GENERATOR)


class Question(RequestOptions):
    """A question, as text in the query language or as a Query."""

    question: Text | Query
    curve: tuple[str, ...] = field(option.CURVE, (), max_length=50)


@router.post("")
async def understand(
    service: ServiceDep, workspace: WorkspaceDep, name: IdPath, given: Question
) -> QueryView:
    """The question with every name a column and every value in its unit, as text and as JSON.

    It also says which outcomes are learnt before it is answered.
    """
    asked = given.model_dump(mode="json")
    found = await service.run_engine_task(workspace, name, "bind", question=asked)
    return QueryView.model_validate(found)
