"""Rows that a pilot model does not know well, or that are rare, of data in memory."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from compass import registry
from compass.domain.space import Category
from compass.prepare import Prepared, Study
from compass.readers import Table
from compass.readers.batches import Shape
from compass.reducers.columns import Cells
from compass.reducers.draws import check_share
from compass.reducers.pilot import PilotPool, learn_pilot
from compass.reducers.probabilities import ByScore, label_features, strata
from compass.settings import ReduceSettings

Floats = NDArray[np.float64]
Chosen = tuple[NDArray[np.int64], Floats]


@registry.add("reducer", "guided")
class Guided:
    """Keeps rows that a pilot model gets wrong or is unsure of with a larger chance."""

    name = "guided"

    def reduce(self, prepared: Prepared, keep: float, seed: int) -> Chosen:
        """A sample without replacement; a row counts its weight / its chance."""
        return reduced(prepared, keep, seed, _by_score)


@registry.add("reducer", "stratified")
class Stratified:
    """Keeps rows with rare combinations of labels with a larger chance."""

    name = "stratified"

    def reduce(self, prepared: Prepared, keep: float, seed: int) -> Chosen:
        """A sample without replacement; a row counts its weight / its chance."""
        return reduced(prepared, keep, seed, _by_stratum)


def _by_score(table: Table, prepared: Prepared, keep: float, seed: int) -> Floats:
    how = ReduceSettings()
    rows = prepared.rows
    looked = np.zeros(rows, dtype=np.bool_)
    looked[np.random.default_rng(seed).permutation(rows)[: how.pilot]] = True
    pool = PilotPool(table, Shape(), prepared.space, looked.sum() / rows)
    pilot = learn_pilot(pool, Study(), looked, keep, seed, how)
    return ByScore(pilot.scorer, pilot.a, pilot.b).of(_cells(table), rows)


def _by_stratum(table: Table, prepared: Prepared, keep: float, seed: int) -> Floats:
    del seed
    cells = _cells(table)
    types = {name: one.column.type for name, one in cells.items()}
    everything = np.ones(prepared.rows, dtype=np.bool_)
    by = label_features(prepared.space, types)
    return strata(cells, by, everything, keep, ReduceSettings().floor).of(cells, prepared.rows)


def _cells(table: Table) -> dict[str, Cells]:
    return {name: Cells(table.column(name)) for name in table.names}


def _table(prepared: Prepared) -> Table:
    """The prepared rows as columns: labels as text, numbers as they are."""
    columns = {}
    for place, parameter in enumerate(prepared.space):
        values = prepared.values[:, place]
        if isinstance(parameter, Category):
            known = np.isfinite(values)
            codes = pa.array(np.where(known, values, 0).astype(np.int32), mask=~known)
            labels = [str(value) for value in parameter.values]
            columns[parameter.name] = pa.DictionaryArray.from_arrays(codes, labels)
        else:
            columns[parameter.name] = pa.array(values)
    return Table.of(pa.table(columns))


def reduced(
    prepared: Prepared,
    keep: float,
    seed: int,
    probabilities: Callable[[Table, Prepared, float, int], Floats],
) -> Chosen:
    """Rows with the chances that a function of the table gives them, and their weights."""
    check_share(keep)
    if keep == 1:
        return np.arange(prepared.rows, dtype=np.int64), prepared.weight.copy()
    probability = probabilities(_table(prepared), prepared, keep, seed)
    rows = systematic(probability, seed)
    weight = prepared.weight[rows] / probability[rows]
    # All rows are at hand, so the sample can be made to stand for exactly as many.
    return rows, weight * (prepared.weight.sum() / weight.sum())


def systematic(probability: Floats, seed: int) -> NDArray[np.int64]:
    """Rows with these chances, as many as their sum (give or take one), at least one."""
    rng = np.random.default_rng([seed, len(probability)])
    order = rng.permutation(len(probability))
    reached = np.cumsum(probability[order])
    start = rng.random()
    hit = np.floor(reached - start) > np.floor(reached - probability[order] - start)
    rows = np.sort(order[hit]).astype(np.int64)
    return rows if len(rows) else np.sort(order[:1]).astype(np.int64)
