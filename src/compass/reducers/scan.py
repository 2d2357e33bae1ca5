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
from compass.prepare.text_columns import as_written
from compass.readers.batches import QuotesFound, Shape, TypesChanged, batches, quick_text
from compass.readers.combine import filled
from compass.readers.fragments import JSONL, PARQUET, Fragment
from compass.readers.plain import flat, plain
from compass.readers.quick import NotPlain
from compass.readers.sample import ROW, WEIGHT
from compass.readers.written import Writing
from compass.reducers.columns import Cells, cells_of, is_label
from compass.reducers.draws import choose, key_of
from compass.reducers.filters import Filter, RuleFilter
from compass.reducers.parts import write_part
from compass.reducers.probabilities import KeepProbability
from compass.reducers.statistics import LabelCounts, RunningMoments, Tally

Floats = NDArray[np.float64]
Mask = NDArray[np.uint8]
NO_OUTCOME = "no outcome was measured"


@dataclass(frozen=True)
class ScanPlan:
    """Everything that decides which rows of a fragment are kept; travels to the workers."""

    seed: int
    shape: Shape
    probabilities: KeepProbability
    filters: tuple[Filter, ...] = ()
    required: tuple[tuple[str, bool], ...] = ()  # columns that must have a value; True: a number
    outcomes: tuple[tuple[str, bool], ...] = ()  # at least one of them must have a value
    numbers: Mapping[str, float] = field(default_factory=dict)  # column -> about its mean
    labels: tuple[str, ...] = ()  # columns whose labels are counted
    rewrite: Mapping[str, Mapping[str, Value]] | None = None  # labels that the study renames
    writings: Mapping[str, Writing] = field(default_factory=dict)  # of text columns of numbers
    names: tuple[str, ...] = ()  # columns of the sample, in order
    known: frozenset[str] = frozenset()  # columns of the source, also those that are left out


def scan(fragment: Fragment, plan: ScanPlan, part: Path, *, skip: bool = False) -> Tally:
    """Writes the kept rows of a fragment to a file, and returns what was seen.

    With `skip`, a fragment that cannot be read gives nothing but the reason.
    """
    try:
        while True:
            try:
                kept, tally = _kept(fragment, plan)
                break
            except TypesChanged as changed:
                plan = replace(plan, shape=replace(plan.shape, types=changed.types))
    except QuotesFound:
        raise
    except DataProblem as problem:
        if not skip:
            raise
        kept, tally = [], Tally(problem=problem.message)
    write_part(part, kept, tally, fragment)
    return tally


def _kept(fragment: Fragment, plan: ScanPlan) -> tuple[list[pa.Table], Tally]:
    at = fragment.first_row if fragment.kind == PARQUET else None
    place = (fragment.identity, fragment.occurrence)
    key = key_of(plan.seed, *place, *(() if at is not None else (fragment.start,)))
    quickly = _quickly(fragment, plan, _Seen(plan, key, at or 0))
    if quickly is not None:
        return quickly.result()
    seen = _Seen(plan, key, at or 0)
    for table in batches(fragment, plan.shape):
        seen.take(_named(table, plan, fragment))
    return seen.result()


def _quickly(fragment: Fragment, plan: ScanPlan, seen: "_Seen") -> "_Seen | None":
    """Looks at the columns that decide, and reads all of the lines that are kept.

    None where plain text and plain conditions are not all there is: then all is read with care.
    """
    wanted = _wanted(plan)
    if wanted is None:
        return None
    numbers, labels = wanted
    text = quick_text(fragment, plan.shape, (*plan.names, *numbers, *labels))
    if text is None:
        return None
    kept: list[bytes] = []
    try:
        for lines in text.lines(numbers, labels):
            columns = {name: Cells(numbers=lines.numbers[name]) for name in numbers}
            for name in labels:
                columns[name] = Cells(codes=(lines.codes[name], list(lines.labels[name])))
            rows = len(lines.begin)
            places, weights = seen.look(columns, None, rows)
            if len(places):
                kept.append(text.chosen(lines, places))
                seen.keep(None, places, weights)
            seen.rows += rows
        if kept:
            table = _named(text.read(b"".join(kept)), plan, fragment)
            if table.num_rows != sum(map(len, seen.weights)):
                return None
            seen.kept.append(table.select(plan.names))
    except NotPlain:
        return None
    return seen


