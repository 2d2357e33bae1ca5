"""Extra Trees grown in C against what such trees must be, and against scikit-learn's."""

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor

from compass.acquire.loop import forest


def law(Z):
    return np.sin(5 * Z[:, 0]) + Z[:, 1] * Z[:, 2] + (Z[:, 3] > 0.5)


def drawn(n, seed):
    return np.random.default_rng(seed).integers(0, 8, (n, 5)) / 8.0


def test_what_was_learnt_is_predicted_exactly():
    Z = np.unique(drawn(150, 0), axis=0)
    mean, variance = forest.beliefs(forest.grown(Z, law(Z), 20, 3), Z)
    np.testing.assert_allclose(mean, law(Z), atol=1e-12)
    np.testing.assert_allclose(variance, 0, atol=1e-12)


def test_equal_configurations_share_their_mean():
    Z = np.array([[0.0], [0.0], [1.0]])
    mean, _ = forest.beliefs(forest.grown(Z, np.array([1.0, 3.0, 7.0]), 5, 0), Z)
    np.testing.assert_allclose(mean, [2.0, 2.0, 7.0])


def test_predictions_are_as_good_as_those_of_scikit_learn():
    Z, T = drawn(200, 1), drawn(2000, 2)
    ours = forest.beliefs(forest.grown(Z, law(Z), 50, 0), T)[0]
    theirs = ExtraTreesRegressor(50, random_state=0).fit(Z, law(Z)).predict(T)
    errors = [np.sqrt(np.mean((found - law(T)) ** 2)) for found in (ours, theirs)]
    assert errors[0] < 1.1 * errors[1]


def test_the_same_seed_grows_the_same_trees():
    Z = drawn(60, 3)
    one, two = (forest.grown(Z, law(Z), 8, 5) for _ in range(2))
    np.testing.assert_array_equal(one.threshold, two.threshold)
    assert not np.array_equal(one.threshold, forest.grown(Z, law(Z), 8, 6).threshold)


def test_every_tree_splits_its_rows_until_outcomes_agree():
    Z = drawn(40, 4)
    grown = forest.grown(Z, np.zeros(40), 3, 0)
    assert grown.nodes == 3  # nothing to tell apart
    assert forest.grown(np.ones((10, 2)), np.arange(10.0), 2, 0).nodes == 2
