"""Failed runs: their neighbourhood is avoided, the rest is not."""

import numpy as np
import pytest

from compass.domain.space import Number, Space
from compass.prepare.geometry import Geometry
from compass.trust.failing import FailureChance

SPACE = Space(parameters=tuple(Number(name=n, low=0, high=20, step=1) for n in ("a", "b")))


def of(failed: list[list[float]], fine: list[list[float]]) -> FailureChance:
    geometry = Geometry.of(SPACE, np.array([4.0, 4.0]), np.ones(2))
    X = np.array(failed, dtype=float).reshape(-1, 2)
    rows, reasons = np.arange(len(X)), ("timeout",) * len(X)
    return FailureChance(X, np.array(fine, dtype=float), geometry, rows, reasons)


FINE = [[float(a), float(b)] for a in range(0, 9, 2) for b in range(0, 21, 4)]
FAILED = [[18.0, 18.0], [18.0, 20.0], [20.0, 18.0]]


def test_near_failed_runs_the_chance_is_high_and_far_from_them_it_is_not() -> None:
    chance = of(FAILED, FINE)
    near, far = chance(np.array([[19.0, 19.0], [3.0, 3.0]]))
    assert near > 0.5
    assert far < 0.05


def test_the_formula_by_hand() -> None:
    one = of([[4.0, 0.0]], [[0.0, 0.0]])
    bad, good = 1.0, np.exp(-2 * 0.5)  # a quarter and three quarters of a standard deviation
    found = one(np.array([[3.0, 0.0]]))[0]
    assert found == pytest.approx((bad + 0.5 * 0.5) / (bad + good + 0.5))


def test_of_what_was_run_its_own_runs_count() -> None:
    runs = [*FINE, [18.0, 18.0]]
    chance = of([*FAILED, [18.0, 18.0]], runs)
    share = 4 / (4 + len(runs))
    failed_twice, fine_once = 2, 1
    expected = (failed_twice + 0.5 * share) / (failed_twice + fine_once + 0.5)
    assert chance(np.array([[18.0, 18.0]]))[0] == pytest.approx(expected)
    assert chance(np.array([[2.0, 4.0]]))[0] < 0.1  # beside no failure, and it ran


def test_repeated_runs_of_a_neighbour_count_once() -> None:
    x = np.array([[17.0, 17.0]])
    once, often = of(FAILED, FINE)(x)[0], of(FAILED, FINE * 30)(x)[0]
    assert often == pytest.approx(once, abs=0.05)


def test_more_failures_make_it_more_likely() -> None:
    x = np.array([[17.0, 17.0]])
    found = [of(FAILED[:count], FINE)(x)[0] for count in (1, 2, 3)]
    assert found == sorted(found)


def test_of_many_runs_some_stand_for_all() -> None:
    rng = np.random.default_rng(0)
    fine = rng.uniform(0, 20, (20_000, 2))
    failed = rng.uniform(15, 20, (5_000, 2))
    X = rng.uniform(0, 20, (20, 2))
    geometry = Geometry.of(SPACE, np.array([4.0, 4.0]), np.ones(2))
    rows, reasons = np.arange(len(failed)), ("timeout",) * len(failed)
    some = FailureChance(failed, fine, geometry, rows, reasons)(X)
    apart = [np.array([(np.abs(runs - x) / 4).sum(axis=1) for x in X]) for runs in (failed, fine)]
    nearest = np.minimum(apart[0].min(axis=1), apart[1].min(axis=1))[:, None]
    bad, good = (np.exp(-2 * (one - nearest)).sum(axis=1) for one in apart)
    assert some == pytest.approx(bad / (bad + good), abs=0.1)


def test_similar_failed_runs_are_named() -> None:
    chance = of([*FAILED, [0.0, 1.0]], FINE)
    assert chance.similar(np.array([19.0, 19.0]), 5).tolist() == [0, 1, 2]
    assert chance.similar(np.array([19.0, 19.0]), 1).tolist() == [0]
