"""Straight lines: Ridge for numbers, multinomial logistic regression for classes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from compass import registry
from compass.execute.arrays import floats, whole
from compass.execute.one_thread import one_thread
from compass.model.base import Floats, Task
from compass.model.dense import DenseFamily, DenseRows, FittedDense, Frame, doubt, finite
from compass.model.search_space import SearchSpace, TunedFlag, TunedNumber
from compass.model.sums import affine, lengths, softmax
from compass.settings import Settings

_PAIRS = {"pairs": whole("pairs", 2, least=0, below="width")}
# Dense columns up to which `linear.pairs` adds products: 40 make 860 terms, and the spread of a
# prediction takes the square of that.
MOST_PAIRED = 40


@dataclass(frozen=True, eq=False)
class FittedLinear(FittedDense):
    """A weighted sum of columns, and how well its weights are known."""

    ARRAYS: ClassVar = _PAIRS | {
        "weights": floats("terms", "raw"),
        "offset": floats("raw"),
        "middle": floats("terms"),
        "root": floats("terms", "terms"),
        "least": floats(1, least=0),
    }

    pairs: NDArray[np.int64]  # [p, 2] dense columns that are multiplied
    weights: Floats  # [terms, raw]
    offset: Floats  # [raw]
    middle: Floats  # [terms] mean of the terms
    root: Floats  # [terms, terms] upper triangular; |row @ root| is the standard error
    least: float  # squared standard error at the mean of the terms
    family: str = "linear"

    def predict(self, X: Floats) -> Floats:
        """Predictions float64[n, outputs] for X float64[n, d]; class scores sum to 1."""
        terms = _terms(self.frame.dense(X), self.pairs)
        return self.frame.predicted(affine(terms, self.weights, self.offset))

    def spread(self, X: Floats) -> Floats:
        """Standard error float64[n] of the prediction, from the posterior of the weights.

        For classes that of the winning score, with one curvature for all classes.
        """
        T = _terms(self.frame.dense(X), self.pairs)
        error = np.sqrt(self.least + lengths(T - self.middle, self.root))
        if self.task.classes is None:
            return finite(error * self.frame.scale)
        return finite(error * doubt(softmax(affine(T, self.weights, self.offset))))

    def gradient(self, X: Floats) -> Floats | None:
        """How fast the prediction changes with each column, float64[n, d]; None for classes."""
        if self.task.classes is not None:
            return None
        Z = self.frame.dense(X)
        weights = self.weights[:, 0] * self.frame.scale
        found = np.tile(weights[: Z.shape[1]], (len(Z), 1))
        for (a, b), steep in zip(self.pairs.tolist(), weights[Z.shape[1] :], strict=True):
            found[:, a] += steep * Z[:, b]
            found[:, b] += steep * Z[:, a]
        return self.frame.design.slopes(X, found)

    @classmethod
    def restore(cls, arrays: Mapping[str, NDArray[np.generic]], task: Task) -> "FittedLinear":
        """The model whose `arrays()` these are."""
        frame = Frame.restore(arrays, task)
        pairs = frame.own(arrays, _PAIRS)["pairs"]
        return cls(frame, **frame.own(arrays, cls.ARRAYS, terms=frame.design.width + len(pairs)))


@registry.add("surrogate", "linear")
class LinearRegression(DenseFamily):
    """Ridge and logistic regression: straight lines, sure even far from all runs."""

    name = "linear"
    fitted = FittedLinear
    search_space = SearchSpace("linear", (TunedNumber("ridge", 1e-4, 1e3), TunedFlag("pairs")))

    @staticmethod
    def effort(rows: int, columns: int, task: Task) -> float:
        """A solution at once for numbers, of many steps for classes."""
        return (1e-7 if task.classes is None else 3e-6 * task.classes) * rows * columns

    @staticmethod
    def learn(rows: DenseRows, seed: int, settings: Settings) -> FittedLinear:
        """The lines through these rows.

        With `linear.pairs` products and squares of columns are terms too, where the dense matrix
        has at most MOST_PAIRED columns.
        """
        del seed  # nothing is random
        pairs = _pairs(rows.Z) if settings.linear.pairs else np.empty((0, 2), dtype=np.int64)
        T = _terms(rows.Z, pairs)
        middle = np.asarray(np.average(T, axis=0, weights=rows.weight))
        solve = _ridge if rows.frame.task.classes is None else _logistic
        with one_thread():
            weights, offset, root, least = solve(T - middle, rows, settings.linear.ridge)
            offset = offset - middle @ weights
        return FittedLinear(rows.frame, pairs, weights, offset, middle, root, least)


def _terms(Z: Floats, pairs: NDArray[np.int64]) -> Floats:
    if not len(pairs):
        return Z
    return np.ascontiguousarray(np.hstack([Z, Z[:, pairs[:, 0]] * Z[:, pairs[:, 1]]]))


def _pairs(Z: Floats) -> NDArray[np.int64]:
    """Pairs of dense columns whose product says something that no column says by itself."""
    if Z.shape[1] > MOST_PAIRED:
        return np.empty((0, 2), dtype=np.int64)
    a, b = np.triu_indices(Z.shape[1])
    product = Z[:, a] * Z[:, b]
    # Labels of one category exclude each other, and yes/no columns are their own squares.
    tells = (product != product[:1]).any(axis=0) & ~((a == b) & (product == Z[:, a]).all(axis=0))
    return np.asarray(np.column_stack([a, b])[tells], dtype=np.int64)


def _ridge(T: Floats, rows: DenseRows, ridge: float) -> tuple[Floats, Floats, Floats, float]:
    """Weights [t, 1], offset [1], root [t, t], least squared error; terms T [n, t] are centred."""
    TW = T * rows.weight[:, None]
    gram = TW.T @ T
    root = _root(gram, ridge)
    weights = root @ (root.T @ (TW.T @ rows.y))
    rest = rows.y - T @ weights
    # What the weights can still follow: the trace of the hat matrix, and the mean.
    followed = 1.0 + float(np.sum((root.T @ gram) * root.T))
    noise = float(np.sum(rows.weight * rest**2)) / max(len(T) - followed, 1.0)
    least = noise / len(T)
    return weights[:, None], np.zeros(1), np.ascontiguousarray(np.sqrt(noise) * root), least


def _logistic(T: Floats, rows: DenseRows, ridge: float) -> tuple[Floats, Floats, Floats, float]:
    """The same for classes: the maximum of the penalised likelihood."""
    from scipy.optimize import minimize

    n, terms, classes = len(T), T.shape[1], rows.frame.raw
    target = rows.targets()

    def shares(weights: Floats) -> Floats:
        raw = T @ weights[1:] + weights[0]
        raw = np.exp(raw - raw.max(axis=1, keepdims=True))
        return np.asarray(raw / raw.sum(axis=1, keepdims=True))

    def loss(flat: Floats) -> tuple[float, Floats]:
        weights = flat.reshape(1 + terms, classes)
        p = shares(weights)
        picked = np.maximum(np.sum(p * target, axis=1), 1e-300)
        miss = (p - target) * rows.weight[:, None]
        slope = np.vstack([miss.sum(axis=0), T.T @ miss + ridge * weights[1:]])
        cost = -np.sum(rows.weight * np.log(picked)) + 0.5 * ridge * np.sum(weights[1:] ** 2)
        return float(cost) / n, slope.ravel() / n

    start = np.zeros((1 + terms) * classes)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 1000})
    weights = found.x.reshape(1 + terms, classes)
    bend = rows.weight * (1.0 - np.sum(shares(weights) ** 2, axis=1)) / classes
    root = _root((T * bend[:, None]).T @ T, ridge)
    # Two more: one run of either kind that was not seen.
    return weights[1:].copy(), weights[0].copy(), root, 1.0 / (float(bend.sum()) + 0.5)


def _root(gram: Floats, ridge: float) -> Floats:
    """The upper triangular R with R @ R.T = inverse of (gram + ridge), float64[t, t]."""
    from scipy.linalg import solve_triangular

    lower = np.linalg.cholesky(gram + ridge * np.eye(len(gram)))
    inverse = solve_triangular(lower, np.eye(len(gram)), lower=True)
    return np.ascontiguousarray(np.triu(inverse.T))
