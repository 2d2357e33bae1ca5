"""Where a what-if starts that asks for values and names no run: at a typical one that matches."""

from dataclasses import dataclass

import numpy as np

from compass.domain.errors import BaselineProblem
from compass.domain.query import Query, Row
from compass.engine.scope import Scope
from compass.engine.starts import matching_rows
from compass.learn.features import FeatureView, Rows
from compass.prepare.encode import Encoder
from compass.prepare.geometry import column_distances


@dataclass(frozen=True)
class TypicalRun:
    """A question with the run that it starts from, and a sentence that says so."""

    query: Query
    note: str


def typical_run(query: Query, scope: Scope) -> TypicalRun:
    """The question started from the most typical of the past runs that match it."""
    view = scope.view
    stated = {
        name: float(Encoder(view.features.select([name])).encode({name: value})[0])
        for name, value in query.stated.items()
        if name in view.features
    }
    rows, unmet = matching_rows(scope, stated)
    if unmet:
        raise BaselineProblem(
            "no past run matches the question, so there is none to start from",
            hint="relax the conditions, or name a run to start from (--from row:N)",
        )
    position = most_typical(view, rows)
    row = int(view.prepared.row_id[position])
    which = view.prepared.table.row_label(row)
    many = f"the most typical of the {len(rows):,} past runs that match"
    note = (
        f"No baseline was given: the question starts from {which}, "
        f"{many if len(rows) > 1 else 'the only past run that matches'} (`from row N` in the "
        "question chooses another)."
    )
    return TypicalRun(query.model_copy(update={"baseline": Row(row=row)}), note)


def most_typical(view: FeatureView, rows: Rows) -> int:
    """Of these past runs the one nearest to their middle.

    The middle has the median of every number and the most common label of every category.
    """
    geometry, X = view.geometry({}), view.X[rows]
    middle = np.median(X, axis=0)
    for column in np.flatnonzero(geometry.category):
        labels, counts = np.unique(X[:, column], return_counts=True)
        middle[column] = labels[counts.argmax()]
    apart = column_distances(X, middle, geometry).sum(axis=1)
    return int(rows[int(apart.argmin())])
