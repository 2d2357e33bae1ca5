"""An ensemble of trees as flat arrays: predictions in microseconds, cut down to a question.

A raw prediction is `offset` + the sum over trees / `divisor`: the number of trees for a forest
(a mean), 1 for boosting (a sum). The link makes it a prediction. Inputs are compared as the library
that grew the trees does it, so predictions agree with it to rounding. Every row is summed by one
thread in the order of the trees: results do not depend on the number of threads.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compass.domain.errors import BadInput
from compass.execute.arrays import checked, damaged
from compass.execute.rows import over_rows
from compass.model.trees import joined, walk
from compass.model.trees.arrays import ARRAYS, SCALARS, Inconsistent, fault
from compass.model.trees.joined import Joined, join, rows_for
from compass.native import kernel

Floats = NDArray[np.float64]

LINKS = walk.LINKS
_NODES = tuple(name for name in ARRAYS if name not in SCALARS)
# Engines saved before there was boosting lack these: their trees are forests.
_LATER = ("slot", "offset", "divisor", "link", "single")

_reachable = kernel("reachable")


@dataclass(frozen=True, eq=False)
class FlatForest:
    """Trees of one ensemble, node after node; parents come before their children.

    Without slot, offset, divisor and link it is a forest: the mean over trees.
    """

    feature: NDArray[np.int32]  # [m] column that a node looks at; -1: leaf
    threshold: Floats  # [m] x <= threshold goes left
    left: NDArray[np.int32]  # [m] node to go to; -1 at leaves
    right: NDArray[np.int32]  # [m]
    value: Floats  # [m, w] what a leaf adds
    roots: NDArray[np.int64]  # [trees] first node of each tree
    width: int  # columns that X must have
    # [trees] first raw column that a tree adds to
    slot: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    # [raw columns] added to every raw prediction
    offset: Floats = field(default_factory=lambda: np.empty(0))
    divisor: float = 0.0  # what sums are divided by; 0 when made: the number of trees
    link: str = "identity"  # one of LINKS: how raw columns become a prediction
    single: bool = True  # inputs are cast to float32 before they are compared

    def __post_init__(self) -> None:
        value, roots = np.asarray(self.value), np.asarray(self.roots)
        filled: dict[str, Any] = {
            "slot": self.slot if np.size(self.slot) else np.zeros(roots.size, dtype=np.int64),
            "offset": self.offset if np.size(self.offset) else np.zeros(value.shape[1:2]),
        }
        for name in _NODES:
            given = filled.get(name, getattr(self, name))
            array = _typed(given, ARRAYS[name].dtype).view()
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        object.__setattr__(self, "divisor", float(self.divisor or roots.size))

    @property
    def outputs(self) -> int:
        """Columns of a prediction: those of `raw`, or two scores of one raw column."""
        return 2 if self.link == "sigmoid" else int(self.offset.size)

    @property
    def nodes(self) -> int:
        """Inner nodes and leaves of all trees."""
        return int(self.feature.size)

    @property
    def trees(self) -> int:
        """How many trees vote."""
        return int(self.roots.size)

    @property
    def boosted(self) -> bool:
        """Whether trees correct each other (a sum) rather than vote (a mean)."""
        return self.divisor == 1

    def only(self, first: int, last: int) -> "FlatForest":
        """The ensemble of the trees first .. last - 1; the nodes are shared, not copied."""
        divisor = 1.0 if self.boosted else self.divisor * (last - first) / self.trees
        part = replace(
            self, roots=self.roots[first:last], slot=self.slot[first:last], divisor=divisor
        )
        part.__dict__["packed"] = self.packed
        return part

    @cached_property
    def packed(self) -> NDArray[np.void]:
        """The nodes as the kernels walk them, made at the first prediction."""
        nodes = np.empty(self.nodes, dtype=walk.NODE if self.single else walk.WIDE_NODE)
        walk.pack[self.single](self.feature, self.threshold, self.left, self.right, nodes)
        return nodes

    @cached_property
    def joined(self) -> Joined:
        """The ensemble with the tables that a walk needs, made at the first prediction."""
        return join([[self]])

    def parts(self, count: int) -> Joined:
        """The ensemble as `count` ensembles of equally many trees; kept, as it is asked again."""
        known = self._parts
        if count not in known:
            known[count] = joined.in_parts(self, count)
        return known[count]

    @cached_property
    def _parts(self) -> dict[int, Joined]:
        return {}

    @cached_property
    def _edges(self) -> dict[int, Floats]:
        return {}

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """The ensemble as named arrays, for saving."""
        found: dict[str, NDArray[np.generic]] = {name: getattr(self, name) for name in _NODES}
        return found | {
            "width": np.array([self.width], dtype=np.int64),
            "divisor": np.array([self.divisor]),
            "link": np.array([self.link]),
            "single": np.array([self.single]),
        }


def from_trees(trees: Sequence[Any], width: int) -> FlatForest:
    """The flat form of scikit-learn's fitted trees of one outcome, over `width` features.

    Regression: `value` is what a leaf predicts. Classification: the share of each class.
    """
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
        width=int(width),
    )


def restore(
    arrays: Mapping[str, NDArray[np.generic]], what: str = "the saved forest"
) -> FlatForest:
    """The ensemble whose `arrays()` these are; damaged arrays are refused."""
    older = not any(name in arrays for name in _LATER)
    needed = {name: a for name, a in ARRAYS.items() if not (older and name in _LATER)}
    parts, _ = checked(arrays, needed, what)
    scalars = {name: parts[name][0].item() for name in SCALARS if name in parts}
    forest = FlatForest(**parts | scalars)
    wrong = fault(forest)
    if wrong is not None:
        raise damaged(what, wrong)
    return forest


def mean(forest: FlatForest, X: Floats, *, threads: int | None = None) -> Floats:
    """Predictions float64[n, outputs] for X float64[n, width]."""
    return forest.joined.mean(X, threads=threads)


def raw(forest: FlatForest, X: Floats) -> Floats:
    """Predictions before the link, float64[n, raw columns], for X float64[n, width]."""
    if forest.link == "identity":
        return mean(forest, X)
    plain = replace(forest, link="identity")
    plain.__dict__["packed"] = forest.packed
    return mean(plain, X)


def mean_spread(
    forest: FlatForest, X: Floats, *, threads: int | None = None
) -> tuple[Floats, Floats]:
    """Predictions float64[n, outputs] and their spread float64[n], in one pass.

    The spread is a standard deviation: of the prediction for a number, of the score of the class
    that wins (the first of equals) for classes. Over the trees of a forest. Boosted trees do not
    vote, each corrects the sum of those before it; the sums up to each of the later half of the
    rounds stand for an ensemble (a virtual one: Malinin et al., ICLR 2021). Where late trees still
    change the prediction, few runs hold it in place.
    """
    X = rows_for(forest.width, X)
    out = np.empty((X.shape[0], forest.outputs))
    spread = np.empty(X.shape[0])

    def run(start: int, stop: int) -> None:
        walk.mean_spread[forest.single](
            forest.packed,
            forest.value,
            forest.roots,
            forest.slot,
            forest.offset,
            forest.divisor,
            LINKS.index(forest.link),
            int(forest.boosted),
            X,
            start,
            stop,
            out,
            spread,
        )

    over_rows(run, X.shape[0], enough=joined.enough(forest.trees), threads=threads)
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
    floor, ceiling = as_compared(forest, low), as_compared(forest, high)
    size = forest.nodes
    feature, left, right, origin = (np.empty(size, dtype=np.int32) for _ in range(4))
    roots, count = np.empty(forest.trees, dtype=np.int64), np.empty(1, dtype=np.int64)
    _reachable(
        forest.feature,
        forest.threshold,
        forest.left,
        forest.right,
        forest.roots,
        floor,
        ceiling,
        feature,
        left,
        right,
        origin,
        roots,
        count,
    )
    kept = int(count[0])
    source = origin[:kept]
    return replace(
        forest,
        feature=feature[:kept].copy(),
        threshold=forest.threshold[source],
        left=left[:kept].copy(),
        right=right[:kept].copy(),
        value=forest.value[source],
        roots=roots,
    )


def as_compared(forest: FlatForest, x: Floats) -> Floats:
    """The values float64[width] as they are compared with thresholds: cast if `single`."""
    x = np.ascontiguousarray(x, dtype=np.float64)
    if x.shape != (forest.width,):
        raise BadInput(f"the forest has {forest.width} features; give one value for each")
    if not forest.single:
        return x
    with np.errstate(over="ignore"):  # what is too large for float32 counts as infinite
        return x.astype(np.float32).astype(np.float64)


def _stacked(parts: Sequence[FlatForest]) -> dict[str, Any]:
    """The nodes and roots of several ensembles, one after another."""
    starts = np.cumsum([0, *(part.nodes for part in parts)])
    pairs = list(zip(parts, starts[:-1], strict=True))
    found: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in ("feature", "threshold", "value")
    }
    return found | {
        "left": np.concatenate([_shift(part.left, start) for part, start in pairs]),
        "right": np.concatenate([_shift(part.right, start) for part, start in pairs]),
        "roots": np.concatenate([part.roots + start for part, start in pairs]),
    }


def concatenate(forests: Sequence[FlatForest]) -> FlatForest:
    """One forest of all trees; its prediction is the mean of the predictions of its parts.

    The parts must have the same number of trees, else the mean over trees would favour some; and
    they must be means themselves. `joined.join` takes any ensembles.
    """
    if not forests:
        raise BadInput("there is no forest to join")
    if len({(part.trees, part.outputs, part.width, part.single) for part in forests}) != 1:
        raise BadInput("forests can be joined only if trees, outputs and features agree in number")
    if not all(votes(part) for part in forests):
        raise BadInput("only forests whose trees vote can be joined into one")
    return FlatForest(**_stacked(forests), width=forests[0].width, single=forests[0].single)


def append(first: FlatForest, second: FlatForest) -> FlatForest:
    """One ensemble of the trees of both: forests vote together, boosted trees are summed."""
    kinds = [(f.outputs, f.width, f.single, f.boosted, f.link) for f in (first, second)]
    if kinds[0] != kinds[1] or first.value.shape[1] != second.value.shape[1]:
        raise BadInput("only ensembles of one kind, outcome and set of features can be appended")
    return replace(
        first,
        **_stacked([first, second]),
        slot=np.concatenate([first.slot, second.slot]),
        offset=first.offset + second.offset,
        divisor=1.0 if first.boosted else first.divisor + second.divisor,
    )


def without_first(forest: FlatForest, trees: int) -> FlatForest:
    """The ensemble without its first trees, whose nodes are given up."""
    if not 0 <= trees < forest.trees:
        raise BadInput(f"the ensemble has {forest.trees} trees; at least one has to stay")
    left = forest.only(trees, forest.trees)
    return restrict(left, np.full(forest.width, -np.inf), np.full(forest.width, np.inf))


def cell_edges(forest: FlatForest, feature: int) -> Floats:
    """Every threshold at which the prediction can change along a feature, ascending."""
    known = forest._edges
    if feature not in known:
        found: Floats = np.unique(forest.threshold[forest.feature == feature])
        found.flags.writeable = False
        known[feature] = found
    return known[feature]


def _typed(given: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    """The array in this type; positions that it cannot hold are refused, not wrapped around."""
    array = np.asarray(given)
    if dtype.kind == "i" and array.dtype != dtype and array.size:
        limits = np.iinfo(dtype)
        if array.dtype.kind not in "iu" or array.min() < limits.min or array.max() > limits.max:
            raise Inconsistent("it has a position in a tree that is out of range")
    return np.ascontiguousarray(array, dtype=dtype)


def votes(forest: FlatForest) -> bool:
    """Whether every tree says all outputs, and the prediction is the mean of what they say."""
    return (
        forest.divisor == forest.trees
        and forest.link == "identity"
        and forest.value.shape[1] == forest.offset.size
        and not forest.offset.any()
    )


def _shift(child: NDArray[Any], start: int) -> NDArray[np.int32]:
    return _typed(np.where(child >= 0, child + start, -1), np.dtype(np.int32))
