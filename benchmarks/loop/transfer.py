"""History of the other GPUs, or of the other size, before the first run is made."""

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np

from benchmarks.loop.replay import Figures, figures, replayed
from benchmarks.loop.spaces import Replay, replays
from benchmarks.roles import data_folder
from compass.acquire.loop import History
from compass.settings import LoopSettings

KNOWN = 500  # runs of each other GPU or size that the history has, drawn at random
EARLY = (5, 10, 20, 50, 100)
BUDGET = 100


def transferred(space: Replay, seeds: Sequence[int], *, history: bool) -> Iterator[Figures]:
    """The loop from no run at all, with a history or without."""
    others = [one for one in _all() if one.kernel == space.kernel and one.name != space.name]
    for seed in seeds:
        past = _history(others, space, seed) if history else None
        order, cpu = replayed(space, seed, LoopSettings(), history=past, starts=0, budget=BUDGET)
        yield figures(space, seed, order, cpu, EARLY)


@cache
def _all() -> tuple[Replay, ...]:
    return tuple(replays(data_folder()))


def _history(others: Sequence[Replay], space: Replay, seed: int) -> History:
    """Some runs of each of the others; times are told in units of its median."""
    rng = np.random.default_rng(seed)
    X, loss = [], []
    for other in others:
        if other.space.names != space.space.names:
            continue
        rows = rng.permutation(len(other.X))[:KNOWN]
        X.append(other.X[rows])
        loss.append(other.y[rows] / np.nanmedian(other.y[rows]))
    return History(np.concatenate(X), np.concatenate(loss))
