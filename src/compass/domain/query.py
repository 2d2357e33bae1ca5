"""A question, in one shape for all three kinds."""

from enum import StrEnum
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from compass.domain import option
from compass.domain.base import Config, Input, Real, Value, Whole
from compass.domain.constraint import Constraint
from compass.domain.errors import BadInput, QueryProblem
from compass.domain.goal import Goal
from compass.domain.options import Dependencies, LossTerms, field

EVERY_KNOB = "*"  # asked for: every knob that the question does not name otherwise


class Kind(StrEnum):
    """The three questions."""

    RECOMMEND = "recommend"
    RECONFIGURE = "reconfigure"
    WHAT_IF = "what-if"


class SetTo(Input):
    """Becomes this value."""

    kind: Literal["set"] = "set"
    value: Value
    unit: str | None = None


class Times(Input):
    """Becomes the old value times a factor."""

    kind: Literal["times"] = "times"
    factor: Real


class Plus(Input):
    """Becomes the old value plus an amount."""

    kind: Literal["plus"] = "plus"
    amount: Real
    unit: str | None = None


Edit = Annotated[SetTo | Times | Plus, Field(discriminator="kind")]


def set_to(value: Value) -> SetTo:
    """Becomes this value."""
    return SetTo(value=value)


def times(factor: float) -> Times:
    """Becomes the old value times a factor."""
    return Times(factor=factor)


def plus(amount: float) -> Plus:
    """Becomes the old value plus an amount."""
    return Plus(amount=amount)


class Row(Input):
    """A past run, by its number in the person's data (counted from 0)."""

    kind: Literal["row"] = "row"
    row: Whole = Field(ge=0)


class Given(Input):
    """A configuration written out."""

    kind: Literal["given"] = "given"
    config: Config
    counters: dict[str, Real] = Field(
        default_factory=dict, description="measured while it ran, in columns that are ignored"
    )
    new: dict[str, str] = Field(
        default_factory=dict, description="an application that no past run is of, by its column"
    )


Baseline = Annotated[Row | Given, Field(discriminator="kind")]


class Query(Input):
    """One question. Names may be wildcards until the query is bound to a table."""

    problem: ClassVar[type[BadInput]] = QueryProblem

    kind: Kind
    ask: tuple[str, ...] = Field((), description="parameters to find values for; *: every knob")
    change: dict[str, Edit] = Field(
        default_factory=dict, description="parameters that are given or changed"
    )
    goals: dict[str, Goal] = Field(default_factory=dict, description="what outcomes should become")
    where: tuple[Constraint, ...] = Field((), description="rules of this question (C)")
    stated: dict[str, Value] = Field(
        default_factory=dict, description="old values that the text claims; checked"
    )
    baseline: Baseline | None = None
    count: Whole | None = field(option.COUNT)
    seed: Whole | None = field(option.SEED)
    weights: dict[str, Real] = Field(default_factory=dict, description=option.WEIGHTS.description)
    reference: dict[str, Real] = Field(
        default_factory=dict, description=option.REFERENCE.description
    )
    diversity: Real | None = field(option.DIVERSITY)
    loss: LossTerms = Field(default_factory=dict, description=option.LOSS.description)
    prove: Real | None = field(option.PROVE)
    level: Real | None = field(option.LEVEL)
    chance: Real | None = field(option.CHANCE)
    beyond: bool = field(option.BEYOND, default=False)
    dependencies: Dependencies | None = field(option.DEPENDENCIES)
    generator: str | None = field(option.GENERATOR, min_length=1)

    @model_validator(mode="after")
    def _weights_positive(self) -> Self:
        for name, weight in self.weights.items():
            if weight <= 0:
                raise ValueError(f"the weight of {name} must be a positive number")
        return self

    @model_validator(mode="after")
    def _diversity_once(self) -> Self:
        if self.diversity is not None and "diversity" in self.loss:
            raise QueryProblem(
                "the weight of diversity is given twice, alone and among those of the loss",
                hint="give it once: diversity is the same as loss {diversity: ...}",
            )
        return self
