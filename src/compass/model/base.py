"""What a model family is: it learns outcomes from past runs and predicts them.

A family is registered under its name at the joint `surrogate`:

    @registry.add("surrogate", "mine")
    class Mine(FamilyDefaults):
        name = "mine"
        @staticmethod
        def fit(X, y, *, task, weight, seed, settings, features): ...
        @staticmethod
        def restore(arrays, task): ...

`fit` and `restore` are static, so that the class itself is the plug-in. `Family` says what else a
family declares (its search space, what it costs, where it should not be tried, how it learns
several outcomes at once) and `FamilyDefaults` has a default for each; `Fitted` and `FittedDefaults`
are the same for trained models.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    NotRequired,
    Protocol,
    TypedDict,
    Unpack,
    cast,
    runtime_checkable,
)

import numpy as np
from numpy.typing import NDArray

from compass import registry
from compass.domain.errors import BadInput, EnvironmentProblem
from compass.domain.space import Space
from compass.model.search_space import SearchSpace
from compass.settings import Settings

if TYPE_CHECKING:
    from compass.model.trees.flat import FlatForest

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

    def gradient(self, X: Floats) -> Floats | None:
        """How fast the prediction of a number changes with each column, float64[n, d].

        0 for labels and `none`. None, the default: the model does not offer it.
        """

    def trees(self) -> "FlatForest | None":
        """Trees over the columns of a configuration that predict what `predict` does.

        Answers are proved over them. None, the default: answers cannot be proved over this model.
        """


class FittedDefaults:
    """The members of `Fitted` that a model need not have: no gradient, no proofs."""

    def gradient(self, X: Floats) -> Floats | None:
        """None: it does not offer its gradient."""
        del X
        return None

    def trees(self) -> "FlatForest | None":
        """None: answers cannot be proved over it."""
        return None


class FitArguments(TypedDict):
    """What `fit` and `fit_many` are told beside the rows and what is predicted."""

    weight: Floats | None
    seed: int
    settings: Settings
    features: NotRequired[Space | None]


class Learner(Protocol):
    """Something that can be trained and restored: a family, a recipe, a model that was given."""

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


@runtime_checkable
class Family(Learner, Protocol):
    """A kind of model, and what it declares about itself."""

    @property
    def selectable(self) -> bool:
        """Whether it is compared with others (the default), or used only when it is named."""

    @property
    def slow(self) -> bool:
        """Whether training takes seconds where others need tenths; by default not.

        A slow family is not tried on both scales of an outcome.
        """

    @property
    def search_space(self) -> SearchSpace | None:
        """The settings that tuning may change; None, the default: nothing to tune."""

    def obstacle(self, rows: int, columns: int, task: Task) -> str | None:
        """In a few words why it should not be tried on a table of that size.

        It would take hours, or a package is missing. None, the default: nothing is against it.
        """

    def effort(self, rows: int, columns: int, task: Task) -> float:
        """Seconds of one core that training on such a table takes, roughly, with the defaults.

        Comparisons count work by it, so it must depend on nothing else. By default 0.1 ms a row.
        """

    def relative_cost(self, settings: Settings, defaults: Settings) -> float:
        """How many times longer training takes than with the defaults, roughly; by default 1."""

    def quicker(self, settings: Settings) -> dict[str, dict[str, Any]]:
        """Changes of settings, by section, for a first impression; by default none.

        A model that is trained several times quicker and errs slightly more.
        """

    def fit_many(
        self, X: Floats, Y: Floats, *, tasks: Sequence[Task], **options: Unpack[FitArguments]
    ) -> tuple[Fitted, ...]:
        """Train on X float64[n, d] and several outcomes Y float64[n, outcomes] of the same rows.

        The models that `fit` makes of each outcome alone, with work that they share done once: an
        engine may learn its outcomes together or one by one. By default each is learnt on its own.
        """


class FamilyDefaults:
    """The members of `Family` that a family need not declare; see there."""

    selectable: ClassVar[bool] = True
    slow: ClassVar[bool] = False
    search_space: ClassVar[SearchSpace | None] = None

    @staticmethod
    def obstacle(rows: int, columns: int, task: Task) -> str | None:
        """None: nothing is against trying it."""
        del rows, columns, task
        return None

    @staticmethod
    def effort(rows: int, columns: int, task: Task) -> float:
        """0.1 ms a row, about what a forest takes."""
        del columns, task
        return 1e-4 * rows

    @staticmethod
    def relative_cost(settings: Settings, defaults: Settings) -> float:
        """1: settings hardly change how long it trains."""
        del settings, defaults
        return 1.0

    @staticmethod
    def quicker(settings: Settings) -> dict[str, dict[str, Any]]:
        """None: it is trained as usual."""
        del settings
        return {}

    @classmethod
    def fit_many(
        cls, X: Floats, Y: Floats, *, tasks: Sequence[Task], **options: Unpack[FitArguments]
    ) -> tuple[Fitted, ...]:
        """Each outcome of Y float64[n, outcomes] on its own."""
        learner = cast(Learner, cls)
        return tuple(
            learner.fit(X, np.ascontiguousarray(y), task=task, **options)
            for y, task in zip(Y.T, tasks, strict=True)
        )


_DECLARED = sorted(name for name in vars(FamilyDefaults) if not name.startswith("_"))


def family(name: str) -> Family:
    """The model family of that name; an unknown name offers the nearest one."""
    found = registry.get("surrogate", name)
    missing = undeclared(found)
    if missing:
        raise EnvironmentProblem(
            f"the surrogate '{name}' does not declare {', '.join(missing)}",
            hint="let it inherit from compass.model.base.FamilyDefaults",
        )
    return cast(Family, found)


def undeclared(plugin: object) -> list[str]:
    """The members of `Family` with a default that a plug-in has not: it does not inherit them."""
    return [member for member in _DECLARED if not hasattr(plugin, member)]


def are_shares(scores: Floats) -> bool:
    """Whether every row float64[n, classes] holds shares: not negative, and 1 in sum."""
    sums = scores.sum(axis=1)
    return bool((scores >= 0).all() and (np.abs(sums - 1.0) < _CLOSE).all())
