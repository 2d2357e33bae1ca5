"""What an outcome should become."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from compass.domain.base import Input, Real, Value


class Extreme(Input):
    """As small or as large as possible."""

    kind: Literal["extreme"] = "extreme"
    direction: Literal["minimize", "maximize"]


class Within(Input):
    """Inside a range; one side may be open (`at most`, `at least`)."""

    kind: Literal["within"] = "within"
    low: Real | None = None
    high: Real | None = None
    unit: str | None = Field(None, description="unit the bounds are written in")

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.low is None and self.high is None:
            raise ValueError("a range needs at least one bound")
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError(f"the range [{self.low:g}, {self.high:g}] is empty")
        return self


class Change(Input):
    """At least this much less or more than the baseline."""

    kind: Literal["change"] = "change"
    direction: Literal["reduce", "increase"]
    by: Real = Field(gt=0, description="share (0.1 = 10 %) or amount")
    relative: bool = Field(True, description="whether `by` is a share of the baseline's value")
    unit: str | None = Field(None, description="unit of an absolute amount")


class Reach(Input):
    """From the baseline's value to this one or beyond (`y: old -> 100`)."""

    kind: Literal["reach"] = "reach"
    value: Real
    unit: str | None = None


class Same(Input):
    """Stay at the baseline's value, within a share of it, or get beyond it on one side."""

    kind: Literal["same"] = "same"
    tolerance: Real | None = Field(None, gt=0, description="None: the default of the settings")
    beyond: Literal["less", "more"] | None = Field(
        None, description="the side on which any other value is as welcome; None: neither"
    )


class IsClass(Input):
    """Be this class."""

    kind: Literal["is"] = "is"
    value: Value


class Observe(Input):
    """Just tell what it becomes."""

    kind: Literal["observe"] = "observe"


Goal = Annotated[
    Extreme | Within | Change | Reach | Same | IsClass | Observe, Field(discriminator="kind")
]

minimize = Extreme(direction="minimize")
maximize = Extreme(direction="maximize")
same = Same()
observe = Observe()


def at_most(high: float) -> Within:
    """No more than `high`."""
    return Within(high=high)


def at_least(low: float) -> Within:
    """No less than `low`."""
    return Within(low=low)


def within(low: float, high: float) -> Within:
    """Between `low` and `high`."""
    return Within(low=low, high=high)


def less(share: float) -> Change:
    """At least this share less than the baseline: `less(0.10)` is 10 % less."""
    return Change(direction="reduce", by=share)


def more(share: float) -> Change:
    """At least this share more than the baseline."""
    return Change(direction="increase", by=share)


def no_more(tolerance: float | None = None) -> Same:
    """The baseline's value or less; at most this share more."""
    return Same(tolerance=tolerance, beyond="less")


def no_less(tolerance: float | None = None) -> Same:
    """The baseline's value or more; at most this share less."""
    return Same(tolerance=tolerance, beyond="more")


def is_class(value: Value) -> IsClass:
    """Be this class."""
    return IsClass(value=value)
