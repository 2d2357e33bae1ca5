"""What is proved about an answer: the entry point."""

import math
from dataclasses import dataclass, replace
from importlib import import_module

import numpy as np

from compass.domain.answer import Certificate, CertificateStatus
from compass.generate.base import Candidates, Floats
from compass.generate.pick import preferred
from compass.generate.score import score
from compass.generate.task import SearchTask
from compass.prove import conflict, words
from compass.prove.clock import Clock
from compass.prove.closest import Bounded, best_value, closed, least_change, pulled
from compass.prove.model import RESOLUTION
from compass.prove.outcomes import goals_of, outcomes_of
from compass.prove.question import End, Question, Value, Wanted, scale_of

_FIRST = 0.6  # share of the time for the best value; the rest is for the smallest change


@dataclass(frozen=True)
class Proof:
    """A certificate and, where the solver found one, a better configuration.

    The certificate speaks of `better` if there is one, else of the first candidate found.
    """

    certificate: Certificate
    better: Floats | None = None  # [d]


def prove(task: SearchTask, found: Candidates, seconds: float) -> Proof:
    """Prove within some seconds how good the first candidate is, or that there can be none."""
    return _prove(task, found, seconds)


def _prove(task: SearchTask, found: Candidates, seconds: float) -> Proof:
    meets = len(found.X) > 0 and bool(found.meets[0])
    directed = any(target.direction for target in task.targets)
    if meets and not directed and not task.proximity:
        return _said(CertificateStatus.OPTIMAL, words.ALL_MET)
    if meets and found.exhaustive:
        return _exhausted(task, found)
    outcomes = outcomes_of(task)
    if isinstance(outcomes, str):
        if found.exhaustive:
            return _said(CertificateStatus.INFEASIBLE, words.TRIED_ALL_NONE)
        return _said(CertificateStatus.NO_PROOF, outcomes)
    # Loading the solver takes half a second, once per process: that is not the proof's time.
    import_module("ortools.sat.python.cp_model")
    question = Question(task, outcomes, goals_of(task, outcomes), Clock.of(seconds))
    if not meets:
        return _unmet(question, found)
    if directed:
        return _directed(question, found)
    return _near(question, found.X[0])


def _said(status: CertificateStatus, reason: str, **more: object) -> Proof:
    return Proof(Certificate(status=status, reason=reason, **more))


def _exhausted(task: SearchTask, found: Candidates) -> Proof:
    """Every combination was tried: what came first is the best."""
    told = words.tried_all(
        directed=any(target.direction for target in task.targets),
        proximity=task.proximity,
        tolerance=task.settings.search.tolerance,
    )
    if task.proximity:
        return _said(CertificateStatus.OPTIMAL, told, gap=0.0, bound=float(found.proximity[0]))
    return _said(CertificateStatus.OPTIMAL, told, gap=0.0, value_gap=0.0)


def _everything(question: Question) -> Wanted:
    return Wanted(question.task.rules, question.task.outcome_rules, question.goals)


def resolution_of(question: Question, x: Floats | None = None) -> float | None:
    """The largest rounding error of a prediction, at x, that proofs allow for."""
    found = []
    for target in question.task.targets:
        outcome = question.outcomes[target.name]
        error = RESOLUTION * scale_of(outcome, target)
        if outcome.link == "exp":  # an error of the logarithm is a share of the prediction
            bounds = [abs(v) for v in (target.low, target.high) if math.isfinite(v)]
            if x is not None:
                bounds.append(float(question.task.predict(x[None, :])[target.name][0, 0]))
            error *= max(bounds, default=1.0)
        found.append(error)
    return max(found, default=None)


def _near(question: Question, x: Floats) -> Proof:
    """Nothing legal that meets the goals is nearer."""
    start = pulled(question, x)
    known = least_change(question, start, _everything(question))
    return _distance(question, x, start, known, "", value_gap=None, value_proved=True)


def _distance(
    question: Question,
    x: Floats,
    start: Floats,
    known: Bounded,
    about_value: str,
    *,
    value_gap: float | None,
    value_proved: bool,
    best: Floats | None = None,
) -> Proof:
    """The certificate of a distance; `start` is x without its rounding to plain numbers."""
    task = question.task
    candidates = [x, known.x] if best is None else [x, known.x, best]
    scored = score(task, np.stack(candidates))
    first = preferred(task, scored).X[0]
    gained = float(scored.proximity[0]) - known.amount
    improved = not np.array_equal(known.x, start)
    better = known.x if improved and not np.array_equal(first, x) else None
    told = known.amount if better is not None else float(scored.proximity[0])
    left_out = tuple(question.left_out)
    proved = known.proved and value_proved and not left_out and (better is not None or not improved)
    bound = max(known.bound or 0.0, 0.0)
    gap = max(told - bound, 0.0)
    plain = gained if better is None and gained > closed(known.amount) else 0.0
    return Proof(
        Certificate(
            status=CertificateStatus.OPTIMAL if proved else CertificateStatus.BEST_FOUND,
            reason=words.distance(proved, known, gap, about_value, left_out, plain),
            gap=gap,
            bound=bound,
            value_gap=value_gap,
            resolution=resolution_of(question, known.x),
            left_out=left_out,
            cut=known.cut,
        ),
        better,
    )


