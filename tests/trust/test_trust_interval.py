"""Conformal intervals: what is promised is kept, on rows that nobody has seen."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import compass as cp
from compass.domain.space import Role
from compass.prepare.encode import Encoder
from compass.trust.interval import Conformal, calibrate, of_residuals, size, units_needed
from conftest import ROLES, cluster_columns

LEVELS = (0.5, 0.8, 0.9, 0.95)


def even(n: int) -> np.ndarray:
    return np.ones(n)


def within(level: float, covered: list[float], above: float = 0.0) -> None:
    """The mean coverage of many repetitions is the level, or up to so much above it.

    Four standard errors: a right procedure fails here once in fifteen thousand times.
    """
    slack = 4 * np.std(covered, ddof=1) / math.sqrt(len(covered))
    assert level - slack <= np.mean(covered) <= level + above + slack


@given(
    residuals=st.lists(st.floats(0, 1e6), min_size=1, max_size=60),
    level=st.floats(0.01, 0.99),
)
def test_the_quantile_is_the_textbook_one(residuals: list[float], level: float) -> None:
    ascending = np.sort(residuals)
    rank = math.ceil(level * (len(residuals) + 1) - 1e-9)
    expected = ascending[rank - 1] if rank <= len(residuals) else math.inf
    n = len(residuals)
    got = of_residuals(np.array(residuals), even(n), even(n), usual=0.0).quantile(level)
    assert got == expected


@given(
    rows=st.lists(
        st.tuples(st.floats(0, 100), st.floats(0.01, 50), st.integers(0, 9)),
        min_size=1,
        max_size=40,
    ),
    level=st.floats(0.05, 0.95),
    groups=st.booleans(),
)
def test_weighted_quantiles_by_brute_force(
    rows: list[tuple[float, float, int]], level: float, groups: bool
) -> None:
    miss, weight, unit = (np.array(column) for column in zip(*sorted(rows), strict=True))
    masses = {u: weight[unit == u].sum() for u in set(unit.tolist())}
    if groups:  # every group and the new one weigh the same
        mass, unseen = np.array([w / masses[u] for w, u in zip(weight, unit, strict=True)]), 1.0
    else:  # the new run is of a configuration as heavy as that of a random run
        mass, unseen = weight, sum(m * m for m in masses.values()) / weight.sum()
    got = of_residuals(miss, even(len(miss)), weight, usual=0.0, unit=unit, groups=groups)
    reached, expected = 0.0, math.inf
    for residual, heavy in zip(miss, mass, strict=True):
        reached += heavy
        if reached / (mass.sum() + unseen) >= level - 1e-9:
            expected = residual
            break
    below = miss[miss < expected]
    found = got.quantile(level)
    assert found == expected or (len(below) and found == below[-1])  # rounding at a boundary
    assert got.units == len(masses)


@pytest.mark.parametrize("rows", [1, 4, 8, 9, 18, 19])
def test_too_few_rows_promise_nothing(rows: int) -> None:
    n = rows
    interval = calibrate(np.arange(n, dtype=float), np.zeros(n), even(n), even(n), usual=1.0)
    highest = rows / (rows + 1)
    assert math.isfinite(interval.quantile(highest))
    assert interval.quantile(highest + 1e-6) == math.inf
    wide = interval.half_width(np.array([0.0, 1.0]), highest + 1e-6)
    assert np.isposinf(wide).all()
    assert units_needed(highest) == rows
    assert units_needed(highest + 1e-6) == rows + 1


def test_no_rows_promise_nothing() -> None:
    empty = np.empty(0)
    interval = calibrate(empty, empty, empty, empty, usual=1.0)
    assert interval.quantile(0.5) == math.inf
    assert interval.units == 0


def test_a_higher_level_is_never_narrower() -> None:
    rng = np.random.default_rng(1)
    spread, weight = rng.random(200), rng.random(200)
    interval = calibrate(rng.normal(size=200), np.zeros(200), spread, weight, usual=0.5)
    widths = [interval.quantile(level) for level in np.linspace(0.01, 0.99, 60)]
    assert widths == sorted(widths)


def test_where_models_disagree_more_the_interval_is_wider() -> None:
    rng = np.random.default_rng(2)
    interval = calibrate(rng.normal(size=100), np.zeros(100), rng.random(100), even(100), usual=0.5)
    half = interval.half_width(np.array([0.0, 0.5, 5.0]), 0.9)
    assert 0 < half[0] < half[1] < half[2]
    assert half[2] / half[1] < 10  # twice the spread is less than twice the error


@pytest.mark.parametrize("usual", [0.0, 1.0])
def test_models_that_all_agree_and_are_wrong_get_an_interval_all_the_same(usual: float) -> None:
    rng = np.random.default_rng(3)
    wrong = rng.normal(0, 4.0, 400)
    interval = calibrate(wrong, np.zeros(400), np.zeros(400), even(400), usual=usual)
    half = interval.half_width(np.zeros(1), 0.9)[0]
    assert half == pytest.approx(np.quantile(np.abs(wrong), 0.9), rel=0.05)


def test_the_order_of_the_rows_does_not_matter() -> None:
    rng = np.random.default_rng(4)
    y, spread, weight = rng.normal(size=80), rng.random(80), rng.random(80)
    mixed = rng.permutation(80)
    one = calibrate(y, np.zeros(80), spread, weight, usual=1.0)
    two = calibrate(y[mixed], np.zeros(80), spread[mixed], weight[mixed], usual=1.0)
    assert np.array_equal(one.residuals, two.residuals)
    assert one.quantile(0.9) == two.quantile(0.9)


def test_the_score_of_a_row_does_not_depend_on_the_other_rows() -> None:
    rng = np.random.default_rng(5)
    y, spread = rng.normal(size=60), rng.random(60)
    whole = calibrate(y, np.zeros(60), spread, even(60), usual=0.4)
    alone = [
        calibrate(y[[i]], np.zeros(1), spread[[i]], even(1), usual=0.4).residuals[0]
        for i in range(60)
    ]
    assert np.array_equal(np.sort(alone), whole.residuals)


def runs(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Misses of a model and its own idea of them, which is right only in tendency."""
    spread = rng.lognormal(0, 1, n)
    return spread * rng.standard_t(5, n) + rng.normal(0, 0.3, n), spread


