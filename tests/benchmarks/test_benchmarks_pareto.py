"""The figures of fronts: volumes of choices, what counts as lost, rows that are saved."""

from pathlib import Path

import numpy as np
import pytest

import compass as cp
from benchmarks.pareto import kept
from benchmarks.pareto.__main__ import main
from benchmarks.pareto.front_case import FrontCase
from benchmarks.pareto.learning import KEEPS, Point, fewer
from benchmarks.pareto.oneshot import Shot, lost
from benchmarks.pareto.replay import behind
from benchmarks.pareto.run_optuna import CONTESTANTS, search
from benchmarks.pareto.spaces import Space


def shot(**figures: float) -> Shot:
    about = {"space": "gpu", "seed": 0, "legal": 9, "learnt": 3, "missed": 0, "cpu": 0.1}
    about |= {"points": 3, "forest_points": 3, "rows": 0.8, "forest": 0.8}
    return Shot(**{**about, "forest_and_rows": 0.8, "told": 0.9, **figures})


def test_a_front_below_the_rows_or_the_forest_is_lost() -> None:
    assert lost([shot()]) == []
    assert lost([shot(rows=0.95)]) == ["gpu"]
    assert lost([shot(forest=0.95)]) == ["gpu"]


def test_a_choice_is_worth_its_share_of_the_true_front() -> None:
    data = cp.read({"a": [1, 2, 3], "y": [1.0, 2.0, 3.0], "z": [3.0, 2.0, 1.0]})
    Y = np.array([[1.0, 3.0], [2.0, 2.0], [3.0, 1.0], [np.nan, 1.0]])
    space = Space("s", data, cp.Study(), ("a",), ("y", "z"), np.empty((4, 1)), Y)
    assert space.share(np.arange(4)) == 1.0
    assert space.share(np.array([3])) == 0.0
    assert 0 < space.share(np.array([1])) < 1


def test_rows_that_are_saved_are_read_off_the_curve() -> None:
    points = [Point("s", "uniform", keep, 0, keep, 0.0) for keep in KEEPS]
    points += [Point("s", "front", keep, 0, 2 * keep, 0.0) for keep in KEEPS]
    points += [Point("s", "guided", keep, 0, 0.01, 0.0) for keep in KEEPS]
    assert fewer(points, "front", "model") == pytest.approx(0.5)
    assert fewer(points, "uniform", "model") == pytest.approx(0.0)
    assert np.isnan(fewer(points, "guided", "model"))


@pytest.mark.parametrize("name", ["tpe", "nsga-ii"])
def test_a_peer_evaluates_each_configuration_once(name: str) -> None:
    pytest.importorskip("optuna")
    places = np.array([(a, b) for a in range(5) for b in range(4)])
    Y = 1.0 + np.column_stack([places.sum(axis=1), 8 - places.sum(axis=1)])
    case = FrontCase("s", (5, 4), (False, True), places, Y, {1: [0, 7, 12]}, 15)
    order = search(case, 1, CONTESTANTS[name](1, 3))
    assert order[:3] == [0, 7, 12]
    assert len(set(order)) == len(order) == 15


def test_kept_records_are_replaced_by_key_and_merged_by_contestant(tmp_path: Path) -> None:
    path = tmp_path / "figures.json"
    kept.keep("learning", [{"space": "a", "way": "w", "keep": 0.1, "seed": 1, "rows": 0.5}], path)
    kept.keep("learning", [{"space": "a", "way": "w", "keep": 0.1, "seed": 1, "rows": 0.6}], path)
    kept.keep("learning", [{"space": "a", "way": "w", "keep": 0.1, "seed": 2, "rows": 0.7}], path)
    assert [one["rows"] for one in kept.records("learning", path)] == [0.6, 0.7]
    kept.keep("replay", [{"space": "a", "shares": {"front": [[1.0]], "tpe": [[0.25]]}}], path)
    kept.keep("replay", [{"space": "a", "shares": {"tpe": [[0.123456]]}}], path)
    assert kept.records("replay", path) == [
        {"space": "a", "shares": {"front": [[1.0]], "tpe": [[0.1235]]}}
    ]
    assert len(kept.records("learning", path)) == 2


def test_a_sampler_is_ahead_beyond_both_intervals_or_on_the_mean() -> None:
    near, far = [[0.8], [0.81], [0.79]], [[0.98], [0.99], [0.97]]

    def one(front: list[list[float]], tpe: list[list[float]]) -> dict:
        return {"space": "s", "at": [30], "shares": {"front": front, "tpe": tpe}}

    assert behind([one(far, near)]) == []
    assert behind([one(near, far)]) == ["s, 30 runs: tpe"]
    better = one(near, [[0.805], [0.815], [0.795]])
    assert behind([better] * 2) == ["mean of 2 spaces, 30 runs: tpe"]


def test_all_kept_figures_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    main([])
    printed = capsys.readouterr().out
    for name in (
        "convolution A100",
        "zeus a40 imagenet resnet50",
        "front, weighted",
        "points found",
    ):
        assert name in printed
