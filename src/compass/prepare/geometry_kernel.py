"""The compiled loop behind the distances between configurations."""

from typing import Any

from numba import types

from compass.execute.kernel import f8, f8_2d, i8, kernel, to_f8

_flags = types.Array(types.boolean, 1, "C", readonly=True)


@kernel(f8_2d, f8, i8, f8, _flags, f8, to_f8)
def sum_distances(
    rows: Any, x: Any, columns: Any, scale: Any, category: Any, none: Any, apart: Any
) -> None:
    """Set `apart` [n] to the sum over columns of the distance of rows [n, d] to x [d]."""
    for r in range(rows.shape[0]):
        total = 0.0
        for c in columns:
            value = rows[r, c]
            if category[c] or value == none[c] or x[c] == none[c]:
                total += 1.0 if value != x[c] else 0.0
            else:
                total += abs(value - x[c]) / scale[c]
        apart[r] = total
