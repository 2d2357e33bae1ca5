"""Expected improvement against draws and integrals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from compass.acquire.loop.gain import log_expected_improvement, plain_gain, share_gained
from property_examples import examples


@examples(20)
@given(st.floats(-2, 2), st.floats(0.05, 2), st.floats(-2, 2))
def test_the_gain_is_that_of_draws(mean, deviation, best):
    drawn = mean + deviation * np.random.default_rng(0).standard_normal(200_000)
    one, to = np.array([mean]), np.array([deviation])
    expected = np.maximum(best - drawn, 0).mean()
    assert plain_gain(one, to, best)[0] == pytest.approx(expected, abs=0.01)
    share = np.maximum(1 - np.exp(drawn - best), 0).mean()
    assert share_gained(one, to, best)[0] == pytest.approx(share, abs=0.01)


@pytest.mark.parametrize("z", [-3.0, -5.5, -8.0, -20.0])
def test_small_gains_are_exact(z):
    def integrand(t):
        return t * np.exp(z * t - t * t / 2)

    scaled = integrate.quad(integrand, 0, 60)[0]  # E divided by the density at z
    expected = stats.norm.logpdf(z) + np.log(scaled)
    found = log_expected_improvement(np.array([-z]), np.array([1.0]), 0.0)[0]
    assert found == pytest.approx(expected, abs=2e-3)


def test_no_jump_where_the_series_begins():
    z = np.linspace(-5.1, -4.9, 201)
    found = log_expected_improvement(-z, np.ones(len(z)), 0.0)
    assert np.abs(np.diff(found, 2)).max() < 2e-3
    assert (np.diff(found) > 0).all()
