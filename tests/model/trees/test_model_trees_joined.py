"""Several ensembles in one walk."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from tests.model.sklearn_forests import flattened

from compass.domain.errors import BadInput
from compass.model.trees import flat
from compass.model.trees.flat import FlatForest
from compass.model.trees.joined import join


def forests() -> tuple[FlatForest, FlatForest, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    numbers = RandomForestRegressor(5, max_depth=5, random_state=1).fit(X, X[:, 0] * X[:, 1])
    classes = RandomForestClassifier(8, max_depth=4, random_state=1).fit(X, X[:, 2] > 0)
    return flattened(numbers), flattened(classes), X


def test_outcomes_stand_side_by_side() -> None:
    number, scores, X = forests()
    said = join([[number], [scores], [number]]).mean(X)
    assert said.shape == (150, 4)
    assert np.array_equal(said[:, :1], flat.mean(number, X))
    assert np.array_equal(said[:, 1:3], flat.mean(scores, X))
    assert np.array_equal(said[:, 3:], flat.mean(number, X))


def test_parts_with_other_numbers_of_trees_count_the_same() -> None:
    number, _, X = forests()
    part = number.only(0, 2)
    said = join([[number, part]]).mean(X)
    expected = (flat.mean(number, X) + flat.mean(part, X)) / 2
    np.testing.assert_allclose(said, expected, rtol=1e-12, atol=1e-14)


def test_parts_of_an_outcome_must_agree() -> None:
    number, scores, _ = forests()
    with pytest.raises(BadInput, match="same columns"):
        join([[number, scores]])
    with pytest.raises(BadInput, match="nothing to join"):
        join([])
    with pytest.raises(BadInput, match="nothing to join"):
        join([[number], []])


def test_models_that_read_rows_in_other_ways_are_not_joined() -> None:
    number, _, _ = forests()
    arrays = number.arrays() | {"single": np.array([False])}
    with pytest.raises(BadInput, match="same way"):
        join([[number], [flat.restore(arrays)]])
