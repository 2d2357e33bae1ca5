"""One question to the solver: what must hold, what is made small, and what came of it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np

from compass.domain.target import Target
from compass.generate.base import Bools, Floats
from compass.generate.repair import settle
from compass.generate.score import Scored, score
from compass.generate.task import SearchTask
from compass.prove.axes import all_axes, within
from compass.prove.clock import Clock, OutOfTime
from compass.prove.forced import keep_unforced
from compass.prove.leaves import TooMany, leaves_of
from compass.prove.mend import mended
from compass.prove.model import COST_UNIT, Model, Terms
from compass.prove.outcomes import Band, Goal, Outcome, band_of, linked, unlinked
from compass.prove.quantity import Quantity
from compass.prove.shrink import Reach, shrink
from compass.prove.state_rule import Stater
from compass.rules import Domain, Rule, domains_of
from compass.rules.narrow import narrow

_LEAVES = 1_500_000  # leaves that are looked at
_PER_LEAF = 2.5e-5  # seconds to write one down for the solver, and to read it there
_AGAIN = 400  # solutions that only rounding allowed: so many are put aside before giving up


class End(Enum):
    """How a question ended."""

    IMPOSSIBLE = "nothing can do this"
    BEST = "the best there is"
    SOME = "something, perhaps not the best"
    OPEN = "nothing found, nothing excluded"


@dataclass(frozen=True)
class Value:
    """What is minimised: a sum over raw outcomes, smaller is better."""

    terms: Terms
    scale: float  # what rounding is measured by
    target: Target | None = None  # the only directed target; None: several, in units of scales
    link: str = "identity"

    def raw(self, preference: float) -> float:
        """The largest sum whose value, in standard deviations, is at most `preference`."""
        if self.target is None:
            return preference
        y = preference * self.target.scale
        if self.target.direction == "minimize":
            return unlinked(self.link, -math.inf, y)[1]
        return -unlinked(self.link, -y, math.inf)[0]

    def preference(self, raw: float) -> float:
        """The value of a sum, in standard deviations."""
        if self.target is None:
            return raw
        sign = 1.0 if self.target.direction == "minimize" else -1.0
        return sign * linked(self.link, sign * raw) / self.target.scale


@dataclass(frozen=True)
class Wanted:
    """What must hold, and what is made small: a value, else the cost."""

    rules: tuple[Rule, ...]
    outcome_rules: tuple[Rule, ...]
    goals: tuple[Goal, ...]
    budget: float = math.inf  # of weighted distance
    value: Value | None = None
    most: float = math.inf  # of the value, as a raw sum
    minimise: str = "cost"  # cost, value or nothing


@dataclass(frozen=True)
class Run:
    """What the solver said."""

    end: End
    bound: float | None = None  # no smaller cost, or raw value, is possible
    x: Floats | None = None  # a configuration that really does it
    left_out: tuple[str, ...] = ()
    cut: bool = False  # whether time, or the size of the model, ended it
    heavy: bool = False  # it was not asked: it has more leaves than the caller wants


@dataclass
class Question:
    """An task with its outcomes at hand; `ask` may be called many times."""

    task: SearchTask
    outcomes: Mapping[str, Outcome]
    goals: tuple[Goal, ...]
    clock: Clock
    resolution: float = 0.0
    left_out: dict[str, None] = field(default_factory=dict)

    def ask(self, wanted: Wanted, *, light: int | None = None) -> Run:
        """Answer within the time; OutOfTime and too large models end as OPEN.

        With `light`, a question with more leaves than that is not asked.
        """
        try:
            return self._ask(wanted, light)
        except (OutOfTime, TooMany):
            return Run(End.OPEN, cut=True)

    def _ask(self, wanted: Wanted, light: int | None) -> Run:
        reach = self.reach(wanted)
        if reach is None or reach.empty:
            return Run(End.IMPOSSIBLE)
        leaves = sum(map(len, reach.leaves.values()))
        if light is not None and leaves > light:
            return Run(End.OPEN, heavy=True)
        if leaves * _PER_LEAF > self.clock.left:
            raise TooMany
        model = Model(self.task, reach.axes, self.outcomes, reach.leaves, self.clock)
        left_out = self._state(model, wanted)
        self.left_out |= dict.fromkeys(left_out)
        run = _Solving(self, model, wanted).run()
        return Run(run.end, run.bound, run.x, left_out, run.cut)

    def reach(self, wanted: Wanted) -> Reach | None:
        """Cells and leaves that could take part; None: the rules leave no values."""
        self.clock.check()
        domains = self._domains(wanted)
        if domains is None:
            return None
        used = {goal.target.name for goal in wanted.goals}
        used |= {n for rule in wanted.outcome_rules for n in rule.names if n in self.outcomes}
        if wanted.value is not None:
            used |= {name for name, _ in wanted.value.terms}
        outcomes = {name: self.outcomes[name] for name in self.outcomes if name in used}
        forests = [forest for outcome in outcomes.values() for forest in outcome.forests]
        axes = all_axes(self.task, domains, forests)
        if any(not len(axis) for axis in axes):
            return None
        bands = [band for goal in wanted.goals for band in goal.bands]
        bands += _value_bands(wanted)
        leaves = {}
        for name, outcome in outcomes.items():
            own = [band for band in bands if band.outcome == name]
            leaves[name] = leaves_of(
                outcome, own, axes, wanted.budget, limit=_LEAVES, clock=self.clock
            )
            if not len(leaves[name]):
                return None
        return shrink(Reach(axes, leaves), outcomes, bands, wanted.budget, self.clock)

    def _domains(self, wanted: Wanted) -> dict[str, Domain] | None:
        task = self.task
        names = task.space.names
        movable = [names[j] for j in task.movable]
        fixed = {n: float(v) for n, v in zip(names, task.start, strict=True) if n not in movable}
        tight = narrow(wanted.rules, domains_of(task.space, movable), fixed)
        if tight is None:
            return None
        near = {n: within(task, d, names.index(n), wanted.budget) for n, d in tight.items()}
        if any(domain.empty for domain in near.values()):
            return None
        return narrow(wanted.rules, near, fixed)

    def _state(self, model: Model, wanted: Wanted) -> tuple[str, ...]:
        """Add rules and goals to a model; the texts of rules that could not be said."""
        predicted = self._predicted(model, wanted)
        left_out = [
            rule.text for rule in wanted.rules if not Stater(model, rule, predicted).state()
        ]
        for rule in wanted.outcome_rules:
            bounded = band_of(rule, self.outcomes)
            if bounded is not None:
                model.hold(bounded, 1.0)
            elif not Stater(model, rule, predicted).state():
                left_out.append(rule.text)
        if len(self.task.forced):
            keep_unforced(model, predicted)
        for goal in wanted.goals:
            for band in goal.bands:
                model.hold(band, scale_of(self.outcomes[band.outcome], goal.target))
        if wanted.value is not None and math.isfinite(wanted.most):
            total = model.total(wanted.value.terms, wanted.value.scale)
            steps = math.floor((wanted.most + total.error) / float(total.unit)) + 1
            model.add(total.expr <= steps)
        return tuple(left_out)

    def _predicted(self, model: Model, wanted: Wanted) -> dict[str, Quantity]:
        """Outcomes that rules may speak of: numbers whose prediction is a plain sum."""
        found = {}
        spoken = {name for rule in wanted.outcome_rules for name in rule.names}
        for name in model.leaves:
            outcome = self.outcomes[name]
            if name in spoken and outcome.link == "identity" and outcome.raws == 1:
                scale = next((t.scale for t in self.task.targets if t.name == name), None)
                found[name] = model.total(((name, np.ones(1)),), scale or _spread(model, name))
        return found

    def contains(self, wanted: Wanted, x: Floats) -> bool:
        """Whether the cells that are left hold this configuration."""
        reach = self.reach(wanted)
        if reach is None or reach.empty:
            return False
        return all(axis.cell_of(float(x[axis.column])) is not None for axis in reach.axes)


def scale_of(outcome: Outcome, target: Target) -> float:
    """What rounding a raw sum is measured by: its own scale where it is what is predicted."""
    return target.scale if outcome.link == "identity" and not target.is_class else 1.0


def _spread(model: Model, name: str) -> float:
    value = model.leaves[name].value
    trees = len(np.unique(model.leaves[name].tree))
    return max(float(value.std()) * trees, 1e-9)


def _value_bands(wanted: Wanted) -> list[Band]:
    if wanted.value is None or not math.isfinite(wanted.most) or len(wanted.value.terms) > 1:
        return []
    name, weights = wanted.value.terms[0]
    return [Band(name, weights, -math.inf, wanted.most)]


class _Solving:
    """The solver at work on one model."""

    def __init__(self, question: Question, model: Model, wanted: Wanted) -> None:
        from ortools.sat.python import cp_model

        self.question, self.model, self.wanted = question, model, wanted
        self.unit, self.objective, self.error = 1.0, None, 0.0
        self.cp = cp_model
        if wanted.minimise == "cost":
            self._by_cost()
        elif wanted.minimise == "value":
            assert wanted.value is not None
            total = model.total(wanted.value.terms, wanted.value.scale)
            self.unit, self.objective = float(total.unit), total.expr
            self.error = total.error
        if self.objective is not None and not isinstance(self.objective, int):
            model.solver.minimize(self.objective)

    def _by_cost(self) -> None:
        budget = self.wanted.budget
        largest = (
            budget
            if math.isfinite(budget)
            else sum(float(axis.cost.max()) for axis in self.model.axes)
        )
        self.unit = COST_UNIT * 2.0 ** max(0, math.ceil(math.log2(max(largest, 1.0))))
        self.objective = self.model.cost(self.unit)
        if math.isfinite(budget):
            self.model.add(self.objective <= math.floor(budget / self.unit) + 1)

    def run(self) -> Run:
        bound: float | None = None
        for _ in range(_AGAIN):
            solver = self.cp.CpSolver()
            status = self._solve(solver)
            if status == self.cp.INFEASIBLE:
                # What was put aside is excluded; nothing else was found.
                return Run(End.IMPOSSIBLE)
            bound = self._bound(solver, status)
            if status not in (self.cp.OPTIMAL, self.cp.FEASIBLE):
                return Run(End.OPEN, bound, cut=True)
            end = End.BEST if status == self.cp.OPTIMAL else End.SOME
            cells, values = self._read(solver)
            x = self._real(cells, values)
            if x is not None:
                return Run(end, bound, x, cut=end is End.SOME)
            if not self._put_aside(cells, values):
                return Run(End.OPEN, bound)
        return Run(End.OPEN, bound)

    def _solve(self, solver: Any) -> Any:
        self.model.clock.check()
        parameters = solver.parameters
        parameters.num_workers = 1  # the same answer every time
        parameters.random_seed = 1
        # A wrong step of the solver would be a wrong proof, so what has been seen to go wrong in
        # OR-Tools 9.15 is off: presolve that cuts the optimum off (its issue 5293) and precedences
        # that make feasible models infeasible. Models that are shrunk already need neither.
        parameters.cp_model_presolve = False
        parameters.auto_detect_greater_than_at_least_one_of = False
        parameters.symmetry_level = 0
        parameters.cp_model_probing_level = 0
        # Relaxations pay only where real numbers have to be found, or numbers made of others:
        # without them, bounds of those may creep towards each other for minutes.
        real = any(variables.gridless for variables in self.model.columns.values())
        parameters.linearization_level = int(real or self.model.composed)
        parameters.max_time_in_seconds = self.model.clock.left
        return solver.solve(self.model.solver)

    def _bound(self, solver: Any, status: Any) -> float | None:
        if self.objective is None:
            return None
        if isinstance(self.objective, int):
            return self.objective * self.unit - self.error
        if status == self.cp.UNKNOWN and not math.isfinite(solver.best_objective_bound):
            return None
        return float(solver.best_objective_bound) * self.unit - self.error

    def _read(self, solver: Any) -> tuple[list[int], list[int | None]]:
        """The cell of every axis, and its whole number where rules gave it one."""
        cells, values = [], []
        for axis in self.model.axes:
            variables = self.model.columns[axis.name]
            below = [solver.boolean_value(one) for one in variables.upto]
            cells.append(below.index(True) if True in below else len(below))
            values.append(None if variables.var is None else int(solver.value(variables.var)))
        return cells, values

    def _real(self, cells: Sequence[int], values: Sequence[int | None]) -> Floats | None:
        """The configuration that a solution stands for, if it really does what is wanted."""
        task = self.question.task
        near, told = task.start.copy(), task.start.copy()
        for axis, cell, value in zip(self.model.axes, cells, values, strict=True):
            near[axis.column] = told[axis.column] = axis.nearest[cell]
            if value is not None:
                variables = self.model.columns[axis.name]
                told[axis.column] = variables.decoded(cell, value)
        X = settle(task, np.stack([near, mended(task, told, self._loose(cells))]))
        scored = score(task, X)
        fine = (scored.violation == 0) & (scored.valid <= 0) & self._reaches(scored)
        if not fine.any():
            return None
        best = np.flatnonzero(fine)
        return np.asarray(X[best[np.argmin(scored.proximity[best])]])

    def _loose(self, cells: Sequence[int]) -> dict[int, tuple[float, float, float]]:
        """Columns without a grid whose value rules speak of: their cells and their units."""
        found = {}
        for axis, cell in zip(self.model.axes, cells, strict=True):
            variables = self.model.columns[axis.name]
            if variables.gridless and not (axis.none and cell == len(axis) - 1):
                low = max(float(axis.first[cell]), axis.domain.low)
                high = min(float(axis.last[cell]), axis.domain.high)
                found[axis.column] = (low, high, float(variables.unit))
        return found

    def _put_aside(self, cells: Sequence[int], values: Sequence[int | None]) -> bool:
        """Exclude a solution that only rounding allowed; False: that cannot be said exactly."""
        x, vars_, wholes = self.question.task.start.copy(), [], []
        exact, literals = True, []
        for axis, cell, value in zip(self.model.axes, cells, values, strict=True):
            variables = self.model.columns[axis.name]
            literals += variables.is_cell(cell)
            x[axis.column] = axis.nearest[cell]
            if value is not None:
                x[axis.column] = variables.decoded(cell, value)
                vars_.append(variables.var)
                wholes.append(value)
                exact &= not variables.gridless
        scored = score(self.question.task, x[None, :])
        if scored.valid[0] > 0 or not self._reaches(scored)[0]:
            # The predictions are the same in all of these cells: none of them does it.
            self.model.forbid(literals)
            return True
        if exact and vars_:
            here = self.model.solver.new_bool_var("")
            self.model.solver.add_bool_or([here, *(~literal for literal in literals)])
            self.model.solver.add_forbidden_assignments(vars_, [wholes]).only_enforce_if(here)
        return exact and bool(vars_)

    def _reaches(self, scored: Scored) -> Bools:
        """Whether the value is small enough, [n]."""
        if self.wanted.value is None or not math.isfinite(self.wanted.most):
            return np.ones(len(scored), dtype=bool)
        return np.asarray(scored.preference <= self.wanted.value.preference(self.wanted.most))
