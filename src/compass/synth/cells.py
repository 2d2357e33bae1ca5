"""Encoded rows as a table again: types as they were, gaps where the level is `none`."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from compass.domain.origin import RowOrigin
from compass.domain.space import Category, Number, Space
from compass.synth.base import Floats

ORIGIN = "origin"


def columns_of(values: Floats, space: Space) -> dict[str, pa.Array]:
    """The columns of encoded rows [m, d] by name; NaN is an empty cell."""
    return {
        parameter.name: _column(values[:, place], parameter)
        for place, parameter in enumerate(space)
    }


def _column(codes: Floats, parameter: Number | Category) -> pa.Array:
    empty = np.isnan(codes)
    if isinstance(parameter, Category):
        labels: list[Any] = list(parameter.values)
        places = np.where(empty, 0, codes).astype(np.int64)
        found = [None if gap else labels[at] for at, gap in zip(places, empty, strict=True)]
        kind = None if any(label is not None for label in labels) else pa.null()
        return pa.array(found, type=kind)
    if parameter.optional:
        empty = empty | (codes == parameter.none_code)
    known = codes[~empty]
    if parameter.whole and (np.floor(known) == known).all() and (np.abs(known) < 2.0**53).all():
        return pa.array(np.where(empty, 0, codes).astype(np.int64), mask=empty)
    return pa.array(codes, type=pa.float64(), mask=empty)


def with_origin(
    columns: dict[str, pa.Array], synthetic: NDArray[np.bool_], order: Sequence[str] = ()
) -> pa.Table:
    """A table of columns and how each row came to be; columns named in `order` come first."""
    names = [*(name for name in order if name in columns)]
    names += [name for name in columns if name not in names]
    origin = ORIGIN
    while origin in columns:
        origin = f"row_{origin}"
    labels = np.where(synthetic, RowOrigin.SYNTHETIC.value, RowOrigin.MEASURED.value)
    return pa.table({**{name: columns[name] for name in names}, origin: labels.tolist()})
