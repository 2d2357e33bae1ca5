"""A first look at a source of any size: a few rows from all over it, and what they teach."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from compass.domain.errors import BadInput, DataProblem
from compass.domain.space import Role, Space
from compass.domain.study import Study
from compass.prepare.infer import infer
from compass.prepare.mapping import mapped
from compass.prepare.text_columns import as_written, read_texts
from compass.readers import Table
from compass.readers.batches import QuotesFound, Shape, TypesChanged, batches
from compass.readers.combine import combine, filled
from compass.readers.fragments import (
    CSV,
    JSONL,
    PARQUET,
    Fragment,
    FragmentedSource,
    bytes_of_lines,
    whole_lines,
)
from compass.readers.plain import plain
from compass.readers.sample import sampled
from compass.readers.written import Writing
from compass.reducers.columns import (
    Binned,
    Cells,
    bins_of,
    is_label,
    labels_binned,
    numbers_binned,
)
from compass.reducers.draws import key_of, numbers, proportional
from compass.reducers.score import PilotTarget, Scorer, pruned, scorer_of, target_of
from compass.settings import ReduceSettings

_LEAST = 4096  # rows from one place; fewer cost as much to read
_LABELS = 3  # of an outcome of classes that are learnt, the most common one left out
_MOST_LABELS = 250  # of a feature that get a place of their own


@dataclass(frozen=True)
class PilotPool:
    """Some rows of a source, evenly chosen from the places that were looked at."""

    table: Table
    shape: Shape  # of the source: types of its text columns, and which hold labels
    space: Space
    share: float  # of the rows of the source that are in it; 0 where that is not known
    writings: Mapping[str, Writing] = field(default_factory=dict)  # of text columns of numbers

    def seen(self, study: Study) -> tuple[pa.Table, dict[str, NDArray[np.bool_]]]:
        """The rows with labels as the study names them and numbers as they are meant."""
        return as_written(mapped(self.table.arrow, study.map), self.writings)


def draw(
    source: FragmentedSource, study: Study, seed: int, how: ReduceSettings, *, skip: bool = False
) -> PilotPool:
    """Rows from the beginnings of fragments all over the source.

    With `skip`, a fragment that cannot be read is passed over.
    """
    order = sorted(source.fragments, key=lambda f: key_of(seed, "pool", *f.order))
    places = order[: how.places]
    each = max(_LEAST, how.pool // len(places))
    shape = Shape(folders=source.folders, labels=_texts(places))
    looks = _looks(places, shape, each, skip)
    if mixed := _mixed(looks):
        shape = replace(shape, types=dict.fromkeys(mixed, pa.large_string()))
        looks = _looks(places, shape, each, skip)
    if not looks:
        raise DataProblem(
            f"{places[0].file} holds no rows", hint="was the run that writes it cut short?"
        )
    if any(sampled(look.table.schema) is not None for look in looks):
        raise DataProblem(
            f"{looks[0].fragment.file} is a sample already: its rows do not count alike",
            hint="take a smaller share of the files that it was made from",
        )
    whole = combine([look.table for look in looks], [look.fragment.file for look in looks])
    keys = [key_of(seed, "pilot", *look.fragment.order) for look in looks]
    sizes = [look.table.num_rows for look in looks]
    number = np.concatenate([numbers(k, 0, size) for k, size in zip(keys, sizes, strict=True)])
    chosen = np.sort(np.argsort(number, kind="stable")[: how.pilot])
    table = Table.of(whole.take(pa.array(chosen)))
    space, _ = infer(table, study)
    types = {field.name: field.type for field in whole.schema}
    labels = frozenset(name for name, kind in types.items() if pa.types.is_large_string(kind))
    shape = replace(shape, types=_text_types(types, looks), labels=labels)
    total = source.rows
    if len(looks) == len(source.fragments) and all(one.table.num_rows < each for one in looks):
        total = whole.num_rows  # everything was looked at
    writings = read_texts(mapped(table.arrow, study.map), study).writings
    return PilotPool(table, shape, space, table.rows / total if total else 0.0, writings)


@dataclass(frozen=True)
class _Look:
    """The first rows of a fragment in plain types, and the types in which they were read."""

    fragment: Fragment
    table: pa.Table
    kinds: Mapping[str, pa.DataType]


def _looks(places: Sequence[Fragment], shape: Shape, rows: int, skip: bool) -> list[_Look]:
    found = []
    for fragment in places:
        try:
            look = _first(fragment, shape, rows)
        except QuotesFound:
            raise
        except DataProblem:
            if not skip:
                raise
            continue
        if look is not None:
            found.append(look)
    return _same_keys(found)


def _same_keys(looks: Sequence[_Look]) -> list[_Look]:
    """The looks into JSON lines with all keys of their file: lines leave out what they lack."""
    keys: dict[str, dict[str, None]] = {}
    for look in looks:
        keys.setdefault(look.fragment.file, {}).update(dict.fromkeys(look.table.column_names))
    return [
        replace(look, table=filled(look.table, keys[look.fragment.file]))
        if look.fragment.kind == JSONL
        else look
        for look in looks
    ]


def _mixed(looks: Sequence[_Look]) -> set[str]:
    """Columns that hold text in one place of a text file and something else in another."""
    kinds: dict[tuple[str, str], set[pa.DataType]] = {}
    for look in looks:
        if look.fragment.kind == CSV:
            for field in look.table.schema:
                if not pa.types.is_null(field.type):
                    kinds.setdefault((look.fragment.file, field.name), set()).add(field.type)
    numeric = {pa.int64(), pa.float64()}
    return {name for (_, name), seen in kinds.items() if len(seen) > 1 and seen != numeric}


def _texts(places: Sequence[Fragment]) -> frozenset[str]:
    """The text columns of a Parquet file: as codes they are read several times faster."""
    from pyarrow import parquet

    for fragment in places:
        if fragment.kind == PARQUET:
            schema = parquet.read_schema(fragment.file)
            return frozenset(one.name for one in schema if is_label(one.type))
    return frozenset()


def _text_types(types: Mapping[str, pa.DataType], looks: Sequence[_Look]) -> dict[str, pa.DataType]:
    """How the columns of text files are to be read: labels as codes, the rest as it was."""
    code = pa.dictionary(pa.int32(), pa.string())
    found = {}
    for name, kind in types.items():
        if pa.types.is_large_string(kind):
            found[name] = code
        elif not pa.types.is_null(kind):
            seen = {look.kinds[name] for look in looks if name in look.kinds}
            seen.discard(pa.null())
            # What is read as a time of day, or in a time zone, is none as the plain number.
            times = all(map(pa.types.is_timestamp, seen)) and len({one.tz for one in seen}) == 1
            finest = min(seen, key=lambda one: one.unit) if times else None  # ns before s
            found[name] = next(iter(seen)) if len(seen) == 1 else finest or kind
    return found


def _first(fragment: Fragment, shape: Shape, rows: int) -> _Look | None:
    """The first rows of a fragment."""
    small = fragment
    if fragment.kind == CSV and not fragment.packed:
        # Enough text for these rows; where lines get longer there are fewer of them.
        stop = whole_lines(fragment, bytes_of_lines(fragment, rows))
        small = replace(fragment, stop=stop, bytes=stop - fragment.start)
    while True:
        try:
            found: list[pa.Table] = []
            kinds: dict[str, pa.DataType] = {}
            count = 0
            for table in batches(small, shape, min(rows, 1 << 17)):
                found.append(plain(table.slice(0, rows - count)))
                kinds = {field.name: field.type for field in table.schema}
                count += found[-1].num_rows
                if count >= rows:
                    break
            if not count:
                return None
            names = [small.file] * len(found)
            return _Look(fragment, combine(found, names), kinds if fragment.kind == CSV else {})
        except TypesChanged as changed:
            shape = replace(shape, types=changed.types)


@dataclass(frozen=True)
class Pilot:
    """A model of the pool, and what keeps a share of rows like those of the pool."""

    scorer: Scorer
    a: float
    b: float
    rows: int


def features_of(space: Space) -> tuple[str, ...]:
    """The columns that the pilot model learns from."""
    return tuple(space.having(Role.KNOB, Role.CONTEXT))


def learn_pilot(
    pool: PilotPool,
    study: Study,
    usable: NDArray[np.bool_],
    keep: float,
    seed: int,
    how: ReduceSettings,
) -> Pilot:
    """What the usable rows of the pool teach; an error that says why, if that is nothing."""
    arrow = pool.seen(study)[0].filter(pa.array(usable))
    columns = {name: Cells(arrow.column(name)) for name in arrow.column_names}
    names = features_of(pool.space)
    targets = targets_of(columns, pool.space, how.outcomes)
    if not names or not targets:
        raise BadInput(
            "there is nothing to guide the choice of rows: "
            + ("no column is an outcome" if names else "no column is a knob or context"),
            hint="give one that role (--role runtime=outcome), or use no model (--method uniform)",
        )
    features = [binned(columns, name, targets, how) for name in names]
    bins = bins_of(columns, features, arrow.num_rows)
    made = scorer_of(features, targets, columns, bins, seed, how)
    if made is None:
        raise BadInput(
            f"{arrow.num_rows} usable rows of the pilot sample are too few to learn from, or the "
            "outcome is the same in all of them",
            hint="choose without a model (--method uniform)",
        )
    scorer, apart = made
    # Rows that the trees learnt from have smaller errors: they count as often as the source has
    # them, which is hardly ever in a large one, and three quarters of a small one.
    learnt = pool.share * float(np.mean(~apart))
    counts = np.where(apart, (1 - learnt) / apart.sum(), learnt / max((~apart).sum(), 1))
    a, b = proportional(scorer.scores(columns, bins), keep, how.floor, counts)
    return Pilot(pruned(scorer), a, b, arrow.num_rows)


def targets_of(columns: Mapping[str, Cells], space: Space, most: int) -> list[PilotTarget]:
    """The outcomes as targets: numbers as they are, the more common labels of classes.

    Numbers come first, then a label of each class, then the second one: the labels of one outcome
    must not take the places of the others.
    """
    found: list[tuple[int, PilotTarget]] = []
    for name in space.having(Role.OUTCOME):
        cells = columns[name]
        if not is_label(cells.column.type):
            values = np.asarray(cells.numbers(), dtype=np.float64)
            found.append((0, target_of(name, values)))
            continue
        codes, labels = cells.codes()
        count = np.bincount(codes[codes >= 0], minlength=len(labels))
        order = np.argsort(-count, kind="stable")[1 : 1 + _LABELS]
        found += [
            (rank, PilotTarget(name, labels[code])) for rank, code in enumerate(order, start=1)
        ]
    return [target for _, target in sorted(found, key=lambda one: one[0])][:most]


def binned(
    columns: Mapping[str, Cells], name: str, targets: Sequence[PilotTarget], how: ReduceSettings
) -> Binned:
    """How a feature becomes bins."""
    cells = columns[name]
    if not is_label(cells.column.type):
        return numbers_binned(name, np.asarray(cells.numbers(), dtype=np.float64), how.bins)
    codes, labels = cells.codes()
    y = np.zeros(len(codes))
    for target in targets:
        values = target.scaled(target.values(columns))
        finite = np.isfinite(values)
        if finite.any() and (spread := values[finite].std()) > 0:
            y += np.where(finite, (values - values[finite].mean()) / spread, 0.0)
    return labels_binned(name, codes, labels, y, _MOST_LABELS)


def required_of(space: Space, types: Mapping[str, pa.DataType]) -> tuple[tuple[str, bool], ...]:
    """The features that a row must have: (name, whether it is a number)."""
    needed = (name for name in features_of(space) if not space[name].optional)
    return tuple((name, not is_label(types[name])) for name in needed)
