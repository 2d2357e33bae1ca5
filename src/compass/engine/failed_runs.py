"""New runs that failed: the reason stands where a number was expected, or in a column `failure`."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa

from compass.domain.space import Number, Role, Space
from compass.domain.study import ColumnChoice, Study
from compass.engine.dataset import Dataset
from compass.prepare.failures import Failures
from compass.readers.table import Table
from compass.readers.words import says_failed

COLUMN = "failure"  # of the table: why a run that was told failed; empty for all others
_SHOWN = 3  # different reasons that a note names

Reasons = list[str | None]


def failures_apart(fresh: pa.Table, space: Space) -> tuple[pa.Table, Reasons]:
    """New runs without words in the place of numbers, and for each why it failed, if it did.

    Of a run that failed nothing counts as measured.
    """
    names = set(fresh.column_names)
    reasons: Reasons = [None] * fresh.num_rows
    if COLUMN in names:
        reasons = [_reason(cell) for cell in fresh.column(COLUMN).to_pylist()]
    measured = [
        p.name
        for p in space
        if p.role is Role.OUTCOME and isinstance(p, Number) and p.name in names
    ]
    cells = {name: fresh.column(name).to_pylist() for name in measured}
    for column in cells.values():
        for place, cell in enumerate(column):
            if reasons[place] is None and isinstance(cell, str) and says_failed(cell):
                reasons[place] = _reason(cell)
    if not any(reasons):
        return fresh, reasons
    for name, column in cells.items():
        left = [None if why else cell for cell, why in zip(column, reasons, strict=True)]
        place = fresh.column_names.index(name)
        fresh = fresh.set_column(place, name, _numbers(left))
    return fresh, reasons


def _reason(cell: object) -> str | None:
    """Why a run failed, so that it reads as a failure wherever it stands: `out of memory`."""
    said = "" if cell is None else str(cell).strip()
    if not said:
        return None
    kind, _, rest = said.partition(":")
    if kind.strip().lower() in ("failed", "failure", "fail") and says_failed(rest):
        return rest.strip()
    return said if says_failed(said) else f"failed: {said}"


def _numbers(cells: Sequence[object]) -> pa.Array:
    """Cells as numbers, where all of them are; else as the texts that they were."""
    try:
        found = [None if cell is None or cell == "" else float(str(cell)) for cell in cells]
    except ValueError:
        return pa.array(cells, pa.large_string())
    return pa.array(found, pa.float64())


def with_reasons(known: pa.Table, fresh: pa.Table, reasons: Reasons) -> tuple[pa.Table, pa.Table]:
    """Both tables with the column of reasons, where some run failed or did before."""
    if not any(reasons) and COLUMN not in known.column_names:
        return known, fresh
    if COLUMN not in known.column_names:
        known = known.append_column(COLUMN, pa.nulls(known.num_rows, pa.large_string()))
    if COLUMN in fresh.column_names:
        fresh = fresh.drop_columns([COLUMN])
    return known, fresh.append_column(COLUMN, pa.array(reasons, pa.large_string()))


def noting_failures(data: Dataset, table: Table) -> Dataset:
    """The dataset with this table; the column of reasons is no setting and no outcome."""
    study = data.study
    if COLUMN in table.names and COLUMN not in data.table.names:
        columns = {**study.columns, COLUMN: ColumnChoice(role=Role.IGNORED)}
        study = Study.model_validate({**dict(study), "columns": columns})
    return replace(data, table=table, study=study)


def failure_note(failures: Failures, first: int) -> tuple[str, ...]:
    """What failed among the runs from row `first` on, and what follows from that."""
    new = [why for row, why in zip(failures.row_id, failures.reasons, strict=True) if row >= first]
    if not new:
        return ()
    often = Counter(why.removeprefix(f"{COLUMN}: ") for why in new).most_common()
    named = ", ".join(why if count == 1 else f"{why} ({count})" for why, count in often[:_SHOWN])
    more = ", ..." if len(often) > _SHOWN else ""
    runs = "1 of the new runs" if len(new) == 1 else f"{len(new)} of the new runs"
    return (f"{runs} failed: {named}{more}; suggestions and proposed runs keep away from there",)
