"""What an acquisition of fronts promises: different candidates, told honestly, the same again."""

from functools import cache
from typing import Any

import numpy as np

from compass.acquire.loop import Condition, LoopProblem
from compass.domain.space import Category, Number, Space
from compass.execute.one_thread import one_thread
from compass.pareto.acquisition import (
    FrontAcquisition,
    FrontChoice,
    FrontRequest,
    SeenRuns,
    reference_for,
)
from compass.settings import LoopSettings
from compass.testing.base import Witness, witness

_COUNT = 2
_RUNS, _PENDING, _LEFT = 12, 2, 40


def check_front_acquisition(plugin: Any, *, name: str | None = None) -> None:
    """Raise ConformanceError unless the acquisition keeps its promises."""
    found = witness("front_acquisition", plugin, name)
    for outcomes in (2, 4):
        look = f"compass.testing.front_acquisition.request({outcomes})"
        own = found.at(look)
        asked = request(outcomes)
        chosen = _choose(own, plugin, asked)
        again = _choose(own, plugin, asked)
        own.expect(
            [one.place for one in again] == [one.place for one in chosen],
            "the same request gets the same runs",
            f"{[one.place for one in again]}",
        )
        _told(own, asked, chosen)
    few = request(2, left=2)
    _choose(found.at("compass.testing.front_acquisition.request(2, left=2)"), plugin, few)


def _choose(found: Witness, plugin: Any, asked: FrontRequest) -> tuple[FrontChoice, ...]:
    made = plugin()
    found.expect(isinstance(made, FrontAcquisition), "it has the parts of its Protocol", f"{made}")
    with found.calling("it answers a request"), one_thread():
        made.prepare()
        chosen: tuple[FrontChoice, ...] = made.choose(asked)
    right = isinstance(chosen, tuple) and all(isinstance(one, FrontChoice) for one in chosen)
    found.expect(right, "it returns a tuple of FrontChoice", f"{chosen!r:.200}")
    places = [one.place for one in chosen]
    wanted = min(asked.count, len(asked.candidates))
    count = f"{len(places)} of {wanted}"
    found.expect(len(places) <= wanted, "it chooses no more runs than asked for", count)
    found.expect(places, "it chooses a run where there are candidates", "none")
    found.expect(len(set(places)) == len(places), "no candidate is chosen twice", f"{places}")
    inside = all(0 <= place < len(asked.candidates) for place in places)
    found.expect(inside, "it chooses among the candidates", f"{places}")
    return chosen


def _told(found: Witness, asked: FrontRequest, chosen: tuple[FrontChoice, ...]) -> None:
    for one in chosen:
        ends = np.array([one.low, one.mean, one.high])
        found.expect(
            ends.shape == (3, len(asked.log_sign)) and np.isfinite(ends).all(),
            "it tells what it expects of every outcome",
            f"{ends.tolist()}",
        )
        found.expect(
            (np.diff(ends, axis=0) >= 0).all(), "means are inside their intervals", f"{ends}"
        )
        chances = (one.failure, one.meets)
        found.expect(
            all(0 <= chance <= 1 for chance in chances), "chances are from 0 to 1", f"{chances}"
        )
        found.expect(not one.gain < 0, "no run takes volume away", f"{one.gain}")


@cache
def request(outcomes: int, left: int = _LEFT) -> FrontRequest:
    """Some runs of a small space that a law made, one of them failed, two more being made.

    One more outcome has a bound. `left`: how many candidates there are.
    """
    space = Space(
        parameters=(
            Number(name="nodes", low=1, high=8, step=1),
            Number(name="threads", low=1, high=16, allowed=(1, 2, 4, 8, 16)),
            Category(name="schedule", values=("static", "dynamic", "guided")),
        )
    )
    problem = LoopProblem(space, (), 5, LoopSettings(sweep=0, starts=4))
    order = np.random.default_rng(8).permutation(len(problem.pool.X))
    X = problem.pool.X[order]
    made, pending, rest = X[:_RUNS], X[_RUNS : _RUNS + _PENDING], X[_RUNS + _PENDING :]
    nodes, threads, schedule = made.T
    laws = np.column_stack(
        [
            90 / (nodes * threads**0.7) + nodes + schedule,
            40 + 12 * nodes + 3 * threads,
            5 + np.abs(threads - 4) + nodes / 2,
            30 - 3 * nodes + 2 * schedule + threads / 4,
        ]
    )
    losses, bounded = laws[:, :outcomes].copy(), laws[:, 2].copy()
    failed = np.zeros(len(made), dtype=np.bool_)
    failed[3] = True
    losses[3] = bounded[3] = np.nan
    seen = SeenRuns(made, losses, failed, (Condition(bounded, -np.inf, 12.0, positive=True),))
    signs = np.ones(outcomes, dtype=np.int64)
    _, front = seen.means(signs)
    reference = reference_for(front, losses[~failed], None)
    return FrontRequest(problem, seen, pending, rest[:left], _COUNT, front, reference, None, signs)
