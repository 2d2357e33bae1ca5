"""The best changes of two parameters at a time, found exactly on models made of trees."""

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from compass.domain.space import Number
from compass.generate.base import Bools, Columns, Floats
from compass.generate.blocks import Block, ColumnValues
from compass.generate.linear_rules import LinearRules, is_linear
from compass.generate.objectives import sign
from compass.generate.planes import Planes, RawTargets, best_of_planes
from compass.generate.repair import restore_forced, rule_violation
from compass.generate.score import MARGIN, ScoredCandidates, order, score
from compass.generate.task import SearchTask
from compass.prepare.geometry import column_costs, column_distances
from compass.prepare.legal import legal_mask, snap
from compass.rules import Rule

if TYPE_CHECKING:
    from compass.model.trees.joined import Joined

_VALUES = 96  # values of a column on a plane
_LINE = 4096  # values of a column that is looked at alone
_COLUMNS = 20  # of more columns, only some pairs are looked at
_FEW = 32  # values of a column for each of which the others' boundaries are looked at
_STEPS = 12  # improvements of one configuration before it is left as it is


@dataclass(frozen=True)
class PairwiseSearch:
    """A local search that moves two columns at a time, each pair to its best values."""

    task: SearchTask
    trees: "Joined"
    linear_rules: LinearRules
    others: tuple[Rule, ...]  # rules that are not linear
    targets: RawTargets
    columns: Columns  # [c] those that may move
    values: tuple[Floats, ...]  # per column, ascending
    costs: tuple[Floats, ...]  # per column: what each value adds to the proximity

    def around(self, x: Floats, budget: float = np.inf) -> Floats:
        """For every two columns the best configuration that differs from x [d] in them alone.

        Only changes of the two columns that cost less than `budget` count.
        """
        return self._moves(x, [(a, b, budget) for a, b in self._pairs(x)])

    def along(self, x: Floats, budget: float = np.inf) -> Floats:
        """For every column the best configuration that differs from x [d] in it alone."""
        return self._moves(x, [(a, a, budget) for a in range(len(self.columns))])

    def descend(self, incumbent: ScoredCandidates) -> ScoredCandidates:
        """A configuration improved two columns at a time until that no longer helps.

        In the end columns of which planes hold only some values are looked at alone, in all.
        """
        for _ in range(_STEPS):
            better = self._better(incumbent, self._budgets(incumbent, self._pairs(incumbent.X[0])))
            if better is None:
                moved = np.flatnonzero(
                    incumbent.X[0, self.columns] != self.task.start[self.columns]
                )
                lines = [(int(a), int(a)) for a in moved if len(self.values[a]) > _VALUES]
                better = self._better(incumbent, self._budgets(incumbent, lines))
            if better is None or self.task.timed_out:
                break
            incumbent = better
        return incumbent

    def _better(
        self, incumbent: ScoredCandidates, wanted: list[tuple[int, int, float]]
    ) -> ScoredCandidates | None:
        """The best of these planes, if it is better than the incumbent."""
        moved = self._moves(incumbent.X[0], wanted)
        if not len(moved):
            return None
        both = ScoredCandidates.join(
            [incumbent, score(self.task, restore_forced(self.task, moved))]
        )
        best = both.take(order(self.task, both)[:1])
        return None if np.array_equal(best.X, incumbent.X) else best

    def _pairs(self, x: Floats) -> list[tuple[int, int]]:
        """Positions in `columns`; a single column makes a plane with itself.

        Where there are many columns: those that the trees ask for most, and those that moved.
        """
        n = len(self.columns)
        if n == 1:
            return [(0, 0)]
        if n <= _COLUMNS:
            return list(combinations(range(n), 2))
        moved = np.flatnonzero(x[self.columns] != self.task.start[self.columns])[:_COLUMNS]
        asked = self.trees.nodes["feature"]
        often = np.bincount(asked[asked >= 0], minlength=len(x))[self.columns]
        leading = np.argsort(-often, kind="stable")[:_COLUMNS]
        return list(combinations(sorted({*map(int, leading), *map(int, moved)}), 2))

    def _budgets(
        self, incumbent: ScoredCandidates, pairs: list[tuple[int, int]]
    ) -> list[tuple[int, int, float]]:
        """How much two columns may cost: less than now where only the cost can improve."""
        cheaper = self.task.proximity and not self.targets.sign.any() and incumbent.valid[0] <= 0
        if not cheaper or incumbent.violation[0] > 0:
            return [(a, b, np.inf) for a, b in pairs]
        now = self._cost_of(incumbent.X[0])
        return [(a, b, float(now[a] + (now[b] if b != a else 0.0))) for a, b in pairs]

    def _cost_of(self, x: Floats) -> Floats:
        task = self.task
        apart = column_distances(x[None, :], task.start, task.geometry)[0]
        return np.asarray((apart * task.geometry.weight)[self.columns])

    def _moves(self, x: Floats, wanted: list[tuple[int, int, float]]) -> Floats:
        """The best configuration [d] of each wanted plane that has one, [m, d]."""
        planes, values, costs = self._planes(x, wanted)
        pairs = planes.columns
        if not len(pairs):
            return np.empty((0, len(x)))
        margin = 0.0 if self.task.proximity else MARGIN
        position = best_of_planes(
            self.trees, x, planes, values, costs, self.targets, self.linear_rules, margin
        )
        line = pairs[:, 0] == pairs[:, 1]
        position[line, 1] = position[line, 0]
        found = np.flatnonzero(position[:, 0] >= 0)
        moved = np.repeat(x[None, :], len(found), axis=0)
        begin = values.start[pairs[found]]
        rows = np.arange(len(found))
        for side in (0, 1):
            at = begin[:, side] + position[found, side]
            moved[rows, pairs[found, side]] = values.value[at]
        return moved

    def _planes(
        self, x: Floats, wanted: list[tuple[int, int, float]]
    ) -> tuple[Planes, ColumnValues, Floats]:
        """The planes worth looking at, the values of their columns, and what those cost."""
        task, names = self.task, self.task.space.names
        wrong = [] if rule_violation(task, x[None, :])[0] == 0 else list(task.rules)
        wrong = [rule for rule in wrong if not rule.holds(x[None, :])[0]]
        mine = [names[c] for c in self.columns]
        kept, values, costs = [], [], []
        widest = max((budget for *_, budget in wanted), default=0.0)
        turns = self.linear_rules.turns(x)[:, self.columns]
        wanted = [(a, b, budget) for a, b, budget in wanted if budget > 0]
        used = {index for a, b, _ in wanted for index in (a, b)}
        room = _VALUES if any(a != b for a, b, _ in wanted) else _LINE
        for index in range(len(self.columns)):
            value, cost = np.empty(0), np.empty(0)
            if index in used:
                value, cost = self._options(x, index, turns, widest, room)
            values.append(value)
            costs.append(cost)
        allowed, starts, size = [], [], 0
        for a, b, budget in wanted:
            both = {mine[a], mine[b]}
            if any(not both & set(rule.names) for rule in wrong):
                continue
            kept.append((a, b, budget))
            mask = self._allowed(x, a, b, values[a], values[b])
            starts.append(-1 if mask is None else size)
            if mask is not None:
                allowed.append(mask.ravel())
                size += mask.size
        planes = Planes(
            self.columns[np.array([(a, b) for a, b, _ in kept], dtype=np.int64).reshape(-1, 2)],
            np.array([budget for *_, budget in kept]),
            np.array(starts, dtype=np.int64),
            np.concatenate(allowed) if allowed else np.empty(0, dtype=np.bool_),
        )
        listed = dict(zip(map(int, self.columns), values, strict=True))
        return planes, ColumnValues.of(len(x), listed), np.concatenate(costs)

    def _options(
        self, x: Floats, index: int, turns: Floats, budget: float, room: int
    ) -> tuple[Floats, Floats]:
        """Values of a column within budget and their costs: listed ones, and where rules turn."""
        column = int(self.columns[index])
        value, cost = self.values[index], self.costs[index]
        points = turns[:, index]
        points = points[np.isfinite(points)]
        if len(points):
            points = grid_points(self.task, column, points)
            points = points[_proximity_costs(self.task, column, points) < budget]
        points = np.append(points, x[column])
        at = np.minimum(np.searchsorted(value, points), len(value) - 1)
        if (value[at] != points).any():
            value = np.union1d(value, points)
            cost = _proximity_costs(self.task, column, value)
        if budget < np.inf:
            near = np.flatnonzero((cost < budget) | (value == x[column]))
            value, cost = value[near], cost[near]
        if len(value) > room:
            few = _spread(np.abs(value - x[column]), room)
            value, cost = value[few], cost[few]
        return value, cost

    def _allowed(self, x: Floats, a: int, b: int, va: Floats, vb: Floats) -> Bools | None:
        """Points [na, nb] that the rules on these columns allow; None: no rule speaks of them."""
        names = self.task.space.names
        first, second = names[self.columns[a]], names[self.columns[b]]
        fine: Bools | None = None
        for rule in self.others:
            if first not in rule.names and second not in rule.names:
                continue
            columns = {n: x[[names.index(n)]][:, None] for n in rule.names}
            columns |= {second: vb[None, :], first: va[:, None]}
            holds = rule.holds_for({n: columns[n] for n in rule.names})
            holds = np.broadcast_to(holds, (len(va), len(vb) if a != b else 1))
            fine = holds if fine is None else fine & holds
        return fine


