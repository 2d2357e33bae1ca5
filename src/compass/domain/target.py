"""A goal in numbers: what a prediction has to be."""

from typing import Literal

from pydantic import Field

from compass.domain.base import Noun, Value


class Target(Noun):
    """A goal resolved against baseline and data: a range, a direction or a class."""

    name: str
    low: float = Field(float("-inf"), description="smallest acceptable prediction")
    high: float = Field(float("inf"), description="largest acceptable prediction")
    direction: Literal["minimize", "maximize"] | None = None
    label: Value = Field(None, description="the wanted class")
    is_class: bool = False
    scale: float = Field(1.0, gt=0, description="what counts as a large miss")
    least: float = Field(0.0, ge=0, le=1, description="least score of the wanted class")
    against: float | None = Field(None, description="the baseline's value that it is relative to")
    by_chance: bool = Field(
        False, description="whether runs have to meet it with the chance that is asked for"
    )
