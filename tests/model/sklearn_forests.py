"""Forests of scikit-learn in the form of Compass: the two are compared."""

from typing import Any

from compass.model.trees import flat
from compass.model.trees.flat import FlatForest


def flattened(estimator: Any) -> FlatForest:
    """The flat form of a fitted Random Forest or Extra Trees."""
    return flat.from_trees([each.tree_ for each in estimator.estimators_], estimator.n_features_in_)
