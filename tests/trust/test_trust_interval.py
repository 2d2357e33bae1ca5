"""Conformal intervals: what is promised is kept, on rows that nobody has seen."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import compass as cp
from compass.domain.space import Role
from compass.prepare.encode import Encoder
from compass.trust.interval import Conformal, calibrate
from conftest import ROLES, cluster_columns

LEVELS = (0.5, 0.8, 0.9, 0.95)


def even(n: int) -> np.ndarray:
    return np.ones(n)


@given(
    residuals=st.lists(st.floats(0, 1e6), min_size=1, max_size=60),
    level=st.floats(0.01, 0.99),
)
def test_the_quantile_is_the_textbook_one(residuals: list[float], level: float) -> None:
    ascending = np.sort(residuals)
    rank = math.ceil(level * (len(residuals) + 1) - 1e-9)
    expected = ascending[rank - 1] if rank <= len(residuals) else math.inf
    got = Conformal(ascending, even(len(residuals)), 0.1).quantile(level)
    assert got == expected


@given(
    rows=st.lists(st.tuples(st.floats(0, 100), st.floats(0.01, 50)), min_size=1, max_size=40),
    level=st.floats(0.05, 0.95),
)
def test_weights_count_rows_as_often_as_they_say(
    rows: list[tuple[float, float]], level: float
) -> None:
    residuals, weights = (np.array(column) for column in zip(*sorted(rows), strict=True))
    got = Conformal(residuals, weights, 0.1).quantile(level)
    total = weights.sum() + weights.mean()  # the new run weighs what a usual one does
    reached, expected = 0.0, math.inf
    for residual, weight in zip(residuals, weights, strict=True):
        reached += weight
        if reached / total >= level - 1e-9:
            expected = residual
            break
    below = residuals[residuals < expected]
    assert got == expected or (len(below) and got == below[-1])  # rounding at a boundary


@pytest.mark.parametrize("rows", [1, 4, 8, 9, 18, 19])
def test_too_few_rows_promise_nothing(rows: int) -> None:
    interval = calibrate(np.arange(rows, dtype=float), np.zeros(rows), even(rows), even(rows))
    highest = rows / (rows + 1)
    assert math.isfinite(interval.quantile(highest))
    assert interval.quantile(highest + 1e-6) == math.inf
    wide = interval.half_width(np.array([0.0, 1.0]), highest + 1e-6)
    assert np.isposinf(wide).all()


def test_no_rows_promise_nothing() -> None:
    empty = np.empty(0)
    interval = calibrate(empty, empty, empty, empty)
    assert interval.quantile(0.5) == math.inf


def test_a_higher_level_is_never_narrower() -> None:
    rng = np.random.default_rng(1)
    interval = calibrate(rng.normal(size=200), np.zeros(200), rng.random(200), rng.random(200))
    widths = [interval.quantile(level) for level in np.linspace(0.01, 0.99, 60)]
    assert widths == sorted(widths)


def test_where_models_disagree_more_the_interval_is_wider() -> None:
    rng = np.random.default_rng(2)
    interval = calibrate(rng.normal(size=100), np.zeros(100), rng.random(100), even(100))
    half = interval.half_width(np.array([0.0, 0.5, 5.0]), 0.9)
    assert 0 < half[0] < half[1] < half[2]


def test_models_that_all_agree_and_are_wrong_get_an_interval_all_the_same() -> None:
    rng = np.random.default_rng(3)
    wrong = rng.normal(0, 4.0, 400)
    interval = calibrate(wrong, np.zeros(400), np.zeros(400), even(400))
    half = interval.half_width(np.zeros(1), 0.9)[0]
    assert half == pytest.approx(np.quantile(np.abs(wrong), 0.9), rel=0.05)


def test_the_order_of_the_rows_does_not_matter() -> None:
    rng = np.random.default_rng(4)
    y, spread, weight = rng.normal(size=80), rng.random(80), rng.random(80)
    mixed = rng.permutation(80)
    one = calibrate(y, np.zeros(80), spread, weight)
    two = calibrate(y[mixed], np.zeros(80), spread[mixed], weight[mixed])
    assert np.array_equal(one.residuals, two.residuals)
    assert one.quantile(0.9) == two.quantile(0.9)


def runs(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Misses of a model and its own idea of them, which is right only in tendency."""
    spread = rng.lognormal(0, 1, n)
    return spread * rng.standard_t(5, n) + rng.normal(0, 0.3, n), spread


@pytest.mark.parametrize("level", LEVELS)
def test_coverage_of_new_runs_is_the_level(level: float) -> None:
    rng = np.random.default_rng(5)
    covered = []
    for _ in range(300):
        miss, spread = runs(rng, 150)
        interval = calibrate(miss, np.zeros(150), spread, even(150))
        new, new_spread = runs(rng, 200)
        covered.append((np.abs(new) <= interval.half_width(new_spread, level)).mean())
    assert np.mean(covered) == pytest.approx(level, abs=0.012)


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
            interval = calibrate(miss, np.zeros(len(miss)), flat, weight)
            result.append((np.abs(new) <= interval.half_width(np.ones(300), level)).mean())
    assert np.mean(weighted) == pytest.approx(level, abs=0.015)
    assert np.mean(plain) > level + 0.03


def test_intervals_of_an_engine_cover_runs_it_has_never_seen(engine: cp.Compass) -> None:
    ordered = engine.space.having(Role.KNOB, Role.CONTEXT)
    fresh = cp.read(cluster_columns(600, seed=77)).roles(**ROLES)
    X = Encoder(engine.space.select(ordered)).encode_table(fresh.table)
    for name in ("runtime", "power"):
        trained = engine.bench.trained[ordered, name]
        assert trained.interval is not None
        said, y = trained.model.predict(X)[:, 0], fresh.table.column(name).to_numpy()
        low, high = trained.interval.ends(said, trained.model.spread(X), 0.9)
        # Calibrated on configurations that were held out; most of these were measured before,
        # so the promise is kept only roughly.
        assert 0.8 < ((low <= y) & (y <= high)).mean() <= 1.0


def test_intervals_of_logarithms_are_factors_and_cover_at_every_size() -> None:
    rng = np.random.default_rng(4)
    size = 10 ** rng.uniform(-3, 3, 4000)
    spread = 0.1 * size * rng.uniform(0.5, 2, 4000)
    y = size * np.exp(rng.normal(0, 0.2, 4000))
    known = calibrate(y[:2000], size[:2000], spread[:2000], even(2000), log=True)
    low, high = known.ends(size[2000:], spread[2000:], 0.9)
    inside = (low <= y[2000:]) & (y[2000:] <= high)
    assert inside.mean() == pytest.approx(0.9, abs=0.03)
    for part in (size[2000:] < 0.03, size[2000:] > 30):
        assert inside[part].mean() == pytest.approx(0.9, abs=0.06)
    np.testing.assert_allclose(low * high, size[2000:] ** 2)
    np.testing.assert_allclose(
        known.deviation(size, spread) / size, known.deviation(np.ones(4000), spread / size)
    )


def test_both_ends_of_a_plain_interval_are_as_far() -> None:
    rng = np.random.default_rng(4)
    known = calibrate(rng.normal(size=200), np.zeros(200), rng.random(200), even(200))
    low, high = known.ends(np.array([1.0, 2.0]), np.array([0.1, 0.5]), 0.9)
    half = known.half_width(np.array([0.1, 0.5]), 0.9)
    np.testing.assert_allclose((low + high) / 2, [1, 2])
    np.testing.assert_allclose((high - low) / 2, half)
