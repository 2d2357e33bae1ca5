"""What models without trees share: rows as a dense matrix, outcomes on a standard scale."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compass.domain.errors import BadInput, EngineProblem
from compass.domain.space import Space
from compass.model.base import Floats, Task
from compass.model.trees import check
from compass.prepare.design import Design

_DESIGN = "design/"


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
        d = len(self.design.levels)
        if X.ndim != 2 or X.shape[1] != d:
            raise BadInput(f"rows of shape {X.shape} given to a model of {d} features")
        return self.design.apply(np.asarray(X, dtype=np.float64))

    def number(self, raw: Floats) -> Floats:
        """Predictions float64[n, 1] from raw ones."""
        return raw * self.scale + self.centre

    def scores(self, shares: Floats) -> Floats:
        """Scores float64[n, classes] from those of the classes seen; 0 for all others."""
        found = np.zeros((len(shares), self.task.outputs))
        found[:, self.seen] = shares
        return found

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Everything needed to restore it, as plain arrays."""
        design = {_DESIGN + name: array for name, array in self.design.arrays().items()}
        return {**design, "seen": self.seen, "outcome": np.array([self.centre, self.scale])}

    @classmethod
    def restore(cls, arrays: Mapping[str, NDArray[np.generic]], task: Task) -> "Frame":
        """The frame whose `arrays()` these are."""
        inner = {n.removeprefix(_DESIGN): a for n, a in arrays.items() if n.startswith(_DESIGN)}
        try:
            design = Design.restore(inner)
        except KeyError:
            raise damaged() from None
        seen, outcome = np.asarray(arrays.get("seen")), taken(arrays, "outcome", 2)
        fits = seen.dtype == np.int64 and seen.ndim == 1
        if not fits or bool(len(seen)) != (task.classes is not None):
            raise damaged()
        if len(seen) and not (seen.min() >= 0 and seen.max() < task.outputs):
            raise EngineProblem(
                f"the saved model knows {seen.max() + 1} classes, {task.outputs} were expected",
                hint="fit and save the engine again",
            )
        return cls(design, task, seen, float(outcome[0]), float(outcome[1]))


@dataclass(frozen=True, eq=False)
class Lesson:
    """Rows to learn from; those without weight are left out."""

    frame: Frame
    Z: Floats  # [n, width]
    y: Floats  # [n] a number on its standard scale, or a position in `frame.seen`
    weight: Floats  # [n] 1 on average

    def targets(self) -> Floats:
        """What is learnt as columns float64[n, raw]: the number, or 1 for the class of a row."""
        if self.frame.task.classes is None:
            return self.y[:, None]
        return np.asarray(self.y[:, None] == np.arange(self.frame.raw), dtype=np.float64)


def lesson(
    X: Floats, y: Floats, task: Task, weight: Floats | None, features: Space | None
) -> Lesson:
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
    return Lesson(frame, design.apply(X), learnt, weight)


def taken(
    arrays: Mapping[str, NDArray[np.generic]], name: str, *shape: int | None, kind: Any = np.float64
) -> NDArray[Any]:
    """A saved array, if it has this shape (None: any length) and only finite numbers."""
    array = arrays.get(name)
    if array is None or array.dtype != kind or array.ndim != len(shape):
        raise damaged()
    fits = all(want is None or want == size for want, size in zip(shape, array.shape, strict=True))
    if not fits or not np.isfinite(array).all():
        raise damaged()
    return np.ascontiguousarray(array)


def damaged() -> EngineProblem:
    """What is said of saved arrays that do not make a model."""
    return EngineProblem("a saved model is damaged", hint="fit and save the engine again")


def doubt(shares: Floats) -> Floats:
    """How far the winning score moves with its logit, float64[n]: p (1 - p)."""
    p = shares.max(axis=1)
    return np.asarray(p * (1.0 - p))
