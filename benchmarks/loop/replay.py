"""Our loop on a space of which everything was measured, and the figures of one replay."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.loop.spaces import BUDGET, STARTS, Replay
from compass.acquire.loop import History, Seen, next_runs
from compass.settings import LoopSettings

AT = (50, 100, 220)
POINTS = 50  # equidistant evaluations that the score is the mean over


@dataclass(frozen=True)
class Figures:
    """One replay: regrets are shares; `score` is that of the papers on Kernel Tuner."""

    seed: int
    regret: dict[int, float]  # after so many evaluations
    score: float
    failed: int  # of the runs after the starts
    cpu: float  # seconds per ask
    # How far it was each time that it found a better one: evaluations, regret, failed launches.
    found: tuple[tuple[int, float, int], ...] = ()


def replayed(
    space: Replay,
    seed: int,
    settings: LoopSettings,
    *,
    history: History | None = None,
    starts: int = STARTS,
    budget: int = BUDGET,
) -> tuple[list[int], float]:
    """What the loop evaluates, in order, and what an ask costs it in CPU seconds."""
    problem = space.problem(seed, settings)
    order = space.starts(seed)[:starts].tolist()
    member = [""] * len(order)
    spent = 0.0
    none = np.empty((0, len(space.space)))
    while len(order) < budget:
        rows = np.array(order, dtype=np.int64)
        y = space.y[rows]
        seen = Seen(space.X[rows], y, np.isnan(y), tuple(member))
        began = time.process_time()
        found = next_runs(problem, seen, pending=none, count=1, history=history, positive=True)
        spent += time.process_time() - began
        order.append(int(problem.pool.find(found.proposals[0].x[None, :])[0]))
        member.append(found.proposals[0].member)
    return order, spent / max(budget - starts, 1)


def figures(
    space: Replay, seed: int, order: Sequence[int], cpu: float, at: Sequence[int] = AT
) -> Figures:
    """What is kept of one replay."""
    best = space.best_so_far(order)
    # A search that ended early keeps what it found.
    best = np.concatenate([best, np.full(max(BUDGET - len(best), 0), best[-1])])
    points = np.linspace(STARTS, BUDGET, POINTS).round().astype(int) - 1
    score = 1.0 - best[points] / space.random[points]
    return Figures(
        seed=seed,
        regret={t: float(best[t - 1]) for t in at},
        score=float(score.mean()),
        failed=int(np.isnan(space.y[np.asarray(order[STARTS:], dtype=np.int64)]).sum()),
        cpu=cpu,
        found=_found(space, order),
    )


def _found(space: Replay, order: Sequence[int]) -> tuple[tuple[int, float, int], ...]:
    """The runs that were better than all before; the starts count as one, and not as failed."""
    best = space.best_so_far(order)
    failed = np.cumsum(np.isnan(space.y[np.asarray(order, dtype=np.int64)]))
    places = [STARTS - 1, *(STARTS + np.flatnonzero(np.diff(best[STARTS - 1 :]) < 0)).tolist()]
    return tuple(
        (at + 1, round(float(best[at]), 4), int(failed[at] - failed[STARTS - 1])) for at in places
    )
