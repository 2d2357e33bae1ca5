"""Call trees: which nodes belong to a region, and their values put together over ranks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from compass.domain.errors import DataProblem
from compass.readers.profiles.base import Floats, Folded, Over, RunMetric, in_seconds

Ints = NDArray[np.int64]
DEEPEST = 20_000  # calls within calls; more is a damaged file, and would take for ever


class Tree:
    """A call tree that grows: a node is its number, parents come before their children."""

    def __init__(self) -> None:
        self.parents: list[int] = []
        self.names: list[str] = []
        self._depth: list[int] = []
        self._children: dict[tuple[int, str], int] = {}

    def __len__(self) -> int:
        return len(self.names)

    def child(self, parent: int, name: str) -> int:
        """The node of that name below a node (-1: a root), made where it is not there yet."""
        node = self._children.get((parent, name))
        if node is None:
            node = self._children[parent, name] = len(self.names)
            depth = self._depth[parent] + 1 if parent >= 0 else 0
            if depth > DEEPEST:
                raise DataProblem(
                    f"calls are nested more than {DEEPEST} deep", hint="is the file damaged?"
                )
            self._depth.append(depth)
            self.parents.append(parent)
            self.names.append(name)
        return node


@dataclass(frozen=True)
class Groups:
    """Regions of a tree: names, and call paths such as `solve/MPI_Wait` where those are asked for.

    Within recursion only the outermost node counts for inclusive values.
    """

    labels: tuple[str, ...]
    parents: Ints
    levels: tuple[Ints, ...]  # the nodes of each depth below the roots
    members: tuple[Ints, Ints]  # node and label
    outermost: tuple[Ints, Ints]

    @classmethod
    def of(cls, tree: Tree, wanted: Sequence[str] = ()) -> "Groups":
        """The regions of a finished tree."""
        labels = dict.fromkeys(tree.names)
        codes = {name: code for code, name in enumerate(labels)}
        parents = np.array(tree.parents, np.int64)
        name = np.array([codes[n] for n in tree.names], np.int64)
        nodes, groups = [np.arange(len(tree), dtype=np.int64)], [name]
        for label in wanted:
            if label in codes or "/" not in label:
                continue
            found = _ends_with(label.split("/"), codes, name, parents)
            if len(found):
                nodes.append(found)
                groups.append(np.full(len(found), len(labels), np.int64))
                labels[label] = None
        node, group = np.concatenate(nodes), np.concatenate(groups)
        outer = _outermost(node, group, parents)
        return cls(
            tuple(labels), parents, _levels(parents), (node, group), (node[outer], group[outer])
        )

    def inclusive(self, exclusive: Floats) -> Floats:
        """The values of nodes with those of everything below them."""
        values = exclusive.copy()
        for level in reversed(self.levels):
            np.add.at(values, self.parents[level], values[level])
        return values

    def exclusive(self, inclusive: Floats) -> Floats:
        """The values of nodes without those of their children."""
        values = inclusive.copy()
        below = self.parents >= 0
        np.subtract.at(values, self.parents[below], inclusive[below])
        return values

    def fold(self, inclusive: Floats, exclusive: Floats) -> Folded:
        """The total of the roots and the values by region, from values by node."""
        (outer, outer_group), (node, group) = self.outermost, self.members
        inside = sums(outer_group, inclusive[outer], len(self.labels))
        own = sums(group, exclusive[node], len(self.labels))
        return float(inclusive[self.parents < 0].sum()), inside, own


def _ends_with(path: Sequence[str], codes: Mapping[str, int], name: Ints, parents: Ints) -> Ints:
    """The nodes whose call path ends with these names."""
    found = np.flatnonzero(name == codes.get(path[-1], -1))
    at = found
    for part in reversed(path[:-1]):
        at = parents[at]
        keep = (at >= 0) & (name[at] == codes.get(part, -1))
        found, at = found[keep], at[keep]
    return found


def _outermost(node: Ints, group: Ints, parents: Ints) -> NDArray[np.bool_]:
    """Which members have no member of the same group above them."""
    size = int(group.max(initial=-1)) + 1
    keys = np.sort(node * size + group)
    inside = np.zeros(len(node), bool)
    at, who = parents[node], np.arange(len(node))
    while len(who := who[at >= 0]):
        at = at[at >= 0]
        key = at * size + group[who]
        place = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
        same = keys[place] == key
        inside[who[same]] = True
        who, at = who[~same], parents[at[~same]]
    return ~inside


def _levels(parents: Ints) -> tuple[Ints, ...]:
    depth = np.zeros(len(parents), np.int64)
    for node, parent in enumerate(parents.tolist()):
        if parent >= 0:
            depth[node] = depth[parent] + 1
    order = np.argsort(depth, kind="stable")
    bounds = np.searchsorted(depth[order], np.arange(1, depth.max(initial=0) + 2))
    return tuple(order[a:b] for a, b in pairwise(bounds))


def sums(places: Ints, values: Floats, size: int) -> Floats:
    """The values that belong to each place, added up."""
    return np.bincount(places, values, size).astype(np.float64, copy=False)


class OverRanks:
    """Adds up one metric rank by rank, so that memory does not grow with the number of ranks.

    Ranks or threads on which nothing was measured (helper threads) do not count in a mean.
    """

    def __init__(self, groups: Groups) -> None:
        self._groups = groups
        self._ranks = 0
        self._sum: list[Floats] = [np.zeros(1), *(np.zeros(len(groups.labels)) for _ in "ie")]
        self._max: list[Floats] = [part.copy() for part in self._sum]

    def add(self, inclusive: Floats | None, exclusive: Floats | None) -> None:
        """The values of one rank by node; the kind that is not known follows from the other."""
        if inclusive is None:
            assert exclusive is not None
            inclusive = self._groups.inclusive(exclusive)
        if exclusive is None:
            exclusive = self._groups.exclusive(inclusive)
        total, inside, own = self._groups.fold(inclusive, exclusive)
        if not (inside.any() or own.any()):
            return
        for n, part in enumerate((np.array([total]), inside, own)):
            self._sum[n] += part
            self._max[n] = np.maximum(self._max[n], part) if self._ranks else part
        self._ranks += 1

    def folded(self, factor: float = 1.0) -> dict[Over, Folded]:
        """What all ranks gave together, by the way over ranks."""
        mean = [part / max(1, self._ranks) for part in self._sum]
        over: dict[Over, list[Floats]] = {"max": self._max, "mean": mean, "sum": self._sum}
        return {
            way: (float(total[0]) * factor, inside * factor, own * factor)
            for way, (total, inside, own) in over.items()
        }

    def measured(self, unit: str | None) -> RunMetric:
        """What all ranks gave together, as a metric; times in seconds."""
        factor, known = in_seconds(unit)
        return RunMetric.of(known, self.folded(factor))
