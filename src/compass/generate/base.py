"""What a generator is: it turns a problem into candidate configurations."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from compass.domain.problem import Target
from compass.domain.space import Space
from compass.generate.sums import Sums, sums_of
from compass.rules import Rule
from compass.settings import Settings

if TYPE_CHECKING:
    from compass.generate.measured import Record
    from compass.model.flat import FlatForest

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
class Geometry:
    """How far apart two configurations are, column by column (all arrays are [d])."""

    scale: Floats  # what counts as a large difference of a number
    weight: Floats  # cost of changing a column
    category: Bools
    none: Floats  # the code of the level none; NaN where there is no such level


@dataclass(frozen=True)
class Arena:
    """A problem in numbers: all that a search needs. Columns are those of `space`, in order."""

    space: Space
    start: Floats  # [d]
    free: Columns  # columns that may take new values
    forced: Columns  # columns that may move only where a rule leaves no other way
    rules: tuple[Rule, ...]  # over the columns of the space
    outcome_rules: tuple[Rule, ...]  # over those and the predicted outcomes
    outcomes: tuple[str, ...]  # predicted outcomes, in the order the outcome rules expect
    targets: tuple[Target, ...]
    labels: dict[str, int]  # position of the wanted class of a target
    predict: Predictor
    geometry: Geometry
    observed: Floats  # [n, d] past configurations
    proximity: bool
    count: int
    seed: int
    settings: Settings
    until: float = np.inf  # time.monotonic() at which what is optional ends
    familiar: Callable[[Floats], Bools] | None = None  # which configurations are near past runs
    record: "Record | None" = None  # what was measured in the context; None: only the model counts

    @cached_property
    def sums(self) -> Sums:
        """The rules on features that are sums, all at once."""
        return sums_of(self.rules, self.space.names)

    @property
    def late(self) -> bool:
        """Whether it is time to end what is optional."""
        return time.monotonic() > self.until

    @property
    def movable(self) -> Columns:
        """Free and forced columns together."""
        return np.concatenate([self.free, self.forced]).astype(np.int64)


@dataclass(frozen=True)
class Generated:
    """Candidates, best first, all of them legal and obeying every rule."""

    X: Floats  # [m, d]
    meets: Bools  # [m] whether every goal is met
    proximity: Floats  # [m] weighted change against the start
    exhaustive: bool = False  # every legal configuration was tried
    evaluated: int = 0
    cut: bool = False  # the deadline ended the search before its time


@runtime_checkable
class Generator(Protocol):
    """A search: it sees the arena and nothing else."""

    name: str

    def generate(self, arena: Arena) -> Generated:
        """Up to `arena.count` distinct candidates; none when no legal configuration was found."""
