"""What models without trees share: rows as a dense matrix, outcomes on a standard scale."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from compass.domain.errors import BadInput, EngineProblem
from compass.domain.space import Space
from compass.execute.arrays import Stored, checked, damaged, floats, under, whole
from compass.model.base import FamilyDefaults, FittedDefaults, Floats, Task
from compass.model.sums import softmax
from compass.model.trees.fitted import check
from compass.prepare.design import Design
from compass.settings import Settings

MODEL = "the saved model"
_DESIGN = "design/"
_ARRAYS = {"seen": whole("seen", least=0, ascending=True), "outcome": floats(2)}


@dataclass(frozen=True, eq=False)
class Frame:
    """How questions enter a model and how its raw columns become predictions."""

    design: Design
    task: Task
    seen: NDArray[np.int64]  # [s] classes that rows have; empty for a number
    centre: float  # a number is learnt as (y - centre) / scale
    scale: float

    @property
    def raw(self) -> int:
        """Raw columns: one for a number, one for each class that was seen."""
        return max(len(self.seen), 1)

    def dense(self, X: Floats) -> Floats:
        """The dense matrix float64[n, width] of X float64[n, d]."""
        return finite(self.design.apply(np.asarray(X, dtype=np.float64)))

    def number(self, raw: Floats) -> Floats:
        """Predictions float64[n, 1] from raw ones."""
        with np.errstate(over="ignore"):  # `finite` raises
            return finite(raw * self.scale + self.centre)

    def scores(self, shares: Floats) -> Floats:
        """Scores float64[n, classes] from those of the classes seen; 0 for all others."""
        found = np.zeros((len(shares), self.task.outputs))
        found[:, self.seen] = finite(shares)
        return found

    def predicted(self, raw: Floats) -> Floats:
        """Predictions float64[n, outputs] from raw columns: a number, or logits of classes."""
        return self.number(raw) if self.task.classes is None else self.scores(softmax(raw))

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Everything needed to restore it, as plain arrays."""
        design = {_DESIGN + name: array for name, array in self.design.arrays().items()}
        return {**design, "seen": self.seen, "outcome": np.array([self.centre, self.scale])}

    @classmethod
    def restore(cls, arrays: Mapping[str, NDArray[np.generic]], task: Task) -> "Frame":
        """The frame whose `arrays()` these are; damaged arrays are refused."""
        design = Design.restore(under(arrays, _DESIGN))
        found, _ = checked(arrays, _ARRAYS, MODEL)
        seen, (centre, scale) = found["seen"], found["outcome"].tolist()
        if bool(len(seen)) != (task.classes is not None) or (np.diff(seen) == 0).any():
            raise damaged(MODEL, "its classes are not those of the outcome")
        if len(seen) and seen[-1] >= task.outputs:
            raise EngineProblem(
                f"the saved model knows {seen[-1] + 1} classes, {task.outputs} were expected",
                hint="fit and save the engine again",
            )
        if scale <= 0:
            raise damaged(MODEL, "the scale of its outcome is not positive")
        return cls(design, task, seen, centre, scale)

    def own(
        self,
        arrays: Mapping[str, NDArray[np.generic]],
        expected: Mapping[str, Stored],
        **sizes: int,
    ) -> dict[str, Any]:
        """The arrays that a model has beside its frame, single numbers as such.

        `width` and `raw` are known sizes.
        """
        sizes |= {"width": self.design.width, "raw": self.raw}
        found = checked(arrays, expected, MODEL, sizes)[0]
        return {n: a.item() if expected[n].shape == (1,) else a for n, a in found.items()}


