"""Turns the text cells that `sacct` prints into a table of jobs."""

from collections.abc import Callable, Mapping
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from compass.arrow import values_of
from compass.domain.errors import DataProblem
from compass.slurm import units
from compass.slurm.accounting import Column, Columns, float_column, job_table, spread_resources
from compass.slurm.fields import FIELDS, Field

Parsed = TypeVar("Parsed")
Cells = Mapping[str, pa.ChunkedArray]

# What a request per CPU or per node is multiplied with: the first column that is there.
_COUNTS = {"CPU": ("AllocCPUS", "NCPUS", "ReqCPUS"), "node": ("AllocNodes", "NNodes", "ReqNodes")}


def jobs_of(cells: Cells, where: str) -> pa.Table:
    """One row per job from columns of text, named as `sacct` names them."""
    columns: Columns = {}
    for name, column in cells.items():
        field = FIELDS.get(name.lower())
        if field is None:
            columns[name] = _foreign(column)
        elif field.kind not in ("left", "memory", "resources"):
            columns.update(_typed(field, column, where))
    for name, column in cells.items():
        field = FIELDS.get(name.lower())
        if field is not None and field.kind == "memory":
            columns[field.name] = _memory(field, column, columns, where)
        elif field is not None and field.kind == "resources":
            texts, rows = _distinct(column)
            found = [_parsed(field, text, units.resources, where) for text in texts]
            columns.update(spread_resources(field.name, found, rows, set(columns)))
    return job_table(columns)


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


def _typed(field: Field, column: pa.ChunkedArray, where: str) -> Columns:
    if field.kind == "text":
        return {field.name: Column(_trimmed(column))}
    texts, rows = _distinct(column)
    match field.kind:
        case "number":
            values = [_parsed(field, text, field.parse, where) for text in texts]
            numbers = np.array([np.nan if one is None else one for one in values], dtype=float)
            numbers = np.round(numbers) if field.unit == "B" else numbers
            return {field.name: float_column(numbers[rows], field.unit, field.join)}
        case "exit":
            pairs = [_parsed(field, text, units.exit_code, where) for text in texts]
            codes = np.array([[np.nan if n is None else n for n in pair] for pair in pairs])
            signal = "exit_signal" if field.name == "ExitCode" else "derived_exit_signal"
            codes = codes.reshape(len(pairs), 2)
            return {
                field.name: float_column(codes[rows, 0]),
                signal: float_column(codes[rows, 1]),
            }
        case "moment":
            return {field.name: Column(_moments(texts).take(pa.array(rows)))}
    labels = pa.array([units.state(text) for text in texts], pa.string())
    return {field.name: Column(labels.take(pa.array(rows)))}


def _trimmed(column: pa.ChunkedArray) -> pa.Array:
    """The texts without spaces around them; an empty one is missing."""
    whole = pc.utf8_trim_whitespace(column).combine_chunks()
    whole = whole.combine_chunks() if isinstance(whole, pa.ChunkedArray) else whole
    return pc.if_else(pc.equal(whole, ""), pa.scalar(None, whole.type), whole)


def _distinct(column: pa.ChunkedArray) -> tuple[list[str], np.ndarray]:
    """The different texts of a column, and which of them each row has."""
    encoded = column.combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    return encoded.dictionary.to_pylist(), values_of(encoded.indices)


def _parsed(field: Field, text: str, parse: Callable[[str], Parsed], where: str) -> Parsed:
    try:
        return parse(text)
    except ValueError:
        raise DataProblem(
            f"{field.name} of {where} holds '{text[:40]}', which is not how Slurm writes it",
            hint="is the file complete? to read it as a plain table, name the reader csv",
        ) from None


def _moments(texts: list[str]) -> pa.Array:
    """Time stamps: ISO, or seconds since 1970 (UTC); text that is neither stays text."""
    known = pa.array([None if units.is_missing(text) else text for text in texts])
    if known.null_count == len(known):
        return pa.nulls(len(known), pa.timestamp("us"))
    try:
        if all(text is None or text.isdecimal() for text in known.to_pylist()):
            return known.cast(pa.int64()).cast(pa.timestamp("s")).cast(pa.timestamp("us"))
        return known.cast(pa.timestamp("us"))
    except pa.ArrowInvalid:
        return known


def _memory(field: Field, column: pa.ChunkedArray, columns: Columns, where: str) -> Column:
    """The memory that a job asks for in all; text where the counts to multiply with are absent."""
    texts, rows = _distinct(column)
    pairs = [_parsed(field, text, units.memory_request, where) for text in texts]
    values = np.array([np.nan if size is None else size for size, _ in pairs], dtype=float)[rows]
    basis = np.array([per for _, per in pairs], dtype=object)[rows]
    for per, names in _COUNTS.items():
        asked = basis == per
        if not asked.any():
            continue
        name = next((one for one in names if one in columns), None)
        if name is None:
            return Column(_trimmed(column))
        values[asked] *= columns[name].floats[asked]
    return float_column(np.round(values), field.unit)


def _foreign(column: pa.ChunkedArray) -> Column:
    """A column that Slurm does not have: numbers if all cells are, else text."""
    whole = _trimmed(column)
    try:
        return Column(whole.cast(pa.float64()))
    except pa.ArrowInvalid:
        return Column(whole)
