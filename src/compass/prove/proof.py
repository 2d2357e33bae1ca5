"""What is proved about an answer: the entry point.

Decision 0012 (docs/decisions).
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from compass.domain.answer import Certificate, CertificateStatus
from compass.generate.base import Candidates, Floats
from compass.generate.objectives import as_good_as, objectives, sign
from compass.generate.pick import preferred
from compass.generate.score import score
from compass.generate.task import SearchTask
from compass.prove import conflict, reasons
from compass.prove.bounds import Bounds, at_cell_ends, best_value, closed, least_change
from compass.prove.cp_sat import load_solver
from compass.prove.deadline import Deadline
from compass.prove.model import RESOLUTION
from compass.prove.outcomes import goals_of, outcomes_of
from compass.prove.solver import ExactSolver
from compass.prove.subproblem import Objective, SolveStatus, Subproblem, scale_of

_FIRST = 0.6  # share of the time for the best value; the rest is for the smallest change


@dataclass(frozen=True)
class Proof:
    """A certificate and, where the solver found one, a better configuration.

    The certificate speaks of `better` if there is one, else of the first candidate found.
    """

    certificate: Certificate
    better: Floats | None = None  # [d]


def needs_solver(task: SearchTask, found: Candidates) -> bool:
    """Whether something has to be solved to tell how good the first candidate is."""
    return not _plain(task, found) and not isinstance(outcomes_of(task), str)


def _plain(task: SearchTask, found: Candidates) -> bool:
    """Whether the first candidate is the best because all that matters is met, or was tried."""
    if not len(found.X) or not found.meets[0]:
        return False
    return found.exhaustive or not (objectives(task.targets) or task.proximity)


def prove(task: SearchTask, found: Candidates, seconds: float) -> Proof:
    """Prove within some seconds how good the first candidate is, or that there can be none."""
    meets = len(found.X) > 0 and bool(found.meets[0])
    directed = bool(objectives(task.targets))
    if meets and not directed and not task.proximity:
        return _proof(CertificateStatus.OPTIMAL, reasons.ALL_MET)
    if meets and found.exhaustive:
        return _exhausted(task, found)
    outcomes = outcomes_of(task)
    if isinstance(outcomes, str):
        if found.exhaustive:
            return _proof(CertificateStatus.INFEASIBLE, reasons.TRIED_ALL_NONE)
        return _proof(CertificateStatus.NO_PROOF, outcomes)
    # Loading the solver takes a while, once per process: that is not the proof's time.
    load_solver()
    solver = ExactSolver(task, outcomes, goals_of(task, outcomes), Deadline.after(seconds))
    if not meets:
        return _unmet(solver, found)
    if directed:
        return _directed(solver, found)
    return _near(solver, found.X[0])


def _proof(status: CertificateStatus, reason: str, **more: object) -> Proof:
    return Proof(Certificate(status=status, reason=reason, **more))


def _exhausted(task: SearchTask, found: Candidates) -> Proof:
    """Every combination was tried: what came first is the best."""
    reason = reasons.tried_all(
        directed=bool(objectives(task.targets)),
        proximity=task.proximity,
        tolerance=task.settings.search.tolerance,
    )
    if task.proximity:
        return _proof(CertificateStatus.OPTIMAL, reason, gap=0.0, bound=float(found.proximity[0]))
    return _proof(CertificateStatus.OPTIMAL, reason, gap=0.0, value_gap=0.0)


def _all_of(solver: ExactSolver) -> Subproblem:
    return Subproblem(solver.task.rules, solver.task.outcome_rules, solver.goals)


def resolution_of(solver: ExactSolver, x: Floats | None = None) -> float | None:
    """The largest rounding error of a prediction, at x, that proofs allow for."""
    found = []
    for target in solver.task.targets:
        outcome = solver.outcomes[target.name]
        error = RESOLUTION * scale_of(outcome, target)
        if outcome.link == "exp":  # an error of the logarithm is a share of the prediction
            bounds = [abs(v) for v in (target.low, target.high) if math.isfinite(v)]
            if x is not None:
                bounds.append(float(solver.task.predict(x[None, :])[target.name][0, 0]))
            error *= max(bounds, default=1.0)
        found.append(error)
    return max(found, default=None)


def _near(solver: ExactSolver, x: Floats) -> Proof:
    """Nothing legal that meets the goals is nearer."""
    start = at_cell_ends(solver, x)
    known = least_change(solver, start, _all_of(solver))
    return _distance(solver, x, start, known, "", value_gap=None, value_proved=True)


def _distance(
    solver: ExactSolver,
    x: Floats,
    start: Floats,
    known: Bounds,
    about_value: str,
    *,
    value_gap: float | None,
    value_proved: bool,
    best: Floats | None = None,
) -> Proof:
    """The certificate of a distance; `start` is x without its rounding to plain numbers."""
    task = solver.task
    candidates = [x, known.x] if best is None else [x, known.x, best]
    scored = score(task, np.stack(candidates))
    first = preferred(task, scored).X[0]
    gained = float(scored.proximity[0]) - known.amount
    improved = not np.array_equal(known.x, start)
    better = known.x if improved and not np.array_equal(first, x) else None
    distance = known.amount if better is not None else float(scored.proximity[0])
    left_out = tuple(solver.left_out)
    proved = known.proved and value_proved and not left_out and (better is not None or not improved)
    bound = max(known.bound or 0.0, 0.0)
    gap = max(distance - bound, 0.0)
    plain = gained if better is None and gained > closed(known.amount) else 0.0
    return Proof(
        Certificate(
            status=CertificateStatus.OPTIMAL if proved else CertificateStatus.BEST_FOUND,
            reason=reasons.distance(proved, known, gap, about_value, left_out, plain),
            gap=gap,
            bound=bound,
            value_gap=value_gap,
            resolution=resolution_of(solver, known.x),
            left_out=left_out,
            cut=known.timed_out,
        ),
        better,
    )


def _objective_of(solver: ExactSolver) -> Objective | str:
    """What is minimised, or a sentence when it is not a sum over trees."""
    directed = objectives(solver.task.targets)
    if len(directed) == 1:
        outcome = solver.outcomes[directed[0].name]
        terms = ((directed[0].name, np.array([sign(directed[0])])),)
        return Objective(terms, scale_of(outcome, directed[0]), directed[0], outcome.link)
    if any(solver.outcomes[t.name].link != "identity" for t in directed):
        return reasons.NOT_A_SUM
    return Objective(tuple((t.name, np.array([sign(t) / t.scale])) for t in directed), 1.0)


def _directed(solver: ExactSolver, found: Candidates) -> Proof:
    """The best value first, then the smallest change that comes close enough to it."""
    task, objective = solver.task, _objective_of(solver)
    if isinstance(objective, str):
        return _proof(CertificateStatus.NO_PROOF, objective)
    scored = score(task, found.X)
    fine = np.flatnonzero((scored.valid <= 0) & (scored.violation == 0))
    first = found.X[fine[np.argmin(scored.preference[fine])]]
    deadline = solver.deadline
    if task.proximity:
        solver.deadline = Deadline.after(_FIRST * deadline.left)
    known = best_value(solver, first, objective, _all_of(solver))
    solver.deadline = deadline
    unit = objective.target.scale if objective.target is not None else 1.0
    if not task.proximity:
        return _value_only(solver, found.X[0], known, unit)
    limit = as_good_as(known.amount, task.settings.search.tolerance)
    reach = fine[scored.preference[fine] <= limit]
    nearest = found.X[reach[np.argmin(scored.proximity[reach])]] if len(reach) else known.x
    gap = max((known.amount - (known.bound if known.bound is not None else -math.inf)), 0.0) * unit
    close = replace(_all_of(solver), objective=objective, limit=objective.raw(limit))
    start = at_cell_ends(solver, nearest)
    change = least_change(solver, start, close)
    change = replace(change, timed_out=change.timed_out or known.timed_out)
    x = found.X[0]
    if not np.array_equal(nearest, x):
        start = x
    return _distance(
        solver,
        x,
        start,
        change,
        reasons.value(known.proved, gap, objective.target, task.settings.search.tolerance),
        value_gap=0.0 if known.proved else gap if math.isfinite(gap) else None,
        value_proved=known.proved,
        best=known.x,
    )


def _value_only(solver: ExactSolver, x: Floats, known: Bounds, unit: float) -> Proof:
    task = solver.task
    scored = score(task, np.stack([x, known.x]))
    improved = bool(scored.preference[1] < scored.preference[0])
    objective = _objective_of(solver)
    assert isinstance(objective, Objective)
    bound = -math.inf if known.bound is None else known.bound
    gap = max((known.amount - bound) * unit, 0.0)
    left_out = tuple(solver.left_out)
    proved = known.proved and not left_out
    turned = 1.0 if objective.target is None else sign(objective.target)
    known_gap = gap if math.isfinite(gap) else None
    return Proof(
        Certificate(
            status=CertificateStatus.OPTIMAL if proved else CertificateStatus.BEST_FOUND,
            reason=reasons.value_only(proved, gap, objective.target, left_out, cut=known.timed_out),
            gap=known_gap,
            bound=turned * bound * unit if math.isfinite(bound) else None,
            value_gap=known_gap,
            resolution=resolution_of(solver, known.x),
            left_out=left_out,
            cut=known.timed_out,
        ),
        known.x if improved else None,
    )


def _unmet(solver: ExactSolver, found: Candidates) -> Proof:
    """Nothing found meets the goals: find something that does, or prove that nothing can."""
    result = None
    if not found.exhaustive:
        result = solver.solve(replace(_all_of(solver), minimise="nothing"))
        if result.x is not None:
            return _found_after_all(solver, result.x)
    if result is None or result.status is SolveStatus.INFEASIBLE:
        return _infeasible(solver, found)
    close = _closest(solver, found, seconds=0.0)
    return _proof(
        CertificateStatus.BEST_FOUND,
        reasons.OPEN if result.timed_out else reasons.ROUNDED,
        nearest={name: one.value for name, one in close.items()},
        resolution=resolution_of(solver),
        left_out=tuple(solver.left_out),
        cut=result.timed_out,
    )


def _found_after_all(solver: ExactSolver, x: Floats) -> Proof:
    """The solver met the goals where the search did not: prove what can be proved about that."""
    task = solver.task
    scored = score(task, x[None, :])
    proof = prove(task, scored.candidates(), solver.deadline.left)
    return proof if proof.better is not None else replace(proof, better=x)


def _infeasible(solver: ExactSolver, found: Candidates) -> Proof:
    parts, smallest = conflict.blocking(solver)
    names = tuple(part.text for part in parts)
    close = _closest(solver, found, seconds=solver.deadline.left)
    return _proof(
        CertificateStatus.INFEASIBLE,
        reasons.infeasible(names, smallest, close, found.exhaustive),
        blocking=names,
        blocking_goals={p.text: p.goal.target.name for p in parts if p.goal is not None},
        nearest={name: one.value for name, one in close.items()},
        resolution=resolution_of(solver),
        left_out=tuple(solver.left_out),
        cut=not smallest or not all(one.proved for one in close.values()),
    )


def _closest(
    solver: ExactSolver, found: Candidates, seconds: float
) -> dict[str, conflict.NearestValue]:
    """For every range that is missed, how close its outcome can come."""
    close = {}
    timed = ExactSolver(solver.task, solver.outcomes, solver.goals, Deadline.after(seconds))
    for goal in solver.goals:
        if not goal.target.is_class and _missed(solver, found, goal.target.name):
            one = conflict.nearest(timed, goal.target, found.X)
            if one is not None:
                close[goal.target.name] = one
    return close


def _missed(solver: ExactSolver, found: Candidates, name: str) -> bool:
    if not len(found.X):
        return True
    target = next(t for t in solver.task.targets if t.name == name)
    y = float(solver.task.predict(found.X[:1])[name][0, 0])
    return not target.low <= y <= target.high
