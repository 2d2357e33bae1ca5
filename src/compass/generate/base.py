"""What a generator is: it turns a search task into candidate configurations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from compass import registry

if TYPE_CHECKING:
    from compass.domain.space import Space
    from compass.domain.target import Target
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


def with_columns(x: Floats, columns: int | Columns, values: Floats) -> Floats:
    """Copies of x [d] whose columns (or column) take these values, [k, d]."""
    X = np.repeat(x[None, :], len(values), axis=0)
    X[:, columns] = values
    return X


class Chances(Protocol):
    """How likely configurations meet the goals of a question, and what predictions that takes."""

    @property
    def chance(self) -> float:
        """With which each goal has to be met."""

    @property
    def targets(self) -> "tuple[Target, ...]":
        """The goals in numbers, as they hold for runs."""

    def each(self, X: Floats) -> dict[str, Floats]:
        """Per goal with a range or class the chance [n] at configurations X [n, d]."""

    def least(self, X: Floats) -> Floats:
        """The smallest chance [n] over the goals that need one, at configurations X [n, d]."""

    def shifted(self, x: Floats) -> "tuple[Target, ...]":
        """The targets of predictions that are as uncertain as that of x [d]."""

    def reachable(self, x: Floats) -> dict[str, float]:
        """Per goal that x [d] misses the bound in its place that it meets with the chance."""


class Batch:
    """The base of frozen dataclasses whose fields are arrays that all start with [n]."""

    def __len__(self) -> int:
        return len(next(iter(vars(self).values())))

    def take(self, index: Columns | Bools) -> Self:
        """The rows at these positions, or those that are marked."""
        return type(self)(*(array[index] for array in vars(self).values()))

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        """Several batches as one."""
        return cls(*map(np.concatenate, zip(*(vars(part).values() for part in parts), strict=True)))


@dataclass(frozen=True)
class Candidates:
    """What a search found, best first; all of it is legal and obeys every rule."""

    X: Floats  # [m, d]
    values: Floats  # [m, objectives] what is minimised, in standard deviations
    meets: Bools  # [m] whether every goal is met
    proximity: Floats  # [m] weighted change against the start
    exhaustive: bool = False  # every legal configuration was tried
    evaluated: int = 0
    timed_out: bool = False  # the deadline ended the search before its time
    withheld: int = 0  # configurations of its result that break a rule and are not in X
    tried: Floats = field(default_factory=lambda: np.empty((0, 0)))  # [t, d] legal ones, best first
    likely: Floats = field(default_factory=lambda: np.empty(0))  # [t] chance of their goals; or [0]

    def __len__(self) -> int:
        return len(self.X)

    def take(self, index: Columns) -> "Candidates":
        """The candidates at these positions; what is known of the search stays."""
        return replace(self, **{name: getattr(self, name)[index] for name in _ARRAYS})

    def after(self, first: "Candidates") -> "Candidates":
        """These candidates after others; what is known of the search stays."""
        both: dict[str, Any] = {
            n: np.concatenate([getattr(first, n), getattr(self, n)]) for n in _ARRAYS
        }
        return replace(self, **both)


_ARRAYS = ("X", "values", "meets", "proximity")  # what candidates have one of each


@runtime_checkable
class Generator(Protocol):
    """A search: it sees the task and nothing else.

    One that weighs rules and goals against other terms, so that its best may miss what others
    reach, says so with `weighs_goals = True`.
    """

    name: str

    def generate(self, task: "SearchTask") -> Candidates:
        """Up to `task.count` distinct candidates; none when no legal configuration was found."""


@runtime_checkable
class TrainableGenerator(Protocol):
    """A generator that learns from the past runs before it searches."""

    name: str

    def fit(self, X: Floats, y: Mapping[str, Floats], *, space: "Space", seed: int) -> Generator:
        """A generator fitted on configurations X [n, d] and outcomes y, each [n, outputs].

        Columns are those of the space. An outcome that was not measured is NaN; of a class there is
        one column per label, 1 for the label that was seen. X and y stay as they are. It is called
        once per question, so what takes long to learn should be kept by who learns it.
        """


def generator_for(task: "SearchTask") -> Generator:
    """The generator that the settings of a task name, fitted to its past runs if it learns."""
    named: Generator | TrainableGenerator = registry.get("generator", task.settings.generator)
    return ready(named, task)


def ready(generator: "Generator | TrainableGenerator", task: "SearchTask") -> Generator:
    """A generator that can search: one that learns is fitted to the past runs of a task."""
    if isinstance(generator, TrainableGenerator):
        return generator.fit(task.observed, task.measured(), space=task.space, seed=task.seed)
    return generator
