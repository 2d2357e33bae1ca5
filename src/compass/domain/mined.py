"""What is found in data and not yet confirmed."""

from typing import Literal

from pydantic import Field

from compass.domain.base import Noun


class Mined(Noun):
    """A dependency found in the data; it becomes a rule only when the person confirms it."""

    text: str = Field(description="the dependency in the rule language")
    kind: Literal["equality", "ratio", "bound", "product", "modulo", "implication"]
    rows: int = Field(description="rows it was checked on: all that have the values it needs")
    why: str = Field(description="why it is not a coincidence")