@pytest.mark.parametrize("rows", [19, 150])
@pytest.mark.parametrize("level", LEVELS)
def test_coverage_of_new_runs_is_the_level(level: float, rows: int) -> None:
    rng = np.random.default_rng(5)
    covered = []
    for _ in range(1500):
        miss, spread = runs(rng, rows)
        interval = calibrate(miss, np.zeros(rows), spread, even(rows), usual=1.0)
        new, new_spread = runs(rng, 40)
        covered.append((np.abs(new) <= interval.half_width(new_spread, level)).mean())
    within(level, covered, 1 / (rows + 1))


def test_weights_undo_a_sample_that_prefers_hard_runs() -> None:
    rng = np.random.default_rng(6)
    level = 0.9
    weighted, plain = [], []
    for _ in range(300):
        everything, _ = runs(rng, 2000)
        kept = np.minimum(1.0, 0.02 + 0.1 * np.abs(everything))  # the larger the miss, the likelier
        chosen = rng.random(2000) < kept
        miss, flat = everything[chosen], np.ones(int(chosen.sum()))
        new, _ = runs(rng, 300)
        for result, weight in ((weighted, 1 / kept[chosen]), (plain, flat)):
            interval = calibrate(miss, np.zeros(len(miss)), flat, weight, usual=1.0)
            result.append((np.abs(new) <= interval.half_width(np.ones(300), level)).mean())
    assert np.mean(weighted) == pytest.approx(level, abs=0.015)
    assert np.mean(plain) > level + 0.03


def shared(
    rng: np.random.Generator, units: int, *, least: int = 1, most: int = 30
) -> tuple[np.ndarray, np.ndarray]:
    """Misses and units of rows that share most of their error within a unit."""
    unit = np.repeat(np.arange(units), rng.integers(least, most + 1, units))
    return np.abs(rng.normal(0, 1, units)[unit] + rng.normal(0, 0.2, len(unit))), unit


def covers(interval: Conformal, miss: np.ndarray, level: float) -> float:
    return float((np.abs(miss) <= interval.half_width(np.ones(len(miss)), level)).mean())


@pytest.mark.parametrize("groups", [False, True])
def test_repeats_of_few_configurations_do_not_count_as_many_runs(groups: bool) -> None:
    rng = np.random.default_rng(7)
    right, naive = [], []
    for _ in range(1500):
        miss, unit = shared(rng, 12, least=10, most=10)
        new, _ = shared(rng, 4, least=10, most=10)
        flat = even(len(miss))
        known = of_residuals(miss, flat, flat, usual=0.0, unit=unit, groups=groups)
        right.append(covers(known, new, 0.9))
        naive.append(covers(of_residuals(miss, flat, flat, usual=0.0), new, 0.9))
    within(0.9, right, 1 / 13)
    assert np.mean(naive) < 0.88  # as if 120 rows were 120 draws


def test_configurations_with_unequal_repeats_are_covered_run_by_run() -> None:
    rng = np.random.default_rng(8)
    inside, count = [], []
    for _ in range(1500):
        miss, unit = shared(rng, 30)
        new, _ = shared(rng, 6)
        flat = even(len(miss))
        known = of_residuals(miss, flat, flat, usual=0.0, unit=unit)
        inside.append(covers(known, new, 0.9) * len(new))
        count.append(len(new))
    covered = np.array(inside) / np.mean(count)  # every new run counts the same
    within(0.9, covered.tolist(), 1 / 20)


