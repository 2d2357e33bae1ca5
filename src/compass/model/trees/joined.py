"""Several ensembles walked as one: all outcomes, averaged over all contexts, in a single pass."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from compass.domain.errors import BadInput
from compass.execute.rows import over_rows
from compass.model.trees import walk

if TYPE_CHECKING:
    from compass.model.trees.flat import FlatForest

Floats = NDArray[np.float64]

AVERAGED_RAW = ("identity", "exp")  # links whose contexts are averaged before the link
WALKS = 40_000  # row x tree walks that repay starting a thread (a few milliseconds of work)
# Nor does one repay it for few rows: each thread fetches the nodes of all trees from memory.
ROWS = 256


@dataclass(frozen=True, eq=False)
class Joined:
    """The trees of several ensembles with what each adds to, ready to be walked.

    A raw column is the sum of the trees that add to it, divided and shifted. A group of raw
    columns becomes one prediction by its link; the groups of an outcome are averaged. Outcomes
    that are learnt as logarithms are averaged before the link: that is their geometric mean.
    """

    nodes: NDArray[np.void]  # [m] packed nodes of all ensembles, one after another
    value: Floats  # [v] values of all nodes, row after row
    trees: NDArray[np.int64]  # [t, 5] first node, root, first value, width, raw column
    divisor: Floats  # [raw columns]
    offset: Floats  # [raw columns]
    groups: NDArray[np.int64]  # [g, 5] first raw column, how many, link, output column, how many
    share: Floats  # [outputs] groups that an output is the mean of
    width: int  # columns that X must have
    single: bool  # inputs are cast to float32

    def mean(self, X: Floats, *, threads: int | None = None) -> Floats:
        """Predictions of all outcomes, side by side, float64[n, outputs] for X float64[n, d]."""
        X = rows_for(self.width, X)
        out = np.empty((X.shape[0], self.share.size))

        def run(start: int, stop: int) -> None:
            walk.mean[self.single](
                self.nodes,
                self.value,
                self.trees,
                self.divisor,
                self.offset,
                self.groups,
                self.share,
                X,
                start,
                stop,
                out,
            )

        over_rows(run, X.shape[0], enough=enough(len(self.trees)), threads=threads)
        return out


def join(outcomes: Sequence[Sequence["FlatForest"]]) -> Joined:
    """One ensemble that predicts every outcome as the mean over its parts, outcome by outcome."""
    parts = [part for several in outcomes for part in several]
    if not parts or not all(outcomes):
        raise BadInput("there is nothing to join")
    if len({(part.width, part.single) for part in parts}) != 1:
        raise BadInput("only models that read the same rows in the same way can be joined")
    if any(len({(part.link, part.offset.size) for part in several}) != 1 for several in outcomes):
        raise BadInput("the parts of an outcome must predict the same columns")
    layout = _Layout()
    for several in outcomes:
        layout.add(several)
    return Joined(
        nodes=_one([part.packed for part in parts]),
        value=_one([part.value.reshape(-1) for part in parts]),
        trees=np.concatenate(layout.trees),
        divisor=np.concatenate(layout.divisor),
        offset=np.concatenate(layout.offset),
        groups=np.array(layout.groups, dtype=np.int64),
        share=np.array(layout.share),
        width=parts[0].width,
        single=parts[0].single,
    )


def in_parts(whole: "FlatForest", count: int) -> Joined:
    """An ensemble as `count` ensembles of equally many trees, which share its nodes."""
    size, layout = whole.trees // count, _Layout()
    for first in range(0, count * size, size):
        layout.add([whole.only(first, first + size)])
    trees = np.concatenate(layout.trees)
    trees[:, [0, 2]] = 0
    return Joined(
        nodes=whole.packed,
        value=whole.value.reshape(-1),
        trees=trees,
        divisor=np.concatenate(layout.divisor),
        offset=np.concatenate(layout.offset),
        groups=np.array(layout.groups, dtype=np.int64),
        share=np.array(layout.share),
        width=whole.width,
        single=whole.single,
    )


class _Layout:
    """Where the trees of each part are and which columns they add to."""

    def __init__(self) -> None:
        self.trees: list[NDArray[np.int64]] = []
        self.divisor: list[Floats] = []
        self.offset: list[Floats] = []
        self.groups: list[tuple[int, int, int, int, int]] = []
        self.share: list[float] = []
        self._node = self._value = self._raw = 0

    def add(self, several: Sequence["FlatForest"]) -> None:
        """Lay out the parts of one outcome."""
        # A mean of sums is the sum of all trees; a mean of anything else needs each sum apart.
        # Outcomes that are learnt as logarithms are averaged as such: the mean is geometric.
        summed = several[0].link in AVERAGED_RAW
        if summed and len({part.divisor for part in several}) == 1:
            self._columns(several)
            groups = 1
            for part in several:
                self._trees(part, self._raw - part.offset.size)
        else:
            groups = len(several)
            for part in several:
                self._columns([part])
                self._trees(part, self._raw - part.offset.size)
        out, first = len(self.share), several[0]
        count, outputs = first.offset.size, first.outputs
        for place in range(groups):
            raw = self._raw - (groups - place) * count
            self.groups.append((raw, count, walk.LINKS.index(first.link), out, outputs))
        self.share += [float(groups)] * outputs

    def _columns(self, several: Sequence["FlatForest"]) -> None:
        count = several[0].offset.size
        self.divisor.append(np.full(count, several[0].divisor * len(several)))
        offsets = [part.offset for part in several]
        self.offset.append(offsets[0] if len(several) == 1 else np.mean(offsets, axis=0))
        self._raw += count

    def _trees(self, part: "FlatForest", raw: int) -> None:
        wide = part.value.shape[1]
        table = np.empty((part.trees, 5), dtype=np.int64)
        table[:, 0], table[:, 1] = self._node, part.roots
        table[:, 2], table[:, 3] = self._value, wide
        table[:, 4] = part.slot + raw
        self.trees.append(table)
        self._node += part.nodes
        self._value += part.nodes * wide


def enough(trees: int) -> int:
    """How many rows repay starting a thread."""
    return max(WALKS // max(trees, 1), ROWS)


def rows_for(width: int, X: Floats) -> Floats:
    """X as the kernels read it, which do not check bounds; another width is refused."""
    if X.ndim != 2 or X.shape[1] != width:
        raise BadInput(f"the model has {width} features, the rows to predict have shape {X.shape}")
    return np.ascontiguousarray(X, dtype=np.float64)


def _one(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
