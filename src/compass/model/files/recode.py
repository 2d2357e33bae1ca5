"""Trees over the inputs of a model as the same trees over the columns of a table.

A split of an input is a set of values that go left. Where the input is the column itself it stays
one split; where labels have codes of their own, or `none` has a number of its own, the set may
fall into several intervals, and the split becomes a chain of splits with copies of the branches.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from compass.model.files.columns import Feed
from compass.model.trees import flat
from compass.model.trees.flat import FlatForest

Floats = NDArray[np.float64]
# A chain: left of edge 0 goes to side 0, between edge 0 and 1 to side 1, ...; True is left.
Chain = tuple[tuple[float, ...], tuple[bool, ...]]

NODES = 300_000  # more are not rebuilt: it would take seconds
GROWTH = 8


def over_columns(forest: FlatForest, feeds: Sequence[Feed], width: int) -> FlatForest | None:
    """The forest that predicts from X float64[n, width] what this one does from its inputs.

    None: it would be too large.
    """
    fixed = np.array([feed.value if feed.kind == "constant" else np.nan for feed in feeds])
    if not np.isnan(fixed).all():
        forest = flat.specialise(forest, fixed)
    if not all(feed.plain or feed.kind == "constant" for feed in feeds):
        rebuilt = _rebuilt(forest, feeds)
        if rebuilt is None:
            return None
        forest = rebuilt
    place = np.array([feed.place for feed in feeds] + [-1], dtype=np.int32)  # the last: leaves
    return replace(forest, feature=place[forest.feature], width=width)


@dataclass
class _Nodes:
    """New trees, node after node."""

    origin: list[int] = field(default_factory=list)
    feature: list[int] = field(default_factory=list)
    threshold: list[float] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    right: list[int] = field(default_factory=list)

    def add(self, origin: int, feature: int, threshold: float) -> int:
        """A new node without children."""
        self.origin.append(origin)
        self.feature.append(feature)
        self.threshold.append(threshold)
        self.left.append(-1)
        self.right.append(-1)
        return len(self.origin) - 1


@dataclass(frozen=True)
class _Task:
    """A branch to be written: from which node, into which child, within which bounds."""

    node: int
    parent: int
    side: bool  # True: it is the left child
    chain: Chain | None = None  # what is left of the chain of that node
    bounds: tuple[tuple[int, float, float], ...] = ()  # column, above, up to


def _rebuilt(forest: FlatForest, feeds: Sequence[Feed]) -> FlatForest | None:
    if forest.nodes > NODES:
        return None
    made, roots = _Nodes(), []
    known: dict[tuple[int, float], Chain] = {}
    for root in forest.roots:
        roots.append(len(made.origin))
        tasks = [_Task(int(root), -1, True)]
        while tasks:
            if len(made.origin) > GROWTH * forest.nodes + 1000:
                return None
            _write(tasks, made, forest, feeds, known)
    origin = np.array(made.origin)
    return replace(
        forest,
        feature=np.array(made.feature, dtype=np.int32),
        threshold=np.array(made.threshold),
        left=np.array(made.left, dtype=np.int32),
        right=np.array(made.right, dtype=np.int32),
        value=forest.value[origin],
        roots=np.array(roots, dtype=np.int64),
    )


def _write(
    tasks: list[_Task],
    made: _Nodes,
    forest: FlatForest,
    feeds: Sequence[Feed],
    known: dict[tuple[int, float], Chain],
) -> None:
    """Write the next branch, or find out where it leads."""
    task = tasks.pop()
    node, feature = task.node, int(forest.feature[task.node])
    if feature < 0 or feeds[feature].plain:
        position = _attach(made, task, made.add(node, feature, float(forest.threshold[node])))
        if feature >= 0:
            tasks.append(_Task(int(forest.right[node]), position, False, None, task.bounds))
            tasks.append(_Task(int(forest.left[node]), position, True, None, task.bounds))
        return
    chain = task.chain
    if chain is None:
        key = (feature, float(forest.threshold[node]))
        if key not in known:
            known[key] = _chain(feeds[feature], key[1], forest.single)
        chain = known[key]
    column = feeds[feature].place
    above, up_to = next(((a, b) for c, a, b in task.bounds if c == column), (-np.inf, np.inf))
    edges, sides = _within(chain, above, up_to)
    if not edges:
        child = forest.left[node] if sides[0] else forest.right[node]
        tasks.append(replace(task, node=int(child), chain=None))
        return
    position = _attach(made, task, made.add(node, feature, edges[0]))
    others = tuple(bound for bound in task.bounds if bound[0] != column)
    rest = ((column, edges[0], up_to), *others)
    first = ((column, above, edges[0]), *others)
    tasks.append(_Task(node, position, False, (edges[1:], sides[1:]), rest))
    tasks.append(_Task(node, position, True, ((), sides[:1]), first))


def _attach(made: _Nodes, task: _Task, position: int) -> int:
    if task.parent >= 0:
        (made.left if task.side else made.right)[task.parent] = position
    return position


def _chain(feed: Feed, threshold: float, single: bool) -> Chain:
    """Where the values of a column go at a split of an input that is made of it."""
    if feed.kind == "table":
        goes = _goes_left(np.asarray(feed.table), threshold, single)
        turns = np.flatnonzero(goes[1:] != goes[:-1])
        return tuple(turns + 0.5), (bool(goes[0]), *map(bool, goes[turns + 1]))
    assert feed.beyond is not None
    none = bool(_goes_left(np.array([feed.none]), threshold, single)[0])
    if threshold >= feed.beyond:
        return ((), (True,)) if none else ((feed.beyond,), (True, False))
    if not none:
        return (threshold,), (True, False)
    return (threshold, feed.beyond), (True, False, True)


def _within(chain: Chain, above: float, up_to: float) -> Chain:
    """The part of a chain that values in (above, up_to] can meet."""
    edges, sides = chain
    first = sum(edge <= above for edge in edges)
    last = sum(edge < up_to for edge in edges)
    return edges[first:last], sides[first : last + 1]


def _goes_left(values: Floats, threshold: float, single: bool) -> NDArray[np.bool_]:
    with np.errstate(over="ignore"):
        compared = values.astype(np.float32).astype(np.float64) if single else values
    return np.asarray(compared <= threshold)