def grid_points(task: SearchTask, column: int, points: Floats) -> Floats:
    """The legal values of a column at and next to these points."""
    parameter = task.space.parameters[column]
    if not len(points) or not isinstance(parameter, Number):
        return np.empty(0)
    step = parameter.step or 0.0
    near = np.add.outer(points, [-step, 0.0, step] if step else [0.0]).ravel()
    snapped = snap(parameter, near)
    return np.asarray(snapped[legal_mask(parameter, snapped)])


def _proximity_costs(task: SearchTask, column: int, values: Floats) -> Floats:
    """What each value of a column adds to the proximity; 0 where closeness is not wanted."""
    if not task.proximity:
        return np.zeros(len(values))
    return column_costs(values, task.start, column, task.geometry)


def pairwise_search(task: SearchTask, groups: list[Block]) -> PairwiseSearch | None:
    """The search of a task; None where the model is not made of trees or nothing is wanted."""
    from compass.model.trees.joined import join as join_trees

    parts = task.predict.parts
    if parts is None or not task.targets or not len(task.movable):
        return None
    wanted = list(dict.fromkeys(target.name for target in task.targets))
    if len({forest.single for name in wanted for forest in parts[name]}) > 1:
        return None
    by_column = {
        int(column): values
        for block in groups
        for column, values in zip(block.columns, block.values, strict=True)
    }
    columns = np.array(sorted(by_column), dtype=np.int64)
    linear = task.linear_rules
    values = {int(c): _cheapest_of_cells(task, int(c), by_column[int(c)]) for c in columns}
    values = {c: np.union1d(v, _turning_points(task, linear, values, c)) for c, v in values.items()}
    trees = join_trees([parts[name] for name in wanted])
    return PairwiseSearch(
        task,
        trees,
        linear,
        others=tuple(rule for rule in task.rules if not is_linear(rule)),
        targets=_raw_targets(task, wanted, trees),
        columns=columns,
        values=tuple(values.values()),
        costs=tuple(_proximity_costs(task, c, v) for c, v in values.items()),
    )


