"""A trained model made of trees, whichever library grew them, and what it may be trained on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from compass.domain.errors import BadInput, DataProblem, EngineProblem
from compass.domain.space import Space
from compass.execute.arrays import damaged
from compass.model.base import FamilyDefaults, FittedDefaults, Floats, Task, are_shares
from compass.model.trees import flat
from compass.model.trees.cut import Cuts
from compass.model.trees.flat import FlatForest
from compass.settings import Settings

_NEVER = -1e6  # the raw score of a class that no tree knows: its share is 0 after the link


@dataclass(frozen=True, eq=False)
class FittedTrees(FittedDefaults):
    """A trained ensemble of trees that predicts one outcome."""

    forest: FlatForest
    task: Task
    family: str

    def predict(self, X: Floats) -> Floats:
        """Predictions float64[n, outputs] for X float64[n, d]; class scores sum to 1."""
        return flat.mean(self.forest, X)

    def spread(self, X: Floats) -> Floats:
        """Standard deviation float64[n] of the prediction or the winning score.

        Over the trees of a forest, over the later half of the rounds of boosting: see
        `flat.mean_spread`.
        """
        return flat.mean_spread(self.forest, X)[1]

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Everything needed to restore it, as plain arrays."""
        return self.forest.arrays()

    def trees(self) -> FlatForest:
        """Its trees: answers can be proved over it."""
        return self.forest

    @cached_property
    def cuts(self) -> Cuts:
        """Its trees cut down to fixed values, each kept after the first time."""
        return Cuts(self.forest)


def restored(arrays: Mapping[str, NDArray[np.generic]], task: Task, family: str) -> FittedTrees:
    """The model whose `arrays()` these are; predictions are the same bit for bit."""
    forest = flat.restore(arrays)
    if forest.outputs != task.outputs:
        raise EngineProblem(
            f"the saved forest predicts {forest.outputs} columns, {task.outputs} were expected",
            hint="fit and save the engine again",
        )
    if not suits(forest, task):
        raise damaged("the saved forest", "it predicts no shares of classes, or shares of a number")
    return FittedTrees(forest, task, family)


@dataclass(frozen=True, eq=False)
class TreeRows:
    """Rows X float64[n, d] and outcomes y float64[n] that trees are grown on, and how."""

    X: Floats
    y: Floats
    task: Task
    weight: Floats | None
    seed: int
    settings: Settings


class TreeFamily(FamilyDefaults):
    """A family of trees: it says how they are grown in `grown`."""

    name: ClassVar[str]

    @classmethod
    def grown(cls, rows: TreeRows) -> FlatForest:
        """The trees of these rows."""
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
    ) -> FittedTrees:
        """Train on X float64[n, d] (encoded, nothing missing) and y float64[n].

        A category is its position among its labels, as the encoded matrix holds it; trees cut
        between positions and need no more.
        """
        del features
        return FittedTrees(cls.grown(TreeRows(X, y, task, weight, seed, settings)), task, cls.name)

    @classmethod
    def restore(cls, arrays: Mapping[str, NDArray[np.generic]], task: Task) -> FittedTrees:
        """The model whose `arrays()` these are; predictions are the same bit for bit."""
        return restored(arrays, task, cls.name)


def suits(forest: FlatForest, task: Task) -> bool:
    """Whether trees predict what the task asks for: shares of classes, or a number."""
    shares = forest.link in ("sigmoid", "softmax")
    if task.classes is not None and not shares:
        shares = flat.votes(forest) and are_shares(forest.value[forest.feature < 0])
    return shares == (task.classes is not None)


def check(X: Floats, y: Floats, task: Task, weight: Floats | None) -> None:
    """Refuse rows that trees cannot be trained on: X float64[n, d], y and weight float64[n]."""
    if X.ndim != 2 or y.shape != (X.shape[0],):
        raise BadInput(f"rows and outcomes do not fit together: {X.shape} and {y.shape}")
    if X.shape[0] == 0 or X.shape[1] == 0:
        raise DataProblem(
            "there is nothing to learn from: no complete rows or no features",
            hint="check which columns have missing values, and the roles of the columns",
        )
    # Trees compare in float32: what does not fit into it cannot be told apart.
    if not (np.all(np.abs(X) <= np.finfo(np.float32).max) and np.all(np.isfinite(y))):
        raise DataProblem(
            "a row to learn from has a missing, infinite or enormous value",
            hint="drop incomplete rows before fitting",
        )
    if task.classes is not None and not np.all((y >= 0) & (y < task.classes) & (y == np.floor(y))):
        raise BadInput(f"classes must be positions from 0 to {task.classes - 1}")
    if weight is not None and not (
        weight.shape == y.shape
        and np.all(np.isfinite(weight))
        and np.all(weight >= 0)
        and weight.sum() > 0
    ):
        raise BadInput("weights must be one number >= 0 for each row, and not all 0")


def constant(value: Floats, width: int) -> FlatForest:
    """The ensemble that predicts `value` float64[outputs] whatever it is asked."""
    leaf: NDArray[Any] = np.array([-1], dtype=np.int32)
    return FlatForest(
        feature=leaf,
        threshold=np.zeros(1),
        left=leaf,
        right=leaf,
        value=value[np.newaxis, :],
        roots=np.zeros(1, dtype=np.int64),
        width=width,
    )


def arranged_forest(
    forest: FlatForest, places: Sequence[int] | NDArray[np.int64], outputs: int
) -> FlatForest:
    """The same trees with a score for each label of the outcome, in the outcome's order."""
    place = np.asarray(places, dtype=np.int64)
    if forest.link == "sigmoid":
        if outputs == 2:
            sign = 1.0 if tuple(places) == (0, 1) else -1.0
            return replace(forest, value=sign * forest.value, offset=sign * forest.offset)
        offset = np.full(outputs, _NEVER)
        offset[place] = [0.0, forest.offset[0]]  # softmax of (0, r) is the sigmoid of r
        slot = np.full(forest.trees, place[1])
        return replace(forest, link="softmax", offset=offset, slot=slot)
    if forest.link == "softmax":
        offset = np.full(outputs, _NEVER)
        offset[place] = forest.offset
        return replace(forest, offset=offset, slot=place[forest.slot])
    value = np.zeros((forest.nodes, outputs))
    value[:, place] = forest.value
    return replace(forest, value=value, offset=np.zeros(outputs))
