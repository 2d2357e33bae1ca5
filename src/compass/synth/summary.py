"""What drawn rows say of a column: its distribution in a few numbers."""

import numpy as np
from pydantic import Field

from compass.domain.base import Noun, Value
from compass.domain.space import Category, Number, Role
from compass.prepare.encode import decode_value
from compass.synth.base import Floats

LEVEL = 0.9  # share of the rows between `low` and `high`
_SHOWN = 8  # commonest values that are told
_FEW = 12  # different values up to which a number is told like a label


class ValueShare(Noun):
    """A value, and the share of the rows that have it."""

    value: Value
    share: float


class ColumnSummary(Noun):
    """How the values of a column are distributed over drawn rows."""

    name: str
    role: Role
    unit: str | None = None
    mean: float | None = Field(None, description="of a number")
    median: float | None = None
    low: float | None = Field(None, description="lower end of what most rows have")
    high: float | None = Field(None, description="upper end of what most rows have")
    level: float = Field(LEVEL, description="share of the rows between low and high")
    values: tuple[ValueShare, ...] = Field(
        (), description="the commonest values, of labels and of numbers with few values"
    )


def summary_of(parameter: Number | Category, column: Floats, level: float = LEVEL) -> ColumnSummary:
    """The distribution of encoded values [m], at least one and none missing."""
    found, counts = np.unique(column, return_counts=True)
    values: tuple[ValueShare, ...] = ()
    if isinstance(parameter, Category) or len(found) <= _FEW:
        order = np.argsort(-counts, kind="stable")[:_SHOWN]
        values = tuple(
            ValueShare(
                value=decode_value(parameter, float(found[at])),
                share=float(counts[at] / len(column)),
            )
            for at in order
        )
    if isinstance(parameter, Category):
        return ColumnSummary(name=parameter.name, role=parameter.role, values=values, level=level)
    numbers = column[column != parameter.none_code] if parameter.optional else column
    if not len(numbers):
        return ColumnSummary(name=parameter.name, role=parameter.role, values=values, level=level)
    edge = (1 - level) / 2
    low, median, high = (float(v) for v in np.quantile(numbers, [edge, 0.5, 1 - edge]))
    return ColumnSummary(
        name=parameter.name,
        role=parameter.role,
        unit=parameter.unit,
        mean=float(numbers.mean()),
        median=median,
        low=low,
        high=high,
        level=level,
        values=values,
    )
