"""Two steps: leave out warm-up runs, and derive a column that explains more than its parts."""

import numpy as np
import pyarrow.compute as pc

from compass import registry
from compass.domain.space import Space
from compass.prepare import Dropped, StepResult, Study
from compass.prepare.base import Rows
from compass.prepare.cells import numbers
from compass.readers import Table


@registry.add("step", "warm-up")
class WarmUp:
    """Leaves out the first iteration of every run: it fills caches and compiles kernels."""

    name = "warm-up"

    def __init__(self, study: Study) -> None:
        del study  # it has nothing to say about this step

    def apply(self, table: Table, rows: Rows, space: Space) -> StepResult:
        """Drops the rows whose `iteration` is 0."""
        del space  # what the columns are for does not matter here
        first = numbers(table.column("iteration"))[rows] == 0
        if not first.any():
            return StepResult(table, rows)
        note = Dropped(
            reason="it is a warm-up run (iteration 0)",
            count=int(np.count_nonzero(first)),
            first=tuple(int(row) for row in rows[first][:5]),
            column="iteration",
        )
        return StepResult(table, rows[~first], (note,))


@registry.add("step", "cores-per-node")
class CoresPerNode:
    """Adds the column `cores_per_node`."""

    name = "cores-per-node"

    def __init__(self, study: Study) -> None:
        del study  # it has nothing to say about this step

    def apply(self, table: Table, rows: Rows, space: Space) -> StepResult:
        """The table with one more column, computed for every row."""
        del space
        if "cores_per_node" in table.names:
            return StepResult(table, rows)
        share = pc.divide(table.column("cores").cast("double"), table.column("nodes"))
        arrow = table.arrow.append_column("cores_per_node", share)
        return StepResult(Table.of(arrow, table.parts), rows)
