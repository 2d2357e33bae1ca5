"""Predictions specialised to one question: what does not move is folded into the model."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, reduce
from operator import add
from typing import TYPE_CHECKING

import numpy as np

from compass.generate.base import Columns, Floats, with_columns
from compass.model.base import Fitted

if TYPE_CHECKING:
    from compass.model.trees.flat import FlatForest
    from compass.model.trees.joined import Joined


class Averaged:
    """Predictions of configurations, averaged over the contexts they may run in.

    Columns that do not move take the values of each context in turn. The mean is geometric for an
    outcome that is learnt as a logarithm: there a factor counts the same in every context. An
    ensemble of trees is cut down to the branches that a context leaves; those of all outcomes and
    contexts are walked as one. Other models are asked context by context.
    """

    def __init__(self, models: Mapping[str, Fitted], contexts: Floats, movable: Columns) -> None:
        self._models = dict(models)
        self._contexts = contexts
        self._movable = movable
        self._edges: dict[int, Floats] = {}
        fixed = contexts.copy()
        fixed[:, movable] = np.nan
        trees = {name: model for name, model in models.items() if model.trees() is not None}
        self._forests = {name: _specialised(model, fixed) for name, model in trees.items()}

    @property
    def parts(self) -> Mapping[str, tuple["FlatForest", ...]] | None:
        """Per outcome the cut-down ensembles, one per context; None if a model has no trees.

        A prediction is the mean over them of what each predicts, the geometric one for logarithms.
        """
        return self._forests if len(self._forests) == len(self._models) else None

    def __call__(self, X: Floats) -> dict[str, Floats]:
        """Per outcome float64[n, outputs] for X float64[n, d]."""
        found = {}
        for names, joined in self._walks:
            predictions, first = joined.mean(X), 0
            for name in names:
                last = first + self._forests[name][0].outputs
                found[name] = predictions[:, first:last]
                first = last
        return {
            name: found[name] if name in found else self._predicted(model, X)
            for name, model in self._models.items()
        }

    def spread(self, X: Floats) -> dict[str, Floats]:
        """Per outcome float64[n]: the model's spread, averaged over the contexts.

        Where the mean is geometric, the shares of the predictions are averaged.
        """
        from compass.model.recipe import Exponential
        from compass.model.trees.fitted import FittedTrees
        from compass.model.trees.flat import mean_spread

        found = {}
        for name, model in self._models.items():
            # A model of trees may come from elsewhere and know better how sure it is.
            if isinstance(model, FittedTrees):
                predictions = [mean_spread(part, X) for part in self._forests[name]]
                found[name] = _spread(predictions, geometric=model.forest.link == "exp")
            elif isinstance(model, Exponential):
                shares = self._mean_of(model.inner.spread, X)
                found[name] = self._predicted(model, X)[:, 0] * shares
            else:
                found[name] = self._mean_of(model.spread, X)
        return found

    def gradient(self, X: Floats) -> dict[str, Floats] | None:
        """Per outcome float64[n, d], averaged over contexts; None where a model offers none."""
        from compass.model.recipe import Exponential

        found = {}
        for name, model in self._models.items():
            if model.gradient(X[:1]) is None:
                return None
            if isinstance(model, Exponential):
                slopes = self._mean_of(_gradient(model.inner), X)
                found[name] = self._predicted(model, X) * slopes
            else:
                found[name] = self._mean_of(_gradient(model), X)
        return found

    def edges(self, column: int) -> Floats | None:
        """Where predictions can change; None when a model is not made of trees."""
        from compass.model.trees.flat import cell_edges

        if self.parts is None:
            return None
        if column not in self._edges:
            found = [cell_edges(part, column) for parts in self._forests.values() for part in parts]
            self._edges[column] = np.unique(np.concatenate(found)) if found else np.empty(0)
        return self._edges[column]

    @cached_property
    def _walks(self) -> list[tuple[list[str], "Joined"]]:
        """The outcomes that are predicted together: all that compare their inputs the same way."""
        from compass.model.trees.joined import join

        kinds: dict[bool, list[str]] = {}
        for name, parts in self._forests.items():
            kinds.setdefault(parts[0].single, []).append(name)
        return [(names, join([self._forests[name] for name in names])) for names in kinds.values()]

    def _predicted(self, model: Fitted, X: Floats) -> Floats:
        """The mean over contexts of what a model without trees predicts."""
        from compass.model.recipe import Exponential

        if isinstance(model, Exponential):
            # As with trees, an outcome that is learnt as a logarithm is averaged as one.
            return model.of(self._mean_of(model.inner.predict, X))
        return self._mean_of(model.predict, X)

    def _mean_of(self, predict: Callable[[Floats], Floats], X: Floats) -> Floats:
        """The mean over contexts of what a function of a model gives."""
        moved = X[:, self._movable]
        contexts = (with_columns(context, self._movable, moved) for context in self._contexts)
        return _mean([predict(full) for full in contexts])


def _mean(predictions: Sequence[Floats]) -> Floats:
    # One array at a time: numpy's own means may add in another order when there is a single row,
    # and the same configuration must be predicted the same in every batch.
    return np.asarray(reduce(add, predictions) / len(predictions))


def _spread(predictions: Sequence[tuple[Floats, Floats]], *, geometric: bool) -> Floats:
    """The mean spread [n] of predictions and their spreads, one pair for each context."""
    if not geometric or len(predictions) == 1:
        return _mean([spread for _, spread in predictions])
    centre = np.exp(_mean([np.log(mean[:, 0]) for mean, _ in predictions]))
    return np.asarray(centre * _mean([spread / mean[:, 0] for mean, spread in predictions]))


def _gradient(model: Fitted) -> Callable[[Floats], Floats]:
    """The gradient of a model that is known to offer one."""

    def gradient(X: Floats) -> Floats:
        slopes = model.gradient(X)
        assert slopes is not None
        return slopes

    return gradient


def _specialised(model: Fitted, fixed: Floats) -> tuple["FlatForest", ...]:
    from compass.model.trees.cut import Cuts

    cuts = getattr(model, "cuts", None)
    if not isinstance(cuts, Cuts):
        forest = model.trees()
        assert forest is not None
        cuts = Cuts(forest)
    return tuple(cuts.at(row) for row in fixed)
