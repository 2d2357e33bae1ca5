"""What models learn from."""

import numpy as np
import pytest

from compass.acquire.loop.outcomes import Outcomes


def test_repeated_runs_are_one_outcome_with_their_mean():
    X = np.array([[1.0], [2.0], [1.0], [3.0]])
    found = Outcomes.of(X, np.array([4.0, 1.0, 6.0, 9.0]), positive=False, soften=False)
    np.testing.assert_array_equal(found.X[:, 0], [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(found.runs, [2.0, 1.0, 1.0])
    np.testing.assert_allclose(found.loss(found.y), [5.0, 1.0, 9.0])
    assert found.scatter * found.scale**2 == pytest.approx(2.0)


@pytest.mark.parametrize("positive", [False, True])
def test_softened_outcomes_keep_their_order_and_their_unit(positive):
    rng = np.random.default_rng(0)
    X, loss = np.arange(50.0)[:, None], np.exp(2 * rng.standard_normal(50))
    found = Outcomes.of(X, loss, positive=positive, soften=True)
    np.testing.assert_allclose(found.loss(found.y), loss, rtol=1e-9)
    np.testing.assert_array_equal(np.argsort(found.y), np.argsort(loss))


def test_the_most_telling_are_the_best_and_the_latest():
    X, loss = np.arange(20.0)[:, None], np.r_[1.0, np.arange(2, 21)[::-1]]
    found = Outcomes.of(X, loss, positive=True, soften=False)
    kept = found.most_telling(10)
    assert len(kept) == 10
    assert set(np.argsort(found.y)[:5]) <= set(kept.tolist())
    assert found.most_telling(50).tolist() == list(range(20))
