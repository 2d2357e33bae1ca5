"""A forest as flat arrays: predictions in microseconds, and forests cut down to a question.

A prediction is the mean over trees. Inputs are cast to float32 and compared with float64
thresholds, exactly as scikit-learn does, so predictions agree with it to rounding. Every row is
summed by one thread in the order of the trees: results do not depend on the number of threads.

The first import on a machine compiles the kernels (a few seconds); later ones load them (a
fraction of a second, most of it numba itself).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compass.domain.errors import BadInput, EngineProblem
from compass.model import walk
from compass.model.kernel import over_rows

Floats = NDArray[np.float64]

_WALKS = 40_000  # row x tree walks that repay starting a thread (a few milliseconds of work)
_DTYPES: dict[str, Any] = {
    "feature": np.int32,
    "threshold": np.float64,
    "left": np.int32,
    "right": np.int32,
    "value": np.float64,
    "roots": np.int64,
}


@dataclass(frozen=True, eq=False)
class FlatForest:
    """Trees of one forest, node after node; parents come before their children."""

    feature: NDArray[np.int32]  # [m] column that a node looks at; -1: leaf
    threshold: Floats  # [m] x <= threshold goes left
    left: NDArray[np.int32]  # [m] node to go to; -1 at leaves
    right: NDArray[np.int32]  # [m]
    value: Floats  # [m, outputs] what a leaf predicts
    roots: NDArray[np.int64]  # [trees] first node of each tree
    width: int  # columns that X must have

    def __post_init__(self) -> None:
        for name, dtype in _DTYPES.items():
            array = np.ascontiguousarray(getattr(self, name), dtype=dtype).view()
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @property
    def outputs(self) -> int:
        """Columns of a prediction."""
        return int(self.value.shape[1])

    @property
    def nodes(self) -> int:
        """Inner nodes and leaves of all trees."""
        return int(self.feature.size)

    @property
    def trees(self) -> int:
        """How many trees vote."""
        return int(self.roots.size)

    def only(self, first: int, last: int) -> "FlatForest":
        """The forest of the trees first .. last - 1; the nodes are shared, not copied."""
        part = replace(self, roots=self.roots[first:last])
        part.__dict__["packed"] = self.packed
        return part

    @cached_property
    def packed(self) -> NDArray[np.void]:
        """The nodes as the kernels walk them, made at the first prediction."""
        nodes = np.empty(self.nodes, dtype=walk.NODE)
        walk.pack(self.feature, self.threshold, self.left, self.right, nodes)
        return nodes

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """The forest as named arrays, for saving."""
        found: dict[str, NDArray[np.generic]] = {name: getattr(self, name) for name in _DTYPES}
        return found | {"width": np.array([self.width], dtype=np.int64)}


def from_sklearn(estimator: Any) -> FlatForest:
    """The flat form of a fitted scikit-learn forest (one output) of any kind.

    Regression: `value` is what a leaf predicts. Classification: the share of each class of
    `estimator.classes_`, in that order.
    """
    trees = [member.tree_ for member in estimator.estimators_]
    sizes = [tree.node_count for tree in trees]
    starts = np.concatenate([[0], np.cumsum(sizes)])[:-1]
    left = [_shift(tree.children_left, start) for tree, start in zip(trees, starts, strict=True)]
    right = [_shift(tree.children_right, start) for tree, start in zip(trees, starts, strict=True)]
    feature = np.concatenate([np.maximum(tree.feature, -1) for tree in trees])
    threshold = np.concatenate([tree.threshold for tree in trees])
    return FlatForest(
        feature=feature.astype(np.int32),
        threshold=np.where(feature >= 0, threshold, 0.0),
        left=np.concatenate(left),
        right=np.concatenate(right),
        value=np.concatenate([tree.value[:, 0, :] for tree in trees]),
        roots=starts.astype(np.int64),
        width=int(estimator.n_features_in_),
    )


def restore(arrays: Mapping[str, NDArray[np.generic]]) -> FlatForest:
    """The forest whose `arrays()` these are; damaged arrays are refused."""
    missing = sorted({field.name for field in fields(FlatForest)} - set(arrays))
    if missing:
        raise EngineProblem(
            f"the saved forest lacks {', '.join(missing)}", hint="fit and save the engine again"
        )
    parts: dict[str, Any] = {name: arrays[name] for name in _DTYPES}
    if all(parts[name].dtype == dtype for name, dtype in _DTYPES.items()):
        forest = FlatForest(**parts, width=int(np.ravel(arrays["width"])[0]))
        if _sound(forest):
            return forest
    raise EngineProblem(
        "the saved forest is damaged: its nodes do not form trees",
        hint="fit and save the engine again",
    )


def mean(forest: FlatForest, X: Floats, *, threads: int | None = None) -> Floats:
    """Predictions float64[n, outputs] for X float64[n, width]."""
    X = _rows(forest, X)
    out = np.empty((X.shape[0], forest.outputs))

    def run(start: int, stop: int) -> None:
        walk.mean(forest.packed, forest.value, forest.roots, X, start, stop, out)

    over_rows(run, X.shape[0], enough=_enough(forest), threads=threads)
    return out


def mean_spread(
    forest: FlatForest, X: Floats, *, threads: int | None = None
) -> tuple[Floats, Floats]:
    """Predictions float64[n, outputs] and their spread over trees float64[n], in one pass.

    The spread is the standard deviation over trees: of the prediction for a number, of the score
    of the class that wins on average (the first of equals) for classes.
    """
    X = _rows(forest, X)
    out = np.empty((X.shape[0], forest.outputs))
    spread = np.empty(X.shape[0])

    def run(start: int, stop: int) -> None:
        walk.mean_spread(forest.packed, forest.value, forest.roots, X, start, stop, out, spread)

    over_rows(run, X.shape[0], enough=_enough(forest), threads=threads)
    return out, spread


def specialise(forest: FlatForest, fixed: Floats) -> FlatForest:
    """The forest for rows that have these values; `fixed` float64[width], NaN where free.

    Branches that the values exclude are dropped: fixed features no longer occur in the result,
    and it predicts the same as the full forest on every row that has these values.
    """
    fixed = np.asarray(fixed, dtype=np.float64)
    free = np.isnan(fixed)
    return restrict(forest, np.where(free, -np.inf, fixed), np.where(free, np.inf, fixed))


def restrict(forest: FlatForest, low: Floats, high: Floats) -> FlatForest:
    """The forest for rows within low <= x <= high (float64[width] each, infinite where open)."""
    low = np.ascontiguousarray(low, dtype=np.float64)
    high = np.ascontiguousarray(high, dtype=np.float64)
    if low.shape != (forest.width,) or high.shape != (forest.width,):
        raise BadInput(f"the forest has {forest.width} features; give one value for each")
    size = forest.nodes
    feature, left, right, origin = (np.empty(size, dtype=np.int32) for _ in range(4))
    roots = np.empty(forest.trees, dtype=np.int64)
    kept = walk.restrict(
        forest.feature,
        forest.threshold,
        forest.left,
        forest.right,
        forest.roots,
        low,
        high,
        feature,
        left,
        right,
        origin,
        roots,
        np.empty(size, dtype=np.int32),
        np.empty(size, dtype=np.int32),
    )
    source = origin[:kept]
    return FlatForest(
        feature=feature[:kept].copy(),
        threshold=forest.threshold[source],
        left=left[:kept].copy(),
        right=right[:kept].copy(),
        value=forest.value[source],
        roots=roots,
        width=forest.width,
    )


def concatenate(forests: Sequence[FlatForest]) -> FlatForest:
    """One forest of all trees; its prediction is the mean of the predictions of its parts.

    The parts must have the same number of trees, else the mean over trees would favour some.
    """
    if not forests:
        raise BadInput("there is no forest to join")
    if len({(part.trees, part.outputs, part.width) for part in forests}) != 1:
        raise BadInput("forests can be joined only if trees, outputs and features agree in number")
    starts = np.concatenate([[0], np.cumsum([part.nodes for part in forests])])[:-1]
    pairs = list(zip(forests, starts, strict=True))
    return FlatForest(
        feature=np.concatenate([part.feature for part in forests]),
        threshold=np.concatenate([part.threshold for part in forests]),
        left=np.concatenate([_shift(part.left, start) for part, start in pairs]),
        right=np.concatenate([_shift(part.right, start) for part, start in pairs]),
        value=np.concatenate([part.value for part in forests]),
        roots=np.concatenate([part.roots + start for part, start in pairs]),
        width=forests[0].width,
    )


def with_values(forest: FlatForest, value: Floats) -> FlatForest:
    """The same trees with other predictions at their leaves; `value` float64[m, outputs]."""
    if value.ndim != 2 or value.shape[0] != forest.nodes:
        raise BadInput(f"the forest has {forest.nodes} nodes; give one row of values for each")
    return replace(forest, value=value)


def cell_edges(forest: FlatForest, feature: int) -> Floats:
    """Every threshold at which the prediction can change along a feature, ascending."""
    found: Floats = np.unique(forest.threshold[forest.feature == feature])
    return found


def _shift(child: NDArray[Any], start: int) -> NDArray[np.int32]:
    shifted: NDArray[np.int32] = np.where(child >= 0, child + start, -1).astype(np.int32)
    return shifted


def _enough(forest: FlatForest) -> int:
    return max(_WALKS // max(forest.trees, 1), 1)


def _rows(forest: FlatForest, X: Floats) -> Floats:
    # The kernels do not check bounds.
    if X.ndim != 2 or X.shape[1] != forest.width:
        raise BadInput(
            f"the model has {forest.width} features, the rows to predict have shape {X.shape}"
        )
    return np.ascontiguousarray(X, dtype=np.float64)


def _sound(forest: FlatForest) -> bool:
    # A walk must end and stay inside the arrays, whatever the file says.
    size, inner = forest.nodes, forest.feature >= 0
    if not (
        forest.feature.shape == forest.threshold.shape == (size,)
        and forest.left.shape == forest.right.shape == (size,)
        and forest.value.ndim == 2
        and forest.value.shape[0] == size
        and forest.roots.ndim == 1
        and forest.trees > 0
    ):
        return False
    children = np.stack([forest.left[inner], forest.right[inner]])
    entered = np.concatenate([children.ravel(), forest.roots])
    return bool(
        np.all(forest.feature < forest.width)
        and np.all((entered >= 0) & (entered < size))
        and np.all(children > np.flatnonzero(inner))
        and np.bincount(entered).max() == 1  # one way into every node
    )
