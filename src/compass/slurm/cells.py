"""Turns the text cells that `sacct` prints into a table of jobs, some thousand rows at a time.

What a job's own row tells is kept for the rows of jobs alone, so that memory is taken by jobs and
by what their steps used, not by the text.
"""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from compass.arrow import array_of, texts_of, values_of
from compass.domain.errors import DataProblem
from compass.slurm import units
from compass.slurm.accounting import Column, Columns, float_column, job_table, spread_resources
from compass.slurm.fields import FIELDS, Field
from compass.slurm.owners import Ids, Mask, id_column, owners_of
from compass.slurm.shapes import codes_and_texts, numbers, offsets_and_data

Parsed = TypeVar("Parsed")

# What a request per CPU or per node is multiplied with: the first column that is there.
_COUNTS = {"CPU": ("AllocCPUS", "NCPUS", "ReqCPUS"), "node": ("AllocNodes", "NNodes", "ReqNodes")}
_STAMP = len("2026-01-01T00:00:00")


class TextAfterAll(Exception):
    """A column of time stamps holds something else as well, so all of it is text."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def jobs_of(
    batches: Iterable[pa.RecordBatch], where: str, as_text: frozenset[str] = frozenset()
) -> pa.Table:
    """One row per job from rows of text in columns that are named as `sacct` names them.

    Raises:
        TextAfterAll: a column has to be among `as_text`, whose time stamps stay text; the rows are
            to be read again.
    """
    gathered: dict[str, _Cells] = {}
    ids, numbered = Ids(), False
    for batch in batches:
        rows = dict(zip(batch.schema.names, batch.columns, strict=True))
        jobs = np.ones(batch.num_rows, dtype=bool)
        if (name := id_column(rows)) is not None:
            jobs, numbered = ids.add(rows[name], rows.get("Cluster")), True
        for name, cells in rows.items():
            if name not in gathered:
                gathered[name] = _cells_of(name, where, name in as_text)
            gathered[name].add(cells, jobs)
    columns: Columns = {}
    for late in (False, True):  # a request of memory needs the counts of CPUs and nodes
        for name in list(gathered):
            if gathered[name].late == late:
                columns.update(gathered.pop(name).columns(columns))
    return job_table(columns, owners_of(ids) if numbered else None)


def fits(field: Field, text: str) -> bool:
    """Whether a cell is written as Slurm writes this column."""
    try:
        match field.kind:
            case "number":
                field.parse(text)
            case "moment":
                return units.is_missing(text) or text[:4].isdecimal()
            case "exit":
                units.exit_code(text)
            case "memory":
                units.memory_request(text)
            case "resources":
                units.resources(text)
    except ValueError:
        return False
    return True


def _cells_of(name: str, where: str, as_text: bool) -> "_Cells":
    field = FIELDS.get(name.lower())
    if field is None:
        return _Foreign(Field(name), where)
    kinds: dict[str, type[_Cells]] = {
        "text": _Text,
        "left": _Left,
        "number": _Numbers,
        "moment": _Stamps if as_text else _Moments,
        "state": _States,
        "exit": _Exits,
        "memory": _Memory,
        "resources": _Resources,
    }
    return kinds[field.kind](field, where)


class _Cells:
    """The cells of one column, as they come: which of the different texts each row has."""

    late = False

    def __init__(self, field: Field, where: str) -> None:
        self.field = field
        self.where = where
        self.pieces: list[tuple[NDArray[np.integer[Any]], pa.Array]] = []

    def add(self, cells: pa.Array, jobs: Mask) -> None:
        """Take in more rows."""
        codes, texts = codes_and_texts(cells)
        self.pieces.append((codes[jobs] if self.field.join == "own" else codes, texts))

    def columns(self, others: Columns) -> Columns:
        """The columns that they become; `others` are those that stand already."""
        raise NotImplementedError

    def parsed(self, text: str, parse: Callable[[str], Parsed]) -> Parsed:
        """What a text says; an error that shows it if that is not how Slurm writes it."""
        try:
            return parse(text)
        except ValueError:
            raise DataProblem(
                f"{self.field.name} of {self.where} holds '{text[:40]}', which is not how Slurm "
                "writes it",
                hint="is the file complete? to read it as a plain table, name the reader csv",
            ) from None

    def whole(self, change: Callable[[pa.Array], pa.Array]) -> pa.Array:
        """All rows in one, after a change of the different texts."""
        return pa.concat_arrays(
            [change(texts).take(array_of(codes)) for codes, texts in self.pieces]
        )

    def different(self) -> tuple[list[str], NDArray[np.integer[Any]]]:
        """The different texts of all pieces, and which of them each row has."""
        places: dict[str, int] = {}
        rows = []
        for codes, texts in self.pieces:
            own = [places.setdefault(text, len(places)) for text in texts.to_pylist()]
            rows.append(np.array(own, np.int32)[codes])
        return list(places), np.concatenate(rows)


class _Left(_Cells):
    """What is left out."""

    def add(self, cells: pa.Array, jobs: Mask) -> None:
        pass

    def columns(self, others: Columns) -> Columns:
        del others
        return {}


class _Text(_Cells):
    def columns(self, others: Columns) -> Columns:
        del others
        return {self.field.name: Column(self.whole(_trimmed), of_jobs=True)}


class _Foreign(_Text):
    """A column that Slurm does not have: numbers if all cells are, else text."""

    def columns(self, others: Columns) -> Columns:
        try:
            values = self.whole(lambda texts: _trimmed(texts).cast(pa.float64()))
        except pa.ArrowInvalid:
            return super().columns(others)
        return {self.field.name: Column(values, of_jobs=True)}


class _States(_Cells):
    def columns(self, others: Columns) -> Columns:
        del others

        def labels(texts: pa.Array) -> pa.Array:
            return texts_of([units.state(text) for text in texts.to_pylist()])

        return {self.field.name: Column(self.whole(labels), of_jobs=True)}


class _Numbers(_Cells):
    def __init__(self, field: Field, where: str) -> None:
        super().__init__(field, where)
        self.values: list[NDArray[np.float64]] = []

    def add(self, cells: pa.Array, jobs: Mask) -> None:
        codes, texts = codes_and_texts(cells)
        found, rest = numbers(texts, self.field.parse)
        for place in rest:
            text = texts[place].as_py()
            value = self.parsed(text, self.field.parse)
            found[place] = np.nan if value is None else value
        found = np.round(found) if self.field.unit == "B" else found
        self.values.append(found[codes[jobs] if self.field.join == "own" else codes])

    def columns(self, others: Columns) -> Columns:
        del others
        own, values = self.field.join == "own", np.concatenate(self.values)
        return {self.field.name: float_column(values, self.field.unit, self.field.join, own)}


class _Exits(_Cells):
    def columns(self, others: Columns) -> Columns:
        del others
        texts, rows = self.different()
        pairs = [self.parsed(text, units.exit_code) for text in texts]
        codes = np.array([[np.nan if n is None else n for n in pair] for pair in pairs])
        codes = codes.reshape(len(pairs), 2)[rows]
        signal = "exit_signal" if self.field.name == "ExitCode" else "derived_exit_signal"
        return {
            self.field.name: float_column(codes[:, 0], of_jobs=True),
            signal: float_column(codes[:, 1], of_jobs=True),
        }


class _Stamps(_Cells):
    """Time stamps that stay as they are written."""

    def columns(self, others: Columns) -> Columns:
        del others

        def known(texts: pa.Array) -> pa.Array:
            cells = texts.to_pylist()
            return texts_of([None if units.is_missing(cell) else cell for cell in cells])

        return {self.field.name: Column(self.whole(known), of_jobs=True)}


class _Moments(_Cells):
    """Time stamps: ISO, or seconds since 1970 (UTC)."""

    def __init__(self, field: Field, where: str) -> None:
        super().__init__(field, where)
        self.values: list[pa.Array] = []
        self.form: str | None = None

    def add(self, cells: pa.Array, jobs: Mask) -> None:
        cells = cells.filter(array_of(jobs))
        if pa.types.is_dictionary(cells.type):
            cells = cells.dictionary_decode()
        cells, decimal, others = self._without_missing(cells)
        if decimal and others:
            raise TextAfterAll(self.field.name)
        if decimal or others:
            form = "seconds" if decimal else "stamps"
            if self.form not in (None, form):
                raise TextAfterAll(self.field.name)
            self.form = form
        try:
            if decimal:
                cells = cells.cast(pa.int64()).cast(pa.timestamp("s"))
            self.values.append(cells.cast(pa.timestamp("us")))
        except pa.ArrowInvalid:
            raise TextAfterAll(self.field.name) from None

    def _without_missing(self, cells: pa.Array) -> tuple[pa.Array, bool, bool]:
        """The cells, null where one is missing; whether whole numbers and other cells are left."""
        odd = np.flatnonzero(np.diff(offsets_and_data(cells)[0]) != _STAMP)
        if not len(odd):
            return cells, False, len(cells) > 0
        codes, texts = codes_and_texts(cells.take(array_of(odd)))
        written = texts.to_pylist()
        missing = np.array([units.is_missing(text) for text in written])
        rest = [text for text, left_out in zip(written, missing, strict=True) if not left_out]
        decimal = [text.isdecimal() for text in rest]
        others = len(odd) < len(cells) or not all(decimal)
        gone = np.zeros(len(cells), dtype=bool)
        gone[odd[missing[codes]]] = True
        cells = pc.if_else(array_of(gone), pa.nulls(len(cells), cells.type), cells)
        return cells, any(decimal), others

    def columns(self, others: Columns) -> Columns:
        del others
        return {self.field.name: Column(pa.concat_arrays(self.values), of_jobs=True)}


class _Memory(_Cells):
    """The memory that a job asks for in all; text where the counts to multiply with are absent."""

    late = True

    def columns(self, others: Columns) -> Columns:
        texts, rows = self.different()
        pairs = [self.parsed(text, units.memory_request) for text in texts]
        values = np.array([np.nan if size is None else size for size, _ in pairs], dtype=float)[
            rows
        ]
        basis = np.array([per for _, per in pairs], dtype=object)[rows]
        for per, names in _COUNTS.items():
            asked = basis == per
            if not asked.any():
                continue
            name = next((one for one in names if one in others), None)
            if name is None:
                return {self.field.name: Column(self.whole(_trimmed), of_jobs=True)}
            values[asked] *= others[name].floats[asked]
        return {self.field.name: float_column(np.round(values), self.field.unit, of_jobs=True)}


class _Resources(_Cells):
    late = True

    def columns(self, others: Columns) -> Columns:
        texts, rows = self.different()
        found = [self.parsed(text, units.resources) for text in texts]
        own = self.field.join == "own"
        return spread_resources(self.field.name, found, rows, set(others), own)


def _trimmed(texts: pa.Array) -> pa.Array:
    """The texts without spaces around them; an empty one is missing."""
    whole = pc.utf8_trim_whitespace(texts).cast(pa.large_string())
    empty = values_of(pc.binary_length(whole)) == 0
    nothing = pa.nulls(len(whole), whole.type)
    return pc.if_else(array_of(empty), nothing, whole) if empty.any() else whole
