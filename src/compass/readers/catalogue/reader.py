"""Reads `dataset:NAME` as a table."""

from pathlib import Path

import pyarrow as pa

from compass import registry
from compass.arrow import UNIT
from compass.domain.errors import DataProblem
from compass.readers import files
from compass.readers.catalogue.getting import Progress, obtain
from compass.readers.catalogue.known import SCHEME, Piece, PublicDataset, entry
from compass.readers.combine import combine
from compass.readers.plain import plain
from compass.readers.table import Table, TablePart


def load(name: str, progress: Progress | None = None) -> Table:
    """The rows of a public dataset, from the mirror directory, the cache or the network."""
    known = entry(name)
    found = obtain(known, progress=progress)
    if not known.table:
        raise DataProblem(
            f"{name} is not one table: it has {len(found.paths)} files of several kinds",
            hint=f"compass datasets get {name}, and read the one you mean",
        )
    if found.prepared:
        tables = [plain(files.reader_for(path).read(path)) for path in found.paths]
    else:
        tables = [
            _piece(known, piece, path) for piece, path in zip(known.files, found.paths, strict=True)
        ]
    names = [str(path) for path in found.paths]
    parts = [TablePart(path, table.num_rows) for path, table in zip(names, tables, strict=True)]
    return Table.of(_with_units(combine(tables, names), known), parts)


def _with_units(table: pa.Table, known: PublicDataset) -> pa.Table:
    """The table with the units that the study tells, so that they go with it into other files."""
    columns = known.study.get("columns", {})
    fields = []
    for field in table.schema:
        unit = columns.get(field.name, {}).get("unit")
        metadata = {**(field.metadata or {}), UNIT: unit.encode()} if unit else field.metadata
        fields.append(field.with_metadata(metadata))
    return table.cast(pa.schema(fields, metadata=table.schema.metadata))


def _piece(known: PublicDataset, piece: Piece, path: Path) -> pa.Table:
    if piece.names is not None:
        table = registry.get("reader", known.reader or "csv")().read_named(path, piece.names)
    elif known.reader is not None:
        table = registry.get("reader", known.reader)().read(path)
    else:
        table = files.reader_for(path).read(path)
    table = plain(table)
    for name, value in piece.constants.items():
        table = table.append_column(name, pa.repeat(pa.scalar(value), table.num_rows))
    return plain(table)


@registry.add("reader", SCHEME)
class DatasetReader:
    """Public datasets of the catalogue: dataset:NAME."""

    name = SCHEME
    suffixes: tuple[str, ...] = ()
    schemes: tuple[str, ...] = (SCHEME,)

    def sniff(self, path: Path, head: bytes) -> bool:
        """No file is a dataset by its content."""
        del path, head
        return False

    def read(self, path: Path) -> pa.Table:
        """Datasets have names, not paths."""
        raise DataProblem(
            f"{path} is not a name in the catalogue", hint="list the names: compass datasets"
        )

    def fetch(self, text: str) -> Table:
        """The rows of the dataset of that name."""
        return load(text)