def _wanted(plan: ScanPlan) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The number and label columns that decide about a row; None: it takes more than those."""
    plain_filters = [one for one in plan.filters if not isinstance(one, RuleFilter)]
    if plan.rewrite or plan.writings or len(plain_filters) < len(plan.filters):
        return None
    either, as_labels = plan.probabilities.looks_at
    names = {
        *(name for name, _ in (*plan.required, *plan.outcomes)),
        *plan.numbers,
        *plan.labels,
        *(one.name for one in plain_filters),
        *either,
        *as_labels,
    }
    kinds = {name: plan.shape.types.get(name) for name in names}
    numbers = tuple(sorted(n for n, kind in kinds.items() if kind in (pa.int64(), pa.float64())))
    labels = tuple(
        sorted(n for n, kind in kinds.items() if kind is not None and pa.types.is_dictionary(kind))
    )
    if len(numbers) + len(labels) < len(names) or not set(as_labels) <= set(labels):
        return None
    return numbers, labels


def _named(table: pa.Table, plan: ScanPlan, fragment: Fragment) -> pa.Table:
    """The batch with flat columns of the known names."""
    table = flat(table)
    names = table.column_names
    if tuple(names) == plan.names:
        return table
    names = [name.strip() for name in names]
    table = table.rename_columns(names)
    if fragment.kind == JSONL:  # a key that no line here has is a missing cell
        return filled(table, plan.names)
    for name in plan.names:
        if name not in names:
            raise unknown("column", name, names, where=f"in {fragment.file}")
    if new := [name for name in names if name not in plan.known]:
        raise DataProblem(
            f"{fragment.file} has a column '{new[0]}' that the rows looked at first do not have",
            hint="files that are read together need the same columns; compass read --fill "
            "leaves their cells empty",
        )
    return table


class _Seen:
    """What the batches of a fragment add up to; little is done per batch but the loops."""

    def __init__(self, plan: ScanPlan, key: int, first: int) -> None:
        self.plan = plan
        self.key = key
        self.first = first
        self.rows = self.usable = 0
        self.expected = 0.0
        self.dropped: dict[str, int] = {}
        self.kept: list[pa.Table] = []
        self.places: list[NDArray[np.int64]] = []
        self.weights: list[Floats] = []
        self.sums = {name: RunningMoments(about) for name, about in plan.numbers.items()}
        self.labels = {name: LabelCounts() for name in plan.labels}

    def take(self, table: pa.Table) -> None:
        """Goes over one batch."""
        seen, failed = self._read(table)
        places, weights = self.look(cells_of(seen, failed), seen, table.num_rows)
        if len(places):
            self.keep(table.take(pa.array(places)), places, weights)
        self.rows += table.num_rows

    def _read(self, table: pa.Table) -> tuple[pa.Table, dict[str, NDArray[np.bool_]]]:
        """The batch with labels as the study names them and numbers as they are meant."""
        plan = self.plan
        seen = mapped(table, plan.rewrite) if plan.rewrite else table
        # Among numbers, words may turn up that the rows looked at first do not have.
        late = {n: Writing() for n in plan.numbers if is_label(seen.column(n).type)}
        return as_written(seen, {**late, **plan.writings})

    def look(
        self, columns: Mapping[str, Cells], table: pa.Table | None, rows: int
    ) -> tuple[NDArray[np.int64], Floats]:
        """Counts the rows of a batch; which of them are kept, and their weights."""
        plan = self.plan
        usable = usable_rows(columns, table, plan, rows, self.dropped)
        probability = plan.probabilities.of(columns, rows)
        counter = self.first + self.rows
        places, weights, expected = choose(probability, usable, self.key, counter)
        for name, sums in self.sums.items():
            sums.add(columns[name].numbers(), usable)
        for name, counts in self.labels.items():
            counts.add(*columns[name].codes(), usable, places)
        self.usable += int(np.count_nonzero(usable))
        self.expected += expected
        return places, weights

    def keep(self, table: pa.Table | None, places: NDArray[np.int64], weights: Floats) -> None:
        """Takes kept rows, which stood at these places of the batch; None: they come later."""
        if table is not None:
            self.kept.append(table.select(self.plan.names))
        self.places.append(places + self.rows)
        self.weights.append(weights)

    def result(self) -> tuple[list[pa.Table], Tally]:
        """The kept rows with their weights and places, and the tally of the fragment."""
        weights = np.concatenate(self.weights) if self.weights else np.empty(0)
        kept = self._together(weights)
        tally = Tally(
            rows=self.rows,
            usable=self.usable,
            kept=len(weights),
            weight=float(weights.sum()),
            squares=float((weights**2).sum()),
            heaviest=float(weights.max(initial=0.0)),
            expected=self.expected,
            dropped=self.dropped,
            moments={name: sums.moments() for name, sums in self.sums.items()},
            estimates={name: self._estimate(name, kept, weights) for name in self.sums},
            labels={name: counts.found() for name, counts in self.labels.items()},
        )
        return [] if kept is None else [kept], tally

    def _together(self, weights: Floats) -> pa.Table | None:
        """The kept rows of all batches in plain types, with weights and places."""
        if not self.kept:
            return None
        first = self.kept[0].schema
        alike = all(table.schema.equals(first) for table in self.kept)
        # Types are made plain once for all batches, unless they differ in them.
        tables = self.kept if alike else [plain(table) for table in self.kept]
        kept = plain(pa.concat_tables(tables, promote_options="permissive"))
        kept = kept.append_column(WEIGHT, pa.array(weights))
        return kept.append_column(ROW, pa.array(np.concatenate(self.places)))

    def _estimate(self, name: str, kept: pa.Table | None, weights: Floats) -> tuple[float, float]:
        """The weighted sum of a column over the kept rows, and the sum of those weights."""
        if kept is None:
            return 0.0, 0.0
        rewrite = self.plan.rewrite
        if rewrite and name in rewrite:
            kept = mapped(kept.select([name]), {name: rewrite[name]})
        kept, _ = as_written(kept.select([name]), {name: self.plan.writings.get(name, Writing())})
        values = np.asarray(Cells(kept.column(name)).numbers(), dtype=np.float64)
        known = np.isfinite(values)
        # Not a dot product: that would wake the threads of the numeric library.
        return float((values[known] * weights[known]).sum()), float(weights[known].sum())


def usable_rows(
    columns: Mapping[str, Cells],
    table: pa.Table | None,
    plan: ScanPlan,
    rows: int,
    dropped: dict[str, int],
) -> Mask:
    """Which rows take part, uint8[n]; adds to `dropped` how many do not for which reason."""
    usable = np.ones(rows, dtype=np.bool_)
    left = rows
    for reason, mask in _checks(columns, table, plan):
        if mask is None:
            continue
        usable &= mask
        now = int(np.count_nonzero(usable))
        if now < left:
            dropped[reason] = dropped.get(reason, 0) + left - now
            left = now
    return usable.view(np.uint8)


def _checks(
    columns: Mapping[str, Cells], table: pa.Table | None, plan: ScanPlan
) -> Iterator[tuple[str, NDArray[np.bool_] | None]]:
    for one in plan.filters:
        yield f"not {one.text}", one.holds(dict(columns), table)
    for name, number in plan.required:
        yield f"{name} is missing", columns[name].present(number=number)
    if plan.outcomes:
        present = [columns[name].told(number=number) for name, number in plan.outcomes]
        known = [mask for mask in present if mask is not None]
        if len(known) == len(present):
            yield NO_OUTCOME, np.logical_or.reduce(known)
