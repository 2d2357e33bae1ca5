"""Whether a point of a front is dominated by nothing under the model and the rules.

A point is proved if, for every outcome, no legal configuration is better in it by more than the
rounding of the proof and no worse in the others; from a baseline, with no larger change.

Decision 0047 (docs/decisions).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from compass.domain.front import FrontProof
from compass.domain.target import Target
from compass.generate.base import Floats
from compass.generate.loss import proximity
from compass.generate.objectives import objectives
from compass.generate.task import SearchTask
from compass.prove.cp_sat import load_solver
from compass.prove.deadline import Deadline
from compass.prove.model import RESOLUTION
from compass.prove.outcomes import OutcomeSum, goals_of, outcomes_of
from compass.prove.solver import ExactSolver
from compass.prove.subproblem import SolveStatus, Subproblem

_ROUNDINGS = 4.0  # of the proof by which a point has to be beaten
_SHARE = 1e-6  # or this share of its value, where that is more
_SMALLER = 1e-6  # share by which a change has to be smaller
ALL_TRIED = "Every legal configuration was tried; none of these points is dominated."


@dataclass(frozen=True, eq=False)
class ProvedPoints:
    """What a proof tells of points X [n, d]: True: dominated by nothing, False: by `better`."""

    proved: tuple[bool | None, ...]
    better: Floats  # [m, d] configurations that dominate some of them
    told: FrontProof


def complete(count: int) -> FrontProof:
    """What is proved of points that were chosen among all that there are."""
    return FrontProof(proved=count, tried=count, complete=True, reason=ALL_TRIED)


def prove_points(task: SearchTask, X: Floats, seconds: float) -> ProvedPoints:
    """Prove points X [n, d], the first of them first, within some seconds."""
    outcomes = outcomes_of(task)
    found: list[bool | None] = [None] * len(X)
    if isinstance(outcomes, str):
        return ProvedPoints(tuple(found), X[:0], FrontProof(proved=0, tried=0, reason=outcomes))
    # Loading the solver takes a while, once per process: that is not the proof's time.
    load_solver()
    deadline = Deadline.after(seconds)
    better, tried = [], 0
    for place, x in enumerate(X):
        if deadline.left <= 0:
            break
        found[place], other = _proved(task, outcomes, x, deadline)
        tried += 1
        if other is not None:
            better.append(other)
    sure = [state is True for state in found]
    told = FrontProof(proved=sum(sure), tried=tried, reason="", cut=deadline.left <= 0)
    others = np.array(better).reshape(-1, X.shape[1])
    return ProvedPoints(tuple(found), others, in_words(sure, told, task))


def in_words(sure: Sequence[bool], told: FrontProof, task: SearchTask) -> FrontProof:
    """The same with a sentence about points of which these are proved."""
    if not told.tried:
        reason = told.reason or "There was no time to prove anything about these points."
        return told.model_copy(update={"reason": reason})
    proved, about = sum(sure), ""
    if task.past_runs is not None:
        about = " Measured runs count as predicted there."
    text = "Nothing dominates any of these points under this model"
    if proved < len(sure):
        text = f"Nothing dominates {proved} of the {len(sure)} points under this model"
        text += "; of the others it is not known"
    return told.model_copy(update={"proved": proved, "reason": f"{text}.{about}"})


def _proved(
    task: SearchTask, outcomes: dict[str, OutcomeSum], x: Floats, deadline: Deadline
) -> tuple[bool | None, Floats | None]:
    """Whether nothing dominates x [d], None: not known; and what does."""
    sure = True
    for problem, budget in _ways_to_beat(task, outcomes, x):
        goals = goals_of(problem, outcomes)
        solver = ExactSolver(problem, outcomes, goals, deadline)
        aim = "cost" if np.isfinite(budget) else "nothing"  # only costs are held to a budget
        result = solver.solve(
            Subproblem(problem.rules, problem.outcome_rules, goals, budget=budget, minimise=aim)
        )
        if result.x is not None and _change(task, result.x) <= budget:
            return False, result.x
        # The smallest change that does it is larger than allowed: as good as none.
        sure &= result.status in (SolveStatus.INFEASIBLE, SolveStatus.OPTIMAL)
    return (True if sure else None), None


def _ways_to_beat(
    task: SearchTask, outcomes: dict[str, OutcomeSum], x: Floats
) -> Iterator[tuple[SearchTask, float]]:
    """Problems that something has to solve to dominate x [d], with the largest change allowed."""
    predicted = task.predict(x[None, :])
    names = [target.name for target in objectives(task.targets)]
    value = {name: float(predicted[name][0, 0]) for name in names}
    near = _change(task, x) if task.proximity else np.inf
    for best in value:
        limits = tuple(
            _limit(target, value[target.name], outcomes, strict=target.name == best)
            if target.direction is not None
            else target
            for target in task.targets
        )
        yield replace(task, targets=limits), near * (1 + _SMALLER)
    if task.proximity and near > 0:
        limits = tuple(
            _limit(target, value[target.name], outcomes, strict=False)
            if target.direction is not None
            else target
            for target in task.targets
        )
        yield replace(task, targets=limits), near * (1 - _SMALLER)


def _change(task: SearchTask, x: Floats) -> float:
    """How large the change to x [d] is."""
    return float(proximity(x[None, :], task.start, task.geometry)[0])


def _limit(
    target: Target, value: float, outcomes: dict[str, OutcomeSum], *, strict: bool
) -> Target:
    """A target that is to be no worse than this value, or better by more than rounding."""
    rounding = RESOLUTION * (abs(value) if outcomes[target.name].link == "exp" else target.scale)
    step = max(_ROUNDINGS * rounding, _SHARE * abs(value)) if strict else 0.0
    if target.direction == "minimize":
        return target.model_copy(update={"direction": None, "high": value - step})
    return target.model_copy(update={"direction": None, "low": value + step})
