import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compass.platforms.order import doubt, doubt_after, ordered, pairwise, run_next
from property_examples import examples

MEAN = np.array([0.0, -0.2, -0.1, 1.5])
ROOT = np.array([[0, 0, 0, 0], [0, 0.3, 0, 0], [0, 0.2, 0.3, 0], [0, 0.1, 0, 0.2]])
COVARIANCE = ROOT @ ROOT.T


def test_chances_are_those_of_many_draws() -> None:
    rng = np.random.default_rng(3)
    draws = rng.multivariate_normal(MEAN, COVARIANCE, 200_000)
    before = (draws[:, :, None] < draws[:, None, :]).mean(axis=0)
    found = pairwise(MEAN, COVARIANCE)
    off = ~np.eye(4, dtype=bool)
    assert found[off] == pytest.approx(before[off], abs=0.005)
    order = ordered(MEAN, COVARIANCE, 7)
    assert order.places == (1, 2, 0, 3)
    exact = (np.argsort(draws, axis=1) == [1, 2, 0, 3]).all(axis=1).mean()
    assert order.chance == pytest.approx(exact, abs=0.03)
    fastest = np.bincount(draws.argmin(axis=1), minlength=4) / len(draws)
    assert order.fastest == pytest.approx(fastest, abs=0.03)


def test_a_machine_of_which_nothing_is_known_is_left_out() -> None:
    mean = np.array([0.0, np.nan, -1.0])
    order = ordered(mean, np.diag([0.0, 0.0, 0.1]), 7)
    assert order.places == (2, 0)
    assert np.isnan(order.fastest[1])


def test_what_is_measured_is_certain() -> None:
    order = ordered(np.array([0.0, -0.01]), np.zeros((2, 2)), 7)
    assert (order.places, order.chance) == ((1, 0), 1.0)
    assert doubt(np.array([0.0, -0.01]), np.zeros((2, 2))) == 0.0


@given(st.integers(0, 1000))
@examples(20)
def test_chances_of_a_pair_add_up(seed: int) -> None:
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(4, 4))
    found = pairwise(rng.normal(size=4), root @ root.T)
    assert found + found.T == pytest.approx(np.ones((4, 4)))


def test_the_doubt_after_a_run_is_that_of_many_imagined_runs() -> None:
    rng = np.random.default_rng(4)
    machine, noise = 2, 0.02**2
    variance = COVARIANCE[machine, machine] + noise
    gain = COVARIANCE[:, machine] / variance
    left = COVARIANCE - np.outer(gain, COVARIANCE[machine])
    imagined = rng.normal(0, np.sqrt(variance), 3000)
    expected = np.mean([doubt(MEAN + gain * off, left) for off in imagined])
    assert doubt_after(MEAN, COVARIANCE, machine) == pytest.approx(expected, abs=0.005)


def test_the_run_to_make_leaves_least_doubt() -> None:
    measured = np.array([True, False, False, False])
    found = run_next(MEAN, COVARIANCE, measured)
    assert [machine for machine, _ in found][-1] == 3  # it is last in any case
    assert sorted(left for _, left in found) == [left for _, left in found]
    assert all(left <= doubt(MEAN, COVARIANCE) + 1e-9 for _, left in found)
    assert {machine for machine, _ in found} == {1, 2, 3}