def _turning_points(
    task: SearchTask, linear: LinearRules, values: dict[int, Floats], column: int
) -> Floats:
    """Values of a column at which a sum turns true for some value of one other column."""
    points = []
    for r in np.flatnonzero(linear.factor[:, column]):
        factor = linear.factor[r]
        rest = float(linear.constant[r] + factor @ task.start) - factor[column] * task.start[column]
        for other, few in values.items():
            if other != column and factor[other] and len(few) <= _FEW:
                moved = rest + factor[other] * (few - task.start[other])
                points.append(-moved / factor[column])
    return grid_points(task, column, np.concatenate(points) if points else np.empty(0))


def reaching(task: SearchTask, best: ScoredCandidates) -> SearchTask:
    """The task of reaching the values of `best`, within the tolerance, by a small change."""
    predicted = task.predict(best.X[:1])
    tolerance = task.settings.search.tolerance
    targets = []
    for target in task.targets:
        if target.direction is not None:
            value = float(predicted[target.name][0, 0])
            slack = tolerance * max(abs(value), 1e-12)
            if target.direction == "minimize":
                bounds = {"high": min(target.high, value + slack)}
            else:
                bounds = {"low": max(target.low, value - slack)}
            target = target.model_copy(update={"direction": None, **bounds})  # noqa: PLW2901
        targets.append(target)
    return replace(task, targets=tuple(targets))


