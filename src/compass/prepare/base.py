"""What a preprocessing step has to offer."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from compass.domain.space import Space
from compass.prepare.report import Dropped
from compass.readers import Table

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class FailedRows:
    """Rows of runs that failed, and why: `runtime: timeout`."""

    rows: Rows
    reason: str
    column: str | None = None  # the column that says so; None: the study does


@dataclass(frozen=True)
class StepResult:
    """The table after a step (same number of rows), the rows still in use, and what happened."""

    table: Table
    rows: Rows
    notes: tuple[Dropped, ...] = ()
    failed: tuple[FailedRows, ...] = ()  # cells that say so; of an outcome, the run failed


class Step(Protocol):
    """A preprocessing step. Register a class that takes the study: `Step(study)`.

    `@registry.add("step", "name")`; `apply` must keep the table's number of rows and return a
    subset of `rows`, in order. It may change cells, and add columns.
    """

    name: str

    def apply(self, table: Table, rows: Rows, space: Space) -> StepResult:
        """Runs the step on the rows (numbers of rows of the table, ascending) still in use."""
        ...
