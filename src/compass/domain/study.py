"""What a person says about a table: roles, units, legal values, rules. Everything has a default."""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from compass.domain.base import Input, Real, Value, Whole
from compass.domain.errors import BadInput, StudyProblem
from compass.domain.machines import Peaks
from compass.domain.option import TRUST
from compass.domain.options import field
from compass.domain.space import Role


class ColumnChoice(Input):
    """What a person states about one column; the rest is inferred from the data."""

    problem: ClassVar[type[BadInput]] = StudyProblem

    role: Role | None = None
    kind: Literal["number", "category"] | None = None
    unit: str | None = Field(None, description="what one means, e.g. s, W, GB")
    low: Real | None = Field(None, description="smallest legal value")
    high: Real | None = Field(None, description="largest legal value")
    step: Real | None = Field(None, gt=0, description="grid from `low`; 1: whole numbers")
    allowed: tuple[Real, ...] | None = Field(None, description="the only legal numbers")
    values: tuple[Value, ...] | None = Field(None, description="the only legal labels")
    missing: Literal["drop", "none"] | None = Field(
        None, description="a missing cell drops the row, or is the level `none`"
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError(f"low {self.low:g} is above high {self.high:g}")
        if self.allowed is not None and not self.allowed:
            raise ValueError("`allowed` is empty")
        if self.values is not None and not self.values:
            raise ValueError("`values` is empty")
        of_numbers = [
            key for key in ("low", "high", "step", "allowed") if getattr(self, key) is not None
        ]
        labels = self.kind == "category" or self.values is not None
        if labels and of_numbers:
            raise ValueError(f"a category has no `{of_numbers[0]}`; its labels are `values`")
        if self.kind == "number" and self.values is not None:
            raise ValueError("a number has no `values`; its legal numbers are `allowed`")
        if self.allowed is not None and len(of_numbers) > 1:
            raise ValueError("`allowed` already says which numbers are legal: no low, high or step")
        return self


class TrustChoice(Input):
    """What a person states about the labels (Algorithm 1); the rest is as in the settings."""

    problem: ClassVar[type[BadInput]] = StudyProblem

    neighbours: Whole | None = field(TRUST["neighbours"])
    tau: Real | None = field(TRUST["tau"])
    close_percentile: Real | None = field(TRUST["close_percentile"])
    caution: Real | None = field(TRUST["caution"])
    unsupported: Real | None = field(TRUST["unsupported"])

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.tau is not None and self.close_percentile is not None:
            raise ValueError("`tau` already says which distance is close: no close_percentile")
        if (self.caution or 0.0) > (self.unsupported or 1.0):
            raise ValueError(f"caution {self.caution:g} is above unsupported {self.unsupported:g}")
        return self


class MachineChoice(Input):
    """What a person states about runs of one application on several machines."""

    problem: ClassVar[type[BadInput]] = StudyProblem

    machine: str | None = Field(None, description="column that names the machine")
    application: str | None = Field(None, description="column that names the application")
    runtime: str | None = Field(None, description="outcome that says how long a run took")
    configuration: tuple[str, ...] | None = Field(
        None,
        description="columns that are equal in runs that are compared across machines; None: all "
        "knobs and context that do not belong to a machine",
    )
    counters: tuple[str, ...] | None = Field(
        None, description="counters, measured while it ran; None: all whose names are known"
    )
    throughput: bool = Field(False, description="`runtime` holds work per second")
    prices: dict[str, Annotated[Real, Field(ge=0)]] = Field(
        default_factory=dict, description="price of a machine per unit of the runtime"
    )
    power: dict[str, Annotated[Real, Field(ge=0)]] = Field(
        default_factory=dict, description="power of a machine while it runs something"
    )
    peaks: dict[str, Peaks] = Field(
        default_factory=dict, description="peaks of machines that nothing was run on"
    )


class Study(Input):
    """What a person says about a table, as kept in a study file."""

    problem: ClassVar[type[BadInput]] = StudyProblem

    columns: dict[str, ColumnChoice] = Field(default_factory=dict)
    drop: tuple[str, ...] = Field((), description="columns to leave out")
    rules: tuple[str, ...] = Field((), description="rules that every answer must obey")
    dependencies: tuple[str, ...] = Field((), description="rules found in the data and confirmed")
    group: str | None = Field(None, description="column whose equal values stay together in splits")
    time: str | None = Field(None, description="column that orders the rows in time")
    weight: str | None = Field(
        None,
        description="column that says how much a row counts; `none`: all rows count alike; "
        "None: the weights of a sample, where there are",
    )
    origin: str | None = Field(
        None,
        description="column that says how a row came to be: measured (or empty), synthetic (learnt "
        "from, never cited as a run) or failed (left out); None: all rows were measured",
    )
    comparable: tuple[str, ...] | None = Field(
        None,
        description="columns that are the same in comparable runs; (): all are; None: inferred",
    )
    trust: TrustChoice = Field(TrustChoice(), description="how labels are made (Algorithm 1)")
    machines: MachineChoice = Field(
        MachineChoice(), description="what names machine, application and runtime of a run"
    )
    map: dict[str, dict[str, Value]] = Field(
        default_factory=dict,
        description="labels to rewrite: column -> pattern (* and ?) -> label",
    )
