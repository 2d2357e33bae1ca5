"""Predictions specialised to one question: what does not move is folded into the model."""

from collections.abc import Mapping

import numpy as np

from compass.generate.base import Columns, Floats
from compass.model.base import Fitted


class Averaged:
    """Predictions of configurations, averaged over the contexts they may run in.

    Columns that do not move take the values of each context in turn. A forest is cut down to the
    branches that a context leaves, and the cut-down forests of all contexts are walked as one.
    """

    def __init__(self, models: Mapping[str, Fitted], contexts: Floats, movable: Columns) -> None:
        from compass.model.flat import concatenate, specialise

        self._models = dict(models)
        self._contexts = contexts
        self._movable = movable
        self._forests = {}
        fixed = contexts.copy()
        fixed[:, movable] = np.nan
        for name, model in models.items():
            forest = getattr(model, "forest", None)
            if forest is not None:
                parts = [specialise(forest, row) for row in fixed]
                self._forests[name] = parts[0] if len(parts) == 1 else concatenate(parts)

    def __call__(self, X: Floats) -> dict[str, Floats]:
        """Per outcome float64[n, outputs] for X float64[n, d]."""
        return {name: self._predict(name, X) for name in self._models}

    def _predict(self, name: str, X: Floats) -> Floats:
        from compass.model.flat import mean

        if name in self._forests:
            return mean(self._forests[name], X)
        total = np.zeros((len(X), self._models[name].task.outputs))
        for context in self._contexts:
            full = np.repeat(context[None, :], len(X), axis=0)
            full[:, self._movable] = X[:, self._movable]
            total = total + self._models[name].predict(full)
        return np.asarray(total / len(self._contexts))

    def edges(self, column: int) -> Floats | None:
        """Where predictions can change; None when a model is not made of trees."""
        from compass.model.flat import cell_edges

        if len(self._forests) < len(self._models):
            return None
        found = [cell_edges(forest, column) for forest in self._forests.values()]
        return np.unique(np.concatenate(found)) if found else np.empty(0)
