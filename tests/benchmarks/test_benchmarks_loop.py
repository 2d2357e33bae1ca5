"""The replay of the loop: figures against brute force, on a space made by a law."""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from benchmarks.loop import report, spaces
from benchmarks.loop.__main__ import add
from benchmarks.loop.peer_case import BudgetSpent, Evaluations, PeerCase
from benchmarks.loop.replay import Figures, figures, replayed
from benchmarks.loop.spaces import Replay
from compass.domain.space import Category, Number, Space
from compass.settings import LoopSettings


def made(count=400):
    values = tuple(float(v) for v in range(1, count // 4 + 1))
    space = Space(
        parameters=(
            Number(name="tile", low=1, high=values[-1], allowed=values),
            Category(name="mode", values=("a", "b", "c", "d")),
        )
    )
    X = np.array([(tile, mode) for tile in values for mode in range(4)], dtype=float)
    y = 1 + abs(X[:, 0] - 30) / 10 + X[:, 1]
    y[X[:, 0] > 90] = np.nan
    return Replay("law", "law", space, X, y)


def test_the_expected_best_of_random_draws_is_that_of_all_draws():
    regret = np.array([3.0, 0.0, 1.0, np.inf, 0.5])
    space = Replay("five", "five", made().space, np.zeros((5, 2)), np.empty(0))
    space.__dict__["regret"] = regret
    finite = np.where(np.isfinite(regret), regret, 3.0)
    for t in (1, 2, 3, 4):
        every = [finite[list(rows)].min() for rows in combinations(range(5), t)]
        assert space.random[t - 1] == pytest.approx(np.mean(every))


def test_a_random_search_scores_nothing_and_the_optimum_nearly_one():
    space = made()
    best = int(np.nanargmin(space.y))
    rest = [row for row in range(len(space.X)) if row != best]
    at_once = figures(space, 0, [best, *rest[:219]], 0.0)
    assert at_once.score == pytest.approx(1.0)
    assert at_once.regret[50] == 0.0
    scores = [
        figures(space, seed, np.random.default_rng(seed).permutation(400)[:220].tolist(), 0).score
        for seed in range(200)
    ]
    assert np.mean(scores) == pytest.approx(0.0, abs=0.1)


def test_a_replay_evaluates_different_configurations_from_the_starts_on(monkeypatch):
    space = made()
    order, _ = replayed(space, 3, LoopSettings(), budget=40)
    assert len(set(order)) == 40
    assert order[:20] == space.starts(3).tolist()
    assert space.best_so_far(order)[-1] < 0.2


def test_peers_are_given_the_same_and_each_configuration_counts_once(tmp_path):
    space = made()
    path = tmp_path / "case.json"
    space.case([0, 1]).save(path)
    case = PeerCase.read(path)
    np.testing.assert_array_equal(case.y, space.y)
    assert case.starts[1] == space.starts(1).tolist()
    assert case.values[1] == ("a", "b", "c", "d")
    evaluations = Evaluations(case)
    for row in range(spaces.BUDGET):
        assert evaluations(row) == space.y[row] or math.isnan(space.y[row])
        evaluations(0)
    with pytest.raises(BudgetSpent):
        evaluations(spaces.BUDGET)


def test_the_report_says_what_was_missed():
    kept = {}
    for name, regret in (("compass", 0.03), ("kt-genetic", 0.02), ("random", 0.2)):
        for seed in range(3):
            one = Figures(seed, dict.fromkeys((50, 100, 220), regret), 0.5, 1, 0.01)
            add(kept, name, "law", one)
            add(kept, name, "law", one)  # the same seed again takes its place
    assert kept["compass"]["law"]["seed"] == [0, 1, 2]
    told = report.show(kept)
    assert "at most 2 % at 220 on the mean: 3.0 %" in told
    assert "law (3.0 % against 2.0 %)" in told


def test_failed_launches_are_counted_until_the_same_regret():
    space = made()
    by_regret = np.argsort(space.regret)
    failing = np.flatnonzero(np.isnan(space.y)).tolist()
    starts = by_regret[300:320].tolist()
    good, better, best = by_regret[[50, 20, 0]].tolist()
    order = [*starts, failing[0], good, failing[1], failing[2], better, best, failing[3]]
    found = figures(space, 0, order, 0.0).found
    assert [at for at, _, _ in found] == [20, 22, 25, 26]
    assert [failed for _, _, failed in found] == [0, 1, 3, 3]
    for at, regret, _ in found:
        assert regret == pytest.approx(space.regret[order[:at]].min(), abs=1e-4)
    assert report.failed_until(found, found[1][1]) == 1
    assert report.failed_until(found, 0.0) == 3


def test_the_report_tells_failures_and_the_ablation():
    kept = {}
    for seed in range(3):
        ours = Figures(seed, dict.fromkeys((50, 100, 220), 0.1), 0.5, 4, 0.01)
        theirs = replace(ours, found=((20, 0.5, 0), (90, 0.1, 4), (100, 0.05, 6)))
        add(kept, "compass", "law", replace(ours, found=((20, 0.5, 0), (30, 0.1, 1))))
        add(kept, "tpe", "law", theirs)
        add(kept, "random", "law", ours)
        add(kept, "whole", "law", ours)
        more = replace(ours, regret=dict.fromkeys((50, 100, 220), 0.1 + 0.01 * seed))
        add(kept, "without-forest", "law", more)
    told = report.show(kept)
    *_, every, resampled = report._failures(kept).splitlines()
    assert " ".join(every.split()) == "all 3 1.00 4.00 0.25"
    assert resampled.endswith("0.25 to 0.25")
    (line,) = [one for one in told.splitlines() if one.startswith("without-forest")]
    assert "+1.0 ± 2.5" in line
    contestants = told.split("mean regret %")[0]
    assert "whole" not in contestants
    assert "without" not in contestants
