"""Part C: how often the first suggestion is trusted, and whether trusted ones keep the promise.

A promise is a goal that a new run meets, or the interval that a new run of a minimum falls into.
Both are asked for at 95 %, so that at least as many have to be kept.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import compass as cp
from benchmarks.show import table
from benchmarks.trust.confounding import TRACES, trace_of
from benchmarks.trust.problems import Problem
from benchmarks.word.goals import ENGINE_SEED, ask, learnt, say
from benchmarks.word.judge import Check, Share, share
from benchmarks.word.laws import Floats, JobLaw
from benchmarks.word.lookup import MAXIMISED, Measured, better, context_of, part
from benchmarks.word.questions import SEED, fresh_runs, questions
from compass.domain.answer import Prediction
from compass.domain.space import Category, Role

SURE = 0.95  # the chance that goals are asked for with, and the level of intervals
TRUSTED = "trusted"
MINIMISE, REDUCE, CLASS = "minimise", "reduce", "class"
SHARES = (0.10, 0.25)
LEARN = 3000  # rows of a public table at most; no more than half of them
LEAST, KEPT = 0.50, 0.95  # trusted of the questions about jobs; promises kept of these
NODES = "procs_req"
HEAD = ("subject", "asked", "answered", "trusted", "judged", "kept, of trusted", "kept, of others")


@dataclass(frozen=True)
class Promise:
    """One question, the label of its first suggestion, and whether a new run was as promised."""

    subject: str
    kind: str
    number: int
    answered: bool
    label: str | None = None
    kept: bool | None = None  # None: nobody knows
    value: float | None = None
    low: float | None = None
    high: float | None = None


def inside(said: Prediction, value: float) -> bool | None:
    """Whether a new run is inside the interval that was stated; None: no interval was."""
    if said.low is None or said.high is None:
        return None
    return said.low <= value <= said.high


def by_law(law: JobLaw, rows: int, count: int) -> list[Promise]:
    """The questions of part A, and minima of as many contexts as a quarter of them."""
    engine, X, y = learnt(law, rows)
    found = []
    for question in questions(law, X, y, count, seed=SEED + 1):
        answer = ask(law, engine, question, SURE)
        if not (answer.answered and len(answer)):
            found.append(Promise(law.name, question.kind, question.number, False))
            continue
        row = law.encode(answer[0].config)
        value, limit = float(fresh_runs(law, question, row[None, :])[0]), question.limit(law, row)
        label = answer[0].trust.label.value
        found.append(
            Promise(
                law.name, question.kind, question.number, True, label, value <= limit, value,
                high=limit,
            )
        )  # fmt: skip
    return [*found, *_minima(law, engine, X, max(count // 4, 2))]


def _minima(law: JobLaw, engine: cp.Compass, X: Floats, count: int) -> Iterator[Promise]:
    rng = np.random.default_rng([SEED, 5])
    for number, start in enumerate(rng.permutation(X)[:count]):
        config = law.decode(start)
        answer = engine.recommend(
            law.knobs,
            {law.outcome: cp.minimize},
            fixed={name: config[name] for name in law.context},
            chance=SURE,
            level=SURE,
        )
        if not (answer.answered and len(answer)):
            yield Promise(law.name, MINIMISE, number, False)
            continue
        truth = law.value(law.encode(answer[0].config))
        value = truth * float(np.exp(rng.normal(0, law.noise)))
        said = answer[0].outcome(law.outcome)
        yield Promise(
            law.name, MINIMISE, number, True, answer[0].trust.label.value, inside(said, value),
            value, said.low, said.high,
        )  # fmt: skip


def by_table(name: str, problem: Problem, count: int) -> list[Promise]:
    """A random half is learnt; what is suggested is looked up among the other runs."""
    began = time.perf_counter()
    order = np.random.default_rng([SEED, 6]).permutation(len(problem.y))
    rows = np.sort(order[: min(LEARN, len(order) // 2)])
    held = Measured(problem, np.setdiff1d(order, rows))
    engine = cp.Compass(problem.part(rows), seed=ENGINE_SEED)
    seen: set[str] = set()
    found = [_asked(name, problem, engine, rows, held, number, seen) for number in range(count)]
    say(f"{name}: {len(rows)} of {len(order)} runs, {time.perf_counter() - began:.0f} s")
    return found


def _asked(
    name: str,
    problem: Problem,
    engine: cp.Compass,
    rows: np.ndarray[Any, np.dtype[np.int64]],
    held: Measured,
    number: int,
    seen: set[str],
) -> Promise:
    """A minimum in the context of a learnt run, or an improvement of that run, in turn.

    The minimum of a context (`seen`) is asked for once.
    """
    rng = np.random.default_rng([SEED, 7, number])
    outcome, knobs = problem.outcome, part(problem, Role.KNOB)
    place = int(rng.integers(len(rows)))
    row = int(rows[place])
    kind = CLASS if problem.classes else (MINIMISE, REDUCE)[number % 2]
    if kind == MINIMISE:
        context = str(context_of(problem, row))
        kind = REDUCE if context in seen else MINIMISE
        seen.add(context)
    limit = float("nan")
    wanted = problem.data.prepared.space[outcome]
    if kind == MINIMISE:
        answer = engine.recommend(
            knobs,
            {outcome: better(outcome)},
            fixed=context_of(problem, row),
            chance=SURE,
            level=SURE,
        )
    elif kind == REDUCE:
        change = SHARES[number // 2 % len(SHARES)]
        more = outcome in MAXIMISED
        limit = (1 + change if more else 1 - change) * float(problem.y[row])
        goal = cp.more(change) if more else cp.less(change)
        answer = engine.reconfigure(place, knobs, {outcome: goal}, chance=SURE)
    else:
        assert isinstance(wanted, Category)
        limit = float(np.bincount(problem.y.astype(int)).argmax())
        away = np.flatnonzero(problem.y[rows] != limit)
        place = int(away[rng.integers(len(away))])
        right = cp.is_class(wanted.values[int(limit)])
        answer = engine.reconfigure(place, knobs, {outcome: right}, chance=SURE)
    if not (answer.answered and len(answer)):
        return Promise(name, kind, number, False)
    said, label = answer[0].outcome(outcome), answer[0].trust.label.value
    measured = held.of(answer[0].config)
    if not len(measured):
        return Promise(name, kind, number, True, label)
    value = float(rng.choice(measured))
    if kind == MINIMISE:
        kept = inside(said, value)
    elif kind == CLASS:
        kept = value == limit
    else:
        kept = value >= limit if outcome in MAXIMISED else value <= limit
    return Promise(name, kind, number, True, label, kept, value, said.low, said.high)


def by_trace(folder: Path, count: int, newest: int) -> list[Promise]:
    """Changes of the nodes of jobs whose program nobody knows: none may be trusted."""
    found = []
    for name, path in TRACES.items():
        if not (folder / path).exists():
            say(f"{name}: skipped, {folder} has no {path}")
            continue
        data = trace_of(folder / path, newest)
        engine = cp.Compass(data, seed=ENGINE_SEED)
        nodes = data.prepared.column(NODES)
        possible = np.flatnonzero(np.isin(2 * nodes, nodes))
        rng = np.random.default_rng([SEED, 8])
        for number, row in enumerate(rng.choice(possible, min(count, len(possible)), False)):
            at = int(data.prepared.row_id[row])
            if number % 2:
                answer = engine.what_if(at, {NODES: cp.times(2)}, ["run"])
            else:
                answer = engine.reconfigure(at, [NODES], {"run": cp.less(0.25)}, chance=SURE)
            shown = [*answer, *answer.ideas]
            labels = {one.trust.label.value for one in shown if _moves_nodes(one)}
            label = TRUSTED if TRUSTED in labels else next(iter(sorted(labels)), None)
            found.append(Promise(name, "nodes", number, bool(labels), label))
        say(f"{name}: {len(data)} jobs")
    return found


def _moves_nodes(one: cp.Suggestion) -> bool:
    return any(edit.name == NODES for edit in one.edits)


@dataclass(frozen=True)
class Line:
    """The labels of one subject."""

    subject: str
    asked: int
    answered: int
    trusted: Share  # of the questions
    judged: int
    kept: Share  # of the trusted that could be judged
    others: Share  # of the others


def lines(found: Sequence[Promise]) -> list[Line]:
    """Per subject."""
    told = []
    for subject in dict.fromkeys(one.subject for one in found):
        own = [one for one in found if one.subject == subject]
        known = [one for one in own if one.kept is not None]
        told.append(
            Line(
                subject,
                len(own),
                sum(one.answered for one in own),
                share(one.label == TRUSTED for one in own),
                len(known),
                share(bool(one.kept) for one in known if one.label == TRUSTED),
                share(bool(one.kept) for one in known if one.label != TRUSTED),
            )
        )
    return told


def show(told: Sequence[Line]) -> str:
    """The lines as a table."""
    return table(
        HEAD,
        [
            (
                one.subject,
                one.asked,
                one.answered,
                str(one.trusted),
                one.judged,
                str(one.kept),
                str(one.others),
            )
            for one in told
        ],
    )


def checks(told: Sequence[Line], laws: Sequence[str]) -> list[Check]:
    """Trusted often enough, and rightly, on the laws of jobs; never for nodes of a trace."""
    found = []
    for one in told:
        if one.subject in laws:
            said = f"{one.subject}: at least {LEAST:.0%} of first suggestions trusted"
            found.append(Check(one.trusted.value >= LEAST, f"{said} ({one.trusted})"))
            said = f"{one.subject}: at least {KEPT:.0%} of the trusted keep the promise"
            found.append(Check(one.kept.of > 0 and one.kept.value >= KEPT, f"{said} ({one.kept})"))
        if one.subject in TRACES:
            said = f"{one.subject}: no change of nodes is trusted ({one.trusted})"
            found.append(Check(one.trusted.hits == 0, said))
    return found
