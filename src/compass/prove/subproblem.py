"""A subproblem of a proof: what must hold, what is minimised, and what came of it."""

import math
from dataclasses import dataclass
from enum import Enum

import numpy as np

from compass.domain.target import Target
from compass.generate.base import Bools, Floats
from compass.prove.model import Terms
from compass.prove.outcomes import GoalBands, OutcomeSum, linked, unlinked
from compass.rules import Rule


class SolveStatus(Enum):
    """How the solver ended."""

    INFEASIBLE = "nothing can do this"
    OPTIMAL = "the best there is"
    FEASIBLE = "something, perhaps not the best"
    UNKNOWN = "nothing found, nothing excluded"


@dataclass(frozen=True)
class Objective:
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
class Subproblem:
    """What must hold, and what is minimised: an objective, else the cost of the change."""

    rules: tuple[Rule, ...]
    outcome_rules: tuple[Rule, ...]
    goals: tuple[GoalBands, ...]
    budget: float = math.inf  # of weighted distance
    objective: Objective | None = None
    limit: float = math.inf  # of the objective, as a raw sum
    minimise: str = "cost"  # cost, objective or nothing

    def reached(self, preference: Floats) -> Bools:
        """Whether the objective is within its limit for preferences [n]."""
        if self.objective is None or not math.isfinite(self.limit):
            return np.ones(len(preference), dtype=bool)
        return np.asarray(preference <= self.objective.preference(self.limit))


@dataclass(frozen=True)
class SolveResult:
    """What the solver found out about a subproblem."""

    status: SolveStatus
    bound: float | None = None  # no smaller cost, or raw value, is possible
    x: Floats | None = None  # a configuration that really does it
    timed_out: bool = False  # whether time, or the size of the model, ended it
    too_large: bool = False  # it was not solved: it has more leaves than the caller wants


def scale_of(outcome: OutcomeSum, target: Target) -> float:
    """What rounding a raw sum is measured by: its own scale where it is what is predicted."""
    return target.scale if outcome.link == "identity" and not target.is_class else 1.0
