"""What models learn from: one outcome per configuration, standardised, smaller is better."""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Places = NDArray[np.int64]


_LEAST = 2.3e-308
_FARTHEST = 50.0  # of what is turned back into a loss


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Successful runs by configuration. Positive losses are learnt as logarithms."""

    X: Floats  # [u, d] distinct configurations, in the order of their first run
    y: Floats  # [u] standardised mean
    runs: Floats  # [u] how many runs it is the mean of
    scatter: float  # standardised variance of single runs; NaN where nothing was repeated
    centre: float
    scale: float
    positive: bool
    knee: float  # where the worse half of the values begins
    bend: float  # the distance above it at which values are half as far apart; inf: nowhere
    meets: Bools  # [u] whether all runs of it meet every condition
    limit: float  # the best of those that do; inf: none does

    @staticmethod
    def of(
        X: Floats, loss: Floats, *, positive: bool, soften: bool, meets: Bools | None = None
    ) -> "Outcomes":
        """The outcomes of successful runs X [n, d] with losses [n].

        `meets` [n] says which of them meet the conditions; None: all do.
        How bad the worse half is matters little for finding the best: with `soften` it counts as
        the logarithm of how far it is above the median, in units of the better half.
        """
        value = np.log(np.maximum(loss, _LEAST)) if positive else loss
        _, first, of_run = np.unique(X, axis=0, return_index=True, return_inverse=True)
        of_run = of_run.ravel()
        runs = np.bincount(of_run).astype(np.float64)
        mean = np.bincount(of_run, value) / runs
        away = value - mean[of_run]
        order = np.argsort(first, kind="stable")
        knee = float(np.median(mean)) if len(mean) else 0.0
        bend = knee - float(mean.min(initial=knee)) if soften else np.inf
        bend = bend or np.inf
        if np.isfinite(bend):
            above = np.maximum(mean - knee, 0.0) / bend
            mean = np.where(mean > knee, knee + bend * np.log1p(above), mean)
        centre = knee
        scale = (float(mean.std()) if len(mean) else 0.0) or 1.0
        free = len(value) - len(mean)
        y = (mean - centre) / scale
        missed = np.zeros(len(value)) if meets is None else (~meets).astype(np.float64)
        fine = np.bincount(of_run, missed) == 0
        return Outcomes(
            X=X[first[order]],
            y=y[order],
            runs=runs[order],
            scatter=float((away**2).sum() / free) / scale**2 if free else float("nan"),
            centre=centre,
            scale=scale,
            positive=positive,
            knee=knee,
            bend=bend,
            meets=fine[order],
            limit=float(y[fine].min(initial=np.inf)),
        )

    def __len__(self) -> int:
        return len(self.X)

    def take(self, places: Places) -> "Outcomes":
        """The outcomes at these positions, on the same scale."""
        return replace(
            self,
            X=self.X[places],
            y=self.y[places],
            runs=self.runs[places],
            meets=self.meets[places],
        )

    def standardised(self, loss: float) -> float:
        """A loss on the scale of the outcomes, not softened."""
        value = math.log(max(loss, _LEAST)) if self.positive else loss
        return (value - self.centre) / self.scale

    def loss(self, y: Floats | float) -> Floats:
        """Standardised outcomes in the unit of the loss."""
        value = self.centre + self.scale * np.asarray(y)
        if np.isfinite(self.bend):
            above = np.clip((value - self.knee) / self.bend, 0.0, _FARTHEST)
            value = np.where(value > self.knee, self.knee + self.bend * np.expm1(above), value)
        return np.asarray(np.exp(np.minimum(value, 700.0)) if self.positive else value)

    def most_telling(self, count: int) -> Places:
        """Positions of at most `count` of them: the better half, and the latest of the others."""
        if len(self) <= count:
            return np.arange(len(self))
        order = np.argsort(self.y, kind="stable")
        best, others = order[: count // 2], np.sort(order[count // 2 :])
        return np.sort(np.concatenate([best, others[-(count - count // 2) :]]))
