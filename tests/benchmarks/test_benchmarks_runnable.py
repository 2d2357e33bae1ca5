"""The benchmark of suggestions that can run: what is looked up, and how it is counted."""

import math
from dataclasses import replace
from itertools import product

import pyarrow as pa
import pytest

from benchmarks import runnable
from benchmarks.runnable import Tried, Whole
from compass.prepare.study_file import study_of


@pytest.fixture(scope="module")
def whole() -> Whole:
    rows = [(x, y, z) for x, y, z in product((1, 2, 4, 8), (1, 2, 4, 8), range(12)) if x * y <= 16]
    times = [None if x == 8 and y == 2 else 50.0 / (x * y) + z for x, y, z in rows]
    x, y, z = (list(column) for column in zip(*rows, strict=True))
    valid = [int(time is not None) for time in times]
    table = pa.table({"x": x, "y": y, "z": z, "time": times, "valid": valid})
    columns = {name: {"role": "knob"} for name in "xyz"}
    columns |= {"time": {"role": "outcome", "kind": "number"}}
    columns |= {"valid": {"role": "outcome", "kind": "category"}}
    study = study_of({"columns": columns}, where="test")
    found = {key: float("nan") if t is None else t for key, t in zip(rows, times, strict=True)}
    return Whole("toy", table, study, ("x", "y", "z"), "time", found)


def test_a_configuration_is_looked_up_and_failed_or_unknown_ones_cannot_run(whole: Whole) -> None:
    assert whole.seconds_of({"x": 4, "y": 4, "z": 0}) == pytest.approx(50 / 16)
    assert math.isnan(whole.seconds_of({"x": 8, "y": 2, "z": 0}))
    assert math.isnan(whole.seconds_of({"x": 8, "y": 8, "z": 0}))


def test_one_sample(whole: Whole) -> None:
    found = runnable.tried(whole, "small", seed=1)
    again = runnable.tried(whole, "small", seed=1)
    assert replace(again, seconds=found.seconds) == found
    assert found.learnt == runnable.SMALL
    assert 1 <= found.suggestions <= 5
    assert 0 <= found.cannot <= found.suggestions
    assert found.five <= found.regret


def test_shares_count_suggestions_that_cannot_run() -> None:
    def one(first: bool, cannot: int, made: int) -> Tried:
        return Tried("toy", "small", 0, 48, first, cannot, made, 0.1, 0.1, 0.1, 0.01)

    results = [one(True, 2, 5), one(False, 0, 5), one(False, 0, 0)]
    assert runnable.shares(results) == (pytest.approx(1 / 2), pytest.approx(2 / 10))
    assert "2/10 (20.0%)" in runnable.show(results)
