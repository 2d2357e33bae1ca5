"""How likely a goal is met: against the normal law, brute force, and the shift that keeps it."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from compass.trust.chance import Errors, Hits
from compass.trust.interval import calibrate, size


def errors(values: list[float], *, log: bool = False) -> Errors:
    array = np.array(values)
    ones = np.ones(len(array))
    return Errors.of(array, ones, ones, 1.0, usual=0.0, log=log)


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


def scattered(floor: float, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Errors [n] of runs with spreads [n]: a part that the spread tells, and one it does not."""
    rng = np.random.default_rng(seed)
    spread = rng.uniform(0.2, 3.0, n)
    return rng.standard_normal(n) * np.sqrt(floor**2 + size(spread, 1.0) ** 2), spread


def of_spreads(missed: np.ndarray, spread: np.ndarray) -> Errors:
    return Errors.of(missed, spread, np.ones(len(missed)), 1.0, usual=1.0, log=False)


def test_errors_of_one_size_make_spreads_irrelevant() -> None:
    spread = np.linspace(0.2, 3.0, 200)
    found = of_spreads(np.where(np.arange(200) % 2, 1.0, -1.0), spread)
    certain, uncertain = (found.shifted(-math.inf, 50.0, s, 0.8)[1] for s in (0.2, 3.0))
    assert certain == pytest.approx(49.0, rel=0.01)  # every run errs by 1
    assert uncertain == pytest.approx(certain, rel=0.01)


def test_errors_that_grow_with_the_spread_leave_little_beside_it() -> None:
    spread = np.linspace(0.2, 3.0, 200)
    signs = np.where(np.arange(200) % 2, 1.0, -1.0)
    found = of_spreads(signs * size(spread, 1.0), spread)
    assert found.floor < 0.3
    near, far = (50 - found.shifted(-math.inf, 50.0, s, 0.8)[1] for s in (0.2, 3.0))
    wanted = size(np.array([0.2, 3.0]), 1.0)
    assert far / near == pytest.approx(wanted[1] / wanted[0], rel=0.2)


@pytest.mark.parametrize("floor", [0.5, 1.0, 2.0])
def test_the_floor_is_the_part_of_errors_that_no_spread_tells(floor: float) -> None:
    missed, spread = scattered(floor, 40_000, 5)
    assert of_spreads(missed, spread).floor == pytest.approx(floor, rel=0.25)


def test_a_few_runs_do_not_tell_how_far_spreads_tell_errors() -> None:
    missed, spread = scattered(0.0, 39, 6)
    assert of_spreads(missed, spread).floor == 1.0


def test_the_chance_is_kept_where_predictions_are_certain_and_where_they_are_not() -> None:
    found = of_spreads(*scattered(1.0, 20_000, 7))
    without = replace(found, floor=0.0)  # what searching for small spreads would run into
    missed, spread = scattered(1.0, 20_000, 8)
    for low, high in ((0.2, 0.5), (1.0, 2.0), (2.5, 3.0)):
        those = (spread >= low) & (spread < high)
        ends = [found.shifted(-math.inf, 0.0, s, 0.8)[1] for s in spread[those]]
        assert np.mean(np.array(ends) + missed[those] <= 0) == pytest.approx(0.8, abs=0.03)
    those = spread < 0.5
    ends = [without.shifted(-math.inf, 0.0, s, 0.8)[1] for s in spread[those]]
    assert np.mean(np.array(ends) + missed[those] <= 0) < 0.75


def usual_ends(values: list[float]) -> tuple[float, float]:
    """Between what 99 of 100 new runs stay on either side, counted; infinite with too few runs."""
    n = len(values) + 1
    high = [v for v in values if sum(u <= v for u in values) / n >= 0.99]
    low = [v for v in values if sum(u >= v for u in values) / n >= 0.99]
    return max(low, default=-math.inf), min(high, default=math.inf)


@given(
    st.lists(finite, min_size=1, max_size=8), st.integers(1, 40), st.floats(-9, 9), st.floats(0, 1)
)
def test_of_an_error_at_the_baseline_a_share_is_carried_and_all_that_is_unusual(
    some: list[float], often: int, missed: float, share: float
) -> None:
    values = some * often
    low, high = usual_ends(values)
    usual = min(max(missed, low), high)
    wanted = share * usual + (missed - usual)
    assert errors(values).carried(missed, 1.0, share) == pytest.approx(wanted, abs=1e-9)


def test_an_uncertain_baseline_may_err_by_more() -> None:
    missed, spread = scattered(0.0, 4000, 9)
    found = of_spreads(missed, spread)
    certain, uncertain = (found.carried(4.0, s, 0.2) for s in (0.2, 3.0))
    assert uncertain == pytest.approx(0.2 * 4.0)  # a usual error there: a share of it
    assert certain > 2.0  # the model is wrong about something
