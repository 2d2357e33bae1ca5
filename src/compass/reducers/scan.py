"""One fragment, once through: filter, leave out, count, score, keep some rows, write them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from compass.domain.base import Value
from compass.domain.errors import DataProblem, unknown
from compass.prepare.mapping import mapped
from compass.readers.batches import QuotesFound, Shape, TypesChanged, batches
from compass.readers.fragments import JSONL, PARQUET, Fragment
from compass.readers.plain import plain
from compass.readers.sample import ROW, WEIGHT
from compass.reducers.chance import choose, key_of
from compass.reducers.chances import Chances
from compass.reducers.columns import Cells
from compass.reducers.filters import Filter
from compass.reducers.parts import write_part
from compass.reducers.statistics import Tally, label_counts, moments

Floats = NDArray[np.float64]
Mask = NDArray[np.uint8]
NO_OUTCOME = "no outcome was measured"


@dataclass(frozen=True)
class Recipe:
    """Everything that decides which rows of a fragment are kept; travels to the workers."""

    seed: int
    shape: Shape
    chances: Chances
    filters: tuple[Filter, ...] = ()
    required: tuple[tuple[str, bool], ...] = ()  # columns that must have a value; True: a number
    outcomes: tuple[tuple[str, bool], ...] = ()  # at least one of them must have a value
    numbers: Mapping[str, float] = field(default_factory=dict)  # column -> about its mean
    labels: tuple[str, ...] = ()  # columns whose labels are counted
    rewrite: Mapping[str, Mapping[str, Value]] | None = None  # labels that the study renames
    names: tuple[str, ...] = ()  # columns of the sample, in order
    known: frozenset[str] = frozenset()  # columns of the source, also those that are left out


def scan(fragment: Fragment, recipe: Recipe, part: Path, *, skip: bool = False) -> Tally:
    """Writes the kept rows of a fragment to a file, and returns what was seen.

    With `skip`, a fragment that cannot be read gives nothing but the reason.
    """
    try:
        while True:
            try:
                kept, tally = _kept(fragment, recipe)
                break
            except TypesChanged as changed:
                recipe = replace(recipe, shape=replace(recipe.shape, types=changed.types))
    except QuotesFound:
        raise
    except DataProblem as problem:
        if not skip:
            raise
        kept, tally = [], Tally(problem=problem.message)
    write_part(part, kept, tally, fragment)
    return tally


def _kept(fragment: Fragment, recipe: Recipe) -> tuple[list[pa.Table], Tally]:
    at = fragment.first_row if fragment.kind == PARQUET else None
    place = (fragment.identity, fragment.occurrence)
    key = key_of(recipe.seed, *place, *(() if at is not None else (fragment.start,)))
    first = at or 0
    found, total, local = [], Tally(), 0
    for table in batches(fragment, recipe.shape):
        rows, tally = _batch(_flat(table), recipe, key, first + local, local, fragment)
        total += tally
        local += table.num_rows
        if rows is not None:
            found.append(rows)
    return found, total


def _flat(table: pa.Table) -> pa.Table:
    while any(pa.types.is_struct(field.type) for field in table.schema):
        table = table.flatten()
    return table


def _batch(
    table: pa.Table, recipe: Recipe, key: int, counter: int, local: int, fragment: Fragment
) -> tuple[pa.Table | None, Tally]:
    names = [name.strip() for name in table.column_names]
    table = table.rename_columns(names)
    if fragment.kind == JSONL:  # a key that no line here has is a missing cell
        for name in recipe.names:
            if name not in names:
                table = table.append_column(name, pa.nulls(table.num_rows))
                names.append(name)
    seen = mapped(table, recipe.rewrite) if recipe.rewrite else table
    for name in recipe.names:
        if name not in names:
            raise unknown("column", name, names, where=f"in {fragment.file}")
    if fragment.kind != JSONL and (new := [name for name in names if name not in recipe.known]):
        raise DataProblem(
            f"{fragment.file} has a column '{new[0]}' that the rows looked at first do not have",
            hint="files that are read together need the same columns; compass read --fill "
            "leaves their cells empty",
        )
    columns = {name: Cells(seen.column(name)) for name in names}
    rows = table.num_rows
    usable, dropped = usable_rows(columns, seen, recipe, rows)
    chance = recipe.chances.of(columns, rows)
    places, weights = np.empty(rows, dtype=np.int64), np.empty(rows)
    count, expected = choose(chance, usable, np.uint64(key), counter, places, weights)
    places, weights = places[:count], weights[:count]
    tally = Tally(
        rows=rows,
        usable=int(np.count_nonzero(usable)),
        kept=int(count),
        weight=float(weights.sum()),
        squares=float((weights**2).sum()),
        heaviest=float(weights.max(initial=0.0)),
        expected=float(expected),
        dropped=dropped,
        moments={
            name: moments(columns[name].numbers(), usable, about)
            for name, about in recipe.numbers.items()
        },
        estimates={name: _estimate(columns[name], places, weights) for name in recipe.numbers},
        labels={
            name: label_counts(*columns[name].codes(), usable, places) for name in recipe.labels
        },
    )
    if not count:
        return None, tally
    kept = plain(table.select(recipe.names).take(pa.array(places)))
    kept = kept.append_column(WEIGHT, pa.array(weights))
    return kept.append_column(ROW, pa.array(places + local)), tally


def _estimate(cells: Cells, places: NDArray[np.int64], weights: Floats) -> tuple[float, float]:
    """The weighted sum of a column over the kept rows, and the sum of those weights."""
    values = cells.numbers()[places].astype(np.float64)
    known = np.isfinite(values)
    return float(values[known] @ weights[known]), float(weights[known].sum())


def usable_rows(
    columns: Mapping[str, Cells], table: pa.Table, recipe: Recipe, rows: int
) -> tuple[Mask, dict[str, int]]:
    """Which rows take part, uint8[n], and how many do not for which reason."""
    usable = np.ones(rows, dtype=np.bool_)
    dropped: dict[str, int] = {}
    left = rows
    for reason, mask in _checks(columns, table, recipe):
        if mask is None:
            continue
        usable &= mask
        now = int(np.count_nonzero(usable))
        if now < left:
            dropped[reason] = dropped.get(reason, 0) + left - now
            left = now
    return usable.view(np.uint8), dropped


def _checks(
    columns: Mapping[str, Cells], table: pa.Table, recipe: Recipe
) -> Iterator[tuple[str, NDArray[np.bool_] | None]]:
    for one in recipe.filters:
        yield f"not {one.text}", one.holds(dict(columns), table)
    for name, number in recipe.required:
        yield f"{name} is missing", columns[name].present(number=number)
    if recipe.outcomes:
        present = [columns[name].present(number=number) for name, number in recipe.outcomes]
        known = [mask for mask in present if mask is not None]
        if len(known) == len(present):
            yield NO_OUTCOME, np.logical_or.reduce(known)
