"""What is found in data and not yet confirmed."""

from typing import Literal

from pydantic import Field

from compass.domain.base import Noun


class Mined(Noun):
    """A dependency found in the data; it becomes a rule only when the person confirms it."""

    text: str = Field(description="the dependency in the rule language")
    kind: Literal["equality", "ratio", "bound", "product", "modulo", "implication", "exclusion"]
    names: tuple[str, ...] = Field((), description="the columns that it speaks of")
    rows: int = Field(description="rows it was checked on: all that have the values it needs")
    combinations: int = Field(
        0, description="different combinations (of an implication: configurations) it was seen with"
    )
    coincidence: float = Field(
        1.0, description="how likely unrelated columns would show it by chance"
    )
    accident: float = Field(
        1.0,
        description="how likely at least one of all rules that were tried would hold so well by "
        "accident: the coincidence times their number",
    )
    why: str = Field(description="why it is not a coincidence")
