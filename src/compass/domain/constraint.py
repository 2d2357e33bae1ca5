"""A rule that an answer must obey."""

from enum import StrEnum

from pydantic import Field

from compass.domain.base import Input, Noun


class Source(StrEnum):
    """Where a rule comes from, so that an answer can say so."""

    QUERY = "query"
    STUDY = "study"
    DEPENDENCY = "dependency"  # mined from the data and confirmed by the person


class Constraint(Input):
    """A rule as text (`gpus <= 4 * nodes`); `compass.language.parse_rule` gives its tree."""

    text: str = Field(description="the rule in the query language")
    source: Source = Source.QUERY

    def __str__(self) -> str:
        return self.text


class RuleView(Noun):
    """A rule and how many past runs break it."""

    text: str
    broken_by: int = Field(description="rows that break it")
    source: str = Field("", description="study, dependency or query")
