"""How likely a goal is met: against the normal law, brute force, and the shift that keeps it."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from compass.trust.chance import Errors, Hits
from compass.trust.interval import calibrate


def errors(values: list[float], *, log: bool = False) -> Errors:
    array = np.array(values)
    return Errors.of(array, np.zeros(len(array)), np.ones(len(array)), 1.0, usual=0.0, log=log)


def test_the_chance_of_a_range_is_the_share_of_new_runs_in_it() -> None:
    rng = np.random.default_rng(0)
    found = errors(rng.standard_normal(20_000).tolist())
    for low, high in ((-np.inf, 0.5), (0.2, np.inf), (-1.0, 2.0), (-np.inf, np.inf)):
        wanted = stats.norm.cdf(high) - stats.norm.cdf(low)
        told = float(found.chance(np.zeros(1), np.ones(1), low, high)[0])
        assert told == pytest.approx(wanted, abs=0.02)


def test_errors_of_one_sign_make_one_side_likely() -> None:
    slower = errors([0.1, 0.2, 0.3, 0.4])  # runs always take longer than predicted
    assert slower.chance(np.zeros(1), np.ones(1), -np.inf, 0.0)[0] == 0
    assert slower.chance(np.zeros(1), np.ones(1), 0.0, np.inf)[0] == pytest.approx(0.8)


def test_a_new_run_may_err_more_than_all_that_were_seen() -> None:
    found = errors([0.0] * 3)
    assert found.chance(np.zeros(1), np.ones(1), -np.inf, np.inf)[0] == pytest.approx(0.75)
    assert found.above(0.8) == math.inf
    assert found.below(0.8) == -math.inf


def test_sizes_of_errors_count_for_both_signs() -> None:
    rng = np.random.default_rng(1)
    y = np.exp(rng.standard_normal(500))
    known = calibrate(y, np.ones(500), np.full(500, 0.3), np.ones(500), usual=0.3, log=True)
    found = Errors.symmetric(known)
    for level in (0.5, 0.8, 0.9):
        low, high = known.ends(np.array([2.0]), np.array([0.6]), level)
        inside = found.chance(np.array([2.0]), np.array([0.3]), float(low[0]), float(high[0]))
        assert inside[0] == pytest.approx(level, abs=0.01)


finite = st.floats(-3, 3).map(lambda x: round(x, 3))


@given(st.lists(finite, min_size=1, max_size=40), finite, st.sampled_from([0.3, 0.5, 0.8, 0.95]))
def test_a_prediction_at_the_shifted_end_meets_the_goal_with_the_chance(
    values: list[float], end: float, chance: float
) -> None:
    found = errors(values)
    for low, high in ((-math.inf, end), (end, math.inf)):
        bottom, top = found.shifted(low, high, 1.0, chance)
        at = top if math.isinf(low) else bottom
        if not math.isfinite(at):
            # Not even a prediction far inside would do: too few runs tell of it.
            assert len(values) / (len(values) + 1) < chance
            continue
        slack = 1e-9 if math.isinf(low) else -1e-9
        told = found.chance(np.array([at - slack]), np.ones(1), low, high)[0]
        assert told >= chance - 1e-9


@given(st.lists(finite, min_size=1, max_size=30), finite, finite)
def test_the_chance_is_counted(values: list[float], a: float, b: float) -> None:
    low, high = min(a, b), max(a, b)
    told = errors(values).chance(np.zeros(1), np.ones(1), low, high)[0]
    inside = sum(low <= value <= high for value in values)
    assert told == pytest.approx(inside / (len(values) + 1))


def test_a_range_that_is_too_narrow_is_aimed_at_in_the_middle() -> None:
    found = errors(np.linspace(-1, 1, 99).tolist())
    assert found.shifted(10.0, 10.5, 1.0, 0.8) == (10.25, 10.25)


def test_a_time_has_no_lower_end_at_nought() -> None:
    found = errors(np.linspace(-1, 1, 99).tolist(), log=True)
    low, high = found.shifted(-math.inf, 10.0, 1.0, 0.8)
    assert low == -math.inf
    assert high == pytest.approx(10 * np.exp(-found.above(0.8)))


def test_shares_of_a_class_rise_with_its_score() -> None:
    rng = np.random.default_rng(3)
    scores = rng.uniform(0, 1, 4000)
    right = (rng.uniform(0, 1, 4000) < scores**2).astype(float)  # the model claims too much
    found = Hits.of(scores, right, np.ones(4000), 1.0)
    told = found.chance(np.array([0.3, 0.6, 0.9]))
    np.testing.assert_allclose(told, [0.09, 0.36, 0.81], atol=0.08)
    least = found.least(0.8)
    assert 0.8 < least < 0.95
    assert found.chance(np.array([least]))[0] >= 0.8
    assert (np.diff(found.share) >= 0).all()


def test_what_no_score_reaches_is_out_of_reach() -> None:
    found = Hits.of(np.array([0.2, 0.9]), np.array([0.0, 0.0]), np.ones(2), 1.0)
    assert found.least(0.5) == math.inf
    assert found.chance(np.array([0.1, 0.95])).tolist() == [0.0, 0.0]
