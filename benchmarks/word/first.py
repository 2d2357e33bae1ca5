"""Part D: the first suggestion for the minimum, in every context of tables that are wholly learnt.

A suggestion is worth what was measured of it on average, or what is predicted where it was never
run. It must be supported, and no measured run of its context may be better.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import compass as cp
from benchmarks.roles import Source, sources
from benchmarks.show import table
from benchmarks.trust.problems import Problem
from benchmarks.word.goals import ENGINE_SEED, say
from benchmarks.word.judge import Check
from benchmarks.word.lookup import FILE, Measured, better, context_of, outcomes_of, part
from compass.domain.space import Role
from compass.prepare.split import configurations

Floats = NDArray[np.float64]

TABLES = ("zeus", "multicore", "clip", "convolution")
VALID = "valid"  # an outcome that says whether a run worked at all
UNSUPPORTED = "unsupported"
EQUAL = 1e-4  # relative; runs of one configuration differ by more
HEAD = (
    *("table", "goal", "contexts", "answered", "unsupported", "dominated", "measured"),
    *("worse than best", "largest regret", "median regret"),
)


@dataclass(frozen=True)
class First:
    """The first suggestion of one context."""

    table: str
    goal: str
    context: str
    answered: bool
    label: str | None = None
    measured: bool = False  # it is a configuration that was run in this context
    dominated: bool = False
    regret: float | None = None  # value / best measured - 1; None: several goals at once


def dominated(own: Floats, others: Floats) -> bool:
    """Whether a row of others [n, k] is nowhere larger than own [k] and somewhere smaller."""
    slack = EQUAL * np.abs(own)
    no_worse = (others <= own + slack).all(axis=1)
    return bool((no_worse & (others < own - slack).any(axis=1)).any())


def known() -> dict[str, Source]:
    """The tables of this part."""
    every = {**sources(), **sources(FILE)}
    return {name: every[name] for name in TABLES}


def examine(source: Source, folder: Path, most: int) -> list[First]:
    """Every context of one table (`most`: at most so many), each goal alone and all together."""
    began = time.perf_counter()
    problems = list(outcomes_of(source, folder))
    data, every = problems[0].data, problems[0]
    if any(not np.array_equal(one.row, every.row) for one in problems):
        raise ValueError(f"{source.name}: some runs have one outcome and not the other")
    engine = cp.Compass(data, seed=ENGINE_SEED)
    works: dict[str, Any] = {VALID: cp.is_class(1)} if VALID in engine.space else {}
    contexts = _contexts(every)[: most or None]
    goals = [(one,) for one in problems] + ([tuple(problems)] if len(problems) > 1 else [])
    found = [
        _first(engine, source.name, rows, asked, works) for rows in contexts for asked in goals
    ]
    took = time.perf_counter() - began
    say(f"{source.name}: {len(contexts)} contexts, {took:.0f} s")
    return found


def _contexts(problem: Problem) -> list[NDArray[np.int64]]:
    """The rows of every distinct context."""
    names = part(problem, Role.CONTEXT)
    places = [problem.features.names.index(name) for name in names]
    kinds = configurations(problem.X[:, places])
    return [np.flatnonzero(kinds == kind) for kind in dict.fromkeys(kinds.tolist())]


def _first(
    engine: cp.Compass,
    name: str,
    rows: NDArray[np.int64],
    asked: Sequence[Problem],
    works: dict[str, Any],
) -> First:
    context = context_of(asked[0], int(rows[0]))
    answer = engine.recommend(
        part(asked[0], Role.KNOB),
        {one.outcome: better(one.outcome) for one in asked} | works,
        fixed=context,
    )
    goal, where = " and ".join(one.outcome for one in asked), str(context)
    if not (answer.answered and len(answer)):
        return First(name, goal, where, False)
    measured = Measured(asked[0], rows)
    others = np.array(
        [[float(one.y[own].mean()) for one in asked] for own in measured.places.values()]
    )
    there = measured.at(answer[0].config)
    if there:
        own = np.array([float(one.y[there].mean()) for one in asked])
    else:
        own = np.array([float(answer[0].outcome(one.outcome).value) for one in asked])  # type: ignore[arg-type]
    return First(
        name,
        goal,
        where,
        True,
        answer[0].trust.label.value,
        bool(there),
        dominated(own, others),
        _regret(float(own[0]), float(others[:, 0].min())) if len(asked) == 1 else None,
    )


def _regret(own: float, best: float) -> float:
    """How much worse than the best measured value, as a share; of nothing, all or none."""
    if not best:
        return 0.0 if own == best else float("inf")
    return own / best - 1


def show(found: Sequence[First]) -> str:
    """Per table and goal: counts and the largest regret."""
    rows = []
    for name, goal in dict.fromkeys((one.table, one.goal) for one in found):
        own = [one for one in found if (one.table, one.goal) == (name, goal)]
        regrets = [one.regret for one in own if one.regret is not None]
        rows.append(
            (
                name,
                goal,
                len(own),
                sum(one.answered for one in own),
                sum(one.label == UNSUPPORTED for one in own),
                sum(one.dominated for one in own),
                sum(one.measured for one in own),
                sum(regret > EQUAL for regret in regrets),
                f"{max(regrets):+.1%}" if regrets else "",
                f"{np.median(regrets):+.1%}" if regrets else "",
            )
        )
    return table(HEAD, rows)


def checks(found: Sequence[First]) -> list[Check]:
    """No first suggestion is unsupported, dominated, or worse than the best measured run."""
    told = []
    for name in dict.fromkeys(one.table for one in found):
        own = [one for one in found if one.table == name]
        unsupported = sum(one.label == UNSUPPORTED for one in own)
        beaten = sum(one.dominated for one in own)
        worse = sum(one.regret is not None and one.regret > EQUAL for one in own)
        for count, said in (
            (unsupported, "unsupported"),
            (beaten, "dominated by a measured run"),
            (worse, "worse than the best measured run"),
        ):
            told.append(Check(count == 0, f"{name}: no first suggestion {said} ({count})"))
    return told
