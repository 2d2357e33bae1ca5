"""The tables that suit learning one outcome: rows to learn from, and rows nobody touches."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import compass as cp
from benchmarks.roles import FILE, sources
from compass.domain.space import Role, Space
from compass.prepare.split import by_configuration, configurations

Floats = NDArray[np.float64]
EXHAUSTIVE = FILE.with_name("exhaustive.yaml")
TEST = 0.2  # share of the configurations that are kept for the end
DEEPPERF = ("Apache", "BDBC", "BDBJ", "Dune", "LLVM", "SQL", "hipacc", "hsmgp", "x264")


@dataclass(frozen=True, eq=False)
class Problem:
    """One outcome of one table."""

    name: str
    features: Space
    X: Floats  # [n, d] to learn from
    y: Floats  # [n]
    X_test: Floats
    y_test: Floats

    @property
    def groups(self) -> NDArray[np.uint64]:
        """A number for each configuration, [n]."""
        return configurations(self.X)


def problems(folder: Path, seed: int, only: tuple[str, ...] = ()) -> Iterator[Problem]:
    """Every table that is there, with its split into rows to learn from and to judge by."""
    for name, data, goal in datasets(folder):
        if not only or name in only:
            yield _split(name, data, goal, seed)


def datasets(folder: Path) -> Iterator[tuple[str, cp.Dataset, str]]:
    known = {**sources(), **sources(EXHAUSTIVE)}
    # Power-bounded runs and trained networks have two goals each; the time is the one learnt here.
    goals = {"clip": "time_s", "zeus": "time_per_epoch"}
    for name in ("clip", "kripke", "amg", "gemm", "convolution", "zeus", "syr2k"):
        source = known[name]
        if not source.absent(folder):
            goal = goals.get(name)
            yield name, source.read(folder), goal if goal in source.goals else source.goals[0]
    path = folder / "multicore_time_energy" / "time_energy.csv"
    if path.is_file():
        data = cp.read(str(path)).roles(
            knobs=["Cores"], context=["machine", "app", "Procs"], outcomes=["Time[s]"],
            ignored=["Freq", "Energy[Wh]", "Energy[J]", "AvgPower[W]", "Freq_GHz"],
        )  # fmt: skip
        yield "multicore", data, "Time[s]"
    for name in DEEPPERF:
        path = folder / "deepperf" / f"{name}.csv"
        if path.is_file():
            data = cp.read(str(path))
            *knobs, goal = data.table.names
            yield f"deepperf {name}", data.roles(knobs=knobs, outcomes=[goal]), goal


def _split(name: str, data: cp.Dataset, goal: str, seed: int) -> Problem:
    prepared = data.prepared
    names = prepared.space.having(Role.KNOB, Role.CONTEXT)
    X, y = prepared.columns_of(names), prepared.column(goal)
    known = np.isfinite(X).all(axis=1) & np.isfinite(y)
    X, y = X[known], y[known]
    train, test = by_configuration(X, TEST, seed)
    return Problem(name, prepared.space.select(names), X[train], y[train], X[test], y[test])
