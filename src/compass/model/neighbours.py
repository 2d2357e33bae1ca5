"""Nearest neighbours: the outcome of the most similar past configurations.

Distances are Euclidean on the dense matrix. A number counts in standard deviations; a category of
another label is 1 away; `none` is 1 away from a number at its mean. Runs of one configuration are
one neighbour with their mean outcome, as heavy as all of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Unpack

import numpy as np
from numpy.typing import NDArray

from compass import registry
from compass.execute.arrays import damaged, floats, whole
from compass.execute.processors import cores
from compass.model.base import FitArguments, Floats, Task, are_shares
from compass.model.dense import (
    MODEL,
    DenseFamily,
    DenseRows,
    FittedDense,
    Frame,
    dense_rows,
    finite,
    no_number,
)
from compass.model.search_space import SearchSpace, TunedFlag, TunedNumber
from compass.native import kernel
from compass.prepare.design import Design
from compass.settings import Settings

_ENOUGH = 200  # questions that repay a thread

_average = kernel("average")


@dataclass(frozen=True, eq=False)
class FittedNeighbours(FittedDense):
    """The configurations that were run, each with the mean and the variance of its outcome."""

    ARRAYS: ClassVar = {
        "points": floats("rows", "width", some=True),
        "mean": floats("rows", "raw"),
        "within": floats("rows", "raw", least=0),
        "weight": floats("rows", above=0),
        "near": whole(2, least=0),
    }

    points: Floats  # [m, width] distinct rows, as distances see them
    mean: Floats  # [m, raw] outcome, or shares of the classes
    within: Floats  # [m, raw] variance among the runs of a configuration
    weight: Floats  # [m]
    count: int
    by_distance: bool
    family: str = "neighbours"

    def predict(self, X: Floats) -> Floats:
        """Predictions float64[n, outputs] for X float64[n, d]; class scores sum to 1."""
        mean = self._both(X)[0]
        return self.frame.number(mean) if self.task.classes is None else self.frame.scores(mean)

    def spread(self, X: Floats) -> Floats:
        """Standard deviation float64[n] among the neighbours' runs, weighted as they count.

        For classes that of the winning score.
        """
        return finite(self._both(X)[1] * self.frame.scale)

    @property
    def near(self) -> NDArray[np.int64]:
        """How many neighbours count, and whether by distance: as it is saved."""
        return np.array([self.count, int(self.by_distance)])

    @classmethod
    def restore(cls, arrays: Mapping[str, NDArray[np.generic]], task: Task) -> "FittedNeighbours":
        """The model whose `arrays()` these are."""
        frame = Frame.restore(arrays, task)
        own = frame.own(arrays, cls.ARRAYS)
        count, by_distance = own.pop("near").tolist()
        if count < 1 or by_distance > 1:
            raise damaged(MODEL, "it does not say how many neighbours count")
        if task.classes is not None and not are_shares(own["mean"]):
            raise damaged(MODEL, "its runs have no shares of classes")
        return cls(frame, **own, count=count, by_distance=bool(by_distance))

    @cached_property
    def _tree(self) -> Any:
        from scipy.spatial import cKDTree

        return cKDTree(self.points)

    def _both(self, X: Floats) -> tuple[Floats, Floats]:
        Z = self.frame.dense(X) * _stretch(self.frame.design)
        k = min(self.count, len(self.points))
        workers = max(1, min(cores(), len(Z) // _ENOUGH))
        apart, near = self._tree.query(Z, k=np.arange(1, k + 1), workers=workers)
        mean, spread = np.empty((len(Z), self.frame.raw)), np.empty(len(Z))
        # A neighbour at an infinite distance counts as none, and its place as beyond the last.
        if len(Z) and near.max() >= len(self.points):
            raise no_number()
        near = np.ascontiguousarray(near, dtype=np.int64)
        apart = np.ascontiguousarray(apart)
        _average(
            apart, near, self.mean, self.within, self.weight, int(self.by_distance), mean, spread
        )
        return mean, spread


@registry.add("surrogate", "neighbours")
class Neighbours(DenseFamily):
    """Nearest neighbours: what happened in the most similar runs, and nothing else."""

    name = "neighbours"
    fitted = FittedNeighbours
    search_space = SearchSpace(
        "neighbours", (TunedNumber("count", 1, 30), TunedFlag("by_distance"))
    )

    @staticmethod
    def effort(rows: int, columns: int, task: Task) -> float:
        """Hardly any to remember them; what is counted is finding them again."""
        del columns, task
        return 2e-5 * rows

    @staticmethod
    def learn(rows: DenseRows, seed: int, settings: Settings) -> FittedNeighbours:
        """Remember these rows."""
        del seed  # nothing is random
        return _fitted(rows, *_distinct(rows), settings)

    @classmethod
    def fit_many(
        cls, X: Floats, Y: Floats, *, tasks: Sequence[Task], **options: Unpack[FitArguments]
    ) -> tuple[FittedNeighbours, ...]:
        """Remember X float64[n, d] once for all outcomes Y float64[n, outcomes]."""
        weight, features = options["weight"], options.get("features")
        outcomes = [
            dense_rows(X, y, task, weight, features) for y, task in zip(Y.T, tasks, strict=True)
        ]
        points, place = _distinct(outcomes[0])
        return tuple(_fitted(rows, points, place, options["settings"]) for rows in outcomes)


def _distinct(rows: DenseRows) -> tuple[Floats, NDArray[np.int64]]:
    """The distinct rows float64[m, width] as distances see them, and which of them each row is."""
    stretched = rows.Z * _stretch(rows.frame.design)
    points, place = np.unique(stretched, axis=0, return_inverse=True)
    return points, place.ravel()


def _fitted(
    rows: DenseRows, points: Floats, place: NDArray[np.int64], settings: Settings
) -> FittedNeighbours:
    """The model of one outcome over the distinct rows."""
    heavy = np.asarray(np.bincount(place, rows.weight), dtype=np.float64)
    targets = rows.targets()
    mean, within = np.empty((2, len(points), rows.frame.raw))
    for column in range(rows.frame.raw):
        of = targets[:, column]
        mean[:, column] = np.bincount(place, rows.weight * of) / heavy
        apart = (of - mean[place, column]) ** 2
        within[:, column] = np.bincount(place, rows.weight * apart) / heavy
    chosen = settings.neighbours
    return FittedNeighbours(
        rows.frame, points, mean, within, heavy, chosen.count, chosen.by_distance
    )


def _stretch(design: Design) -> Floats:
    """What the dense columns are multiplied by, float64[width]."""
    found: list[float] = []
    for levels, none in zip(design.levels.tolist(), design.none, strict=True):
        # Another label differs in two columns: together they make 1.
        found += [np.sqrt(0.5)] * levels if levels else [1.0] if np.isnan(none) else [1.0, 1.0]
    return np.array(found)
