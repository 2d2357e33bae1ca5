"""The expected gain in volume against the mean gain of many drawn runs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compass.pareto.hypervolume import hypervolume
from compass.pareto.improvement import (
    Floats,
    expected_improvement,
    expected_shortfall,
    loss_of,
    normal_of,
)
from property_examples import examples


def drawn_gain(
    mean: Floats, deviation: Floats, front: Floats, reference: Floats, draws: int
) -> tuple[float, float]:
    rng = np.random.default_rng(1)
    return mean_gain(mean + deviation * rng.standard_normal((draws, len(mean))), front, reference)


@examples(20)
@given(seed=st.integers(0, 9999), n=st.integers(0, 6))
def test_two_outcomes_are_exact(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    front, reference = rng.random((n, 2)), np.ones(2)
    mean, deviation = rng.random(2) * 1.2, rng.random(2) * 0.5
    found = expected_improvement(mean[None], deviation[None], front, reference)[0]
    gain, error = drawn_gain(mean, deviation, front, reference, 3000)
    assert abs(found - gain) <= 5 * error + 1e-4


@pytest.mark.parametrize("k", [3, 4])
def test_more_outcomes_are_close(k: int) -> None:
    rng = np.random.default_rng(k)
    front, reference = rng.random((6, k)), np.ones(k)
    mean, deviation = np.full(k, 0.4), np.full(k, 0.2)
    found = expected_improvement(mean[None], deviation[None], front, reference)[0]
    gain, error = drawn_gain(mean, deviation, front, reference, 3000)
    assert abs(found - gain) <= 5 * error + 0.05 * gain


def test_two_outcomes_in_the_way_of_more_agree() -> None:
    from compass.pareto.improvement import _of_more, _of_two

    rng = np.random.default_rng(4)
    front, reference = np.array([[0.2, 0.8], [0.5, 0.3]]), np.ones(2)
    mean, deviation = rng.random((20, 2)), 0.05 + rng.random((20, 2)) * 0.3
    plain = np.zeros(2, dtype=np.int64)
    exact = _of_two(mean, deviation, front, reference, plain)
    close = _of_more(mean, deviation, front, reference, plain)
    assert np.abs(exact - close).max() < 0.01 * exact.max()


def test_a_sure_run_gains_what_it_adds_or_nothing() -> None:
    front, reference = np.array([[1.0, 2.0], [2.0, 1.0]]), np.array([3.0, 3.0])
    mean = np.array([[1.0, 1.0], [2.5, 2.5], [0.5, 2.5], [4.0, 0.0]])
    found = expected_improvement(mean, np.zeros((4, 2)), front, reference)
    assert found == pytest.approx([1.0, 0.0, 0.25, 0.0], abs=1e-9)


def test_without_a_front_all_of_the_box_is_a_gain() -> None:
    found = expected_improvement(np.zeros((1, 2)), np.zeros((1, 2)), np.empty((0, 2)), np.ones(2))
    assert found == pytest.approx([1.0])


def test_a_shortfall_below_everything_is_none() -> None:
    bound = np.array([-np.inf, 0.0, 3.0])
    found = expected_shortfall(bound, np.zeros(3), np.zeros(3))
    assert found == pytest.approx([0.0, 0.0, 3.0], abs=1e-9)


@pytest.mark.parametrize("k", [2, 3])
def test_logarithms_are_turned_back(k: int) -> None:
    rng = np.random.default_rng(9)
    front, reference = 0.2 + rng.random((5, k)), np.full(k, 1.5)
    mean, deviation = np.log(np.full(k, 0.5)), np.full(k, 0.4)
    log_sign = np.array([1] * (k - 1) + [0])
    mean[-1], deviation[-1] = 0.5, 0.2
    found = expected_improvement(mean[None], deviation[None], front, reference, log_sign=log_sign)
    runs = loss_of(mean + deviation * rng.standard_normal((4000, k)), log_sign)
    gain, error = mean_gain(runs, front, reference)
    assert abs(found[0] - gain) <= 5 * error + 0.03 * gain * (k > 2)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("worst", [-0.4, 0.3])
def test_what_is_maximised_and_positive_gains_in_its_own_unit(k: int, worst: float) -> None:
    """A rate as -exp(-N); the reference may be a rate below 0, which nothing can have."""
    rng = np.random.default_rng(k)
    front, reference = 0.2 + rng.random((5, k)), np.full(k, 1.5)
    front[:, 0], reference[0] = -1 - rng.random(5), worst
    mean, deviation = np.full(k, -0.6), np.full(k, 0.3)
    log_sign = np.array([-1] + [1] * (k - 1))
    found = expected_improvement(mean[None], deviation[None], front, reference, log_sign=log_sign)
    runs = loss_of(mean + deviation * rng.standard_normal((4000, k)), log_sign)
    gain, error = mean_gain(runs, front, reference)
    assert abs(found[0] - gain) <= 5 * error + 0.04 * gain * (k > 2)


def mean_gain(runs: Floats, front: Floats, reference: Floats) -> tuple[float, float]:
    before = hypervolume(front, reference).value
    gains = [hypervolume(np.vstack([front, run]), reference).value - before for run in runs]
    return float(np.mean(gains)), float(np.std(gains) / np.sqrt(len(gains)))


def test_outcomes_and_what_they_are_made_of_are_told_from_each_other() -> None:
    log_sign = np.array([0, 1, -1])
    loss = np.array([[-3.0, 2.0, -5.0], [4.0, 0.1, -0.2]])
    assert loss_of(normal_of(loss, log_sign), log_sign) == pytest.approx(loss)
    impossible = normal_of(np.array([0.0, -1.0, 1.0]), log_sign)
    assert impossible.tolist() == [0.0, -np.inf, np.inf]
