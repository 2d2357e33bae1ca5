"""Intervals of means and shares against other ways to compute them."""

import numpy as np
import pytest
from scipy import stats

from benchmarks.trust.beside import Process, ensemble
from benchmarks.trust.resample import Share, geometric, means
from compass.domain.space import Category, Number, Space


@pytest.mark.parametrize(("hits", "of"), [(0, 5), (3, 7), (45, 50), (50, 50)])
def test_the_interval_of_a_share_is_wilsons(hits: int, of: int) -> None:
    there = stats.binomtest(hits, of).proportion_ci(method="wilson")
    assert Share(hits, of).ends == pytest.approx((there.low, there.high), abs=1e-6)


def test_nothing_has_no_share() -> None:
    assert str(Share(0, 0)) == "-"


def test_single_rows_have_the_usual_interval_of_a_mean() -> None:
    values = np.random.default_rng(0).normal(5, 2, 400)
    [found], _ = means(values, np.arange(400), np.ones((1, 400), dtype=bool))
    half = 1.96 * values.std() / 20
    assert found.mean == values.mean()
    assert found.high - found.low == pytest.approx(2 * half, rel=0.15)


def test_repeated_runs_of_a_configuration_do_not_narrow_the_interval() -> None:
    values = np.random.default_rng(1).normal(size=40)
    masks = np.ones((1, 400), dtype=bool)
    [once], _ = means(values, np.arange(40), masks[:, :40])
    [often], _ = means(np.repeat(values, 10), np.repeat(np.arange(40), 10), masks)
    assert often.high - often.low == pytest.approx(once.high - once.low, rel=1e-9)
    assert (often.rows, often.clusters) == (400, 40)


def test_the_geometric_mean_of_ratios() -> None:
    found = geometric(np.array([0.5, 2.0, 4.0]))
    assert found.mean == pytest.approx(4 ** (1 / 3))
    assert 0.5 <= found.low <= found.mean <= found.high <= 4.0


def test_other_makers_intervals_hold_new_runs_of_a_simple_law() -> None:
    rng = np.random.default_rng(2)
    space = Space(
        parameters=(
            Number(name="a", role="knob", low=0, high=1),
            Category(name="b", role="context", values=("x", "y")),
        )
    )
    X = np.column_stack([rng.uniform(size=300), rng.integers(0, 2, 300)])
    y = np.exp(2 * X[:, 0] + X[:, 1] + rng.normal(0, 0.1, 300))
    process = Process(space, 150)
    low, high = process.ends(X[:200], y[:200], X[200:], log=True, seed=0)
    kernel = process.kernel
    assert 0.8 <= np.mean((low <= y[200:]) & (y[200:] <= high)) <= 1
    assert np.median(high / low) == pytest.approx(np.exp(2 * 1.645 * 0.1), rel=0.3)
    process.ends(X[:200], y[:200], X[200:], log=True, seed=1)
    assert process.kernel is kernel
    low, high = ensemble(X[:200], y[:200], X[200:], log=True, seed=0)
    assert (low > 0).all()
    assert (low <= high).all()
