"""Scores of runtime ratios, against plain loops; the tables are matched as their manifests say."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import kendalltau
from tests.platforms.machine_law import roofline_runs

from benchmarks.platforms.cases import CASES, folder
from benchmarks.platforms.papers import auc
from benchmarks.platforms.peers import raw_xgboost, tuned
from benchmarks.platforms.scores import ranked, scores


def test_errors_are_means_of_applications() -> None:
    rng = np.random.default_rng(1)
    truth, found = rng.normal(size=(9, 3)), rng.normal(size=(9, 3))
    truth[:, 0] = found[:, 0] = 0.0
    truth[2, 1] = np.nan
    names = np.array(["a"] * 4 + ["b"] * 5)
    mape, log = [], []
    for name in ("a", "b"):
        cells = [
            (found[i, j], truth[i, j])
            for i in range(9)
            for j in (1, 2)
            if names[i] == name and np.isfinite(truth[i, j])
        ]
        mape.append(np.mean([abs(np.exp(f) / np.exp(t) - 1) for f, t in cells]))
        log.append(np.mean([abs(f - t) for f, t in cells]))
    got = scores(found, truth, names, 0)
    assert got.mape == pytest.approx(100 * np.mean(mape))
    assert got.log_error == pytest.approx(np.mean(log))


def test_the_order_is_kendalls_tau() -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        found, truth = rng.normal(size=5), rng.normal(size=5)
        pair = ranked(found, truth)
        assert pair is not None
        assert pair[0] == pytest.approx(kendalltau(found, truth).statistic)
        right = all(
            (found[i] < found[j]) == (truth[i] < truth[j]) for i, j in combinations(range(5), 2)
        )
        assert pair[1] == right
    assert ranked(np.array([0.0, 1.0]), np.array([0.0, np.nan])) is None


def test_the_majority_order_is_told_by_how_clearly_it_is_predicted() -> None:
    majority = np.array([0.0, 1.0, 2.0])
    truth = np.array([[0.0, 1, 2], [0, 2, 1], [0, 1, 3], [1, 0, 2]])
    assert auc(truth, truth, majority) == 1.0
    assert auc(np.zeros_like(truth), truth, majority) == 0.5
    assert np.isnan(auc(truth[:1], truth[:1], majority))


def test_raw_xgboost_predicts_ratios() -> None:
    runs = roofline_runs(6)
    known, asked = runs.others("app03"), runs.of("app03")
    for settings in (None, tuned(known, "quartz")):
        found = raw_xgboost(known, asked, "quartz", settings)
        assert found.shape == (4, 4)
        assert (found[:, runs.place("quartz")] == 0).all()


@pytest.mark.parametrize(
    ("name", "applications", "machines"),
    [("raja", 67, 2), ("multicore", 10, 5), ("gavel", 7, 3)],
)
def test_tables_are_matched(name: str, applications: int, machines: int) -> None:
    if not folder().is_dir():
        pytest.skip(f"no public tables in {folder()}")
    runs = next(case for case in CASES if case.name == name).runs(folder())
    assert len(set(runs.applications.tolist())) == applications
    assert len(runs.machines) == machines
