"""Importance and dependence on laws that are known."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import compass as cp
from compass.domain.errors import BadInput, QueryProblem, UnknownName
from compass.domain.space import Category, Number
from compass.explain.importance import _grid
from compass.settings import ForestSettings, TrustSettings
from conftest import ROLES, cluster_columns

QUICK = cp.Settings(
    surrogate="forest", forest=ForestSettings(trees=12), trust=TrustSettings(trees=3)
)


def law(columns: Any) -> Any:
    return 100.0 + 3.0 * columns["nodes"] + 20.0 * columns["gpus"]


@pytest.fixture(scope="module")
def jobs() -> cp.Compass:
    data = cp.read(pa.table(cluster_columns(400))).roles(**ROLES)
    return cp.Compass(data, settings=QUICK, models={"power": law})


def test_importance_is_the_rise_of_the_error(jobs: cp.Compass) -> None:
    found = jobs.importance("power", repeats=4)
    rises = {column.name: column for column in found.columns}
    assert [c.rise for c in found.columns] == sorted((c.rise for c in found.columns), reverse=True)
    for unused in ("cores", "app", "size"):
        assert (rises[unused].rise, rises[unused].error) == (0, 0)
    # By hand: the shuffles follow the seed and are the same for every column.
    features = ("app", "size", "nodes", "cores", "gpus")
    here = jobs.store.view_of(features)
    X, y = here.X[here.valid], jobs.store.prepared.column("power")[here.valid]
    rng = np.random.default_rng(7)
    orders = [rng.permutation(len(y)) for _ in range(4)]
    said = 100 + 3 * X[:, 2] + 20 * X[:, 4]
    kept = np.mean(abs(said - y) / y)
    assert found.error == pytest.approx(kept)
    for name, place, slope in (("nodes", 2, 3), ("gpus", 4, 20)):
        shuffled = [said + slope * (X[order, place] - X[:, place]) for order in orders]
        expected = np.array([np.mean(abs(p - y) / y) for p in shuffled]) - kept
        assert rises[name].rise == pytest.approx(expected.mean())
        assert rises[name].error == pytest.approx(expected.std(ddof=1) / 2)
    assert (found.rows, found.repeats, found.error_name) == (len(y), 4, "MAPE")


def test_learnt_models_rely_on_what_matters(jobs: cp.Compass) -> None:
    for outcome in ("runtime", "state"):
        found = jobs.importance(outcome, repeats=3)
        rises = {c.name: c.rise for c in found.columns}
        assert found.columns[0].name == "size"
        # Nodes say nothing about either that cores do not.
        assert rises["size"] > 3 * abs(rises["nodes"])
    assert jobs.importance("runtime", repeats=3) == jobs.importance("RUNTIME", repeats=3)


def test_dependence_on_a_known_law(jobs: cp.Compass) -> None:
    found = jobs.dependence("power", "gpus", lines=3)
    features = ("app", "size", "nodes", "cores", "gpus")
    here = jobs.store.view_of(features)
    nodes, gpus = here.X[here.train, 2], here.X[here.train, 4]
    assert [p.value for p in found.points] == [0, 1, 2, 4]
    for point in found.points:
        runs = 100 + 3 * nodes + 20 * point.value
        assert point.mean == pytest.approx(runs.mean())
        assert (point.low, point.high) == pytest.approx(tuple(np.percentile(runs, [10, 90])))
        assert point.share == pytest.approx(np.mean(gpus == point.value))
    assert len(found.lines) == 3
    for line in found.lines:
        assert np.diff(line) == pytest.approx([20, 20, 40])


def test_dependence_of_a_class_is_the_score_of_a_label(jobs: cp.Compass) -> None:
    found = jobs.dependence("state", "app")
    assert found.label == "COMPLETED"
    assert [p.value for p in found.points] == ["lammps", "wrf"]
    assert found.points[0].mean > found.points[1].mean
    other = jobs.dependence("state", "app", label="TIMEOUT")
    for one, two in zip(found.points, other.points, strict=True):
        assert one.mean + two.mean == pytest.approx(1)


def test_values_to_try_cover_the_runs() -> None:
    rng = np.random.default_rng(1)
    even, wide = rng.uniform(0, 10, 500), np.exp(rng.uniform(0, 9, 500))
    for seen, geometric in ((even, False), (wide, True)):
        number = Number(name="x", low=float(seen.min()), high=float(seen.max()))
        values, share = _grid(number, seen, np.ones(500), 10)
        assert len(values) == 10
        assert (values[0], values[-1]) == pytest.approx((seen.min(), seen.max()))
        steps = np.diff(np.log(values) if geometric else values)
        assert steps == pytest.approx(np.full(9, steps[0]))
        assert share.sum() == pytest.approx(1)
        nearest = abs(seen[:, None] - values).argmin(axis=1)
        assert share == pytest.approx(np.bincount(nearest, minlength=10) / 500)


def test_a_gap_in_the_data_shows() -> None:
    seen = np.concatenate([np.linspace(0, 1, 50), np.linspace(9, 10, 50)])
    values, share = _grid(Number(name="x", low=0, high=10), seen, np.ones(100), 11)
    assert share[(values > 2) & (values < 8)].max() == 0


def test_whole_numbers_none_and_labels_stay_legal() -> None:
    number = Number(name="x", low=0, high=100, step=1, optional=True)
    seen = np.concatenate([np.arange(101.0), np.full(99, number.none_code)])
    values, share = _grid(number, seen, np.ones(200), 8)
    assert values[-1] == number.none_code
    assert share[-1] == pytest.approx(99 / 200)
    assert all(float(v).is_integer() for v in values)
    label = Category(name="c", values=tuple("abcde"))
    common, share = _grid(label, np.array([4.0, 4, 4, 1, 1, 0]), np.ones(6), 2)
    assert common.tolist() == [1, 4]
    assert share == pytest.approx([2 / 6, 3 / 6])


def test_what_cannot_be_told_is_said(jobs: cp.Compass) -> None:
    with pytest.raises(UnknownName, match="no outcome named"):
        jobs.importance("powr")
    with pytest.raises(BadInput, match="repeats must be a whole number from 2"):
        jobs.importance("power", repeats=1)
    with pytest.raises(UnknownName, match="no column named"):
        jobs.dependence("power", "gpu")
    with pytest.raises(QueryProblem, match="runtime is not a parameter"):
        jobs.dependence("power", "runtime")
    with pytest.raises(BadInput, match="points must be a whole number from 2"):
        jobs.dependence("power", "gpus", points=1)
    with pytest.raises(BadInput, match="has no labels"):
        jobs.dependence("power", "gpus", label="high")
    with pytest.raises(UnknownName, match="no value of state"):
        jobs.dependence("state", "gpus", label="TIMEOT")
