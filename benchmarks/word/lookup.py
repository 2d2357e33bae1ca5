"""Public tables: what is learnt, what is held out, and what was measured of a configuration."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import compass as cp
from benchmarks.roles import Source, sources, stated
from benchmarks.trust.problems import Problem, problems
from compass.domain.space import Role
from compass.prepare.encode import Encoder

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
FILE = Path(__file__).with_name("tables.yaml")
FEW = ("clip", "gavel")
MAXIMISED = ("steps_per_s",)  # of every other outcome less is better


@dataclass(frozen=True, eq=False)
class Measured:
    """Rows of a table by configuration."""

    problem: Problem
    rows: Rows  # [m] of the problem

    @cached_property
    def places(self) -> dict[bytes, list[int]]:
        """The rows of every configuration."""
        found: dict[bytes, list[int]] = {}
        for row in self.rows.tolist():
            found.setdefault(self.problem.X[row].tobytes(), []).append(row)
        return found

    def of(self, config: Any) -> Floats:
        """What was measured of a configuration, [runs]; empty where it was never run."""
        return np.array([self.problem.y[row] for row in self.at(config)])

    def at(self, config: Any) -> list[int]:
        """The rows of a configuration."""
        names = self.problem.features.names
        row = Encoder(self.problem.features).encode({name: config[name] for name in names})
        return self.places.get(row.tobytes(), [])


def table_problems(folder: Path) -> dict[str, Problem]:
    """Every outcome of every public table that is there."""
    found = dict(problems(folder))
    for name, source in sources(FILE).items():
        if source.absent(folder):
            continue
        for one in outcomes_of(source, folder):
            if not (name == "multicore" and one.outcome == "Time[s]"):  # it is there already
                found[f"{name} {one.outcome}"] = one
    return found


def few_problems(folder: Path) -> dict[str, Problem]:
    """Small tables that are read and learnt in seconds."""
    every = {**sources(), **sources(FILE)}
    chosen = [every[name] for name in FEW if not every[name].absent(folder)]
    found = (next(outcomes_of(source, folder)) for source in chosen)
    return {f"{one.name} {one.outcome}": one for one in found}


def outcomes_of(source: Source, folder: Path) -> Iterator[Problem]:
    """The goals of one table, each with the runs in which it is known."""
    data = source.read(folder)
    prepared = data.prepared
    names = prepared.space.having(Role.KNOB, Role.CONTEXT)
    X = prepared.columns_of(names)
    for outcome in source.goals:
        y = prepared.column(outcome)
        known = np.flatnonzero(np.isfinite(X).all(axis=1) & np.isfinite(y))
        yield Problem(
            name=source.name,
            data=data,
            study=stated(data),
            features=prepared.space.select(names),
            outcome=outcome,
            X=X[known],
            y=y[known],
            row=prepared.row_id[known],
        )


def part(problem: Problem, role: Role) -> tuple[str, ...]:
    """The columns of a role."""
    return tuple(p.name for p in problem.features if p.role is role)


def context_of(problem: Problem, row: int) -> dict[str, Any]:
    """The context of a run as a person writes it."""
    config = Encoder(problem.features).decode(problem.X[row])
    return {name: config[name] for name in part(problem, Role.CONTEXT)}


def better(outcome: str) -> Any:
    """The goal of having as little of it as possible, or as much where more is better."""
    return cp.maximize if outcome in MAXIMISED else cp.minimize