def test_a_new_group_is_covered_only_when_groups_are_respected() -> None:
    rng = np.random.default_rng(9)
    right, naive = [], []
    for _ in range(2000):
        sizes = np.where(rng.random(15) < 0.3, 60, 4)  # some groups are much larger, and easier
        unit = np.repeat(np.arange(15), sizes)
        effect = rng.normal(0, np.where(sizes == 60, 0.3, 1.5))
        miss = np.abs(effect[unit] + rng.normal(0, 0.2, len(unit)))
        large = rng.random() < 0.3
        new = rng.normal(0, 0.3 if large else 1.5) + rng.normal(0, 0.2, 20)
        flat = even(len(miss))
        known = of_residuals(miss, flat, flat, usual=0.0, unit=unit, groups=True)
        right.append(covers(known, new, 0.9))
        naive.append(covers(of_residuals(miss, flat, flat, usual=0.0), new, 0.9))
    within(0.9, right, 1 / 16)
    assert np.mean(naive) < 0.8


def test_with_too_few_groups_nothing_is_promised() -> None:
    rng = np.random.default_rng(10)
    miss, unit = shared(rng, 8, least=50, most=60)
    flat = even(len(miss))
    known = of_residuals(miss, flat, flat, usual=0.0, unit=unit, groups=True)
    assert known.quantile(0.9) == math.inf
    assert math.isfinite(known.quantile(8 / 9))
    assert units_needed(0.9) == 9


def test_intervals_of_an_engine_cover_runs_it_has_never_seen(engine: cp.Compass) -> None:
    ordered = engine.space.having(Role.KNOB, Role.CONTEXT)
    fresh = cp.read(cluster_columns(600, seed=77)).roles(**ROLES)
    X = Encoder(engine.space.select(ordered)).encode_table(fresh.table)
    for name in ("runtime", "power"):
        trained = engine.store.trained[ordered, name]
        assert trained.interval is not None
        said, y = trained.model.predict(X)[:, 0], fresh.table.column(name).to_numpy()
        low, high = trained.interval.ends(said, trained.model.spread(X), 0.9)
        # Calibrated on configurations that were held out; most of these were measured before,
        # so the promise is kept only roughly.
        assert 0.8 < ((low <= y) & (y <= high)).mean() <= 1.0


def test_intervals_of_logarithms_are_factors_and_cover_at_every_size() -> None:
    rng = np.random.default_rng(4)
    middle = 10 ** rng.uniform(-3, 3, 4000)
    spread = 0.1 * middle * rng.uniform(0.5, 2, 4000)
    y = middle * np.exp(rng.normal(0, 0.2, 4000))
    known = calibrate(y[:2000], middle[:2000], spread[:2000], even(2000), usual=0.1, log=True)
    low, high = known.ends(middle[2000:], spread[2000:], 0.9)
    inside = (low <= y[2000:]) & (y[2000:] <= high)
    assert inside.mean() == pytest.approx(0.9, abs=0.03)
    for part in (middle[2000:] < 0.03, middle[2000:] > 30):
        assert inside[part].mean() == pytest.approx(0.9, abs=0.06)
    np.testing.assert_allclose(low * high, middle[2000:] ** 2)
    np.testing.assert_allclose(
        known.deviation(middle, spread) / middle, known.deviation(np.ones(4000), spread / middle)
    )


def test_a_run_that_takes_nothing_is_missed_by_every_factor() -> None:
    y = np.concatenate([np.zeros(10), np.exp(np.linspace(-1, 1, 90))])
    known = calibrate(y, even(100), 0.1 * even(100), even(100), usual=0.1, log=True)
    assert np.isposinf(known.residuals[-10:]).all()
    assert math.isfinite(known.quantile(0.8))
    assert known.quantile(0.9) == math.inf


def test_both_ends_of_a_plain_interval_are_as_far() -> None:
    rng = np.random.default_rng(4)
    known = calibrate(rng.normal(size=200), np.zeros(200), rng.random(200), even(200), usual=0.5)
    low, high = known.ends(np.array([1.0, 2.0]), np.array([0.1, 0.5]), 0.9)
    half = known.half_width(np.array([0.1, 0.5]), 0.9)
    np.testing.assert_allclose((low + high) / 2, [1, 2])
    np.testing.assert_allclose((high - low) / 2, half)


def test_the_size_of_an_error_is_about_one_at_the_usual_spread() -> None:
    np.testing.assert_allclose(size(np.array([3.0]), 3.0), [1.0], rtol=0.03)
    assert np.array_equal(size(np.array([0.0, 9.0]), 0.0), [1.0, 1.0])
