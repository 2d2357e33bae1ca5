"""What was kept of a source, and why: nouns to show to a person."""

from collections.abc import Mapping

from pydantic import Field

from compass.domain.base import Noun
from compass.reducers.statistics import Tally


class Guide(Noun):
    """An outcome that guided the choice, and how well the pilot model knows it."""

    outcome: str
    label: str | None = Field(None, description="of an outcome of classes")
    log: bool = Field(False, description="whether its logarithm was learnt")
    explained: float = Field(description="R2 on pilot rows that the model has not seen")


class ColumnSummary(Noun):
    """A number column in all usable rows, and what the sample says of it."""

    name: str
    count: int
    mean: float | None
    deviation: float | None
    low: float | None
    high: float | None
    estimate: float | None = Field(None, description="mean that the weighted sample gives")


class LabelShare(Noun):
    """A label that the sample holds more or less often than the source."""

    column: str
    label: str
    rows: int = Field(description="usable rows of the source")
    kept: int
    chance: float = Field(description="share of these rows that was kept")


class Stage(Noun):
    """A part of the work and what it took."""

    name: str
    seconds: float
    peak_mb: float = Field(description="most memory of this process up to its end")


class Report(Noun):
    """What `compass reduce` did."""

    output: str
    method: str
    keep: float = Field(description="share that was asked for")
    seed: int
    executor: str
    workers: int
    files: int
    fragments: int
    resumed: int = Field(0, description="fragments that an earlier run had already done")
    rows: int = Field(description="rows that were read")
    usable: int = Field(description="of them, after conditions and missing values")
    kept: int
    share: float = Field(description="kept of usable")
    expected: float = Field(description="sum of the chances of the usable rows")
    weight: float = Field(description="sum of the weights: estimates the usable rows")
    heaviest: float = Field(description="largest weight")
    effective: float = Field(description="rows of equal weight that would tell as much of a mean")
    dropped: dict[str, int] = Field(default_factory=dict)
    unreadable: dict[str, str] = Field(default_factory=dict, description="fragment -> why")
    pilot_rows: int = Field(0, description="rows that the pilot model was learnt from")
    guides: tuple[Guide, ...] = ()
    columns: tuple[ColumnSummary, ...] = ()
    labels: tuple[LabelShare, ...] = ()
    stages: tuple[Stage, ...] = ()
    notes: tuple[str, ...] = ()


def columns_of(tally: Tally) -> tuple[ColumnSummary, ...]:
    """The number columns, each with the mean that the sample estimates."""
    return tuple(
        ColumnSummary(
            name=name,
            count=one.count,
            mean=one.mean,
            deviation=one.deviation,
            low=one.low if one.count else None,
            high=one.high if one.count else None,
            estimate=total / weight if weight else None,
        )
        for name, one in tally.moments.items()
        for total, weight in [tally.estimates.get(name, (0.0, 0.0))]
    )


def labels_of(tally: Tally) -> tuple[LabelShare, ...]:
    """Every label of the counted columns, the most favoured first."""
    found = [
        LabelShare(column=name, label=label, rows=rows, kept=kept, chance=kept / rows)
        for name, counts in tally.labels.items()
        for label, (rows, kept) in (counts or {}).items()
        if rows
    ]
    return tuple(sorted(found, key=lambda one: (one.column, -one.chance, one.label)))


def effective(tally: Tally) -> float:
    """(sum w)^2 / sum w^2."""
    return tally.weight**2 / tally.squares if tally.squares else 0.0


def notes_of(tally: Tally, keep: float, unreadable: Mapping[str, str]) -> tuple[str, ...]:
    """What a person should know before using the sample."""
    notes = []
    if tally.usable and abs(tally.expected / tally.usable - keep) > 0.1 * keep:
        notes.append(
            f"the rows looked at first are not like all rows: {tally.expected / tally.usable:.2%} "
            f"was kept instead of {keep:.2%}; the weights are right all the same"
        )
    for name, one in tally.moments.items():
        lacking = tally.usable - one.count
        if lacking:
            notes.append(f"{lacking:,} usable rows have no {name}")
    if unreadable:
        notes.append(f"{len(unreadable)} fragments could not be read and are not in the sample")
    return tuple(notes)
