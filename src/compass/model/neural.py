"""Neural networks: multi-layer perceptrons, trained and used without a library for them."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from compass import registry
from compass.execute.arrays import floats
from compass.model.base import Floats, Task
from compass.model.dense import DenseFamily, DenseRows, FittedDense, finite
from compass.model.perceptron import passes, train
from compass.model.search_space import SearchSpace, TunedNumber
from compass.model.sums import affine
from compass.native import kernel
from compass.settings import Settings

_PER_SECOND = 200_000  # rows that are learnt from once, on one core
_SECONDS = 120.0  # of training, beyond which a table is too large
_BLOCK = 512  # rows that go through the layers together

_silu_kernel = kernel("silu")


@dataclass(frozen=True, eq=False)
class FittedNeural(FittedDense):
    """A few networks of the same shape that were started at different places.

    h = silu(z @ first); h = h + silu(h @ inner) for each further layer; h @ last.
    """

    ARRAYS: ClassVar = {
        "first": floats("members", "width+1", "units", some=True),
        "inner": floats("members", "layers", "units+1", "units"),
        "last": floats("members", "units+1", "raw"),
    }

    first: Floats  # [members, width + 1, units]; the last row is the offset, here and below
    inner: Floats  # [members, layers - 1, units + 1, units]
    last: Floats  # [members, units + 1, raw]
    family: str = "neural"

    def predict(self, X: Floats) -> Floats:
        """Predictions float64[n, outputs] for X float64[n, d]: the mean over the networks."""
        return self._both(X)[0]

    def spread(self, X: Floats) -> Floats:
        """Standard deviation float64[n] of the prediction or the winning score over networks."""
        return finite(self._both(X)[1])

    def gradient(self, X: Floats) -> Floats | None:
        """How fast the prediction changes with each column, float64[n, d]; None for classes."""
        if self.task.classes is not None:
            return None
        Z = self.frame.dense(X)
        found = np.zeros(Z.shape)
        for at in range(0, len(Z), _BLOCK):
            rows = slice(at, at + _BLOCK)
            for member in range(len(self.first)):
                found[rows] += self._backward(Z[rows], member)
        return self.frame.design.slopes(X, found * (self.frame.scale / len(self.first)))

    def _both(self, X: Floats) -> tuple[Floats, Floats]:
        Z = self.frame.dense(X)
        predicted = np.empty((len(self.first), len(Z), self.task.outputs))
        for at in range(0, len(Z), _BLOCK):
            rows = slice(at, at + _BLOCK)
            for member in range(len(self.first)):
                raw = _layer(self._forward(Z[rows], member)[0], self.last[member])
                predicted[member, rows] = self.frame.predicted(raw)
        mean = _mean(predicted)
        apart = np.sqrt(_mean((predicted - mean) ** 2))
        return mean, apart[np.arange(len(Z)), mean.argmax(axis=1)]

    def _forward(self, Z: Floats, member: int) -> tuple[Floats, list[Floats]]:
        """What the last layer is fed, and the slopes of every silu before it."""
        h, slope = _silu(_layer(Z, self.first[member]))
        slopes = [slope]
        for weights in self.inner[member]:
            more, slope = _silu(_layer(h, weights))
            h = h + more
            slopes.append(slope)
        return h, slopes

    def _backward(self, Z: Floats, member: int) -> Floats:
        """Slopes float64[n, width] of the raw column of one network by the dense columns."""
        slopes = self._forward(Z, member)[1]
        back = np.tile(self.last[member, :-1, 0], (len(Z), 1))
        for weights, slope in zip(self.inner[member][::-1], slopes[:0:-1], strict=True):
            back = back + _back(back * slope, weights)
        return _back(back * slopes[0], self.first[member])


@registry.add("surrogate", "neural")
class Neural(DenseFamily):
    """Neural network: smooth, strong on thousands of runs."""

    name = "neural"
    fitted = FittedNeural
    slow = True  # seconds where others need tenths: it learns on the scale that suits others
    search_space = SearchSpace(
        "neural",
        (
            TunedNumber("layers", 2, 4, log=False),
            TunedNumber("units", 32, 256),
            TunedNumber("rate", 1e-3, 2e-2),
            TunedNumber("decay", 1e-6, 0.1),
        ),
    )

    @staticmethod
    def learn(rows: DenseRows, seed: int, settings: Settings) -> FittedNeural:
        """The networks of these rows."""
        return FittedNeural(rows.frame, *train(rows, seed, settings.neural))

    @staticmethod
    def effort(rows: int, columns: int, task: Task) -> float:
        """Rows that are learnt from in all passes: large tables are passed through less often."""
        del columns, task
        return 1.6e-6 * rows * passes(rows)

    @staticmethod
    def relative_cost(settings: Settings, defaults: Settings) -> float:
        """It grows with the number of weights."""
        now, before = settings.neural, defaults.neural
        size = now.layers * now.units**2 / (before.layers * before.units**2)
        return now.members / before.members * (0.5 + 0.5 * size)

    @staticmethod
    def obstacle(rows: int, columns: int, task: Task) -> str | None:
        """Why it should not be tried: the table is very large."""
        del columns, task
        seconds = rows * passes(rows) / _PER_SECOND
        if seconds <= _SECONDS:
            return None
        return f"{rows:,} rows would take about {round(seconds / 60)} minutes"


def _layer(h: Floats, weights: Floats) -> Floats:
    return affine(h, weights[:-1], weights[-1])


def _back(slopes: Floats, weights: Floats) -> Floats:
    return affine(slopes, np.ascontiguousarray(weights[:-1].T), np.zeros(len(weights) - 1))


def _mean(parts: Floats) -> Floats:
    # In order: a mean over an axis may add in another for one row.
    total = np.zeros(parts.shape[1:])
    for one in parts:
        total = total + one
    return total / len(parts)


def _silu(raw: Floats) -> tuple[Floats, Floats]:
    value, slope = np.empty(raw.shape), np.empty(raw.shape)
    _silu_kernel(raw, value, slope)
    return value, slope
