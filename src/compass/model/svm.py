"""Support vector machines with a Gaussian kernel: scikit-learn trains them."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from compass import registry
from compass.execute.arrays import floats
from compass.model.base import Floats, Task
from compass.model.dense import DenseFamily, DenseRows, FittedDense, doubt, finite
from compass.model.search_space import SearchSpace, TunedNumber
from compass.model.sums import BLOCK, RBF, affine, similar, slopes, softmax
from compass.settings import Settings

_SECONDS = 20.0  # of training on one core, beyond which a table is too large
_CACHE = 500  # MB for the kernel's rows while it is trained


@dataclass(frozen=True, eq=False)
class FittedSupportVectors(FittedDense):
    """A sum of similarities to the runs that matter."""

    ARRAYS: ClassVar = {
        "points": floats("width", "vectors"),
        "weights": floats("vectors", "raw"),
        "offset": floats("raw"),
        "steep": floats(1, least=0),
    }

    points: Floats  # [width, m] the support vectors, one in each column
    weights: Floats  # [m, raw]
    offset: Floats  # [raw]
    steep: float  # gamma: similarity is exp(-gamma * squared distance)
    family: str = "svm"

    def predict(self, X: Floats) -> Floats:
        """Predictions float64[n, outputs] for X float64[n, d]; class scores sum to 1.

        The machines of two classes each give a margin. The log odds of two classes are taken to
        be twice their margin, and scores are the closest to that over all pairs (Bradley-Terry by
        least squares): the softmax of 2 / classes times the sum of a class's margins.
        """
        return self.frame.predicted(self._both(X)[0])

    def spread(self, X: Floats) -> Floats:
        """How far the nearest support vector is, float64[n], in units of the prediction.

        The standard deviation of the outcome times sqrt(1 - k²), where k is the similarity to the
        nearest support vector: what a Gaussian process with the same kernel would not know if it
        had seen only that run. For classes it moves the log odds of the winning score.
        """
        raw, nearest = self._both(X)
        far = np.sqrt(np.maximum(1.0 - nearest**2, 0.0))
        if self.task.classes is None:
            return finite(far * self.frame.scale)
        return finite(far * doubt(softmax(raw)))

    def gradient(self, X: Floats) -> Floats | None:
        """How fast the prediction changes with each column, float64[n, d]; None for classes."""
        if self.task.classes is not None:
            return None
        weights = self.weights[:, 0]
        found = slopes(self.frame.dense(X), self.points, weights, factor=self.steep, kind=RBF)
        return self.frame.design.slopes(X, 2.0 * self.steep * self.frame.scale * found)

    def _both(self, X: Floats) -> tuple[Floats, Floats]:
        """Raw columns float64[n, raw] and the similarity float64[n] to the nearest point."""
        Z = self.frame.dense(X)
        raw, nearest = np.empty((len(Z), self.frame.raw)), np.zeros(len(Z))
        for at in range(0, len(Z), 4 * BLOCK):
            rows = slice(at, at + 4 * BLOCK)
            K = similar(Z[rows], self.points, factor=self.steep, kind=RBF)
            raw[rows] = affine(K, self.weights, self.offset)
            nearest[rows] = K.max(axis=1, initial=0.0)
        return raw, nearest


@registry.add("surrogate", "svm")
class SupportVectors(DenseFamily):
    """Support vectors with a Gaussian kernel: smooth, strong on a few thousand runs."""

    name = "svm"
    fitted = FittedSupportVectors
    search_space = SearchSpace(
        "kernel",
        (
            TunedNumber("cost", 0.1, 1e4),
            TunedNumber("width", 0.05, 10),
            TunedNumber("margin", 1e-4, 1.0),
        ),
    )

    @staticmethod
    def learn(rows: DenseRows, seed: int, settings: Settings) -> FittedSupportVectors:
        """The machine, or the machines of all pairs of classes, of these rows."""
        del seed  # nothing is random
        steep = settings.kernel.width / (rows.Z.shape[1] * (float(rows.Z.var()) or 1.0))
        raw = rows.frame.raw
        if float(np.ptp(rows.y)) == 0.0:
            # Nothing to tell apart, which scikit-learn refuses.
            none = np.empty((rows.Z.shape[1], 0)), np.empty((0, raw)), np.zeros(raw)
            return FittedSupportVectors(rows.frame, *none, steep)
        train = _numbers if rows.frame.task.classes is None else _classes
        return FittedSupportVectors(rows.frame, *train(rows, steep, settings), steep)

    @staticmethod
    def effort(rows: int, columns: int, task: Task) -> float:
        """It grows with the square of the rows."""
        del columns  # they hardly matter beside the rows
        return _duration(rows, task)

    @staticmethod
    def obstacle(rows: int, columns: int, task: Task) -> str | None:
        """Why it should not be tried: training takes longer than the square of the rows."""
        del columns  # they hardly matter beside the rows
        seconds = _duration(rows, task)
        if seconds <= _SECONDS:
            return None
        minutes = max(round(seconds / 60), 1)
        about = f"{minutes} minute{'s' * (minutes > 1)}"
        if minutes >= 120:
            about = f"{round(minutes / 60)} hours"
        return f"{rows:,} rows would take about {about}"


def _duration(rows: int, task: Task) -> float:
    """Seconds of training on one core: between 2e-7 and 9e-7 of the square on tables of runs."""
    return (6e-7 if task.classes is None else 1e-7) * rows**2


def _numbers(rows: DenseRows, steep: float, settings: Settings) -> tuple[Floats, Floats, Floats]:
    from sklearn.svm import SVR

    chosen = settings.kernel
    machine = SVR(C=chosen.cost, gamma=steep, epsilon=chosen.margin, cache_size=_CACHE)
    machine.fit(rows.Z, rows.y, sample_weight=rows.weight)
    return _points(machine), _tall(machine.dual_coef_), np.array(machine.intercept_)


def _classes(rows: DenseRows, steep: float, settings: Settings) -> tuple[Floats, Floats, Floats]:
    from sklearn.svm import SVC

    machine = SVC(
        C=settings.kernel.cost, gamma=steep, cache_size=_CACHE, decision_function_shape="ovo"
    )
    machine.fit(rows.Z, rows.y, sample_weight=rows.weight)
    classes = rows.frame.raw
    # In row j - 1 (or j, for a class before j) are the weights of a class's vectors against j.
    duals = np.asarray(machine.dual_coef_, dtype=np.float64)
    intercepts = np.asarray(machine.intercept_, dtype=np.float64)
    if classes == 2:  # scikit-learn turns the sign of a single machine
        duals, intercepts = -duals, -intercepts
    weights, offset = np.zeros((duals.shape[1], classes)), np.zeros(classes)
    edge = np.concatenate([[0], np.cumsum(machine.n_support_)])
    share = 2.0 / classes
    pair = 0
    for i in range(classes):
        for j in range(i + 1, classes):
            for own, other in ((i, j - 1), (j, i)):
                vectors = slice(edge[own], edge[own + 1])
                weights[vectors, i] += share * duals[other, vectors]
                weights[vectors, j] -= share * duals[other, vectors]
            offset[i] += share * intercepts[pair]
            offset[j] -= share * intercepts[pair]
            pair += 1
    return _points(machine), weights, offset


def _points(machine: Any) -> Floats:
    return np.ascontiguousarray(np.asarray(machine.support_vectors_, dtype=np.float64).T)


def _tall(duals: Any) -> Floats:
    return np.ascontiguousarray(np.asarray(duals, dtype=np.float64).T)
