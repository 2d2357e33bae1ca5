"""Updating a trained model with new runs instead of training it anew, where that is valid.

A forest votes: the oldest trees make room for trees grown on all runs, as many as there are new
runs among all. A boosted sum goes on: more rounds, as many again, learn on all runs what the sum
still misses. Both hold only while old and new runs follow the same law; whoever calls this has
looked at that. Everything else is trained anew.

Decision 0018 (docs/decisions).
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from compass.learn.training import TrainingData
from compass.model.base import Fitted, family
from compass.model.recipe import Recipe, logarithm
from compass.model.trees import flat
from compass.model.trees.fitted import FittedTrees
from compass.model.trees.flat import FlatForest
from compass.settings import Settings

_FORESTS = {"forest": "forest", "extra-trees": "forest"}
_BOOSTED = {"lightgbm": "lightgbm", "xgboost": "xgboost"}
_MOST = 0.1  # share of new runs from which training anew is worth its time: old trees stay old


@dataclass(frozen=True)
class Updated:
    """A model that knows the new runs too, and how it came to that."""

    fitted: Fitted
    how: str


def continued(recipe: Recipe, fitted: Fitted, data: TrainingData, new: int) -> Updated | str:
    """The model after `new` of the training rows arrived, or why it has to be trained anew."""
    X, y = data.X, data.y
    share = new / len(y)
    if recipe.embedding is not None or not isinstance(fitted, FittedTrees):
        return f"{recipe.family} cannot go on from where it was"
    if share > _MOST:
        return f"{share:.0%} of the runs came after it was last trained from the beginning"
    forest = fitted.forest
    if recipe.family in _FORESTS and not forest.boosted:
        more = math.ceil(share * forest.trees)
        if more >= forest.trees:
            return "no old tree would stay"
        chosen = _changed(recipe, data.settings, _FORESTS[recipe.family], trees=more)
        learnt = logarithm(y) if recipe.log else y
        fresh = _trained(recipe.family, replace(data, y=learnt, settings=chosen))
        kept = flat.without_first(replace(forest, link="identity"), more)
        joined = flat.append(kept, fresh) if not fresh.boosted else _voting(kept, fresh)
        how = f"{more} of {forest.trees} trees replaced by trees of all runs"
        return Updated(replace(fitted, forest=replace(joined, link=forest.link)), how)
    if recipe.family in _BOOSTED and data.task.classes is None:
        more = math.ceil(share * forest.trees)
        chosen = _changed(recipe, data.settings, _BOOSTED[recipe.family], rounds=more)
        plain = replace(forest, link="identity")
        missed = (logarithm(y) if recipe.log else y) - flat.raw(plain, X)[:, 0]
        fresh = _trained(recipe.family, replace(data, y=missed, settings=chosen))
        joined = flat.append(plain, fresh)
        how = f"{more} rounds of boosting added to {forest.trees}"
        return Updated(replace(fitted, forest=replace(joined, link=forest.link)), how)
    return f"{recipe.family} of classes cannot go on from where it was"


def _changed(recipe: Recipe, settings: Settings, section: str, **values: int) -> Settings:
    """The settings of the recipe with another number of trees."""
    own = recipe.settings(settings)
    return own.model_copy(update={section: getattr(own, section).model_copy(update=values)})


def _trained(name: str, data: TrainingData) -> FlatForest:
    # Another seed after each arrival: the same one would grow the same trees again.
    again = int(np.random.default_rng([data.seed, len(data.y)]).integers(2**31))
    model = replace(data, seed=again).fit(family(name), np.arange(len(data.y)))
    assert isinstance(model, FittedTrees)
    return model.forest


def _voting(kept: FlatForest, single: FlatForest) -> FlatForest:
    """A forest and one more tree, which by itself looks like a boosted sum."""
    voting = flat.append(replace(kept, divisor=1.0), single)
    return replace(voting, divisor=float(voting.trees))
