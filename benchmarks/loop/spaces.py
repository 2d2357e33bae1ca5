"""The exhaustive spaces as a loop sees them: every configuration that may be asked for."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.loop.peer_case import PeerCase
from benchmarks.oneshot import tables
from benchmarks.runnable import Whole, wholes
from compass.acquire.loop import LoopProblem
from compass.acquire.loop.pool import Pool
from compass.domain.space import Category, Number, Space
from compass.prepare.encode import Encoder
from compass.settings import LoopSettings

Floats = NDArray[np.float64]

STARTS, BUDGET = 20, 220


@dataclass(frozen=True, eq=False)
class Replay:
    """One GPU or problem size of which every configuration was measured."""

    name: str
    kernel: str
    space: Space
    X: Floats  # [m, d] encoded
    y: Floats  # [m] what was measured; NaN where the launch failed

    @cached_property
    def regret(self) -> Floats:
        """By how much each is slower than the best, a share; infinite where the launch failed."""
        best = np.nanmin(self.y)
        return np.asarray(np.where(np.isnan(self.y), np.inf, self.y / best - 1))

    def best_so_far(self, order: Sequence[int]) -> Floats:
        """The smallest regret after each evaluation, a share; the largest while all failed."""
        found = np.minimum.accumulate(self.regret[np.asarray(order)])
        return np.asarray(np.where(np.isfinite(found), found, self._worst))

    @property
    def _worst(self) -> float:
        return float(self.regret[np.isfinite(self.regret)].max())

    @cached_property
    def random(self) -> Floats:
        """The expected smallest regret after 1, 2, ... random evaluations, up to the budget."""
        regret = np.sort(np.where(np.isfinite(self.regret), self.regret, self._worst))
        left = np.arange(len(regret) - 1, -1, -1.0)  # configurations that are worse
        none_better = np.ones(len(regret))
        found = []
        for t in range(1, min(BUDGET, len(regret)) + 1):
            # The best is this one: it is drawn, and all others are worse.
            chance = t / len(regret) * none_better
            found.append(float(chance @ regret))
            none_better = none_better * np.maximum(left - (t - 1), 0) / max(len(regret) - t, 1)
        return np.array(found)

    def case(self, seeds: Sequence[int]) -> PeerCase:
        """The space as peers are given it."""
        values: list[tuple[Any, ...]] = []
        places = np.empty(self.X.shape, dtype=np.int64)
        for j, parameter in enumerate(self.space):
            if isinstance(parameter, Category):
                values.append(parameter.values)
                places[:, j] = self.X[:, j]
            else:
                assert parameter.allowed is not None
                values.append(parameter.allowed)
                places[:, j] = np.searchsorted(parameter.allowed, self.X[:, j])
        return PeerCase(
            name=self.name,
            names=self.space.names,
            values=tuple(values),
            places=places,
            y=self.y,
            starts={seed: self.starts(seed).tolist() for seed in seeds},
            budget=BUDGET,
        )

    @cached_property
    def pool(self) -> Pool:
        """The same configurations for every contestant."""
        free = Pool.of(self.space, (), 1)
        return Pool(self.space, (), free.domains, free.groups, self.X, complete=True)

    def problem(self, seed: int, settings: LoopSettings) -> LoopProblem:
        """What is asked."""
        found = LoopProblem(self.space, (), seed, settings)
        found.__dict__["pool"] = self.pool
        return found

    def starts(self, seed: int) -> NDArray[np.int64]:
        """The first evaluations, the same for every contestant."""
        return np.random.default_rng(seed).permutation(len(self.X))[:STARTS]


def replays(folder: Path, only: tuple[str, ...] = ()) -> Iterator[Replay]:
    """Every exhaustive space there is data of."""
    for one in tables():
        if one.source.absent(folder):
            continue
        for whole in wholes(one, folder):
            if not only or any(name in whole.name for name in only):
                yield _replay(whole, one.source.name)


def _replay(whole: Whole, kernel: str) -> Replay:
    columns = list(zip(*whole.times, strict=True))
    parameters: list[Number | Category] = []
    for name, column in zip(whole.knobs, columns, strict=True):
        values = sorted(set(column))
        if isinstance(values[0], str):
            parameters.append(Category(name=name, values=tuple(values)))
        else:
            numbers = tuple(float(v) for v in values)
            parameters.append(Number(name=name, low=numbers[0], high=numbers[-1], allowed=numbers))
    space = Space(parameters=tuple(parameters))
    encoder = Encoder(space)
    X = np.array([encoder.encode(dict(zip(whole.knobs, key, strict=True))) for key in whole.times])
    order = np.lexsort(X.T[::-1])
    y = np.array(list(whole.times.values()))
    return Replay(whole.name, kernel, space, X[order], y[order])
