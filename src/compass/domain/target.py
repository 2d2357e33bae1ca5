"""A question resolved against a table: what a generator works on."""

from typing import Literal

from pydantic import Field

from compass.domain.base import Config, Noun, Value
from compass.domain.constraint import Constraint


class Target(Noun):
    """A goal resolved against baseline and data: a range, a direction or a class."""

    name: str
    low: float = Field(float("-inf"), description="smallest acceptable prediction")
    high: float = Field(float("inf"), description="largest acceptable prediction")
    direction: Literal["minimize", "maximize"] | None = None
    label: Value = Field(None, description="the wanted class")
    is_class: bool = False
    scale: float = Field(1.0, gt=0, description="what counts as a large miss")


class Problem(Noun):
    """Where to start, what may move, what to reach, what to obey."""

    start: Config = Field(description="a complete configuration of the model's features")
    contexts: tuple[Config, ...] = Field(
        description="complete configurations whose values of what stays are averaged over"
    )
    free: tuple[str, ...] = Field(description="features that may take new values")
    forced: tuple[str, ...] = Field(
        (), description="features that may move only where a rule leaves no other way"
    )
    targets: tuple[Target, ...]
    rules: tuple[Constraint, ...] = ()
    weights: dict[str, float] = Field(default_factory=dict)
    proximity: bool = Field(True, description="whether closeness to the start is wanted")
    count: int = 1
    seed: int = 0
