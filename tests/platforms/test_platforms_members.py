import numpy as np
import pytest
from sklearn.linear_model import Ridge

from compass.platforms.base import Training
from compass.platforms.members import (
    MEMBERS,
    BoostedRatio,
    MachineMean,
    Neighbours,
    RatioForest,
    RidgeResiduals,
    machine_means,
)
from compass.platforms.views import balanced


def training(seed: int = 1, missing: float = 0.2) -> Training:
    """Applications of different sizes; ratios that the first column explains."""
    rng = np.random.default_rng(seed)
    names = np.repeat(["a", "b", "c", "d", "e"], [4, 8, 12, 3, 13])
    X = rng.normal(size=(len(names), 3))
    slopes = np.array([0.0, 1.0, -0.7])
    log_ratio = X[:, :1] * slopes + np.array([0.0, -1.0, 2.0]) + rng.normal(0, 0.05, (len(X), 3))
    log_ratio[:, 0] = 0.0
    log_ratio[:, 1:][rng.random((len(X), 2)) < missing] = np.nan
    return Training(X, log_ratio, names, balanced(names), 7)


def test_the_mean_is_over_applications() -> None:
    given = training()
    for machine in range(3):
        weight = value = 0.0
        for line in range(len(given.X)):
            if np.isfinite(given.log_ratio[line, machine]):
                weight += given.weight[line]
                value += given.weight[line] * given.log_ratio[line, machine]
        assert machine_means(given)[machine] == pytest.approx(value / weight)
    assert (MachineMean().fit(given)(given.X) == machine_means(given)).all()


def test_neighbours_are_those_of_a_plain_search() -> None:
    given, member = training(), Neighbours(lines=3)
    asked = np.random.default_rng(2).normal(size=(4, 3))
    means = machine_means(given)
    expected = np.zeros((4, 3))
    for at, x in enumerate(asked):
        far, told = [], []
        for name in sorted(set(given.applications.tolist())):
            own = np.flatnonzero(given.applications == name)
            distance = ((given.X[own] - x) ** 2).mean(axis=1)
            near = own[np.argsort(distance)[:3]]
            far.append(np.sort(distance)[:3].mean())
            rows = given.log_ratio[near] - means
            known = [[v for v in rows[:, m] if np.isfinite(v)] for m in range(3)]
            told.append([np.mean(v) if v else np.nan for v in known])
        far_, told_ = np.array(far), np.array(told)
        share = np.exp(-(far_ - far_.min()) / (0.5 * np.median(far_) + 1e-9))
        for machine in range(3):
            seen = np.isfinite(told_[:, machine])
            summed = (share[seen] * told_[seen, machine]).sum() / share[seen].sum()
            expected[at, machine] = means[machine] + summed
    assert member.fit(given)(asked) == pytest.approx(expected)


def test_the_line_is_that_of_ridge_regression() -> None:
    given = training(missing=0.0)
    found = RidgeResiduals(penalty=0.3).fit(given)(given.X)
    means = machine_means(given)
    for machine in (1, 2):
        model = Ridge(alpha=0.3 * given.weight.sum(), fit_intercept=False)
        left = given.log_ratio[:, machine] - means[machine]
        model.fit(given.X, left, sample_weight=given.weight)
        assert found[:, machine] == pytest.approx(means[machine] + model.predict(given.X), abs=1e-9)


@pytest.mark.parametrize("member", MEMBERS, ids=lambda member: member.name)
def test_a_member_predicts_every_machine_and_does_so_again(member) -> None:  # type: ignore[no-untyped-def]
    given = training()
    first, again = member.fit(given)(given.X), member.fit(given)(given.X)
    assert first.shape == given.log_ratio.shape
    assert np.isfinite(first).all()
    assert np.array_equal(first, again)
    off = np.abs(first - given.log_ratio)[:, 1:]
    assert np.nanmean(off) < 1.0


def test_a_machine_that_nobody_ran_on_is_not_known() -> None:
    given = training()
    given.log_ratio[:, 2] = np.nan
    for member in (MachineMean(), RidgeResiduals(), BoostedRatio(), RatioForest()):
        assert np.isnan(member.fit(given)(given.X)[:, 2]).all()
        assert np.isfinite(member.fit(given)(given.X)[:, 1]).all()


def test_a_forest_without_columns_is_the_mean() -> None:
    given = training()
    bare = Training(given.X[:, :0], given.log_ratio, given.applications, given.weight, 7)
    assert (RatioForest().fit(bare)(bare.X) == machine_means(given)).all()
