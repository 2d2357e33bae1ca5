"""Text in CSV files that people open in a spreadsheet, which runs what begins like a formula.

Names and labels come from strangers' tables. In front of one that a spreadsheet would run stands an
apostrophe, which spreadsheets take for the mark of plain text; one that looks as if it had been
marked gets another, so that every mark can be taken away again.
"""

import re
from collections.abc import Iterable, Set

import pyarrow as pa

from compass.domain.base import Value
from compass.readers.table import Table

_FORMULA = re.compile(r"[=+\-@\t\r]")
_MARKED = re.compile(r"'+[=+\-@\t\r]")


def guarded(value: Value) -> Value:
    """A cell that no spreadsheet runs; numbers are what they are."""
    if isinstance(value, str) and (_FORMULA.match(value) or _MARKED.match(value)):
        return "'" + value
    return value


def unguarded(table: Table, known: Table) -> pa.Table:
    """New runs with the names and labels as they were, where they came through `guarded`.

    What is taken away has to leave a name or label that is known: a label of a stranger may begin
    with an apostrophe of its own.
    """
    names = _meant(table.names, frozenset(known.names))
    fields = [field.with_name(names.get(field.name, field.name)) for field in table.arrow.schema]
    # With its metadata, which tells units and how a sample was drawn.
    schema = pa.schema(fields, metadata=table.arrow.schema.metadata)
    arrow = pa.Table.from_arrays(table.arrow.columns, schema=schema)
    for place, name in enumerate(arrow.column_names):
        column = arrow.column(place)
        if name not in known.names or not pa.types.is_large_string(column.type):
            continue
        given = [label for label in column.unique().to_pylist() if label is not None]
        if not any(map(_MARKED.match, given)):
            continue
        labels = _meant(given, frozenset(known.column(name).unique().to_pylist()))
        cells = [labels.get(cell, cell) for cell in column.to_pylist()]
        arrow = arrow.set_column(place, fields[place], pa.array(cells, column.type))
    return arrow


def _meant(texts: Iterable[str], known: Set[object]) -> dict[str, str]:
    """What marked texts were; nothing where one begins like a formula, so that none was marked."""
    given = list(texts)
    if any(map(_FORMULA.match, given)):
        return {}
    return {text: text[1:] for text in given if _MARKED.match(text) and text[1:] in known}
