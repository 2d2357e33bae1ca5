"""What Compass understood of a table, and what it left out: nouns to show to a person."""

from enum import StrEnum
from typing import Literal

from pydantic import Field

from compass.domain.base import Noun, Value
from compass.domain.space import Role


class ReasonCode(StrEnum):
    """What tells something about the role of a column."""

    NAME = "name"
    FEW_VALUES = "few values"
    MOSTLY_ZERO = "mostly zero"
    UNEVEN = "few values that are not plain"
    MANY_VALUES = "many values"
    MANY_LABELS = "many labels"
    CLASSES = "labels of success and failure"
    PROBLEM_CLASSES = "labels of problem classes"
    SWITCH = "can be switched"
    HARDWARE = "labels of hardware"
    VARIES_WITH = "varies with a setting"
    EFFECT = "follows from several"
    INDEPENDENT = "independent of the settings"
    FAMILY = "same stem"
    NEIGHBOURS = "neighbours"
    FIRST = "before all knobs"
    BEHIND = "behind the results"
    OF_JOBS = "in a trace of people's jobs"
    TWIN = "rises and falls with another"
    FORMULA = "formula"
    SETTLED = "settled by settings"
    COUNTER = "counter"
    NOTHING_ELSE = "nothing else can be set"
    AMONG_COUNTERS = "among counters"


class RoleReason(Noun):
    """One thing that speaks for or against a role of a column."""

    code: ReasonCode
    role: Role = Field(description="the role that it speaks of")
    weight: float = Field(description="how strongly it speaks for the role, in log odds")
    columns: tuple[str, ...] = Field((), description="the other columns that tell it")
    value: float | None = Field(
        None, description="different values; the share that a setting explains; counters"
    )


class RoleQuestion(Noun):
    """A role that is not sure: a person is asked."""

    alternatives: tuple[Role, ...] = Field(
        description="what it may well be instead, likeliest first"
    )
    chance: float = Field(description="how likely the guessed role is")
    reasons: tuple[RoleReason, ...] = Field(description="what the guess is made of")
    why: str = Field(description="the same in words")


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
    question: RoleQuestion | None = Field(
        None, description="what to confirm about its role; None: it is sure, or stated"
    )
    cells: str = Field("", description="how its cells were read, and what words in them mean")
    same_as: str | None = Field(None, description="the column that says the same and is used")


class Dropped(Noun):
    """Rows that were left out, or kept with a remark, and why."""

    reason: str
    count: int = Field(description="0: these rows are already left out for another reason")
    first: tuple[int, ...] = Field((), description="the first few row numbers")
    column: str | None = None
    kept: bool = Field(False, description="whether the rows stay in the data all the same")
    remark: str = Field("", description="what else is known of these rows")
    keepable: bool = Field(False, description="whether a missing value could be a level instead")
    hint: str = Field("", description="the remark, and whether there is a way to keep them")


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
            rows = "1 row" if entry.count == 1 else f"{entry.count:,} rows"
            verb = "kept" if entry.kept else "dropped"
            notes.append(f"{rows} {verb}: {entry.reason}" + (f"; {entry.hint}" * bool(entry.hint)))
        return tuple(notes)
