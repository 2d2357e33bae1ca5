"""Which past runs are nearest to a configuration: runs in blocks of near ones.

Most blocks are left out because all that is in them lies too far away; every row of the others is
compared with. Nothing is approximated: distances are those of `compass.trust.distance`, with
categories of any size, with `none` and with repeated rows.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compass.execute.rows import over_rows
from compass.native import kernel
from compass.trust.rank import Floats, Rows

_BLOCK = 64  # rows of a block; the kernels have the number, too
_TOGETHER = 32  # configurations whose near rows are gathered at a time
_PAIRS = 4_000_000  # comparisons of two rows that repay starting a thread (a few milliseconds)

_order_in_blocks = kernel("order_in_blocks")
_nearest = kernel("nearest")
_around = kernel("around")


@dataclass(frozen=True, eq=False)
class Blocks:
    """Rows in blocks, and what the rows of each block lie between."""

    kind: Rows  # [c] of the columns, as in `Scale`
    rows: Floats  # [c, n] coordinates, block after block
    position: Rows  # [n] of each row in the order that was given
    low: Floats  # [c, b]
    high: Floats  # [c, b]
    gaps: NDArray[np.uint8]  # [c, b] `none` among them: 0 no, 1 some, 2 all of them

    @classmethod
    def build(cls, kind: Rows, rows: Floats) -> "Blocks":
        """Lay out rows [c, n]."""
        position = np.arange(rows.shape[1], dtype=np.int64)
        rows = np.ascontiguousarray(rows)
        _order_in_blocks(kind, rows, position)
        ordered = np.ascontiguousarray(rows[:, position])
        starts = np.arange(0, rows.shape[1], _BLOCK)
        missing = np.isnan(ordered)
        gaps = np.logical_or.reduceat(missing, starts, axis=1).astype(np.uint8)
        gaps += np.logical_and.reduceat(missing, starts, axis=1)
        low = np.minimum.reduceat(np.where(missing, np.inf, ordered), starts, axis=1)
        high = np.maximum.reduceat(np.where(missing, -np.inf, ordered), starts, axis=1)
        return cls(kind, ordered, position, low, high, gaps)

    def nearest(self, points: Floats, k: int, *, threads: int | None = None) -> Floats:
        """Mean distance float64[q] of points [c, q] to their k nearest rows (all, if fewer)."""
        queries = np.ascontiguousarray(points.T)
        best = self._best(len(queries), k)

        def run(start: int, stop: int) -> None:
            _nearest(*self._laid_out, queries, start, stop, best)

        enough = _PAIRS // self.rows.shape[1] + 1
        over_rows(run, len(queries), enough=enough, threads=threads)
        found: Floats = np.sqrt(best).mean(axis=1)
        return found

    def around(
        self, points: Floats, k: int, reach: float
    ) -> tuple[Floats, list[tuple[Rows, Floats]]]:
        """`nearest` of points [c, q], and for each the rows within `reach`, in one pass.

        The rows within reach are positions int64[m] and distances float64[m], nearest first; of
        equally near ones the first row comes first.
        """
        queries = np.ascontiguousarray(points.T)
        best, n = self._best(len(queries), k), self.rows.shape[1]
        found: list[tuple[Rows, Floats]] = []
        for first in range(0, len(queries), _TOGETHER):
            some = queries[first : first + _TOGETHER]
            # Memory is taken only where something is written: few rows are close.
            where = np.empty(len(some) * n, dtype=np.int64)
            squares = np.empty(where.size)
            ends = np.arange(len(some), dtype=np.int64) * n
            starts = ends.copy()
            top = best[first : first + _TOGETHER]
            _around(*self._laid_out, some, reach * reach, top, where, squares, ends)
            for start, end in zip(starts, ends, strict=True):
                rows, apart = self.position[where[start:end]], squares[start:end]
                order = np.lexsort((rows, apart))
                found.append((rows[order], np.sqrt(apart[order])))
        return np.sqrt(best).mean(axis=1), found

    @property
    def _laid_out(self) -> tuple[Rows, Floats, Floats, Floats, NDArray[np.uint8]]:
        return self.kind, self.rows, self.low, self.high, self.gaps

    def _best(self, points: int, k: int) -> Floats:
        return np.full((points, min(k, self.rows.shape[1])), np.inf)
