"""What a table of past runs tells by itself, before anything is asked or learnt."""

from enum import StrEnum

from pydantic import Field

from compass.domain.base import Config, Noun, Value
from compass.domain.front import Direction


class BestRun(Noun):
    """One configuration that was run, and what was measured."""

    rows: tuple[int, ...] = Field(description="the first of its runs, counted from 0")
    runs: int = Field(description="how often it was run")
    settings: Config = Field(description="its knobs")
    value: float = Field(description="the mean of its runs")


class ContextRuns(Noun):
    """The runs of one context, which can be compared with each other."""

    context: Config = Field(description="what these runs have in common; empty: all runs")
    runs: int
    configurations: int = Field(description="different settings of the knobs")
    best: tuple[BestRun, ...] = Field(description="the best configurations, best first")
    median: float = Field(description="of all its runs")
    worst: float


class LabelRuns(Noun):
    """How many runs ended with one label."""

    label: Value
    runs: int


class OutcomeOverview(Noun):
    """What was measured of one outcome."""

    name: str
    unit: str | None = None
    direction: Direction | None = Field(
        None, description="which way is taken for better, by its name; None: it has labels"
    )
    runs: int = Field(description="runs of which it is known, without those that failed")
    contexts: tuple[ContextRuns, ...] = Field((), description="those with most runs first")
    more_contexts: int = Field(0, description="contexts that are not told")
    labels: tuple[LabelRuns, ...] = Field((), description="the most frequent first")


class LostRuns(Noun):
    """Runs that failed, or of which nothing could be learnt."""

    reason: str
    runs: int
    first: tuple[int, ...] = Field((), description="the first of their rows, counted from 0")
    failed: bool = Field(description="False: they were left out when the table was cleaned")
    hint: str = Field("", description="what could be done about it")


class GapCode(StrEnum):
    """Why a table cannot tell something."""

    NEVER_VARIED = "never varied"
    SELDOM_VARIED = "seldom varied"
    TOGETHER = "always together"
    CONSTANT = "constant"
    NO_REPEATS = "no repeats"
    INCOMPLETE = "incomplete"
    NOT_COMPARABLE = "not comparable"


class Gap(Noun):
    """Something that a table cannot tell, whatever is asked."""

    code: GapCode
    columns: tuple[str, ...] = ()
    text: str


class Overview(Noun):
    """A table of past runs at a glance: nothing of it is predicted."""

    rows: int
    used: int = Field(description="rows that can be learnt from")
    comparable: str = Field(description="which runs can be compared with each other, in words")
    outcomes: tuple[OutcomeOverview, ...]
    lost: tuple[LostRuns, ...] = Field((), description="most runs first")
    gaps: tuple[Gap, ...] = ()
