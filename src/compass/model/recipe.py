"""How a model is made: a family, its settings, the scale of the outcome, a representation.

A recipe is what selection chooses, what a saved engine keeps beside the arrays, and what is
followed again when runs arrive. It can be used wherever a family can.

Decision 0015 (docs/decisions).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from compass.domain.base import Noun
from compass.domain.errors import DataProblem
from compass.domain.space import Number, Space
from compass.embed.base import Embedding, TellsImportance, embedder
from compass.execute.arrays import damaged, under
from compass.model.base import FitArguments, Fitted, FittedDefaults, Floats, Task, family
from compass.model.dense import finite
from compass.model.tabnet import FittedTabNet
from compass.model.trees.fitted import FittedTrees
from compass.settings import Settings

_EMBEDDING = "embedding/"
_MODEL = "model/"
_LARGEST = 700.0  # exp of this is the last that is a number


class Recipe(Noun):
    """A family of models and everything that was decided about it."""

    family: str
    log: bool = Field(False, description="whether it learns the logarithm of the outcome")
    embedding: str | None = Field(None, description="the representation in front of it")
    changes: dict[str, dict[str, Any]] = Field(
        default_factory=dict, description="settings that differ from the defaults, by section"
    )

    @property
    def name(self) -> str:
        """The family, as model cards show it."""
        return self.family

    def fit(self, X: Floats, y: Floats, *, task: Task, **options: Unpack[FitArguments]) -> Fitted:
        """Train on X float64[n, d] (encoded, nothing missing) and y float64[n]."""
        options["settings"] = self.settings(options["settings"])
        front = None
        if self.embedding is not None:
            front = embedder(self.embedding).fit(X, y, classes=task.classes, **options)
            features = options.get("features")
            options["features"] = widened(features, X.shape[1], front.width)
            X = beside(front, X)
        learnt = logarithm(y) if self.log else y
        return self._finished(family(self.family).fit(X, learnt, task=task, **options), front)

    def fit_many(
        self, X: Floats, Y: Floats, *, tasks: Sequence[Task], **options: Unpack[FitArguments]
    ) -> tuple[Fitted, ...]:
        """Train on X float64[n, d] and several outcomes Y float64[n, outcomes] of the same rows.

        Only without a representation, which is learnt from one outcome.
        """
        assert self.embedding is None
        options["settings"] = self.settings(options["settings"])
        learnt = np.column_stack([logarithm(y) for y in Y.T]) if self.log else Y
        models = family(self.family).fit_many(X, learnt, tasks=tasks, **options)
        return tuple(self._finished(model, None) for model in models)

    def restore(self, arrays: Mapping[str, NDArray[np.generic]], task: Task) -> Fitted:
        """The model whose `arrays()` these are; predictions are the same bit for bit."""
        inner = family(self.family).restore(under(arrays, _MODEL), task)
        front = None
        if self.embedding is not None:
            front = embedder(self.embedding).restore(under(arrays, _EMBEDDING))
        elif self.log and isinstance(inner, FittedTrees) and inner.forest.link != "exp":
            raise damaged("the saved model", "its trees were not learnt on the logarithm")
        return self._finished(inner, front)

    def arrays(self, fitted: Fitted) -> dict[str, NDArray[np.generic]]:
        """The arrays of a model that was made by this recipe."""
        found: dict[str, NDArray[np.generic]] = {}
        inner = fitted.inner if isinstance(fitted, Exponential) else fitted
        if isinstance(inner, Represented):
            found |= {_EMBEDDING + name: array for name, array in inner.front.arrays().items()}
            inner = inner.inner
        return found | {_MODEL + name: array for name, array in inner.arrays().items()}

    def settings(self, settings: Settings) -> Settings:
        """The settings with what this recipe changes."""
        changed = {
            section: getattr(settings, section).model_copy(update=values)
            for section, values in self.changes.items()
        }
        return settings.model_copy(update=changed)

    def _finished(self, model: Fitted, front: Embedding | None) -> Fitted:
        if front is not None:
            model = Represented(model, front)
        return exponential(model) if self.log else model


@dataclass(frozen=True, eq=False)
class _Around(FittedDefaults):
    """A model around another one."""

    inner: Fitted

    @property
    def task(self) -> Task:
        """What it predicts."""
        return self.inner.task

    @property
    def family(self) -> str:
        """The name of the family that made it."""
        return self.inner.family

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """The arrays of the model inside."""
        return self.inner.arrays()


class Exponential(_Around):
    """A model of the logarithm of an outcome, asked for the outcome."""

    def predict(self, X: Floats) -> Floats:
        """Predictions float64[n, 1]."""
        return self.of(self.inner.predict(X))

    @staticmethod
    def of(logarithms: Floats) -> Floats:
        """The outcomes of these logarithms."""
        return np.asarray(np.exp(np.clip(logarithms, -_LARGEST, _LARGEST)))

    def spread(self, X: Floats) -> Floats:
        """The spread of the logarithm times the prediction: what a small one means for it."""
        with np.errstate(over="ignore"):  # `finite` raises
            return finite(self.inner.spread(X) * self.predict(X)[:, 0])

    def gradient(self, X: Floats) -> Floats | None:
        """How fast the prediction changes with each column; None: the model does not tell."""
        slopes = self.inner.gradient(X)
        return None if slopes is None else slopes * self.predict(X)


@dataclass(frozen=True, eq=False)
class Represented(_Around):
    """A model that is fed learned columns beside the raw ones."""

    front: Embedding

    def predict(self, X: Floats) -> Floats:
        """Predictions float64[n, outputs]."""
        return self.inner.predict(beside(self.front, X))

    def spread(self, X: Floats) -> Floats:
        """How far the parts of the model disagree, float64[n]."""
        return self.inner.spread(beside(self.front, X))


def attention(model: Fitted, X: Floats) -> Floats | None:
    """How much attention a model, or the representation in front of it, gives each column.

    float64[n, d], every row sums to 1. None: it has none, or one that does not tell.
    """
    inner = model.inner if isinstance(model, Exponential) else model
    front = inner.front if isinstance(inner, Represented | FittedTabNet) else None
    return front.importance(X) if isinstance(front, TellsImportance) else None


def exponential(model: Fitted) -> Fitted:
    """The model of an outcome from a model of its logarithm; trees stay trees."""
    if isinstance(model, FittedTrees) and model.forest.link in ("identity", "exp"):
        # Restored trees have the link already.
        return replace(model, forest=replace(model.forest, link="exp"))
    return Exponential(model)


def logarithm(y: Floats) -> Floats:
    """The logarithm of an outcome that is always positive."""
    if not (y > 0).all():
        raise DataProblem(
            "an outcome that is not always positive has no logarithm",
            hint="let Compass choose the scale: scale='auto'",
        )
    return np.asarray(np.log(y))


def beside(front: Embedding, X: Floats) -> Floats:
    """The raw columns and the learned ones, float64[n, d + width]."""
    return np.hstack([X, front.transform(X)])


def widened(features: Space | None, columns: int, more: int) -> Space | None:
    """What the columns are when learned ones stand beside them."""
    if features is None:
        return None
    assert len(features) == columns
    learnt = (Number(name=f"learned {place}", low=-1e9, high=1e9) for place in range(more))
    return Space(parameters=(*features.parameters, *learnt))
