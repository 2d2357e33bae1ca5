"""Rows near the front are kept more often, and every row counts what it stands for."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import compass as cp
from compass.domain.errors import BadInput
from compass.pareto.reduce import FrontRows, chances, depth_behind, depths, layers
from compass.testing.reducer import check_reducer, runs


def test_it_keeps_what_reducers_promise() -> None:
    check_reducer(FrontRows, name="front")


def test_depth_counts_the_fronts_of_the_context() -> None:
    table = pa.table(
        {
            "app": ["a", "a", "a", "b", "b", "a"],
            "nodes": [1, 2, 3, 1, 2, 4],
            "runtime": [1.0, 2.0, 3.0, 9.0, 8.0, 2.5],
            "power": [3.0, 2.0, 3.0, 9.0, 10.0, 2.5],
        }
    )
    data = cp.read(table).roles(knobs=["nodes"], context=["app"], outcomes=["runtime", "power"])
    assert depths(data.prepared).tolist() == [0, 0, 2, 0, 0, 1]


def test_rows_near_the_front_have_a_larger_chance() -> None:
    prepared = runs()
    near = depths(prepared) <= 3
    rows, weight = FrontRows().reduce(prepared, 0.1, 1)
    assert near[rows].mean() > 1.5 * near.mean()
    assert weight.sum() == pytest.approx(prepared.weight.sum())


def test_chances_add_up_and_never_exceed_one() -> None:
    score = np.r_[np.full(10, 100.0), np.full(90, 0.01)]
    for keep in (0.05, 0.5, 0.9):
        found = chances(score, keep, 0.4)
        assert found.mean() == pytest.approx(keep, rel=1e-6)
        assert found.max() <= 1
        assert found.min() >= 0.4 * keep


def test_behind_all_fronts_depth_is_that_of_the_rows_themselves() -> None:
    Y = np.random.default_rng(1).integers(0, 12, (120, 2)).astype(float)
    left, depth = np.arange(len(Y)), np.zeros(len(Y))
    level = 0
    while len(left):
        worse = [any((Y[j] <= Y[i]).all() and (Y[j] < Y[i]).any() for j in left) for i in left]
        depth[left] = level
        left, level = left[worse], level + 1
    assert depth_behind(Y, layers(Y)).tolist() == depth.tolist()


def test_files_keep_what_is_near_the_front_with_weights_that_stand_for_all(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    n = 40_000
    app, threads = rng.integers(0, 2, n), rng.integers(1, 33, n)
    waste = rng.exponential(1.0, n)
    runtime = (1 + app) * (1 + waste) * 100 / threads
    power = (50 + 5 * threads) * (1 + waste)
    named = np.array(["cfd", "md"])[app]
    table = pa.table({"app": named, "threads": threads, "runtime": runtime, "power": power})
    parquet.write_table(table, tmp_path / "runs.parquet", row_group_size=5000)
    roles = {"app": "context", "threads": "knob", "runtime": "outcome", "power": "outcome"}
    study = cp.Study.model_validate({"columns": {n: {"role": r} for n, r in roles.items()}})
    place = tmp_path / "s.parquet"
    report = cp.reduce(tmp_path / "runs.parquet", place, keep=0.05, method="front", study=study)
    sample = parquet.read_table(place).to_pandas()
    assert report.kept == pytest.approx(0.05 * n, rel=0.15)
    weight = sample["sample_weight"].to_numpy()
    assert weight.sum() == pytest.approx(n, rel=0.15)
    assert np.average(sample["runtime"], weights=weight) == pytest.approx(runtime.mean(), rel=0.15)
    kept_waste = sample["power"] / (50 + 5 * sample["threads"]) - 1
    assert np.median(kept_waste) < 0.6 * np.median(waste)
    for name in ("cfd", "md"):
        assert 0.3 < (sample["app"] == name).mean() < 0.7


def test_without_numbers_there_is_no_front() -> None:
    data = cp.read(pa.table({"nodes": [1, 2, 3], "state": ["x", "y", "x"]}))
    prepared = data.roles(knobs=["nodes"], outcomes=["state"]).prepared
    with pytest.raises(BadInput, match="no outcome is a number"):
        depths(prepared)


def test_models_learn_these_rows_alike_and_averages_count_what_they_stand_for(
    cluster: cp.Dataset, tmp_path: Path
) -> None:
    near = cluster.reduced(0.3, "front", 1)
    assert near.learns_alike
    assert np.ptp(near.weight) > 0
    assert not cluster.reduced(0.3, "guided", 1).learns_alike
    table = pa.table({"threads": range(1, 201), "runtime": [100.0 / n for n in range(1, 201)]})
    parquet.write_table(table, tmp_path / "runs.parquet")
    for method in ("front", "guided"):
        place = tmp_path / f"{method}.parquet"
        cp.reduce(tmp_path / "runs.parquet", place, keep=0.5, method=method)
        data = cp.read(place)
        assert data.prepared.learns_alike == (method == "front")
        assert np.ptp(data.prepared.weight) > 0


def test_an_engine_learns_from_rows_chosen_so(cluster: cp.Dataset) -> None:
    engine = cp.Compass(cluster, keep=0.3, reducer="front", surrogate="forest")
    answer = engine.pareto(["runtime", "power"], where=["app == 'wrf'", "size == 200"], prove=0)
    assert answer.front is not None
