"""What Compass says when it has taken in new runs."""

from enum import StrEnum

from pydantic import Field

from compass.domain.answer import Drift, Effect, Label, Prediction
from compass.domain.base import Config, Noun, Value


class Update(StrEnum):
    """How a model takes in new runs."""

    KEPT = "kept"
    CONTINUED = "continued"
    TRAINED_ANEW = "trained anew"
    CHOSEN_ANEW = "chosen anew"

    @property
    def from_the_beginning(self) -> bool:
        """Whether the model was trained on all runs."""
        return self in (Update.TRAINED_ANEW, Update.CHOSEN_ANEW)


class Learnt(Noun):
    """How the model of one outcome took in new runs."""

    target: str
    update: Update
    how: str = Field(description="the same in words, and why")
    error_name: str
    error_before: float | None = Field(
        description="of the old model on runs that neither model saw; None: there are none"
    )
    error_after: float = Field(description="of the new model on held-out runs; see `unseen`")
    unseen: bool = Field(
        True, description="whether the model did not see them; False: it was brought, and may have"
    )
    drift: Drift | None = None


class OutcomeCheck(Noun):
    """One outcome of a new run: what was predicted before it was known, and what was measured."""

    outcome: str
    unit: str | None = None
    predicted: Value
    low: float | None = Field(None, description="lower end of the interval")
    high: float | None = Field(None, description="upper end of the interval")
    measured: Value
    inside: bool = Field(description="in the interval; of a class: whether it was predicted")


class Arrival(Noun):
    """One new run beside what was thought of its configuration."""

    row: int = Field(description="row in the person's data, counted from 0")
    before: Label | None = Field(None, description="label before the run; None: not known at all")
    after: Label = Field(description="label of the same configuration now")
    outcomes: tuple[OutcomeCheck, ...] = ()


class Coverage(Noun):
    """How many of the new runs an outcome was predicted right for."""

    outcome: str
    runs: int = Field(description="new runs that it was predicted for")
    inside: int = Field(description="those that lay in the interval, or had the predicted class")
    level: float | None = Field(None, description="what the interval promised; None: a class")


class Relabelled(Noun):
    """New runs whose label went from one to another."""

    before: Label | None
    after: Label
    runs: int


class Best(Noun):
    """The best that an answer had to offer."""

    settings: Config = Field(description="what was asked for or changed; empty: many runs")
    outcomes: tuple[Prediction, ...] = ()
    label: Label | None = None
    effects: tuple[Effect, ...] = ()


class Reanswered(Noun):
    """A question before and after the new runs."""

    question: str
    before: Best | None = Field(None, description="None: there was no suggestion")
    after: Best | None = None
    changed: bool = Field(description="another configuration, label or finding")
    summary: tuple[str, ...] = Field((), description="what changed, one sentence each")


class TellReport(Noun):
    """New runs taken in, and what they changed."""

    rows: int = Field(description="runs that arrived")
    used: int = Field(description="those that are complete and legal")
    total: int = Field(description="runs that are known now")
    learnt: tuple[Learnt, ...] = ()
    arrivals: tuple[Arrival, ...] = Field((), description="the first of the new runs")
    coverage: tuple[Coverage, ...] = ()
    labels: tuple[Relabelled, ...] = ()
    questions: tuple[Reanswered, ...] = ()
    changes: tuple[str, ...] = Field((), description="what changed, one plain sentence each")
    notes: tuple[str, ...] = ()
    seconds: float
