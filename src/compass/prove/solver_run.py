"""One run of the CP-SAT solver on a model, and the configuration that its solution stands for."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from compass.generate.base import Floats
from compass.generate.repair import restore_forced
from compass.generate.score import score
from compass.generate.task import SearchTask
from compass.prove.model import COST_UNIT, SolverModel
from compass.prove.rounding import repair_rounding
from compass.prove.subproblem import SolveResult, SolveStatus, Subproblem

_AGAIN = 400  # solutions that only rounding allowed: so many are put aside before giving up


class SolverRun:
    """The solver at work on one model; rules and goals have been added to it."""

    def __init__(self, task: SearchTask, model: SolverModel, subproblem: Subproblem) -> None:
        from ortools.sat.python import cp_model

        self.task, self.model, self.subproblem = task, model, subproblem
        self.unit, self.objective, self.error = 1.0, None, 0.0
        self.ortools = cp_model
        if subproblem.minimise == "cost":
            self._by_cost()
        elif subproblem.minimise == "objective":
            assert subproblem.objective is not None
            total = model.total(subproblem.objective.terms, subproblem.objective.scale)
            self.unit, self.objective = float(total.unit), total.expr
            self.error = total.error
        if self.objective is not None and not isinstance(self.objective, int):
            model.cp.minimize(self.objective)

    def _by_cost(self) -> None:
        budget = self.subproblem.budget
        largest = (
            budget
            if math.isfinite(budget)
            else sum(float(axis.cost.max()) for axis in self.model.axes)
        )
        self.unit = COST_UNIT * 2.0 ** max(0, math.ceil(math.log2(max(largest, 1.0))))
        self.objective = self.model.cost(self.unit)
        if math.isfinite(budget):
            self.model.add(self.objective <= math.floor(budget / self.unit) + 1)

    def run(self) -> SolveResult:
        """Solve until a solution is a configuration that really does what is wanted."""
        bound: float | None = None
        for _ in range(_AGAIN):
            engine = self.ortools.CpSolver()
            status = self._optimise(engine)
            if status == self.ortools.INFEASIBLE:
                # What only rounding allowed is excluded; nothing else was found.
                return SolveResult(SolveStatus.INFEASIBLE)
            bound = self._bound(engine, status)
            if status not in (self.ortools.OPTIMAL, self.ortools.FEASIBLE):
                return SolveResult(SolveStatus.UNKNOWN, bound, timed_out=True)
            ended = SolveStatus.OPTIMAL if status == self.ortools.OPTIMAL else SolveStatus.FEASIBLE
            cells, values = self._read(engine)
            x = self._real(cells, values)
            if x is not None:
                return SolveResult(ended, bound, x, timed_out=ended is SolveStatus.FEASIBLE)
            if not self._exclude(cells, values):
                return SolveResult(SolveStatus.UNKNOWN, bound)
        return SolveResult(SolveStatus.UNKNOWN, bound)

    def _optimise(self, engine: Any) -> Any:
        self.model.deadline.check()
        parameters = engine.parameters
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
        parameters.max_time_in_seconds = self.model.deadline.left
        return engine.solve(self.model.cp)

    def _bound(self, engine: Any, status: Any) -> float | None:
        if self.objective is None:
            return None
        if isinstance(self.objective, int):
            return self.objective * self.unit - self.error
        if status == self.ortools.UNKNOWN and not math.isfinite(engine.best_objective_bound):
            return None
        return float(engine.best_objective_bound) * self.unit - self.error

    def _read(self, engine: Any) -> tuple[list[int], list[int | None]]:
        """The cell of every axis, and its whole number where rules gave it one."""
        cells, values = [], []
        for axis in self.model.axes:
            variables = self.model.columns[axis.name]
            below = [engine.boolean_value(one) for one in variables.upto]
            cells.append(below.index(True) if True in below else len(below))
            values.append(None if variables.var is None else int(engine.value(variables.var)))
        return cells, values

    def _real(self, cells: Sequence[int], values: Sequence[int | None]) -> Floats | None:
        """The configuration that a solution stands for, if it really does what is wanted."""
        task = self.task
        near, exact = task.start.copy(), task.start.copy()
        for axis, cell, value in zip(self.model.axes, cells, values, strict=True):
            near[axis.column] = exact[axis.column] = axis.nearest[cell]
            if value is not None:
                variables = self.model.columns[axis.name]
                exact[axis.column] = variables.decoded(cell, value)
        X = restore_forced(
            task, np.stack([near, repair_rounding(task, exact, self._gridless(cells))])
        )
        scored = score(task, X)
        fine = (
            (scored.violation == 0)
            & (scored.valid <= 0)
            & self.subproblem.reached(scored.preference)
        )
        if not fine.any():
            return None
        best = np.flatnonzero(fine)
        return np.asarray(X[best[np.argmin(scored.proximity[best])]])

    def _gridless(self, cells: Sequence[int]) -> dict[int, tuple[float, float, float]]:
        """Columns without a grid whose value rules speak of: their cells and their units."""
        found = {}
        for axis, cell in zip(self.model.axes, cells, strict=True):
            variables = self.model.columns[axis.name]
            if variables.gridless and not (axis.none and cell == len(axis) - 1):
                low = max(float(axis.first[cell]), axis.domain.low)
                high = min(float(axis.last[cell]), axis.domain.high)
                found[axis.column] = (low, high, float(variables.unit))
        return found

    def _exclude(self, cells: Sequence[int], values: Sequence[int | None]) -> bool:
        """Exclude a solution that only rounding allowed; False: no exact statement can."""
        x, vars_, wholes = self.task.start.copy(), [], []
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
        scored = score(self.task, x[None, :])
        if scored.valid[0] > 0 or not self.subproblem.reached(scored.preference)[0]:
            # The predictions are the same in all of these cells: none of them does it.
            self.model.forbid(literals)
            return True
        if exact and vars_:
            inside = self.model.cp.new_bool_var("")
            self.model.cp.add_bool_or([inside, *(~literal for literal in literals)])
            self.model.cp.add_forbidden_assignments(vars_, [wholes]).only_enforce_if(inside)
        return exact and bool(vars_)
