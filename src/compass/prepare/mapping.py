"""Rewrites labels as a study says: every `CANCELLED by 1234` becomes CANCELLED."""

from collections.abc import Mapping
from fnmatch import fnmatchcase

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from compass.domain.base import Value
from compass.prepare.cells import coded


def rewrite(label: Value, rules: Mapping[str, Value]) -> Value:
    """The new label: that of the first pattern that matches, or the old one."""
    text = label_text(label)
    return next((new for pattern, new in rules.items() if fnmatchcase(text, pattern)), label)


def mapped(table: pa.Table, rules: Mapping[str, Mapping[str, Value]]) -> pa.Table:
    """The table with the labels of the named columns rewritten."""
    for name, patterns in rules.items():
        place = table.column_names.index(name)
        codes, labels = coded(table.column(name))
        new = [rewrite(label, patterns) for label in labels]
        column = _typed(new, table.schema.field(name).type)
        taken = column.take(pa.array(codes, mask=codes < 0))
        table = table.set_column(place, pa.field(name, taken.type), pa.chunked_array([taken]))
    return table


def _typed(labels: list[Value], kind: pa.DataType) -> pa.Array:
    """The labels as true/false, numbers or text, whichever they all are."""
    found = {type(label) for label in labels if label is not None}
    if not found:
        return pa.array(labels, kind)
    if found == {bool}:
        return pa.array(labels, pa.bool_())
    if found == {int}:
        return pa.array(labels, pa.int64())
    if found <= {int, float}:
        return pa.array(labels, pa.float64())
    texts = [None if label is None else label_text(label) for label in labels]
    return pa.array(texts, pa.large_string())


def label_text(label: Value) -> str:
    """A label as text: true/false in lower case."""
    return str(label).lower() if isinstance(label, bool) else str(label)


def changed(old: pa.ChunkedArray, new: pa.ChunkedArray) -> NDArray[np.bool_]:
    """Which rows have another label than before, bool[rows]."""
    before, labels = coded(old)
    after, new_labels = coded(new)
    texts = np.array([*map(str, labels), "None"], dtype=object)
    new_texts = np.array([*map(str, new_labels), "None"], dtype=object)
    different: NDArray[np.bool_] = texts[before] != new_texts[after]
    return different
