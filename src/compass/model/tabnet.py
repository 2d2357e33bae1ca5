"""Sequential attention with a straight line behind it: a network in the manner of TabNet.

Each run is attended to column by column (`compass.embed.attention`); what the steps decide is
summed up with the weights of a ridge regression. Learning it needs PyTorch, using it does not.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compass import registry
from compass.domain.space import Number, Space
from compass.embed.base import Embedding, embedder
from compass.execute.arrays import under
from compass.model.base import FamilyDefaults, Fitted, FittedDefaults, Floats, Task
from compass.model.linear import FittedLinear, LinearRegression
from compass.settings import Settings

_FRONT, _HEAD = "front/", "head/"
_SECONDS = 2e-4  # to learn from a row once in each pass, on one core
_OF = "attention"  # the representation in front of the line


@dataclass(frozen=True, eq=False)
class FittedTabNet(FittedDefaults):
    """What is attended to, and the line through what that gives."""

    front: Embedding
    head: Fitted
    family: str = "tabnet"

    @property
    def task(self) -> Task:
        """What it predicts."""
        return self.head.task

    def predict(self, X: Floats) -> Floats:
        """Predictions float64[n, outputs] for X float64[n, d]; class scores sum to 1."""
        return self.head.predict(self.front.transform(X))

    def spread(self, X: Floats) -> Floats:
        """Standard error float64[n] of the line; what is attended to is taken as given."""
        return self.head.spread(self.front.transform(X))

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Everything needed to restore it, as plain arrays."""
        front = {_FRONT + name: array for name, array in self.front.arrays().items()}
        return front | {_HEAD + name: array for name, array in self.head.arrays().items()}


@registry.add("surrogate", "tabnet")
class TabNet(FamilyDefaults):
    """Sequential attention: few columns at a time, chosen anew for every run."""

    name = "tabnet"
    selectable = False  # it takes minutes where others take seconds, and needs PyTorch
    slow = True

    @staticmethod
    def effort(rows: int, columns: int, task: Task) -> float:
        """Rows that are learnt from in all passes."""
        del columns, task
        return _SECONDS * 100 * min(rows, 50_000)

    @staticmethod
    def fit(
        X: Floats,
        y: Floats,
        *,
        task: Task,
        weight: Floats | None,
        seed: int,
        settings: Settings,
        features: Space | None = None,
    ) -> FittedTabNet:
        """Learn what to attend to, then the line."""
        front = embedder(_OF).fit(
            X,
            y,
            classes=task.classes,
            weight=weight,
            seed=seed,
            settings=settings,
            features=features,
        )
        Z = front.transform(X)
        learnt = [Number(name=f"attended {j}", low=-1, high=1) for j in range(Z.shape[1])]
        head = LinearRegression.fit(
            Z,
            y,
            task=task,
            weight=weight,
            seed=seed,
            settings=settings,
            features=Space(parameters=tuple(learnt)),
        )
        return FittedTabNet(front, head)

    @staticmethod
    def restore(arrays: Mapping[str, NDArray[np.generic]], task: Task) -> FittedTabNet:
        """The model whose `arrays()` these are."""
        front = embedder(_OF).restore(under(arrays, _FRONT))
        return FittedTabNet(front, FittedLinear.restore(under(arrays, _HEAD), task))
