"""What Compass understood of a table, and what it left out: nouns to show to a person."""

from typing import Literal

from pydantic import Field

from compass.domain.base import Noun, Value
from compass.domain.space import Role


class ColumnReport(Noun):
    """One column as Compass understands it."""

    name: str
    kind: Literal["number", "category"]
    role: Role
    unit: str | None = None
    distinct: int = Field(description="different values, missing ones not counted")
    missing: int = Field(description="rows without a value; NaN and inf count as missing")
    low: float | None = Field(None, description="smallest value, of numbers")
    high: float | None = Field(None, description="largest value, of numbers")
    common: tuple[tuple[Value, int], ...] = Field(
        (), description="the most common labels and their rows, of categories"
    )
    legal: str = Field("", description="the values it may take, in short")
    stated: bool = Field(False, description="whether the study gives its role")
    note: str = Field("", description="why it was understood this way")
    cells: str = Field("", description="how its cells were read, and what words in them mean")


class Dropped(Noun):
    """Rows that were left out, or kept with a remark, and why."""

    reason: str
    count: int = Field(description="0: these rows are already left out for another reason")
    first: tuple[int, ...] = Field((), description="the first few row numbers")
    column: str | None = None
    kept: bool = Field(False, description="whether the rows stay in the data all the same")
    remark: str = Field("", description="what else is known of these rows")
    keepable: bool = Field(False, description="whether a missing value could be a level instead")
    hint: str = Field("", description="the remark, and how to keep them, where there is a way")


class CleaningReport(Noun):
    """How many rows came in, how many are left, and what happened to the others."""

    rows_in: int
    rows_out: int
    reasons: tuple[Dropped, ...] = Field((), description="rows that were left out")
    kept: tuple[Dropped, ...] = Field((), description="rows that stay, with a remark")

    @property
    def notes(self) -> tuple[str, ...]:
        """Everything worth knowing, one sentence each."""
        notes = []
        for entry in (*self.reasons, *self.kept):
            if not entry.count:
                notes.append(entry.hint)
                continue
            rows = "1 row" if entry.count == 1 else f"{entry.count} rows"
            verb = "kept" if entry.kept else "dropped"
            notes.append(f"{rows} {verb}: {entry.reason}" + (f"; {entry.hint}" * bool(entry.hint)))
        return tuple(notes)
