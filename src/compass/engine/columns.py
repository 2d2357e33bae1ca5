"""What each column is taken for, which runs compare, and the rules: one thing to show."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pydantic import Field

from compass.domain.answer import Comparable
from compass.domain.base import Noun
from compass.domain.constraint import RuleView
from compass.domain.mined import Mined
from compass.domain.study import ColumnChoice, Study
from compass.prepare.patterns import spelled_out
from compass.prepare.report import CleaningReport, ColumnReport
from compass.prepare.study import merge, study_from

if TYPE_CHECKING:
    from compass.engine.dataset import Dataset
    from compass.prepare import Prepared

# Whatever learns is imported where it is needed: a client shows what a server found out.


class ColumnsView(Noun):
    """What each column is taken for, what cleaning did, which runs compare, and the rules."""

    columns: tuple[ColumnReport, ...]
    sample: str | None = Field(None, description="how the rows were sampled")
    cleaning: CleaningReport
    notes: tuple[str, ...] = ()
    comparable: Comparable
    rules: tuple[RuleView, ...] = ()
    dependencies: tuple[Mined, ...] | None = Field(
        None, description="found in the data, not yet confirmed; None: not looked for"
    )
    study: Study = Field(description="what was said about the columns so far")
    in_full: Study = Field(
        default_factory=Study, description="the same with everything that was inferred, to edit"
    )


def columns_of(data: "Dataset", *, rules: Iterable[str] = (), mined: bool = False) -> ColumnsView:
    """What each column of a dataset is taken for; `mined` also looks for dependencies."""
    from compass.evidence.comparable import comparable_runs

    prepared = data.prepared
    return ColumnsView(
        columns=prepared.columns,
        sample=prepared.sample,
        cleaning=prepared.report,
        notes=prepared.report.notes,
        comparable=comparable_runs(prepared),
        rules=rules_of(data, rules),
        dependencies=_mined(prepared) if mined else None,
        study=data.study,
        in_full=study_in_full(data),
    )


def _mined(prepared: "Prepared") -> tuple[Mined, ...]:
    from compass.rules.mine import mine

    return mine(prepared.values, prepared.space)


def rules_of(data: "Dataset", more: Iterable[str] = ()) -> tuple[RuleView, ...]:
    """The rules of a dataset's study, and some more, with the count of rows that break each."""
    from compass.engine.rules import broken_by, standing

    rules = standing(data, tuple(more))
    counts = broken_by(data.prepared, rules)
    return tuple(
        RuleView(text=rule.text, broken_by=counts[rule.text], source=rule.source.value)
        for rule in rules
        if rule.text in counts
    )


def study_in_full(data: "Dataset") -> Study:
    """A dataset's study with everything that was inferred."""
    space, reports = data.inferred
    stated = {"drop", "group", "time", "weight", "origin", "map", "comparable", "dependencies"}
    kept = data.study.model_dump(include=stated)
    kept |= {"trust": data.study.trust, "machines": data.study.machines}
    full = study_from(space, reports, data.study.rules).model_copy(update=kept)
    # A unit that the study takes away would otherwise be found again.
    said = spelled_out(data.study, space.names).columns
    without = {n: ColumnChoice(unit="") for n, one in said.items() if one.unit == ""}
    return merge(full, Study(columns=without))
