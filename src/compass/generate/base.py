"""What a generator is: it turns a search task into candidate configurations."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from compass.generate.task import SearchTask
    from compass.model.trees.flat import FlatForest

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Columns = NDArray[np.int64]


@runtime_checkable
class Predictor(Protocol):
    """Predicted outcomes of complete configurations."""

    def __call__(self, X: Floats) -> dict[str, Floats]:
        """Per outcome float64[n, outputs] for X float64[n, d]."""

    @property
    def parts(self) -> "Mapping[str, tuple[FlatForest, ...]] | None":
        """Per outcome the tree ensembles whose mean it is; None when it is not made of trees."""

    def gradient(self, X: Floats) -> dict[str, Floats] | None:
        """Per outcome float64[n, d]: how fast it changes with each column; None: not known."""

    def edges(self, column: int) -> Floats | None:
        """The values of a column where predictions can change; None when not known."""


@dataclass(frozen=True)
class Candidates:
    """Candidates, best first, all of them legal and obeying every rule."""

    X: Floats  # [m, d]
    meets: Bools  # [m] whether every goal is met
    proximity: Floats  # [m] weighted change against the start
    exhaustive: bool = False  # every legal configuration was tried
    evaluated: int = 0
    cut: bool = False  # the deadline ended the search before its time


@runtime_checkable
class Generator(Protocol):
    """A search: it sees the task and nothing else."""

    name: str

    def generate(self, task: "SearchTask") -> Candidates:
        """Up to `task.count` distinct candidates; none when no legal configuration was found."""
