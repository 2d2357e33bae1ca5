"""A model that a person brings as a Python function: used as it is, never trained or saved."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compass.domain.errors import BadInput, EngineProblem
from compass.domain.space import Category, Space
from compass.model.base import FittedDefaults, Floats, Task
from compass.rules.values import without_none

Columns = Mapping[str, NDArray[Any]]
# Predicts an outcome [n] (for classes: scores [n, classes]) from columns by name [n each]. It may
# have a method `gradient` that gives, by name, how fast the prediction changes with a column [n].
PredictFunction = Callable[[Columns], Any]


@dataclass(eq=False)
class FunctionModel(FittedDefaults):
    """A Python function that predicts an outcome: it is a trained model without training."""

    function: PredictFunction
    space: Space
    target: str
    task: Task = field(default_factory=Task)
    name: str = "given"

    @property
    def family(self) -> str:
        """The name under which a model card shows it."""
        return self.name

    def fit(self, X: Floats, y: Floats, *, task: Task, **options: Any) -> "FunctionModel":
        """The same function: there is nothing to learn."""
        del X, y, options
        return FunctionModel(self.function, self.space, self.target, task)

    def restore(self, arrays: Mapping[str, NDArray[np.generic]], task: Task) -> "FunctionModel":
        """A function cannot be restored from arrays."""
        del arrays, task
        raise EngineProblem(
            f"the model of {self.target} is a function and was not saved",
            hint="read the data again and give the function anew",
        )

    def predict(self, X: Floats) -> Floats:
        """Predictions float64[n, outputs] for X float64[n, d]."""
        predicted = np.asarray(self.function(self._columns(X)), dtype=np.float64)
        found = predicted[:, None] if predicted.ndim == 1 else predicted
        if found.shape != (len(X), self.task.outputs) or not np.isfinite(found).all():
            raise BadInput(
                f"the model of {self.target} returned shape {predicted.shape} or a value that is no"
                f" number for {len(X)} configurations",
                hint=f"return finite numbers of shape ({len(X)}, {self.task.outputs})",
            )
        return found

    def spread(self, X: Floats) -> Floats:
        """Nothing is known about how sure a function is: 0 everywhere."""
        return np.zeros(len(X))

    def gradient(self, X: Floats) -> Floats | None:
        """How fast the prediction changes with each column, float64[n, d]; None: not offered."""
        offered = getattr(self.function, "gradient", None)
        if offered is None or self.task.classes is not None:
            return None
        slopes = offered(self._columns(X))
        found = np.zeros(X.shape)
        for place, name in enumerate(self.space.names):
            if name in slopes:
                found[:, place] = np.asarray(slopes[name], dtype=np.float64)
        return np.nan_to_num(found, posinf=0.0, neginf=0.0)

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """A function has no arrays."""
        raise EngineProblem(
            f"the model of {self.target} was given as a function, which cannot be saved",
            hint="save an engine that learns the outcome itself",
        )

    def _columns(self, X: Floats) -> Columns:
        """The encoded rows as a person knows them: labels, numbers, NaN for the level none."""
        found: dict[str, NDArray[Any]] = {}
        for place, parameter in enumerate(self.space):
            column = X[:, place]
            if isinstance(parameter, Category):
                labels = np.empty(len(parameter.values), dtype=object)
                labels[:] = parameter.values
                found[parameter.name] = labels[column.astype(np.int64)]
            else:
                found[parameter.name] = without_none(column, parameter).copy()
        return found
