"""The outcomes of public tables that labels and intervals are checked on, and their splits."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import compass as cp
from benchmarks.automl.tables import EXHAUSTIVE, datasets
from benchmarks.roles import sources, stated
from compass.domain.space import Category, Number, Role, Space
from compass.prepare.split import by_configuration, configurations

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

TEST = 0.2  # share of the configurations that a random split holds out
_SMALLEST, _LARGEST = 0.02, 0.5  # share of the rows that a region may hold
_FEWEST = 10  # rows of a region, and of what is left to learn from


@dataclass(frozen=True, eq=False)
class Problem:
    """One outcome of one table: the runs in which it and all features are known."""

    name: str
    data: cp.Dataset
    study: cp.Study  # with the legal values of the whole table
    features: Space
    outcome: str
    X: Floats  # [n, d] encoded
    y: Floats  # [n]
    row: Rows  # [n] in the table

    @property
    def classes(self) -> bool:
        """Whether the outcome is a class."""
        return isinstance(self.data.prepared.space[self.outcome], Category)

    def part(self, rows: Rows) -> cp.Dataset:
        """These runs alone, with the legal values of all."""
        return cp.read(self.data.table.arrow.take(self.row[rows]), study=self.study)


@dataclass(frozen=True, eq=False)
class Split:
    """Runs to learn from and runs to judge by; no configuration is among both."""

    kind: str  # random or region
    name: str
    learn: Rows
    test: Rows


@cache
def problems(folder: Path) -> dict[str, Problem]:
    """Every outcome of every table in the folder, by name."""
    found = [_problem(name, data, goal) for name, data, goal in _tables(folder)]
    tables = [one.name for one in found]
    named = {
        one.name if tables.count(one.name) == 1 else f"{one.name} {one.outcome}": one
        for one in found
    }
    return {
        name: Problem(name, p.data, p.study, p.features, p.outcome, p.X, p.y, p.row)
        for name, p in named.items()
    }


def _tables(folder: Path) -> Iterator[tuple[str, cp.Dataset, str]]:
    """What models are compared on, and the other goals of the same tables."""
    known = {**sources(), **sources(EXHAUSTIVE)}
    there = list(datasets(folder))
    for name, data, goal in there:
        yield name, data, goal
        for other in known[name].goals if name in known else ():
            if other != goal:
                yield name, data, other
    names = {name for name, _, _ in there}
    for name, source in known.items():
        if name not in names and not source.absent(folder):
            data = source.read(folder)
            for goal in source.goals:
                yield name, data, goal


def _problem(name: str, data: cp.Dataset, outcome: str) -> Problem:
    prepared = data.prepared
    names = prepared.space.having(Role.KNOB, Role.CONTEXT)
    X, y = prepared.columns_of(names), prepared.column(outcome)
    known = np.flatnonzero(np.isfinite(X).all(axis=1) & np.isfinite(y))
    return Problem(
        name=name,
        data=data,
        study=stated(data),
        features=prepared.space.select(names),
        outcome=outcome,
        X=X[known],
        y=y[known],
        row=prepared.row_id[known],
    )


def random_split(problem: Problem, seed: int, learn: int, test: int, pool: int = 0) -> Split:
    """A fifth of the configurations held out, at most `learn` and `test` rows; `pool` limits both.

    The seed is moved away from those of engines, which split what they learn by the same function.
    """
    rng = np.random.default_rng([seed, 1])
    rows = rng.permutation(len(problem.y))[: pool or None]
    first, second = by_configuration(problem.X[rows], TEST, seed + 1000)
    return Split("random", f"split {seed}", _some(rows[first], learn), _some(rows[second], test))


def region_splits(
    problem: Problem, count: int, seed: int, learn: int, test: int
) -> Iterator[Split]:
    """Whole regions held out: labels of the context, and the ends of numeric columns.

    Where both kinds exist each gives half of the regions.
    """
    rng = np.random.default_rng([seed, 2])
    labels, ends = [_shuffled(found, rng) for found in _regions(problem)]
    half = min(len(labels), max(count - len(ends), (count + 1) // 2))
    for name, inside in [*labels[:half], *ends[: count - half]]:
        rows = rng.permutation(len(problem.y))
        held = inside[rows]
        kinds = configurations(problem.X)
        apart = ~np.isin(kinds[rows], kinds[inside])
        yield Split("region", name, _some(rows[apart], learn), _some(rows[held], test))


def _regions(problem: Problem) -> tuple[list[tuple[str, NDArray[np.bool_]]], ...]:
    labels, ends = [], []
    for column, parameter in zip(problem.X.T, problem.features.parameters, strict=True):
        name = parameter.name
        if isinstance(parameter, Category):
            if parameter.role is Role.CONTEXT:
                labels += [
                    (f"{name} = {value}", column == code)
                    for code, value in enumerate(parameter.values)
                ]
            continue
        assert isinstance(parameter, Number)
        amount = column != parameter.none_code if parameter.optional else np.isfinite(column)
        low, high = np.quantile(column[amount], [0.2, 0.8], method="inverted_cdf")
        ends += [
            (f"{name} <= {low:g}", amount & (column <= low)),
            (f"{name} >= {high:g}", amount & (column >= high)),
        ]
    return [one for one in labels if _fits(one[1])], [one for one in ends if _fits(one[1])]


def _fits(inside: NDArray[np.bool_]) -> bool:
    share, rows = float(inside.mean()), int(inside.sum())
    return _SMALLEST <= share <= _LARGEST and rows >= _FEWEST <= len(inside) - rows


def _shuffled(
    found: list[tuple[str, NDArray[np.bool_]]], rng: np.random.Generator
) -> list[tuple[str, NDArray[np.bool_]]]:
    return [found[i] for i in rng.permutation(len(found))]


def _some(rows: Rows, limit: int) -> Rows:
    """The first rows of a random order, ascending."""
    return np.sort(rows[:limit])