def _value_of(question: Question) -> Value | str:
    """What is minimised, or a sentence when it is not a sum over trees."""
    directed = [t for t in question.task.targets if t.direction is not None]
    signs = [1.0 if t.direction == "minimize" else -1.0 for t in directed]
    if len(directed) == 1:
        outcome = question.outcomes[directed[0].name]
        terms = ((directed[0].name, np.array(signs)),)
        return Value(terms, scale_of(outcome, directed[0]), directed[0], outcome.link)
    if any(question.outcomes[t.name].link != "identity" for t in directed):
        return words.NOT_A_SUM
    pairs = zip(directed, signs, strict=True)
    return Value(tuple((t.name, np.array([sign / t.scale])) for t, sign in pairs), 1.0)


def _directed(question: Question, found: Candidates) -> Proof:
    """The best value first, then the smallest change that comes close enough to it."""
    task, value = question.task, _value_of(question)
    if isinstance(value, str):
        return _said(CertificateStatus.NO_PROOF, value)
    scored = score(task, found.X)
    fine = np.flatnonzero((scored.valid <= 0) & (scored.violation == 0))
    first = found.X[fine[np.argmin(scored.extreme[fine])]]
    whole = question.clock
    if task.proximity:
        question.clock = Clock.of(_FIRST * whole.left)
    known = best_value(question, first, value, _everything(question))
    question.clock = whole
    unit = value.target.scale if value.target is not None else 1.0
    if not task.proximity:
        return _value_only(question, found.X[0], known, unit)
    limit = known.amount + task.settings.search.tolerance * max(abs(known.amount), 1e-12)
    reach = fine[scored.extreme[fine] <= limit]
    nearest = found.X[reach[np.argmin(scored.proximity[reach])]] if len(reach) else known.x
    gap = max((known.amount - (known.bound if known.bound is not None else -math.inf)), 0.0) * unit
    wanted = replace(_everything(question), value=value, most=value.raw(limit))
    start = pulled(question, nearest)
    change = least_change(question, start, wanted)
    change = replace(change, cut=change.cut or known.cut)
    x = found.X[0]
    if not np.array_equal(nearest, x):
        start = x
    return _distance(
        question,
        x,
        start,
        change,
        words.value(known.proved, gap, value.target, task.settings.search.tolerance),
        value_gap=0.0 if known.proved else gap if math.isfinite(gap) else None,
        value_proved=known.proved,
        best=known.x,
    )


def _value_only(question: Question, x: Floats, known: Bounded, unit: float) -> Proof:
    task = question.task
    scored = score(task, np.stack([x, known.x]))
    improved = bool(scored.extreme[1] < scored.extreme[0])
    value = _value_of(question)
    assert isinstance(value, Value)
    bound = -math.inf if known.bound is None else known.bound
    gap = max((known.amount - bound) * unit, 0.0)
    left_out = tuple(question.left_out)
    proved = known.proved and not left_out
    sign = -1.0 if value.target is not None and value.target.direction == "maximize" else 1.0
    told = gap if math.isfinite(gap) else None
    return Proof(
        Certificate(
            status=CertificateStatus.OPTIMAL if proved else CertificateStatus.BEST_FOUND,
            reason=words.value_only(proved, gap, value.target, left_out, cut=known.cut),
            gap=told,
            bound=sign * bound * unit if math.isfinite(bound) else None,
            value_gap=told,
            resolution=resolution_of(question, known.x),
            left_out=left_out,
            cut=known.cut,
        ),
        known.x if improved else None,
    )


def _unmet(question: Question, found: Candidates) -> Proof:
    """Nothing found meets the goals: find something that does, or prove that nothing can."""
    run = None
    if not found.exhaustive:
        run = question.ask(replace(_everything(question), minimise="nothing"))
        if run.x is not None:
            return _found_after_all(question, run.x)
    if run is None or run.end is End.IMPOSSIBLE:
        return _infeasible(question, found)
    close = _closest(question, found, seconds=0.0)
    return _said(
        CertificateStatus.BEST_FOUND,
        words.OPEN if run.cut else words.ROUNDED,
        nearest={name: one.value for name, one in close.items()},
        resolution=resolution_of(question),
        left_out=tuple(question.left_out),
        cut=run.cut,
    )


def _found_after_all(question: Question, x: Floats) -> Proof:
    """The solver met the goals where the search did not: prove what can be proved about that."""
    task = question.task
    scored = score(task, x[None, :])
    again = Candidates(x[None, :], np.array([True]), scored.proximity)
    proof = _prove(task, again, question.clock.left)
    return proof if proof.better is not None else replace(proof, better=x)


def _infeasible(question: Question, found: Candidates) -> Proof:
    parts, smallest = conflict.blocking(question)
    names = tuple(part.text for part in parts)
    close = _closest(question, found, seconds=question.clock.left)
    return _said(
        CertificateStatus.INFEASIBLE,
        words.infeasible(names, smallest, close, found.exhaustive),
        blocking=names,
        blocking_goals={p.text: p.goal.target.name for p in parts if p.goal is not None},
        nearest={name: one.value for name, one in close.items()},
        resolution=resolution_of(question),
        left_out=tuple(question.left_out),
        cut=not smallest or not all(one.proved for one in close.values()),
    )


def _closest(question: Question, found: Candidates, seconds: float) -> dict[str, conflict.Nearest]:
    """For every range that is missed, how close its outcome can come."""
    close = {}
    asked = Question(question.task, question.outcomes, question.goals, Clock.of(seconds))
    for goal in question.goals:
        if not goal.target.is_class and _missed(question, found, goal.target.name):
            one = conflict.nearest(asked, goal.target, found.X)
            if one is not None:
                close[goal.target.name] = one
    return close


def _missed(question: Question, found: Candidates, name: str) -> bool:
    if not len(found.X):
        return True
    target = next(t for t in question.task.targets if t.name == name)
    y = float(question.task.predict(found.X[:1])[name][0, 0])
    return not target.low <= y <= target.high
