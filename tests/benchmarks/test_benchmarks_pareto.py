"""The figures of fronts: volumes of choices, what counts as lost, rows that are saved."""

import numpy as np
import pytest

import compass as cp
from benchmarks.pareto.front_case import FrontCase
from benchmarks.pareto.learning import KEEPS, Point, fewer
from benchmarks.pareto.oneshot import Shot, lost
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
