"""Rows near the front are kept more often, and every row counts what it stands for."""

import numpy as np
import pyarrow as pa
import pytest

import compass as cp
from compass.domain.errors import BadInput
from compass.pareto.reduce import FrontRows, chances, depths
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


def test_without_numbers_there_is_no_front() -> None:
    data = cp.read(pa.table({"nodes": [1, 2, 3], "state": ["x", "y", "x"]}))
    prepared = data.roles(knobs=["nodes"], outcomes=["state"]).prepared
    with pytest.raises(BadInput, match="no outcome is a number"):
        depths(prepared)


def test_an_engine_learns_from_rows_chosen_so(cluster: cp.Dataset) -> None:
    engine = cp.Compass(cluster, keep=0.3, reducer="front", surrogate="forest")
    answer = engine.pareto(["runtime", "power"], where=["app == 'wrf'", "size == 200"], prove=0)
    assert answer.front is not None
