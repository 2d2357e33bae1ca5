"""Kept rows on their way: one small file per fragment, then one sample.

A part is written beside its place and renamed, so that it is there as a whole or not at all. The
folder of parts names the plan that it belongs to: the same command goes on where it was stopped,
another one begins anew.
"""

import errno
import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from compass import files
from compass.domain.errors import DataProblem, EnvironmentProblem
from compass.readers.fragments import Fragment
from compass.readers.plain import plain
from compass.readers.sample import FILE, ROW, marked
from compass.reducers.statistics import Tally, tally_of

_TALLY = b"compass.tally"
_PLAN = "plan.json"
_GROUP = 1 << 18  # rows of a row group of the sample


def folder_of(output: Path) -> Path:
    """Where the parts of a sample are kept until it is complete."""
    return output.with_name(f".{output.name}.parts")


def part_of(folder: Path, number: int) -> Path:
    """The file of one part."""
    return folder / f"{number:06d}.arrow"


@contextmanager
def _writing(what: str) -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        full = problem.errno in (errno.ENOSPC, errno.EDQUOT)
        raise EnvironmentProblem(
            f"cannot write {what}: {problem.strerror or problem}",
            hint="make room and run the same command again: it goes on where it stopped"
            if full
            else "is the folder still there, and may you write into it?",
        ) from problem


def write_part(path: Path, tables: Sequence[pa.Table], tally: Tally, fragment: Fragment) -> None:
    """Writes the kept rows of a fragment and its tally, as a whole or not at all."""
    schema = _shared([table.schema for table in tables]) if tables else pa.schema([])
    # Its fields as they are: `asdict` would copy every number of them first.
    marked = schema.with_metadata({_TALLY: json.dumps(tally, default=vars).encode()})
    with (
        _writing(f"the rows kept of {fragment} to {path.parent}"),
        # Two workers may have the same fragment, when one was thought to be dead.
        files.replacing(path) as temporary,
        temporary.open("wb") as file,
        pa.ipc.new_file(file, marked) as writer,
    ):
        for table in tables:
            writer.write_table(table.cast(marked))


def read_tally(path: Path) -> Tally | None:
    """What a part says of its fragment; None if it is not there or not whole."""
    try:
        with pa.OSFile(str(path)) as file:
            stored = pa.ipc.open_file(file).schema.metadata[_TALLY]
        return tally_of(json.loads(stored))
    except (OSError, pa.ArrowInvalid, KeyError, TypeError, ValueError):
        return None


def begin(folder: Path, plan: Mapping[str, Any], count: int) -> dict[int, Tally]:
    """Makes the folder ready for a plan; returns the tallies of the parts that are there."""
    text = json.dumps(plan, sort_keys=True, default=str)
    known = folder / _PLAN
    with _writing(f"to {folder}"):
        if known.is_file() and known.read_text() == text:
            found = ((number, read_tally(part_of(folder, number))) for number in range(count))
            return {number: tally for number, tally in found if tally is not None}
        if folder.exists():
            shutil.rmtree(folder)
        folder.mkdir()
        files.write_text(known, text)
    return {}


def first_rows(fragments: Sequence[Fragment], tallies: Sequence[Tally]) -> list[int | None]:
    """The number that the first row of each fragment has in its file.

    None where nobody knows it: after a piece of text that could not be read.
    """
    at: dict[tuple[str, int], int | None] = {}
    found: list[int | None] = []
    for fragment, tally in zip(fragments, tallies, strict=True):  # in the order of their content
        file = (fragment.identity, fragment.occurrence)
        start = at.get(file, 0) if fragment.first_row is None else fragment.first_row
        at[file] = None if start is None or tally.problem else start + tally.rows
        found.append(start)
    return found


def assemble(
    folder: Path,
    output: Path,
    fragments: Sequence[Fragment],
    tallies: Sequence[Tally],
    how: dict[str, Any],
    tell: Callable[[int], None],
) -> None:
    """Writes the sample from its parts, as a whole or not at all, and removes the parts."""
    from pyarrow import parquet

    schemas = [_schema(part_of(folder, n)) for n, tally in enumerate(tallies) if tally.kept]
    if not schemas:
        raise DataProblem(
            "no row was kept", hint="keep a larger share, or look at the conditions on rows"
        )
    shared = _shared(schemas)
    named = shared.insert(shared.get_field_index(ROW), pa.field(FILE, pa.large_string()))
    schema = marked(named, how)
    with _writing(str(output)):
        # Numbers of a sample hardly repeat: looking for repetitions costs a third of the time.
        texts = [one.name for one in schema if pa.types.is_large_string(one.type)]
        # Beside the parts: what a kill leaves of it goes with their folder.
        with (
            files.replacing(output, folder=folder) as temporary,
            parquet.ParquetWriter(temporary, schema, use_dictionary=texts) as writer,
        ):
            for table in _grouped(folder, fragments, tallies, schema, tell):
                writer.write_table(table, row_group_size=_GROUP)
        shutil.rmtree(folder, ignore_errors=True)


def _schema(path: Path) -> pa.Schema:
    with pa.OSFile(str(path)) as file:
        return pa.ipc.open_file(file).schema.remove_metadata()


def _shared(schemas: Sequence[pa.Schema]) -> pa.Schema:
    """One schema for all parts: a column that is text in one is text in the sample."""
    first = schemas[0]
    if all(schema.equals(first) for schema in schemas[1:]):
        return first
    kinds = {one.name: {schema.field(one.name).type for schema in schemas} for one in first}
    return pa.schema([one.with_type(_promoted(kinds[one.name])) for one in first])


def _promoted(kinds: set[pa.DataType]) -> pa.DataType:
    several = kinds - {pa.null()}
    if len(several) < 2:
        return next(iter(several), pa.null())
    return pa.float64() if several == {pa.int64(), pa.float64()} else pa.large_string()


def _grouped(
    folder: Path,
    fragments: Sequence[Fragment],
    tallies: Sequence[Tally],
    schema: pa.Schema,
    tell: Callable[[int], None],
) -> Iterator[pa.Table]:
    waiting: list[pa.Table] = []
    rows = 0
    starts = first_rows(fragments, tallies)
    for number, (fragment, tally, start) in enumerate(zip(fragments, tallies, starts, strict=True)):
        if tally.kept:
            with pa.OSFile(str(part_of(folder, number))) as file:
                part = pa.ipc.open_file(file).read_all()
            waiting.append(_placed(part, fragment.file, start, schema))
            rows += part.num_rows
        if rows >= _GROUP:
            yield pa.concat_tables(waiting)
            waiting, rows = [], 0
        tell(number + 1)
    if waiting:
        yield pa.concat_tables(waiting)


def _placed(part: pa.Table, file: str, start: int | None, schema: pa.Schema) -> pa.Table:
    import pyarrow.compute as pc

    row = pc.add(part.column(ROW), pa.scalar(start, pa.int64()))
    placed = part.set_column(part.column_names.index(ROW), ROW, row)
    named = placed.append_column(FILE, pa.repeat(pa.scalar(file, pa.large_string()), len(part)))
    return plain(named).select(schema.names).cast(schema)
