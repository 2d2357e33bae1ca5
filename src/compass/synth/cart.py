"""Sequential trees with donors: each column is drawn from measured rows like the one so far.

The first column is drawn from all rows; every other one from the rows in the leaf of a tree on the
columns before it (Reiter 2005; synthpop). Columns on which there are conditions come first, and
their values are drawn from rows that meet all conditions yet to come: what is asked for is drawn,
not waited for. Trees for another order of columns are grown when they are first needed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from compass import registry
from compass.domain.space import Category, Number, Role, Space
from compass.execute.arrays import checked, damaged, floats, whole
from compass.rules import Domain
from compass.rules.domains import domain_of
from compass.settings import SynthesisSettings
from compass.synth.base import Arrays, Floats, Rows, Tell, anywhere, narrowed, within
from compass.synth.tree import DonorTree, PartedTree, grow_parted

_ARRAYS = {
    "rows": floats("rows", "columns", some=True),
    "order": whole("columns", least=0),
    "least": whole(1, least=1),
    "gain": floats(1),
}
_MOST_TREES = 2000  # that are kept: each open cell of a file to fill may need its own
_ORDER = (Role.CONTEXT, Role.KNOB, Role.OUTCOME)  # causes before what they bring about
_FIRST = -1  # labels of outcomes: all other columns are then drawn for one label (decision 0049)
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class DonorTrees:
    """Rows, and the trees that have been grown on them."""

    rows: Floats  # [n, d]
    space: Space
    order: tuple[int, ...]  # in which columns are drawn where nothing is asked for
    least: int
    gain: float
    name: str = "cart"
    _trees: dict[tuple[int, tuple[int, ...]], DonorTree | PartedTree] = field(default_factory=dict)
    _donors: dict[tuple[int, tuple[int, ...]], Floats] = field(default_factory=dict)

    def __post_init__(self) -> None:
        counts = [len(p.values) if isinstance(p, Category) else 0 for p in self.space]
        object.__setattr__(self, "levels", tuple(counts))
        legal = tuple(domain_of(parameter) for parameter in self.space)
        object.__setattr__(self, "legal", legal)

    levels: tuple[int, ...] = field(init=False)
    legal: tuple[Domain, ...] = field(init=False)

    @property
    def parting(self) -> int | None:
        """The column with labels of an outcome that is drawn first; None: there is none."""
        first = self.order[0]
        return first if _place(self.space.parameters[first]) == _FIRST else None

    def tree(self, target: int, known: Sequence[int]) -> DonorTree | PartedTree:
        """The tree that tells a column from others.

        Where the label of an outcome is known there is one for each label: what tells labels apart
        must not be lost among all that columns have to do with each other.
        """
        key = target, tuple(sorted(known))
        found = self._trees.get(key)
        if found is None:
            if len(self._trees) >= _MOST_TREES:
                self._trees.clear()
            by = self.parting if self.parting in key[1] else None
            found = grow_parted(
                self.rows, target, key[1], self.levels, by=by, least=self.least, gain=self.gain
            )
            self._trees[key] = found
        return found

    def sample(self, given: Floats, domains: Sequence[Domain], rng: np.random.Generator) -> Floats:
        """Rows float64[m, d]: those of `given`, with values drawn where it is NaN."""
        drawn = np.array(given)
        open_cells = np.isnan(given)
        patterns, inverse = np.unique(open_cells, axis=0, return_inverse=True)
        for place, pattern in enumerate(patterns):
            where = np.flatnonzero(inverse.ravel() == place)
            drawn[where] = self._sequence(drawn[where], pattern, domains, rng)
        return drawn

    def _sequence(
        self, rows: Floats, pattern: Mask, domains: Sequence[Domain], rng: np.random.Generator
    ) -> Floats:
        """Draw the open columns of rows that lack the same ones, one column after the other."""
        asked = [j for j in self.order if pattern[j] and narrowed(domains[j], self.legal[j])]
        known = [j for j in self.order if not pattern[j]]
        rest = [j for j in self.order if pattern[j] and j not in asked]
        inside = [within(domains[j], self.rows[:, j]) for j in asked]
        for place, target in enumerate(asked):
            ahead = np.logical_and.reduce(inside[place:])
            wanted = ahead if ahead.any() else inside[place]
            rows[:, target] = self._draw(rows, target, known, wanted, domains[target], rng)
            known.append(target)
        for target in rest:
            wanted = within(self.legal[target], self.rows[:, target])
            rows[:, target] = self._draw(rows, target, known, wanted, domains[target], rng)
            known.append(target)
        return rows

    def _draw(
        self,
        rows: Floats,
        target: int,
        known: Sequence[int],
        wanted: Mask,
        domain: Domain,
        rng: np.random.Generator,
    ) -> Floats:
        """A value of the column for each row: that of a wanted donor of its leaf, [m]."""
        if not wanted.any():
            return anywhere(domain, len(rows), rng)
        column: Floats = self.rows[:, target]
        found: Floats = column[self._chosen(rows, target, known, wanted, rng.random(len(rows)))]
        return found

    def _chosen(
        self, rows: Floats, target: int, known: Sequence[int], wanted: Mask, chance: Floats
    ) -> Rows:
        """The donor of each row, [m].

        A leaf without a wanted one asks the node above it, up to the root: all rows.
        """
        if not known:
            donors = np.flatnonzero(wanted)
            return np.asarray(donors[(chance * len(donors)).astype(np.int64)])
        tree = self.tree(target, known)
        node = tree.leaves(rows).astype(np.int64)
        if wanted.all():
            start, count = tree.start[node], tree.stop[node] - tree.start[node]
            return np.asarray(tree.donors[start + (chance * count).astype(np.int64)], np.int64)
        marked = wanted[tree.donors]
        before = np.concatenate([[0], np.cumsum(marked)])
        up = _nearest_with(before, tree)
        node = up[node]
        first, last = before[tree.start[node]], before[tree.stop[node]]
        chosen = np.flatnonzero(marked)[first + (chance * (last - first)).astype(np.int64)]
        return np.asarray(tree.donors[chosen], dtype=np.int64)

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Everything needed to restore it: trees are grown again."""
        return {
            "rows": self.rows,
            "order": np.array(self.order, dtype=np.int64),
            "least": np.array([self.least]),
            "gain": np.array([self.gain]),
        }


