"""Intervals of small experiments hold what they promise: on laws and seeds that chose nothing."""

import math

import numpy as np
import pytest
from loop_cases import kernel_problem, kernel_time, measured

from compass.acquire.loop import Seen, next_runs
from compass.acquire.loop.calibration import LEVEL, doubts, error_of, widening

NONE = np.empty(0)


def test_the_widening_is_the_quantile_that_a_new_error_is_below():
    rng = np.random.default_rng(0)
    inside = []
    for _ in range(400):
        errors = np.abs(rng.standard_t(3, 40))
        inside.append(errors[-1] <= widening(errors[:30], errors[30:-1]))
    assert np.mean(inside) == pytest.approx(LEVEL, abs=0.05)


def test_nothing_known_is_doubted_and_intervals_are_never_made_narrower():
    assert widening(NONE, NONE) == doubts().max() > 2.5
    assert widening(np.zeros(100), np.zeros(100)) == 1.0


def test_an_error_counts_in_half_widths_as_they_were_before():
    told = (10.0, 5.0, 20.0)
    assert error_of(20.0, told, widened=2.0, positive=True) == pytest.approx(2.0)
    assert error_of(5.0, told, widened=1.0, positive=True) == pytest.approx(1.0)
    assert error_of(15.0, told, widened=1.0, positive=False) == pytest.approx(0.5)
    assert error_of(7.5, told, widened=1.0, positive=False) == pytest.approx(0.5)
    assert math.isnan(error_of(-1.0, told, widened=1.0, positive=True))
    assert math.isnan(error_of(1.0, (1.0, 1.0, 1.0), widened=1.0, positive=True))


def jumpy(X):
    """A law that jumps from value to value, with noise that follows from the configuration."""
    mixed = np.abs(np.sin(X @ np.array([12.9898, 78.233, 37.719, 93.989])) * 43758.5453) % 1.0
    return kernel_time(X) * np.where(X[:, 0] % 8 == 0, 1.6, 1.0) * np.exp(0.25 * (mixed - 0.5))


def covered(law, seed, runs):
    """The predictions of a loop: whether they held, with and without what was learnt of errors."""
    problem = kernel_problem(seed, starts=8)
    X, member, told = np.empty((0, 4)), [], []
    held, plain = [], []
    while len(X) < runs:
        seen = measured(X, law, None, member)
        seen = Seen(seen.X, seen.loss, seen.failed, seen.member, (), np.array(told))
        one = next_runs(problem, seen, pending=np.empty((0, 4)), count=1, positive=True).proposals[
            0
        ]
        X, member = np.concatenate([X, one.x[None]]), [*member, one.member]
        if not one.member:
            continue
        truth = float(law(one.x[None])[0])
        ends = one.mean, one.low, one.high
        told.append(error_of(truth, ends, widened=one.widening, positive=True))
        held.append(one.low <= truth <= one.high)
        plain.append(told[-1] <= 1)
    return held, plain


def test_intervals_of_a_small_experiment_hold_nearly_what_they_promise():
    found = [covered(jumpy, seed, 40) for seed in (911, 912, 913)]
    held = np.mean([one for own, _ in found for one in own])
    plain = np.mean([one for _, own in found for one in own])
    assert plain < 0.85  # as the models tell them they do not
    assert 0.85 <= held <= 0.99