def _raw_targets(task: SearchTask, wanted: list[str], trees: "Joined") -> RawTargets:
    """The targets in terms of raw outputs: what a link does to them is undone.

    Where contexts cannot be averaged before the link, the first of them stands for all: planes
    only propose, what they propose is predicted in full.
    """
    parts = task.predict.parts
    assert parts is not None
    first, rows = {}, []
    group = 0
    for name in wanted:
        first[name] = int(trees.groups[group, 0])
        group += int(trees.share[trees.groups[group, 3]])
    for target in task.targets:
        slot, link = first[target.name], parts[target.name][0].link
        outputs = len(parts[target.name][0].offset)
        low, high, scale, wide, label = target.low, target.high, target.scale, 1, 0
        if target.is_class:
            label = task.labels[target.name]
            low, high, scale, wide = -np.inf, np.inf, 1.0, outputs
            if link == "sigmoid":
                edge = float(np.log(least / (1 - least)) if (least := target.least) > 0.5 else 0.0)
                low, high, wide = (edge, np.inf, 1) if label == 1 else (-np.inf, -edge, 1)
            elif link == "identity" and target.least >= 0.5:
                # A score of half or more is ahead of all others: one output tells.
                slot, label, low, wide = slot + label, 0, target.least, 1
        elif link == "exp":
            low, high = (float(np.log(v)) if v > 0 else -np.inf for v in (low, high))
            scale = 1.0
        rows.append((slot, wide, label, low, high, scale, sign(target)))
    slots, wides, labels, *numbers = (list(column) for column in zip(*rows, strict=True))
    low_, high_, scale_, sign_ = (np.array(column, dtype=np.float64) for column in numbers)
    return RawTargets(
        slot=np.array(slots, dtype=np.int64),
        wide=np.array(wides, dtype=np.int64),
        wanted=np.array(labels, dtype=np.int64),
        low=low_,
        high=high_,
        scale=scale_,
        sign=sign_,
    )


def _cheapest_of_cells(task: SearchTask, column: int, values: Floats) -> Floats:
    """One value of every cell of a column, the cheapest; all of them where there are few."""
    edges = task.predict.edges(column)
    if len(values) <= _VALUES or edges is None:
        return values
    cell = np.searchsorted(edges, values.astype(np.float32).astype(np.float64))
    best = np.lexsort((_proximity_costs(task, column, values), cell))
    firsts = best[np.unique(cell[best], return_index=True)[1]]
    return np.asarray(values[np.sort(firsts)])


def _spread(distance: Floats, room: int) -> NDArray[np.int64]:
    """Positions of as many as fit on a plane: mostly the nearest, some from all over."""
    nearest = np.argsort(distance, kind="stable")[: 2 * room // 3]
    over = np.linspace(0, len(distance) - 1, room // 3).astype(np.int64)
    return np.union1d(nearest, over)