def _nearest_with(before: NDArray[np.int64], tree: DonorTree | PartedTree) -> NDArray[np.int64]:
    """Of each node, itself or the nearest node above it that has a wanted donor, [nodes]."""
    has = before[tree.stop] > before[tree.start]
    up = np.arange(len(has))
    while not has[up].all():
        up = np.where(has[up], up, tree.parent[up])
    return up


@registry.add("synthesizer", "cart")
class SequentialTrees:
    """Column by column, from measured rows that are like the row so far; learnt in a second."""

    name = "cart"

    @staticmethod
    def fit(
        X: Floats, space: Space, *, seed: int, settings: SynthesisSettings, tell: Tell
    ) -> DonorTrees:
        """Grow the trees: labels of outcomes first, then context, knobs, numbers of outcomes."""
        del seed  # nothing is left to chance until rows are drawn
        order = sorted(range(len(space)), key=lambda j: _place(space.parameters[j]))
        chosen = settings.cart
        learnt = DonorTrees(np.array(X), space, tuple(order), chosen.least, chosen.gain)
        for place, target in enumerate(order):
            tell("growing trees", place, len(order))
            if place:
                learnt.tree(target, order[:place])
        return learnt

    @staticmethod
    def restore(arrays: Arrays, space: Space) -> DonorTrees:
        """What was learnt and gave these arrays."""
        found, _ = checked(arrays, _ARRAYS, "the saved synthesizer", {"columns": len(space)})
        order = found["order"].tolist()
        if sorted(order) != list(range(len(space))):
            raise damaged("the saved synthesizer", "its order of columns is none")
        check_labels(found["rows"], space)
        return DonorTrees(
            found["rows"], space, tuple(order), int(found["least"][0]), float(found["gain"][0])
        )


def _place(parameter: Number | Category) -> int:
    """When a column is drawn, by its role and kind."""
    if parameter.role is Role.OUTCOME and isinstance(parameter, Category):
        return _FIRST
    return _ORDER.index(parameter.role)


def check_labels(rows: Floats, space: Space) -> None:
    """Refuse saved rows with a label that the space does not have: loops in C would follow it."""
    for column, parameter in zip(rows.T, space, strict=True):
        if isinstance(parameter, Category):
            bad = (column < 0) | (column >= len(parameter.values)) | (column != np.floor(column))
            if bad.any():
                raise damaged("the saved synthesizer", f"{parameter.name} has an unknown label")
