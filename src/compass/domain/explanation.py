"""Why a model predicts what it predicts, which columns it relies on, and how it answers to them."""

from typing import Literal

from pydantic import Field

from compass.domain.answer import Evidence
from compass.domain.base import Config, Noun, Value

Scale = Literal["amount", "factor", "log-odds", "probability"]


class Contribution(Noun):
    """What one parameter contributes to a prediction."""

    name: str
    value: Value = Field(description="its value in what is explained")
    before: Value = Field(None, description="its value in the run that is compared with")
    unit: str | None = None
    amount: float = Field(
        description="its share of the difference: in the outcome's unit, or of its logarithm, of "
        "the log-odds or of the probability, as the scale says"
    )
    low: float | None = Field(None, description="lower end of the 95 % interval of a sampled share")
    high: float | None = Field(
        None, description="upper end of the 95 % interval of a sampled share"
    )
    factor: float | None = Field(
        None, description="what it multiplies the outcome (or the odds) by; None: it adds"
    )
    share: str = Field(description="what it does, in words, such as `x 1.9` or `+90 W`")
    text: str = Field(description="parameter and share, such as `nodes = 1 (x 1.9)`")


class Explanation(Noun):
    """Why the model predicts an outcome for a run or a suggestion as it does.

    It tells how the model arrives at its prediction, not what causes the outcome.
    """

    target: str
    sentence: str = Field(description="one plain sentence")
    predicted: Value = Field(description="predicted value or most likely class")
    usual: float = Field(
        description="the prediction of what it is compared with: the mean over past runs "
        "(geometric for factors), or a run's; for classes a share between 0 and 1"
    )
    reached: float = Field(description="what is explained, on the same scale as `usual`")
    measured: Value = Field(None, description="what was measured, where that is known")
    unit: str | None = None
    scale: Scale = Field(description="how contributions combine: they add up or multiply")
    label: Value = Field(None, description="the class that is explained")
    rival: Value = Field(None, description="the class that the log-odds are told against")
    contributions: tuple[Contribution, ...] = Field(description="largest first")
    against: str = Field(description="what it is compared with, in words")
    baseline: Config | None = Field(
        None, description="the one run it is compared with; None: many past runs"
    )
    similar: tuple[Evidence, ...] = Field((), description="the most similar past runs")
    config: Config = Field(description="every feature of what is explained")
    row: int | None = Field(None, description="the past run that is explained, counted from 0")
    family: str = Field(description="the family of the model")
    orders: int = Field(0, description="orders of the parameters sampled; 0: shares are exact")
    notes: tuple[str, ...] = ()


class ColumnImportance(Noun):
    """How much a model relies on one column."""

    name: str
    rise: float = Field(description="how much the error rises when its values are shuffled")
    error: float = Field(description="standard error of the rise over the repeats")


class Importance(Noun):
    """Which columns a model relies on: the rise of its error on held-out runs without each."""

    outcome: str
    family: str
    error: float = Field(description="of the model as it is")
    error_name: str
    rows: int = Field(description="held-out runs that the errors are measured on")
    unseen: bool = Field(
        True, description="whether the model did not see them; False: it was brought, and may have"
    )
    repeats: int
    columns: tuple[ColumnImportance, ...] = Field(description="the most important first")


class DependencePoint(Noun):
    """The predictions of past runs if they all had one value of a column."""

    value: Value
    mean: float = Field(description="mean prediction; for classes the mean score of the label")
    low: float = Field(description="a tenth of the runs is predicted below")
    high: float = Field(description="a tenth of the runs is predicted above")
    share: float = Field(description="share of the past runs whose value is nearest to this one")


class Dependence(Noun):
    """How a model's prediction answers to one column, over the past runs."""

    outcome: str
    column: str
    family: str
    unit: str | None = Field(None, description="of the column")
    outcome_unit: str | None = None
    label: Value = Field(None, description="the class whose score is told")
    points: tuple[DependencePoint, ...]
    lines: tuple[tuple[float, ...], ...] = Field(
        (), description="single runs, one prediction per point (individual conditional expectation)"
    )
