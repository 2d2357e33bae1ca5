"""What is known already: past runs, what models rely on, and how well they predict."""

from pydantic import Field

from compass.domain.answer import ModelCard
from compass.domain.base import Config, Noun
from compass.domain.explanation import Importance


class PastRun(Noun):
    """One past run with everything that its row has."""

    row: int = Field(description="row in the person's data, counted from 0")
    file: str | None = Field(None, description="the file it is in, when there are several")
    source: str | None = Field(
        None, description="row and file that it was sampled from, when the data is a sample"
    )
    left_out: str = Field("", description="why nothing was learnt from it; empty: it was used")
    settings: Config = Field(description="knobs and context")
    outcomes: Config
    others: Config = Field(default_factory=dict, description="columns that are not in use")


class Findings(Noun):
    """What was found out about what is known already: as text, and what it tells as fields."""

    text: str
    outcome: str | None = Field(None, description="the outcome that it is about; None: several")
    runs: tuple[PastRun, ...] = Field((), description="the past runs that it tells")
    ties: tuple[int, ...] = Field((), description="rows of other runs that are exactly as good")
    among: int | None = Field(None, description="how many runs the best one was chosen from")
    importance: Importance | None = Field(None, description="what the model relies on")
    models: tuple[ModelCard, ...] = Field(
        (), description="how well each outcome is predicted; families that were tried are left out"
    )
