"""A task as a model of the CP-SAT solver: cells, trees, costs and goals."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from compass.generate.base import Floats
from compass.generate.task import SearchTask
from compass.prove.axes import Axis
from compass.prove.deadline import Deadline
from compass.prove.leaves import Leaves
from compass.prove.outcomes import Band, OutcomeSum
from compass.prove.scaled_integer import Expr, Ints, Lit, ScaledInteger
from compass.prove.variables import AxisVars, cost_steps, finer_cost

RESOLUTION = 1e-6  # of an outcome's scale: what rounding leaf values may change a prediction by
Terms = tuple[tuple[str, Floats], ...]  # outcomes and the weights of their raw columns
COST_UNIT = 2.0**-40  # of a weighted distance; a power of two keeps sums exact


@dataclass
class SolverModel:
    """A solver's model of cells and trees; rules, goals and an objective are added to it."""

    task: SearchTask
    axes: tuple[Axis, ...]
    outcomes: Mapping[str, OutcomeSum]
    leaves: Mapping[str, Leaves]
    deadline: Deadline
    cp: Any = None  # the CpModel that everything is added to
    columns: dict[str, AxisVars] = field(default_factory=dict)
    chosen: dict[str, list[Lit]] = field(default_factory=dict)  # per outcome, one per leaf
    composed: bool = False  # a rule needs numbers that are made of columns: products, quotients
    _sums: dict[tuple[tuple[str, bytes], ...], ScaledInteger] = field(default_factory=dict)

    def __post_init__(self) -> None:
        from ortools.sat.python import cp_model

        self.cp = cp_model.CpModel()
        for axis in self.axes:
            self.columns[axis.name] = self._columns(axis)
        for name, leaves in self.leaves.items():
            self.deadline.check()
            self.chosen[name] = self._trees(leaves)

    def made(self, low: int, high: int) -> Expr:
        """A whole number that a rule makes of columns."""
        self.composed = True
        return self.cp.new_int_var(low, high, "")

    def _columns(self, axis: Axis) -> AxisVars:
        new = self.cp.new_bool_var
        upto = [new(f"{axis.name}<={i}") for i in range(len(axis) - 1)]
        for below, above in pairwise(upto):
            self.cp.add_implication(below, above)
        return AxisVars(axis, upto, self.cp, self.task)

    def _trees(self, leaves: Leaves) -> list[Lit]:
        """One literal per leaf, exactly one of each tree, and what each says about the cells."""
        last = [len(axis) - 1 for axis in self.axes]
        upto = [self.columns[axis.name].upto for axis in self.axes]
        size = np.bincount(leaves.tree)
        chosen: list[Lit] = []
        lower, upper = leaves.low > 0, leaves.high < np.array(last, dtype=np.int64)
        low, high = leaves.low.tolist(), leaves.high.tolist()
        some_lower = [np.flatnonzero(row).tolist() for row in lower]
        some_upper = [np.flatnonzero(row).tolist() for row in upper]
        groups: dict[int, list[Lit]] = {}
        for i, tree in enumerate(leaves.tree.tolist()):
            if i % 1000 == 0:
                self.deadline.check()
            only = size[tree] == 1
            literal = True if only else self.cp.new_bool_var("")
            chosen.append(literal)
            if not only:
                groups.setdefault(tree, []).append(literal)
            path = [~upto[a][low[i][a] - 1] for a in some_lower[i]]
            path += [upto[a][high[i][a]] for a in some_upper[i]]
            if path:
                added = self.cp.add_bool_and(path)
                if not only:
                    added.only_enforce_if(literal)
        for members in groups.values():
            self.cp.add_exactly_one(members)
        return chosen

    def start(self, name: str) -> float:
        """The value of a column that does not move."""
        return float(self.task.start[self.task.space.names.index(name)])

    def total(self, terms: Terms, scale: float) -> ScaledInteger:
        """The sum of weights . raw over outcomes; `scale` says what rounding may cost."""
        key = tuple((name, weights.tobytes()) for name, weights in terms)
        if key not in self._sums:
            self._sums[key] = self._sum(terms, scale)
        return self._sums[key]

    def _sum(self, terms: Terms, scale: float) -> ScaledInteger:
        from ortools.sat.python.cp_model import LinearExpr

        values, literals, trees = [], [], 0
        sure, noise = 0.0, 0.0
        ends: list[tuple[Ints, Floats]] = []
        for name, weights in terms:
            leaves, chosen = self.leaves[name], self.chosen[name]
            value = leaves.value @ weights
            free = np.array([literal is not True for literal in chosen], dtype=bool)
            sure += float(value[~free].sum() + self.outcomes[name].offset @ weights)
            every = len(np.unique(leaves.tree))
            largest = float((np.abs(leaves.value) @ np.abs(weights)).max(initial=0.0))
            noise += largest * every * (every + 8) * 2.0**-52
            trees += len(np.unique(leaves.tree[free]))
            values.append(value[free])
            ends.append((leaves.tree[free], value[free]))
            literals += [literal for literal in chosen if literal is not True]
        unit = Fraction(2) ** math.floor(math.log2(2 * RESOLUTION * scale / (trees + 1)))
        whole = np.round(np.concatenate(values) / float(unit)).astype(np.int64)
        base = round(sure / float(unit))
        low, high = base, base
        for tree, value in ends:
            least, most = _ends(tree, np.round(value / float(unit)).astype(np.int64))
            low, high = low + least, high + most
        expr = LinearExpr.weighted_sum(literals, whole.tolist()) + base if trees else base
        error = float(unit) / 2 * (trees + 1) + noise + abs(sure) * 2.0**-50
        return ScaledInteger(expr, unit, low, high, error)

    def hold(self, band: Band, scale: float) -> None:
        """Add a goal's band, widened by everything that rounding may cost."""
        total = self.total(((band.outcome, band.weights),), scale)
        unit = float(total.unit)
        for bound, sign in ((band.high, 1), (band.low, -1)):
            if math.isinf(bound):
                if bound * sign < 0:
                    self.forbid(())
                continue
            slack = total.error + abs(bound) * 2.0**-50
            steps = math.floor((sign * bound + slack) / unit) + 1
            self.add(sign * total.expr <= steps)

    def forbid(self, literals: Sequence[Lit]) -> None:
        """These literals cannot all hold; nothing can, when there are none."""
        self.cp.add_bool_or([~literal for literal in literals])

    def add(self, bound: Any, enforce: Sequence[Lit] = ()) -> None:
        """A linear statement, where the literals hold."""
        if isinstance(bound, bool | np.bool_):
            if not bound:
                self.forbid(enforce)
            return
        added = self.cp.add(bound)
        if enforce:
            added.only_enforce_if(*enforce)

    def cost(self, unit: float) -> Expr:
        """The weighted distance to the start in whole units, from below."""
        total: Expr = 0
        for axis in self.axes:
            variables = self.columns[axis.name]
            steps = variables.cost(cost_steps(axis, unit))
            finer = finer_cost(variables, unit, self.cp)
            if finer is not None:
                self.add(finer >= steps)
                steps = finer
            total = total + steps
        return total


def _ends(tree: Any, whole: Any) -> tuple[int, int]:
    """The sums over trees of the smallest and of the largest leaf."""
    if not len(tree):
        return 0, 0
    order = np.argsort(tree, kind="stable")
    first = np.flatnonzero(np.diff(tree[order], prepend=-1))
    least = np.minimum.reduceat(whole[order], first)
    most = np.maximum.reduceat(whole[order], first)
    return int(least.sum()), int(most.sum())
