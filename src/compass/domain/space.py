"""What a configuration is made of: numbers and categories, each with a role."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from compass.domain.base import Noun, Value
from compass.domain.errors import unknown


class Role(StrEnum):
    """What a column is for, unless a query says otherwise."""

    KNOB = "knob"  # X_user: a person can set it
    CONTEXT = "context"  # X_sys: fixed by the environment
    OUTCOME = "outcome"  # Y: what is measured
    IGNORED = "ignored"


class Number(Noun):
    """A numeric column and the values it may take."""

    kind: Literal["number"] = "number"
    name: str
    role: Role = Role.KNOB
    low: float = Field(description="smallest legal value")
    high: float = Field(description="largest legal value")
    step: float | None = Field(None, description="grid from `low`; 1 means whole numbers")
    allowed: tuple[float, ...] | None = Field(None, description="the only legal values, ascending")
    unit: str | None = Field(None, description="what one means, e.g. s, W, GB")
    optional: bool = Field(False, description="a missing value is the level `none`")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        bounds = (self.low, self.high, self.step or 1.0, *(self.allowed or ()))
        if not all(math.isfinite(bound) for bound in bounds):
            raise ValueError(f"{self.name}: bounds and step must be finite")
        if self.low > self.high:
            raise ValueError(f"{self.name}: low {self.low:g} is above high {self.high:g}")
        if self.step is not None and self.step <= 0:
            raise ValueError(f"{self.name}: step must be positive")
        if self.step is not None and not math.isfinite((self.high - self.low) / self.step):
            raise ValueError(f"{self.name}: there are too many steps from low to high to count")
        if self.allowed is not None and (
            not self.allowed or list(self.allowed) != sorted(set(self.allowed))
        ):
            raise ValueError(f"{self.name}: allowed values must be ascending and distinct")
        if self.allowed is not None and not (
            self.low <= self.allowed[0] and self.allowed[-1] <= self.high
        ):
            raise ValueError(f"{self.name}: allowed values must lie between low and high")
        return self

    @property
    def whole(self) -> bool:
        """Whether every legal value is a whole number."""
        if self.allowed is not None:
            return all(float(v).is_integer() for v in self.allowed)
        return self.step is not None and self.step.is_integer() and self.low.is_integer()

    @property
    def none_code(self) -> float:
        """The number that stands for `none` in arrays; NaN, equal to nothing, without that level.

        It lies beyond the range, where a tree can cut.
        """
        return self.high + max(self.high - self.low, 1.0) if self.optional else math.nan


class Category(Noun):
    """A column of labels. Arrays hold the position in `values`."""

    kind: Literal["category"] = "category"
    name: str
    role: Role = Role.KNOB
    values: tuple[Value, ...] = Field(description="every label, in a stable order")

    @property
    def optional(self) -> bool:
        """Whether a missing value is a label of its own."""
        return None in self.values

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        if len({(type(value), value) for value in self.values}) != len(self.values):
            raise ValueError(f"{self.name}: labels must be distinct")
        return self


Parameter = Annotated[Number | Category, Field(discriminator="kind")]


class Space(Noun):
    """All columns of a table, in the table's order."""

    parameters: tuple[Parameter, ...]

    @model_validator(mode="after")
    def _unique(self) -> Self:
        counts = Counter(parameter.name for parameter in self.parameters)
        twice = sorted(name for name, count in counts.items() if count > 1)
        if twice:
            raise ValueError(f"duplicate column names: {', '.join(twice)}")
        return self

    def __iter__(self) -> Iterator[Number | Category]:  # type: ignore[override]
        return iter(self.parameters)

    def __len__(self) -> int:
        return len(self.parameters)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._by_name

    def __getitem__(self, name: str) -> Number | Category:
        if name in self:
            return self._by_name[name]
        raise unknown("column", name, self.names)

    @cached_property
    def _by_name(self) -> dict[str, Number | Category]:
        # Kept: tables of tens of thousands of columns are looked up column by column.
        return {parameter.name: parameter for parameter in self.parameters}

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Every column name, in order."""
        return tuple(parameter.name for parameter in self.parameters)

    @cached_property
    def units(self) -> dict[str, str]:
        """The unit of every column that has a known one."""
        numbers = (one for one in self.parameters if isinstance(one, Number))
        return {one.name: one.unit for one in numbers if one.unit is not None}

    def having(self, *roles: Role) -> tuple[str, ...]:
        """The names of the columns that have one of these roles."""
        return tuple(p.name for p in self.parameters if p.role in roles)

    def select(self, names: Iterable[str]) -> "Space":
        """The space of these columns only, in the order given."""
        return Space(parameters=tuple(self[name] for name in names))
