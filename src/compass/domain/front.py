"""The trade-offs between several outcomes, and what is known of them as a set."""

from enum import StrEnum
from typing import Literal

from pydantic import Field

from compass.domain.base import Config, Noun

Direction = Literal["minimize", "maximize"]

SPREAD = (
    "how unevenly the points lie: with every outcome from 0 (its best) to 1 (the reference), the "
    "mean of |d - mean d| / mean d over the distances d to the nearest other point; a smaller "
    "number is not better by itself, so it is told beside the extent"
)


class ReferenceFrom(StrEnum):
    """Where the reference of an outcome comes from; it is fixed before the search."""

    GIVEN = "given"
    MEASURED = "the measured trade-offs of the context"
    BASELINE = "the run that the question starts from"
    PREDICTED = "the settings of past runs, as predicted in the contexts of the question"


class TradeOff(Noun):
    """A point beside the best that some outcome reaches on the front."""

    best: str = Field(description="the outcome whose best point it is compared with")
    changes: dict[str, float] = Field(
        description="per outcome how much more (less: negative) it is here, as a share of there; "
        "an outcome that is 0 there has none"
    )


class FrontPoint(Noun):
    """One trade-off. All that is known of it is in the suggestion, or idea, at its place."""

    place: int = Field(
        description="position among the suggestions, from 0; of an idea among those; in an "
        "experiment on the front"
    )
    idea: bool = Field(False, description="it is an idea: past runs do not support it")
    settings: Config = Field(description="the part that was asked for or changed")
    values: dict[str, float] = Field(
        description="per outcome what is expected: the prediction, drawn to what was measured there"
    )
    measured: int = Field(0, description="past runs of exactly this configuration, in its context")
    best_measured: bool = Field(
        False, description="no measured configuration of the context dominates it, as measured"
    )
    dominated: bool = Field(
        False,
        description="another point is expected to be better in everything; it is told because it "
        "was measured, or is promising",
    )
    promising: bool = Field(
        False,
        description="untried and not expected to be on the front, but uncertain: of what is left "
        "it extends the measured and predicted front most in expectation",
    )
    knee: bool = Field(False, description="from here every way on costs much and gains little")
    runs: tuple[int, ...] = Field((), description="the numbers of its runs, in an experiment")
    intervals: dict[str, tuple[float, float]] = Field(
        default_factory=dict,
        description="in an experiment with repeated runs: the 90 % interval of each mean. In an "
        "answer the suggestion has them",
    )
    alike: tuple[int, ...] = Field(
        (),
        description="other points, from 0, that it is not told apart from: in every outcome the "
        "intervals overlap",
    )
    against: tuple[TradeOff, ...] = Field((), description="beside the best of every outcome")
    change: dict[str, float] = Field(
        default_factory=dict,
        description="from a baseline: per outcome how much more (less: negative) it is than there, "
        "as a share; an outcome that is 0 there has none",
    )
    smaller_change: bool = Field(
        False,
        description="from a baseline: another point is no worse in any outcome; this one is told "
        "because it changes less",
    )
    proved: bool | None = Field(
        None, description="proved to be dominated by nothing under the model; None: not tried"
    )


class FrontProof(Noun):
    """What is proved about the points of a front, under the model and the rules."""

    proved: int = Field(description="points that nothing dominates, as was proved")
    tried: int = Field(description="points that a proof was tried for")
    complete: bool = Field(False, description="every legal configuration was tried")
    reason: str = Field(description="all of this as a sentence")
    cut: bool = Field(False, description="whether the deadline ended the proof")


class Front(Noun):
    """The trade-offs between several outcomes: no point is better than another in everything."""

    directions: dict[str, Direction] = Field(description="the outcomes, in the order of the query")
    reference: dict[str, float] = Field(
        description="from where on a trade-off counts; fixed before the search"
    )
    reference_from: dict[str, ReferenceFrom]
    hypervolume: float = Field(
        description="what the points dominate up to the reference, as expected, in the product of "
        "the units of the outcomes"
    )
    hypervolume_error: float = Field(0.0, description="one standard error; 0: it is exact")
    hypervolume_found: float = Field(
        description="the same of all points that were found, of which those told are a choice"
    )
    hypervolume_measured: float | None = Field(
        None,
        description="the same of the measured configurations of the context, as measured; None: "
        "none are comparable, or all points are measured, as in an experiment",
    )
    found: int = Field(description="points that were found and are supported")
    spread: float = Field(description=SPREAD)
    extent: dict[str, float] = Field(
        description="per outcome the share of the way from its best to the reference that is "
        "covered"
    )
    points: tuple[FrontPoint, ...] = Field(
        description="by the first outcome, best first; the ideas after the suggestions"
    )
    attention: dict[str, dict[str, float]] = Field(
        default_factory=dict,
        description="per outcome whose model stands on an attention embedding: the share of its "
        "attention that each feature gets, on average over the points",
    )
    proof: FrontProof | None = None
