"""What was found about synthetic rows: measures with their floor, and what models lose."""

from pydantic import Field

from compass.domain.base import Noun


class Measure(Noun):
    """One number, beside the number that real rows reach against other real rows."""

    name: str
    value: float
    floor: float | None = Field(None, description="the same measure of real against real rows")
    better: str = Field(description="less, more, or near: near the floor")
    meaning: str = Field(description="what it says, and by which definition")


class EfficiencyLine(Noun):
    """A kind of model, trained on real and on synthetic rows, tested on real ones."""

    model: str
    measure: str
    real: float
    synthetic: float
    gap: float = Field(description="accuracy lost, or growth of the error as a share")
    auc_real: float | None = None
    auc_synthetic: float | None = None


class Point(Noun):
    """A row in the picture."""

    x: float
    y: float
    real: bool


class QualityReport(Noun):
    """How like the real rows synthetic ones are."""

    rows_real: int
    rows_synthetic: int
    rows_test: int
    target: str | None
    measures: tuple[Measure, ...]
    efficiency: tuple[EfficiencyLine, ...] = ()
    points: tuple[Point, ...] = ()
    axes: str = Field("", description="what the picture's axes are")
    notes: tuple[str, ...] = ()

    def value(self, name: str) -> float:
        """The measure of that name."""
        return next(one.value for one in self.measures if one.name == name)
