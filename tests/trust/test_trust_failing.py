"""Failed runs: their neighbourhood is avoided, the rest is not."""

import numpy as np
import pytest

from compass.domain.space import Number, Space
from compass.prepare.geometry import Geometry
from compass.trust.failing import FailureChance

SPACE = Space(parameters=tuple(Number(name=n, low=0, high=20, step=1) for n in ("a", "b")))


def of(failed: list[list[float]], fine: list[list[float]]) -> FailureChance:
    geometry = Geometry.of(SPACE, np.array([4.0, 4.0]), np.ones(2))
    return FailureChance(
        np.array(failed, dtype=float).reshape(-1, 2), np.array(fine, dtype=float), geometry
    )


FINE = [[float(a), float(b)] for a in range(0, 9, 2) for b in range(0, 21, 4)]
FAILED = [[18.0, 18.0], [18.0, 20.0], [20.0, 18.0]]


def test_near_failed_runs_the_chance_is_high_and_far_from_them_it_is_not() -> None:
    chance = of(FAILED, FINE)
    near, far = chance(np.array([[19.0, 19.0], [3.0, 3.0]]))
    assert near > 0.5
    assert far < 0.05


def test_the_formula_by_hand() -> None:
    one = of([[4.0, 0.0]], [[0.0, 0.0]])
    bad, good = np.exp(-0.5), np.exp(-0.5)  # two of four: half a standard deviation from both
    found = one(np.array([[2.0, 0.0]]))[0]
    assert found == pytest.approx((bad + 0.5 * 0.5) / (bad + good + 0.5))


def test_what_ran_before_does_not_fail() -> None:
    chance = of([[2.0, 0.0], [2.0, 1.0]], FINE)
    assert chance(np.array([[2.0, 4.0]]))[0] == 0.0


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
    some = FailureChance(failed, fine, geometry)(X)
    kernel = [
        [np.exp(-(np.abs(runs - x) / 4).sum(axis=1)).sum() for x in X] for runs in (failed, fine)
    ]
    bad, good = np.array(kernel)
    assert some == pytest.approx(bad / (bad + good), abs=0.05)


def test_similar_failed_runs_are_named() -> None:
    chance = of([*FAILED, [0.0, 1.0]], FINE)
    assert chance.similar(np.array([19.0, 19.0]), 5).tolist() == [0, 1, 2]
    assert chance.similar(np.array([19.0, 19.0]), 1).tolist() == [0]
