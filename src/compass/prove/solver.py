"""Subproblems of one task solved exactly by CP-SAT, within a deadline."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from compass.generate.task import SearchTask
from compass.prove.axes import all_axes, within
from compass.prove.deadline import Deadline, OutOfTime
from compass.prove.forced import keep_unforced
from compass.prove.leaves import TooMany, leaves_of
from compass.prove.model import SolverModel
from compass.prove.outcomes import Band, GoalBands, OutcomeSum, band_of
from compass.prove.region import Region, shrink
from compass.prove.rule_encoder import RuleEncoder
from compass.prove.scaled_integer import ScaledInteger
from compass.prove.solver_run import SolverRun
from compass.prove.subproblem import SolveResult, SolveStatus, Subproblem, scale_of
from compass.rules import Domain, domains_of
from compass.rules.narrow import narrow

_LEAVES = 1_500_000  # leaves that are looked at
_PER_LEAF = 2.5e-5  # seconds to write one down for the solver, and to read it there


@dataclass
class ExactSolver:
    """A task as the CP-SAT solver sees it; `solve` may be called for many subproblems."""

    task: SearchTask
    outcomes: Mapping[str, OutcomeSum]
    goals: tuple[GoalBands, ...]
    deadline: Deadline
    left_out: dict[str, None] = field(default_factory=dict)

    def solve(self, subproblem: Subproblem, *, leaves: int | None = None) -> SolveResult:
        """Solve within the time; OutOfTime and too large models end as UNKNOWN.

        A subproblem with more than `leaves` leaves is not solved.
        """
        try:
            return self._solve(subproblem, leaves)
        except (OutOfTime, TooMany):
            return SolveResult(SolveStatus.UNKNOWN, timed_out=True)

    def _solve(self, subproblem: Subproblem, most: int | None) -> SolveResult:
        region = self.region(subproblem)
        if region is None or region.empty:
            return SolveResult(SolveStatus.INFEASIBLE)
        leaves = sum(map(len, region.leaves.values()))
        if most is not None and leaves > most:
            return SolveResult(SolveStatus.UNKNOWN, too_large=True)
        if leaves * _PER_LEAF > self.deadline.left:
            raise TooMany
        model = SolverModel(self.task, region.axes, self.outcomes, region.leaves, self.deadline)
        left_out = self._encode(model, subproblem)
        self.left_out |= dict.fromkeys(left_out)
        return SolverRun(self.task, model, subproblem).run()

    def region(self, subproblem: Subproblem) -> Region | None:
        """Cells and leaves that could take part; None: the rules leave no values."""
        self.deadline.check()
        domains = self._domains(subproblem)
        if domains is None:
            return None
        used = {goal.target.name for goal in subproblem.goals}
        used |= {n for rule in subproblem.outcome_rules for n in rule.names if n in self.outcomes}
        if subproblem.objective is not None:
            used |= {name for name, _ in subproblem.objective.terms}
        outcomes = {name: self.outcomes[name] for name in self.outcomes if name in used}
        forests = [forest for outcome in outcomes.values() for forest in outcome.forests]
        axes = all_axes(self.task, domains, forests)
        if any(not len(axis) for axis in axes):
            return None
        bands = [band for goal in subproblem.goals for band in goal.bands]
        bands += _objective_bands(subproblem)
        leaves = {}
        for name, outcome in outcomes.items():
            own = [band for band in bands if band.outcome == name]
            leaves[name] = leaves_of(
                outcome, own, axes, subproblem.budget, limit=_LEAVES, deadline=self.deadline
            )
            if not len(leaves[name]):
                return None
        return shrink(Region(axes, leaves), outcomes, bands, subproblem.budget, self.deadline)

    def _domains(self, subproblem: Subproblem) -> dict[str, Domain] | None:
        task = self.task
        names = task.space.names
        movable = [names[j] for j in task.movable]
        fixed = {n: float(v) for n, v in zip(names, task.start, strict=True) if n not in movable}
        tight = narrow(subproblem.rules, domains_of(task.space, movable), fixed)
        if tight is None:
            return None
        near = {n: within(task, d, names.index(n), subproblem.budget) for n, d in tight.items()}
        if any(domain.empty for domain in near.values()):
            return None
        return narrow(subproblem.rules, near, fixed)

    def _encode(self, model: SolverModel, subproblem: Subproblem) -> tuple[str, ...]:
        """Add rules and goals to a model; the texts of rules that cannot be encoded."""
        predicted = self._predicted(model, subproblem)
        left_out = [
            rule.text for rule in subproblem.rules if not RuleEncoder(model, rule, predicted).add()
        ]
        for rule in subproblem.outcome_rules:
            bounded = band_of(rule, self.outcomes)
            if bounded is not None:
                model.hold(bounded, 1.0)
            elif not RuleEncoder(model, rule, predicted).add():
                left_out.append(rule.text)
        if len(self.task.forced):
            keep_unforced(model, predicted)
        for goal in subproblem.goals:
            for band in goal.bands:
                model.hold(band, scale_of(self.outcomes[band.outcome], goal.target))
        if subproblem.objective is not None and math.isfinite(subproblem.limit):
            total = model.total(subproblem.objective.terms, subproblem.objective.scale)
            steps = math.floor((subproblem.limit + total.error) / float(total.unit)) + 1
            model.add(total.expr <= steps)
        return tuple(left_out)

    def _predicted(self, model: SolverModel, subproblem: Subproblem) -> dict[str, ScaledInteger]:
        """Outcomes that rules may speak of: numbers whose prediction is a plain sum."""
        found = {}
        named = {name for rule in subproblem.outcome_rules for name in rule.names}
        for name in model.leaves:
            outcome = self.outcomes[name]
            if name in named and outcome.link == "identity" and outcome.raws == 1:
                scale = next((t.scale for t in self.task.targets if t.name == name), None)
                found[name] = model.total(((name, np.ones(1)),), scale or _spread(model, name))
        return found


def _spread(model: SolverModel, name: str) -> float:
    value = model.leaves[name].value
    trees = len(np.unique(model.leaves[name].tree))
    return max(float(value.std()) * trees, 1e-9)


def _objective_bands(subproblem: Subproblem) -> list[Band]:
    if (
        subproblem.objective is None
        or not math.isfinite(subproblem.limit)
        or len(subproblem.objective.terms) > 1
    ):
        return []
    name, weights = subproblem.objective.terms[0]
    return [Band(name, weights, -math.inf, subproblem.limit)]
