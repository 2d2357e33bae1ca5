"""`compass read`: any source as one table file."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from compass.cli import flags
from compass.cli.groups import grouped
from compass.cli.output import check_output, print_line
from compass.domain.errors import BadInput

if TYPE_CHECKING:
    from compass.readers.table import Table

_MOST_FILES = 5  # that are listed by name

From = Annotated[
    str,
    flags.argument(
        "SOURCE", "A file, glob, folder, dataset:NAME, or whatever else a reader takes."
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        help="The table to write: .parquet, .csv, .tsv, .feather or .jsonl (also .gz, .zst).",
    ),
]
ReaderName = Annotated[
    flags.MaybeText, flags.option("--reader", "NAME", "The format, where the ending does not tell.")
]
Fill = Annotated[
    bool,
    typer.Option("--fill", help="Let the cells of columns that a file does not have be missing."),
]
Metrics = Annotated[
    flags.Texts, flags.option("--metric", "NAME", "A metric of profiles; repeatable.")
]
Regions = Annotated[
    flags.Texts, flags.option("--region", "NAME", "A region of profiles; repeatable.")
]
Ranks = Annotated[
    flags.MaybeText, flags.option("--ranks", "HOW", "Over ranks and threads: mean, max or sum.")
]
Top = Annotated[
    int | None,
    typer.Option("--top", min=0, help="How many regions where none are named."),
]


@dataclass(frozen=True)
class ProfileFlags:
    """What is taken from profiles."""

    metric: Metrics = None
    region: Regions = None
    ranks: Ranks = None
    top: Top = None

    def options(self) -> dict[str, Any]:
        """What was given, as keywords of the reader of profiles."""
        options = {
            "metrics": self.metric or None,
            "regions": self.region or None,
            "ranks": self.ranks,
            "top": self.top,
        }
        return {key: value for key, value in options.items() if value is not None}


@grouped
def read(
    source: From,
    output: Output = None,
    reader: ReaderName = None,
    fill: Fill = False,
    *,
    profiles: ProfileFlags,
    as_json: flags.AsJson = False,
) -> None:
    """Read any source as one table, show its columns, and write it to a file."""
    from compass.cli.progress import progress
    from compass.readers.write import check_name, write

    if not source:
        raise BadInput("SOURCE is empty", hint="name a file, a glob or a folder")
    check_output(output)
    if output is not None:
        check_name(output)
    notes: list[str] = []
    with progress(quiet=as_json) as tell:
        tell("reading", 0, 0)
        table = _table(source, reader, fill, profiles.options(), notes.append)
        if output is not None:
            _apart(output, table)
            tell("writing", 0, 0)
            write(table, output)
    show(table, output, notes, as_json=as_json)


def _table(
    source: str,
    reader: str | None,
    fill: bool,
    options: dict[str, Any],
    tell: Callable[[str], None],
) -> "Table":
    from compass.readers import read as read_table

    if not options:
        return read_table(source, reader=reader, fill=fill, tell=tell)
    from compass.readers.profiles import read_runs

    return read_runs(source, reader=reader, tell=tell, **options)


def _apart(output: Path, table: "Table") -> None:
    """Refuse to write over what was read."""
    for part in table.parts:
        there = part.file is not None and output.exists() and Path(part.file).exists()
        if there and output.samefile(str(part.file)):
            raise BadInput(
                f"{output} is one of the files that are read", hint="choose another name"
            )


def show(table: "Table", output: Path | None, notes: list[str], *, as_json: bool) -> None:
    """What was read: rows, columns, files, and what the reader says."""
    from compass.cli.tables import print_json, print_notes, print_table

    columns = [_column(table, name) for name in table.names]
    files = [{"file": part.file, "rows": part.rows} for part in table.parts]
    if as_json:
        wrote = None if output is None else str(output)
        parts = {"rows": table.rows, "columns": columns, "files": files, "notes": notes}
        print_json(parts | {"wrote": wrote})
        return
    rows = [
        (c["name"], c["type"], c["unit"], c["missing"] or None, _range(c), _example(c))
        for c in columns
    ]
    headers = ("column", "type", "unit", "missing", "range", "what")
    print_table(f"{table.rows} rows, {len(columns)} columns", headers, rows)
    named = [f"{part['file']} ({part['rows']} rows)" for part in files[:_MOST_FILES]]
    more = len(files) - len(named)
    print_notes(notes)
    print_notes([f"from {name}" for name in named])
    if more > 0:
        print_notes([f"and from {more} more files"])
    if output is not None:
        print_line(f"wrote {output}")


def _range(column: dict[str, Any]) -> str:
    from compass.domain.quantity import quantity as value_text

    if column["low"] is None:
        return ""
    return f"{value_text(column['low'])} .. {value_text(column['high'])}"


def _example(column: dict[str, Any]) -> str:
    if column["distinct"] is None:
        return ""
    return f"{column['distinct']} different: {', '.join(column['examples'])}"


def _column(table: "Table", name: str) -> dict[str, Any]:
    """Type, unit, missing cells, and range or labels of one column."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from compass.arrow import UNIT
    from compass.readers.combine import words

    column, field = table.column(name), table.arrow.schema.field(name)
    unit = (field.metadata or {}).get(UNIT)
    found: dict[str, Any] = {
        "name": name,
        "type": words(field.type),
        "unit": None if unit is None else unit.decode(errors="replace"),
        "missing": column.null_count,
        "low": None,
        "high": None,
        "distinct": None,
        "examples": [],
    }
    if column.null_count == len(column):
        return found
    if pa.types.is_large_string(field.type) or pa.types.is_boolean(field.type):
        labels = column.unique().drop_null()
        shown = [str(label)[:30] for label in labels[:3].to_pylist()]
        return found | {"distinct": len(labels), "examples": shown}
    ends = pc.min_max(column).as_py()
    if pa.types.is_timestamp(field.type):
        ends = {end: time.isoformat(sep=" ") for end, time in ends.items()}
    return found | {"low": ends["min"], "high": ends["max"]}
