"""Part A on tables that hold every legal configuration: the truth is what was measured there."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import compass as cp
from benchmarks.oneshot import VALID, Space, spaces, tables
from benchmarks.word.goals import ENGINE_SEED, say, stated
from benchmarks.word.judge import Outcome
from benchmarks.word.questions import AT_MOST, QUANTILES, REDUCE, SEED, SHARES
from compass.prepare.encode import Encoder

SHARE = 0.15  # of the rows are learnt
GROUP = "exhaustive"


@dataclass(frozen=True)
class Asked:
    """A question about one space."""

    number: int
    kind: str
    text: str
    goals: dict[str, Any]
    limit: float
    start: int | None  # row of the learnt table


def every_space(folder: Path) -> Iterator[Space]:
    """The spaces of all exhaustive tables that are there."""
    for one in tables():
        absent = one.source.absent(folder)
        if absent:
            say(f"{one.source.name}: skipped, {folder} has no {', '.join(absent)}")
            continue
        yield from spaces(one, folder)


def examine(space: Space, count: int, chances: Sequence[float]) -> list[Outcome]:
    """One engine on a sample of one space, with all questions at every chance."""
    began = time.perf_counter()
    rows = sample(space)
    learnt = cp.read(space.data.table.arrow.take(rows), study=space.study)
    engine = cp.Compass(learnt, seed=ENGINE_SEED).fit()
    asked = questions(space, engine, rows, count)
    found = [outcome(space, engine, one, chance) for chance in chances for one in asked]
    say(f"{space.name}: {len(rows)} of {len(space.y)} runs, {time.perf_counter() - began:.0f} s")
    return found


def sample(space: Space) -> NDArray[np.int64]:
    """The rows that are learnt."""
    order = np.random.default_rng([SEED, 1]).permutation(len(space.y))
    return np.sort(order[: round(SHARE * len(space.y))])


def questions(space: Space, engine: cp.Compass, rows: NDArray[np.int64], count: int) -> list[Asked]:
    """Reductions of learnt runs, and every fourth time a ceiling without a baseline."""
    works: dict[str, Any] = {}
    if VALID in engine.space and np.isnan(space.y[rows]).any():
        works[VALID] = cp.is_class(1)
    measured = np.flatnonzero(np.isfinite(space.y[rows]))
    starts = np.random.default_rng([SEED, 2]).permutation(measured).tolist()
    found = []
    for number in range(count):
        if number % 4 == 3:
            quantile = QUANTILES[number // 4 % len(QUANTILES)]
            limit = float(np.nanquantile(space.y, quantile))
            goals = {space.outcome: cp.at_most(limit), **works}
            text = f"at most the {quantile:.0%} quantile"
            found.append(Asked(number, AT_MOST, text, goals, limit, None))
            continue
        share, start = SHARES[number % len(SHARES)], starts[number % len(starts)]
        limit = (1 - share) * float(space.y[rows[start]])
        goals = {space.outcome: cp.less(share), **works}
        found.append(Asked(number, REDUCE, f"reduce by {share:.0%}", goals, limit, start))
    return found


def outcome(space: Space, engine: cp.Compass, asked: Asked, chance: float) -> Outcome:
    """Ask, and look the answer up."""
    began = time.perf_counter()
    if asked.start is None:
        answer = engine.recommend(space.knobs, asked.goals, chance=chance)
    else:
        answer = engine.reconfigure(asked.start, space.knobs, asked.goals, chance=chance)
    return judged(space, asked, chance, answer, time.perf_counter() - began)


def judged(space: Space, asked: Asked, chance: float, answer: cp.Answer, took: float) -> Outcome:
    """What the table says of an answer; a launch that failed does not meet its goal."""
    asked_for = Outcome(
        subject=GROUP,
        kind=asked.kind,
        question=f"{space.name}: {asked.text}",
        number=asked.number,
        chance=chance,
        answered=answer.answered and len(answer) > 0,
        suggestions=len(answer),
        seconds=took,
    )
    if not asked_for.answered:
        return asked_for
    first, values = answer[0], [looked_up(space, one.config) for one in answer]
    known = [value for value in values if value is not None]
    return asked_for.with_facts(
        label=first.trust.label.value,
        stated=stated(first),
        distance=None if asked.start is None else first.distance,
        limit=asked.limit,
        value=values[0],
        truth=values[0],
        met=None if values[0] is None else bool(values[0] <= asked.limit),
        any_met=any(value <= asked.limit for value in known) if known else None,
        unknown=values[0] is None,
    )


def looked_up(space: Space, config: Any) -> float | None:
    """What was measured; infinite where the launch failed, None where the table has no such row."""
    encoder = Encoder(space.data.prepared.space.select(space.knobs))
    row = encoder.encode({name: config[name] for name in space.knobs})
    found = np.flatnonzero((row == space.X).all(axis=1))
    if not len(found):
        return None
    value = float(space.y[found[0]])
    return value if np.isfinite(value) else float("inf")
