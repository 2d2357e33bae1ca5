"""What a model family is: it learns one outcome from past runs and predicts it.

A family is registered under its name at the joint `surrogate`:

    @registry.add("surrogate", "mine")
    class Mine:
        name = "mine"
        @staticmethod
        def fit(X, y, *, task, weight, seed, settings, features): ...
        @staticmethod
        def restore(arrays, task): ...

`fit` and `restore` are static, so that the class itself is the plug-in. A family may also have

        @staticmethod
        def obstacle(rows, columns, task): ...

which says in a few words why it should not be tried on a table of that size (it would take hours,
a package is missing), or None; `slow = True`, if training takes seconds where others need tenths,
so that it is not tried on both scales; `selectable = False`, if it is used only when it is named.
Its models may have `gradient(X)`, how fast the prediction of a number
changes with each column, float64[n, d].
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from compass import registry
from compass.domain.errors import BadInput
from compass.domain.space import Space
from compass.settings import Settings

Floats = NDArray[np.float64]
_CLOSE = 1e-6  # how far shares may be from adding up to 1: rounding


@dataclass(frozen=True)
class Task:
    """What is predicted: a number, or one of several classes."""

    classes: int | None = None  # None: a number; otherwise y holds positions 0 .. classes - 1

    def __post_init__(self) -> None:
        if self.classes is not None and self.classes < 1:
            raise BadInput("an outcome with classes needs at least one class")

    @property
    def outputs(self) -> int:
        """Columns of a prediction: 1 for a number, one score per class otherwise."""
        return 1 if self.classes is None else self.classes


@runtime_checkable
class Fitted(Protocol):
    """A trained model of one outcome."""

    @property
    def task(self) -> Task:
        """What it predicts."""

    @property
    def family(self) -> str:
        """The name of the family that made it."""

    def predict(self, X: Floats) -> Floats:
        """Predictions float64[n, outputs] for X float64[n, d]; class scores sum to 1."""

    def spread(self, X: Floats) -> Floats:
        """How far the parts of the model disagree, float64[n], in units of the prediction."""

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Everything needed to restore it, as plain arrays."""


@runtime_checkable
class Family(Protocol):
    """A kind of model that can be trained and restored."""

    @property
    def name(self) -> str:
        """What it is called."""

    def fit(
        self,
        X: Floats,
        y: Floats,
        *,
        task: Task,
        weight: Floats | None,
        seed: int,
        settings: Settings,
        features: Space | None = None,
    ) -> Fitted:
        """Train on X float64[n, d] (encoded, nothing missing) and y float64[n].

        `features` says what the columns are; without it all are numbers.
        """

    def restore(self, arrays: Mapping[str, NDArray[np.generic]], task: Task) -> Fitted:
        """The model whose `arrays()` these are; predictions are the same bit for bit."""


def family(name: str) -> Family:
    """The model family of that name; an unknown name offers the nearest one."""
    return cast(Family, registry.get("surrogate", name))


def are_shares(scores: Floats) -> bool:
    """Whether every row float64[n, classes] holds shares: not negative, and 1 in sum."""
    sums = scores.sum(axis=1)
    return bool((scores >= 0).all() and (np.abs(sums - 1.0) < _CLOSE).all())


def growth(name: str, few: int, many: int) -> float:
    """How many times longer a family trains on `many` rows than on `few`: as many, unless it tells.

    A family whose training is bounded says so by a static `effort(rows)`.
    """
    effort = getattr(family(name), "effort", None)
    return many / few if effort is None else float(effort(many) / effort(few))


def obstacle(kind: Family, rows: int, columns: int, task: Task) -> str | None:
    """Why a family should not be tried on a table of that size; None: nothing speaks against it."""
    offered = getattr(kind, "obstacle", None)
    return None if offered is None else cast("str | None", offered(rows, columns, task))
