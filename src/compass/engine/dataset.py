"""A table with what its columns mean: the thing that `read` returns."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compass import embedded, registry
from compass.domain.arguments import (
    Mismatch,
    anything_of,
    argument,
    flag,
    number,
    path_name,
    row_number,
    takes,
    text,
    texts,
    whole,
)
from compass.domain.base import Config, shown
from compass.domain.overview import Overview
from compass.domain.space import Role, Space
from compass.domain.study import Study
from compass.prepare import Prepared, prepare
from compass.prepare.infer import infer
from compass.prepare.report import ColumnReport
from compass.prepare.study import merge, with_roles
from compass.prepare.study_file import load_study, study_of
from compass.prepare.text_columns import read_texts
from compass.readers import read as read_table
from compass.readers.catalogue import study_for
from compass.readers.table import Table

if TYPE_CHECKING:
    from compass.engine.columns import ColumnsView
    from compass.engine.machines import MachineRuns


_STEPS = texts("for example steps=['my_step']")
_COLUMNS = texts("for example outcomes=['runtime']")


def study_given(given: Any) -> Study:
    """A study: as one, as a mapping, or as the name of a file."""
    if isinstance(given, Study):
        return given
    if isinstance(given, str | PathLike):
        return load_study(path_name(given))
    if not isinstance(given, Mapping):
        raise Mismatch(f"is a study, a mapping or a file, not {shown(given)}")
    return study_of(given)


@dataclass(frozen=True, repr=False)
class Dataset:
    """Past runs: a table, and a study that says what its columns mean."""

    table: Table
    study: Study = field(default_factory=Study)
    steps: tuple[str, ...] = ()  # extra preprocessing steps by name

    def __post_init__(self) -> None:
        argument("table", anything_of(Table), self.table)
        argument("study", anything_of(Study), self.study)
        # As a tuple: what can be looked at only once would be used up by the first look.
        object.__setattr__(self, "steps", argument("steps", _STEPS, self.steps))

    @takes(knobs=_COLUMNS, context=_COLUMNS, outcomes=_COLUMNS, ignored=_COLUMNS)
    def roles(
        self,
        knobs: Iterable[str] | None = None,
        context: Iterable[str] | None = None,
        outcomes: Iterable[str] | None = None,
        ignored: Iterable[str] = (),
    ) -> "Dataset":
        """The same runs with these roles. Columns that are not named keep what was inferred."""
        return self.with_study(with_roles(self.study, knobs, context, outcomes, ignored))

    @takes(study=anything_of(Study))
    def with_study(self, study: Study) -> "Dataset":
        """The same runs seen through another study."""
        return replace(self, study=study)

    @takes(mined=flag)
    def columns(self, *, mined: bool = False) -> "ColumnsView":
        """What each column is taken for; `mined` also looks for dependencies."""
        from compass.engine.columns import columns_of

        return columns_of(self, mined=mined)

    def overview(self) -> Overview:
        """What the runs tell by themselves: the best of them, failures, what they cannot tell."""
        from compass.engine.overview import overview_of

        return overview_of(self.prepared)

    @takes(number=row_number)
    def row(self, number: int | str) -> Config:
        """One past run, counted from 0; `row:3` is the same as 3.

        A number that is written as text (4G, 3,14) is the number that it is taken for.
        """
        at = row_number(number)
        meant = self.meant.row(at)
        return {
            name: meant[name] if isinstance(meant[name], float) else value
            for name, value in self.table.row(at).items()
        }

    @cached_property
    def meant(self) -> Table:
        """The table with numbers that are written as text read as what they are taken for."""
        return replace(self.table, arrow=read_texts(self.table.arrow, self.study).arrow)

    @cached_property
    def machines(self) -> "MachineRuns | None":
        """The runs matched across machines; None: it has none of several machines."""
        from compass.engine.machines import MachineRuns

        return MachineRuns.of(self)

    @cached_property
    def inferred(self) -> tuple[Space, tuple[ColumnReport, ...]]:
        """Every column, ignored ones included, and what was found out about it."""
        return infer(self.table, self.study)

    @cached_property
    def prepared(self) -> Prepared:
        """The runs as numbers."""
        return prepare(self.table, self.study, self.steps)

    @takes(keep=number(0, 1, above=True), reducer=text, seed=whole(0, 2**32 - 1))
    def reduced(self, keep: float, reducer: str, seed: int) -> Prepared:
        """A share of the prepared runs, chosen by a registered reducer, with their weights."""
        if keep >= 1:
            return self.prepared
        chooser = registry.get("reducer", reducer)()
        rows, weight = chooser.reduce(self.prepared, keep, seed)
        full = self.prepared
        return replace(
            full,
            values=full.values[rows],
            row_id=full.row_id[rows],
            group=None if full.group is None else full.group[rows],
            time=None if full.time is None else full.time[rows],
            weight=weight,
            learns_alike=full.learns_alike or getattr(chooser, "learns_alike", False),
            origin=None if full.origin is None else full.origin[rows],
        )

    def __len__(self) -> int:
        return self.table.rows

    def __repr__(self) -> str:
        return f"Dataset({len(self):,} runs, {len(self.table.names)} columns)"

    def __str__(self) -> str:
        """What the columns are taken for."""
        named: dict[Role, list[str]] = {}
        for column in self.inferred[1]:
            named.setdefault(column.role, []).append(column.name)
        lines = [f"  {role}: {', '.join(named[role])}" for role in Role if role in named]
        return "\n".join([f"{len(self):,} runs", *lines])


@takes(study=study_given, steps=_STEPS)
def read(
    source: Any,
    *,
    study: Study | Mapping[str, Any] | str | Path | None = None,
    steps: Iterable[str] = (),
) -> Dataset:
    """Read past runs from a path, glob, directory, data frame, Arrow table or dict of columns.

    `embedded` are the runs that come with Compass, `dataset:NAME` is a public dataset: both with
    their known study, over which yours has the last word.
    """
    chosen = Study() if study is None else study_given(study)
    table = read_table(source)
    known = known_study(source, table.names)
    return Dataset(table, chosen if known is None else merge(known, chosen), tuple(steps))


def known_study(source: Any, names: Iterable[str]) -> Study | None:
    """What is known of a source that has these columns, whoever reads it; None: nothing is."""
    if isinstance(source, str) and source == embedded.NAME:
        return load_study(embedded.study())
    known = study_for(source, names)
    return None if known is None else study_of(known, where=f"the catalogue's study of {source}")
