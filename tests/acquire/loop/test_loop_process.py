"""The process against scikit-learn's, and its gradient against differences."""

import numpy as np
import pytest
from loop_cases import KERNEL, TILES, space_of
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern

from compass.acquire.loop import process
from compass.acquire.loop.inputs import Inputs
from compass.acquire.loop.process import Apart, Process, Shape, fitted_shape, surprise, usual

NUMBERS = space_of(a=TILES, b=TILES, c=(0.0, 1.0))


def drawn(space, n, seed=0):
    rng = np.random.default_rng(seed)
    columns = [
        rng.integers(len(p.values), size=n) if p.kind == "category" else rng.choice(p.allowed, n)
        for p in space
    ]
    X = np.unique(np.column_stack(columns).astype(float), axis=0)
    return rng.permutation(X, axis=0)


def test_predictions_are_those_of_scikit_learn():
    inputs = Inputs.of(NUMBERS)
    X = drawn(NUMBERS, 40)
    seen, asked = inputs(X[:20]), inputs(X[20:])
    y = np.sin(3 * seen.Z[:, 0]) + seen.Z[:, 1] * seen.Z[:, 2]
    shape = Shape(np.array([0.5, 0.8, 1.3]), np.empty(0), 1.7, 0.0, 0.01)
    ours = Process.of(shape, seen, y, np.ones(20), inputs)
    kernel = ConstantKernel(1.7, "fixed") * Matern(shape.length, "fixed", nu=2.5)
    theirs = GaussianProcessRegressor(kernel, alpha=ours.noise, optimizer=None).fit(seen.Z, y)
    mean, deviation = theirs.predict(asked.Z, return_std=True)
    found, variance = ours.predict(asked)
    np.testing.assert_allclose(found, mean, atol=1e-8)
    np.testing.assert_allclose(np.sqrt(variance), deviation, atol=1e-7)


def test_without_steps_the_posterior_is_that_of_scikit_learn_and_the_prior():
    inputs = Inputs.of(NUMBERS)
    seen = inputs(drawn(NUMBERS, 25))
    y = np.cos(2 * seen.Z[:, 0]) - seen.Z[:, 1]
    vector = np.array([-0.5, 0.2, 0.4, 0.3, -4.0])
    value, _ = surprise(vector, Apart.of(seen, inputs, steps=False), y, np.ones(len(y)))
    kernel = ConstantKernel(np.exp(0.3), "fixed") * Matern(np.exp(vector[:3]), "fixed", nu=2.5)
    noise = np.exp(-4.0) + process._LEAST_NOISE
    theirs = GaussianProcessRegressor(kernel, alpha=noise, optimizer=None).fit(seen.Z, y)
    mean, spread = usual(3, steps=False)
    prior = 0.5 * (((vector - mean) / spread) ** 2).sum()
    constant = 0.5 * len(y) * np.log(2 * np.pi)
    assert value == pytest.approx(-theirs.log_marginal_likelihood_value_ - constant + prior)


@pytest.mark.parametrize("steps", [False, True])
def test_the_gradient_is_that_of_differences(steps):
    inputs = Inputs.of(KERNEL)
    X = drawn(KERNEL, 30)
    y = np.random.default_rng(1).standard_normal(len(X))
    runs = np.where(np.arange(len(X)) % 3, 1.0, 4.0)
    apart = Apart.of(inputs(X), inputs, steps=steps)
    vector = usual(len(KERNEL), steps=steps)[0] - 0.7
    gradient = surprise(vector, apart, y, runs)[1]
    for place in range(len(vector)):
        step = np.zeros(len(vector))
        step[place] = 1e-5
        up, down = (surprise(vector + s, apart, y, runs)[0] for s in (step, -step))
        assert gradient[place] == pytest.approx((up - down) / 2e-5, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("steps", [False, True])
def test_rough_predictions_have_the_mean_and_bound_the_variance(steps):
    inputs = Inputs.of(KERNEL)
    X = drawn(KERNEL, 200)
    y = np.random.default_rng(2).standard_normal(30)
    seen, asked = inputs(X[:30]), inputs(X[30:])
    shape = fitted_shape(seen, y, np.ones(30), inputs, steps=steps)
    one = Process.of(shape, seen, y, np.ones(30), inputs)
    mean, variance = one.predict(asked)
    rough, bound = one.rough(asked)
    np.testing.assert_allclose(rough, mean, atol=1e-3)
    assert (bound >= variance - 1e-5).all()


def test_one_more_run_is_the_same_as_a_process_that_has_seen_what_it_expects():
    inputs = Inputs.of(KERNEL)
    X = drawn(KERNEL, 60)
    y = np.random.default_rng(3).standard_normal(20)
    shape = Shape.of(usual(len(KERNEL), steps=True)[0], len(KERNEL))
    one = Process.of(shape, inputs(X[:20]), y, np.ones(20), inputs)
    extra = inputs(X[20:21])
    more = one.knowing(extra)
    told = np.append(y, one.predict(extra)[0])
    fresh = Process.of(shape, inputs(X[:21]), told, np.ones(21), inputs)
    for ours, theirs in zip(
        more.predict(inputs(X[21:])), fresh.predict(inputs(X[21:])), strict=True
    ):
        np.testing.assert_allclose(ours, theirs, atol=1e-6)


def test_leaving_a_run_out_is_the_same_as_not_having_seen_it():
    inputs = Inputs.of(NUMBERS)
    X = drawn(NUMBERS, 15)
    y = np.random.default_rng(4).standard_normal(len(X))
    shape = Shape.of(usual(3, steps=False)[0], 3)
    mean, variance = Process.of(shape, inputs(X), y, np.ones(len(y)), inputs).left_out(y)
    for place in (0, 7, len(X) - 1):
        rest = np.arange(len(X)) != place
        other = Process.of(shape, inputs(X[rest]), y[rest], np.ones(rest.sum()), inputs)
        expected, left = other.predict(inputs(X[[place]]))
        assert mean[place] == pytest.approx(expected[0], abs=1e-6)
        assert variance[place] == pytest.approx(left[0] + other.noise, abs=1e-6)


def test_a_fit_finds_which_parameter_counts():
    inputs = Inputs.of(NUMBERS)
    seen = inputs(drawn(NUMBERS, 70))
    y = np.sin(4 * seen.Z[:, 0])
    shape = fitted_shape(seen, (y - y.mean()) / y.std(), np.ones(len(y)), inputs, steps=False)
    assert shape.length[0] < 2 < min(shape.length[1:])