@dataclass(frozen=True, eq=False)
class FittedDense(FittedDefaults):
    """A trained model that is a frame and a few arrays of its own, those in ARRAYS."""

    ARRAYS: ClassVar[Mapping[str, Stored]]

    frame: Frame

    @property
    def task(self) -> Task:
        """What it predicts."""
        return self.frame.task

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Everything needed to restore it, as plain arrays."""
        own = {name: np.atleast_1d(getattr(self, name)) for name in self.ARRAYS}
        return self.frame.arrays() | own

    @classmethod
    def restore(cls, arrays: Mapping[str, NDArray[np.generic]], task: Task) -> Self:
        """The model whose `arrays()` these are."""
        frame = Frame.restore(arrays, task)
        return cls(frame, **frame.own(arrays, cls.ARRAYS))


@dataclass(frozen=True, eq=False)
class DenseRows:
    """Training rows as a dense matrix; those without weight are left out."""

    frame: Frame
    Z: Floats  # [n, width]
    y: Floats  # [n] a number on its standard scale, or a position in `frame.seen`
    weight: Floats  # [n] 1 on average

    def targets(self) -> Floats:
        """What is learnt as columns float64[n, raw]: the number, or 1 for the class of a row."""
        if self.frame.task.classes is None:
            return self.y[:, None]
        return np.asarray(self.y[:, None] == np.arange(self.frame.raw), dtype=np.float64)


def dense_rows(
    X: Floats, y: Floats, task: Task, weight: Floats | None, features: Space | None
) -> DenseRows:
    """The rows X float64[n, d] in the form that models without trees learn from."""
    check(X, y, task, weight)
    if weight is None:
        weight = np.ones(len(y))
    counts = weight > 0
    X, y, weight = X[counts], y[counts], weight[counts]
    weight = weight / weight.mean()
    design = Design.of(X, features)
    if task.classes is None:
        centre = float(np.average(y, weights=weight))
        scale = float(np.sqrt(np.average((y - centre) ** 2, weights=weight)))
        # Differences in the last digits are rounding, not an outcome.
        if scale <= 1e-13 * abs(centre):
            scale = 1.0
        frame = Frame(design, task, np.empty(0, dtype=np.int64), centre, scale or 1.0)
        learnt = (y - centre) / frame.scale
    else:
        seen, place = np.unique(y.astype(np.int64), return_inverse=True)
        frame, learnt = Frame(design, task, seen, 0.0, 1.0), place.astype(np.float64)
    return DenseRows(frame, design.apply(X), learnt, weight)


class DenseFamily(FamilyDefaults):
    """A family that learns from the dense matrix: `learn` says how, `fitted` what it makes."""

    fitted: ClassVar[type[FittedDense]]

    @staticmethod
    def learn(rows: DenseRows, seed: int, settings: Settings) -> Any:
        """The model of these rows."""
        raise NotImplementedError

    @classmethod
    def fit(
        cls,
        X: Floats,
        y: Floats,
        *,
        task: Task,
        weight: Floats | None = None,
        seed: int,
        settings: Settings,
        features: Space | None = None,
    ) -> Any:
        """Train on X float64[n, d] (encoded, nothing missing) and y float64[n]."""
        return cls.learn(dense_rows(X, y, task, weight, features), seed, settings)

    @classmethod
    def restore(cls, arrays: Mapping[str, NDArray[np.generic]], task: Task) -> FittedDense:
        """The model whose `arrays()` these are; predictions are the same bit for bit."""
        return cls.fitted.restore(arrays, task)


def finite(found: Floats) -> Floats:
    """Predictions, or an error where one is no number, as may be far beyond the past runs."""
    if not np.isfinite(found).all():
        raise no_number()
    return found


def no_number() -> BadInput:
    """The error for a configuration that a model has no finite prediction for."""
    return BadInput(
        "the model has no finite prediction for a configuration",
        hint="ask nearer to the past runs; if that does not help, fit the engine again",
    )


def doubt(shares: Floats) -> Floats:
    """How far the winning score moves with its logit, float64[n]: p (1 - p)."""
    p = shares.max(axis=1)
    return np.asarray(p * (1.0 - p))
