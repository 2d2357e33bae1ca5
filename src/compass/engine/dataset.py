"""A table with what its columns mean: the thing that `read` returns."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compass import registry
from compass.domain.base import Config
from compass.domain.space import Space
from compass.prepare import Prepared, prepare
from compass.prepare.infer import infer
from compass.prepare.report import ColumnReport
from compass.prepare.study import Study, merge, with_roles
from compass.prepare.study_file import load_study, study_of
from compass.readers import read as read_table
from compass.readers.catalogue import study_for
from compass.readers.table import Table

if TYPE_CHECKING:
    from compass.engine.columns import ColumnsView


@dataclass(frozen=True)
class Dataset:
    """Past runs: a table, and a study that says what its columns mean."""

    table: Table
    study: Study = field(default_factory=Study)
    steps: tuple[str, ...] = ()  # extra preprocessing steps by name

    def roles(
        self,
        knobs: Iterable[str] | None = None,
        context: Iterable[str] | None = None,
        outcomes: Iterable[str] | None = None,
        ignored: Iterable[str] = (),
    ) -> "Dataset":
        """The same runs with these roles. Columns that are not named keep what was inferred."""
        return self.with_study(with_roles(self.study, knobs, context, outcomes, ignored))

    def with_study(self, study: Study) -> "Dataset":
        """The same runs seen through another study."""
        return replace(self, study=study)

    def columns(self, *, mined: bool = False) -> "ColumnsView":
        """What each column is taken for; `mined` also looks for dependencies."""
        from compass.engine.columns import columns_of

        return columns_of(self, mined=mined)

    def row(self, number: int) -> Config:
        """One past run, counted from 0."""
        return self.table.row(number)

    @cached_property
    def inferred(self) -> tuple[Space, tuple[ColumnReport, ...]]:
        """Every column, ignored ones included, and what was found out about it."""
        return infer(self.table, self.study)

    @cached_property
    def prepared(self) -> Prepared:
        """The runs as numbers."""
        return prepare(self.table, self.study, self.steps)

    def reduced(self, keep: float, reducer: str, seed: int) -> Prepared:
        """A share of the prepared runs, chosen by a registered reducer, with their weights."""
        if keep >= 1:
            return self.prepared
        rows, weight = registry.get("reducer", reducer)().reduce(self.prepared, keep, seed)
        full = self.prepared
        return replace(
            full,
            values=full.values[rows],
            row_id=full.row_id[rows],
            group=None if full.group is None else full.group[rows],
            time=None if full.time is None else full.time[rows],
            weight=weight,
        )

    def __len__(self) -> int:
        return self.table.rows


def read(
    source: Any,
    *,
    study: Study | Mapping[str, Any] | str | Path | None = None,
    steps: Iterable[str] = (),
) -> Dataset:
    """Read past runs from a path, glob, directory, data frame, Arrow table or dict of columns.

    `dataset:NAME` is a public dataset with its known study, over which yours has the last word.
    """
    if isinstance(study, str | Path):
        chosen = load_study(Path(study))
    elif study is None or isinstance(study, Study):
        chosen = study or Study()
    else:
        chosen = study_of(dict(study))
    table = read_table(source)
    known = study_for(source, table.names)
    if known is not None:
        chosen = merge(study_of(known, where=f"the catalogue's study of {source}"), chosen)
    return Dataset(table, chosen, tuple(steps))
