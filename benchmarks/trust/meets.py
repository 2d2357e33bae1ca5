"""Whether suggestions do what they promise, looked up in tables that hold every configuration."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import compass as cp
from benchmarks.oneshot import VALID, Space, spaces, tables
from benchmarks.trust.engine import plain
from benchmarks.trust.plan import Plan, say
from compass.domain.answer import Suggestion
from compass.domain.space import Role
from compass.prepare.encode import Encoder

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

REDUCE = (0.1, 0.2, 0.3)
PERCENTILES = (10, 5)
MINIMISE = "minimise"
_ELSEWHERE = 300  # random rows that were not learnt, to see what being chosen does to coverage


@dataclass(frozen=True)
class Asked:
    """A question and what has to be true of a suggestion."""

    name: str
    goals: Mapping[str, Any]
    limit: float  # the largest measured value that meets the goal; infinite: minimise
    baseline: int | None = None  # row of the learnt table


@dataclass(frozen=True)
class Looked:
    """One suggestion, looked up."""

    space: str
    share: float
    seed: int
    question: str
    rank: int
    label: str
    finding: str  # the worst that past runs say about what it moves
    promised: bool  # the engine says that it meets the goals
    there: bool  # the table holds it
    learnt: bool  # it was among the runs learnt from
    measured: float | None  # None: the launch failed, or the table does not hold it
    met: bool
    chance: float  # share of all configurations that meet the goal
    regret: float  # measured / best - 1; a failed launch costs as much as the slowest
    below: bool | None  # measured below its interval: better than promised
    above: bool | None
    change_inside: bool | None  # the measured change is in the interval of the change


@dataclass(frozen=True)
class Sample:
    """One engine: what became of its suggestions, and its coverage of rows that nobody chose."""

    space: str
    share: float
    seed: int
    rows: int
    inside: float
    tested: int
    looked: tuple[Looked, ...]
    refused: int  # questions that were answered with no suggestion


@cache
def _spaces(folder: Path) -> dict[str, Space]:
    found = [one for one in tables() if not one.source.absent(folder)]
    return {space.name: space for one in found for space in spaces(one, folder)}


def names(folder: Path) -> list[str]:
    """Every space that there is."""
    return list(_spaces(folder))


def examine(name: str, folder: Path, plan: Plan) -> list[Sample]:
    """All samples of one space."""
    space = _spaces(folder)[name]
    began = time.perf_counter()
    found = [
        sampled(space, share, plan.seed + number, plan)
        for share in plan.shares
        for number in range(plan.samples)
    ]
    looked = sum(len(sample.looked) for sample in found)
    took = time.perf_counter() - began
    say(f"meets: {name}, {len(found)} engines, {looked} suggestions, {took:.0f} s")
    return found


def sampled(space: Space, share: float, seed: int, plan: Plan) -> Sample:
    """One engine on a share of the rows, with all questions."""
    n = len(space.y)
    order = np.random.default_rng([seed, round(1000 * share)]).permutation(n)
    rows = np.sort(order[: round(share * n)])
    learnt = cp.read(space.data.table.arrow.take(rows), study=space.study)
    engine = cp.Compass(learnt, seed=seed, settings=plain(plan.surrogate)).fit()
    looked: list[Looked] = []
    refused = 0
    for asked in questions(space, engine, rows, plan.baselines, seed):
        answer = _answer(engine, space, asked)
        refused += not len(answer)
        start = None if asked.baseline is None else float(space.y[rows[asked.baseline]])
        looked += [
            look_up(space, share, seed, asked, rank, one, rows, start)
            for rank, one in enumerate(answer)
        ]
    inside, tested = _elsewhere(space, engine, order[len(rows) :])
    return Sample(space.name, share, seed, len(rows), inside, tested, tuple(looked), refused)


def questions(
    space: Space, engine: cp.Compass, rows: Rows, baselines: int, seed: int
) -> Iterator[Asked]:
    """What is asked of one engine."""
    works: dict[str, Any] = {}
    if VALID in engine.space and np.isnan(space.y[rows]).any():
        works[VALID] = cp.is_class(1)
    yield Asked(MINIMISE, {space.outcome: cp.minimize, **works}, np.inf)
    for percent in PERCENTILES:
        limit = float(np.nanpercentile(space.y, percent))
        goals = {space.outcome: cp.at_most(limit), **works}
        yield Asked(f"best {percent} %", goals, limit)
    measured = np.flatnonzero(np.isfinite(space.y[rows]))
    for start in np.random.default_rng([seed, 4]).permutation(measured)[:baselines]:
        for share in REDUCE:
            limit = (1 - share) * float(space.y[rows[start]])
            goals = {space.outcome: cp.less(share), **works}
            yield Asked(f"reduce by {share:.0%}", goals, limit, int(start))


def _answer(engine: cp.Compass, space: Space, asked: Asked) -> cp.Answer:
    if asked.baseline is None:
        return engine.recommend(ask=space.knobs, goals=asked.goals, prove=0)
    return engine.reconfigure(asked.baseline, ask=space.knobs, goals=asked.goals, prove=0)


def look_up(
    space: Space,
    share: float,
    seed: int,
    asked: Asked,
    rank: int,
    one: Suggestion,
    rows: Rows,
    start: float | None,
) -> Looked:
    """What the table says about a suggestion."""
    place = _place(space, one)
    value = float(space.y[place]) if place is not None else np.nan
    works = bool(np.isfinite(value))
    best, worst = float(np.nanmin(space.y)), float(np.nanmax(space.y))
    said = one.outcome(space.outcome)
    below = above = inside = None
    if works and said.low is not None and said.high is not None:
        below, above = value < said.low, value > said.high
    if works and start is not None and said.change_low is not None:
        assert said.change_high is not None
        inside = said.change_low <= value - start <= said.change_high
    return Looked(
        space=space.name,
        share=share,
        seed=seed,
        question=asked.name,
        rank=rank,
        label=one.trust.label.value,
        finding=_worst(one),
        promised=one.meets_goals,
        there=place is not None,
        learnt=place is not None and bool(np.isin(place, rows)),
        measured=value if works else None,
        met=works and value <= asked.limit,
        chance=float(np.mean(np.nan_to_num(space.y, nan=np.inf) <= asked.limit)),
        regret=(value if works else worst) / best - 1,
        below=below,
        above=above,
        change_inside=inside,
    )


def _worst(one: Suggestion) -> str:
    """The worst finding about a parameter that the suggestion moves."""
    found = {effect.finding.value for effect in one.trust.effects}
    order = ("contradicted", "not identifiable", "never observed", "supported")
    return next((name for name in order if name in found), "no finding")


def _place(space: Space, one: Suggestion) -> int | None:
    """Where the suggestion stands in the table."""
    encoder = Encoder(space.data.prepared.space.select(space.knobs))
    row = encoder.encode({name: one.config[name] for name in space.knobs})
    found = np.flatnonzero((row == space.X).all(axis=1))
    return int(found[0]) if len(found) else None


def _elsewhere(space: Space, engine: cp.Compass, rest: Rows) -> tuple[float, int]:
    """Coverage of the printed intervals on random rows that were not learnt, and how many."""
    from compass.evidence.assessor import Assessor

    names = engine.space.having(Role.KNOB, Role.CONTEXT)
    trained = engine.store.train(names, (space.outcome,))
    assessor = Assessor(engine.store, engine.store.view_of(names), trained)
    rows = rest[np.isfinite(space.y[rest])][:_ELSEWHERE]
    X, model = space.data.prepared.columns_of(names)[rows], trained[space.outcome].model
    band = assessor.band(space.outcome, model.predict(X), model.spread(X))
    if band is None or not len(rows):
        return float("nan"), 0
    return float(np.mean((band[0] <= space.y[rows]) & (space.y[rows] <= band[1]))), len(rows)
