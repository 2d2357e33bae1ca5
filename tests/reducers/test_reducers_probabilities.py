"""Probabilities by stratum, and the same for all."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from compass.domain.errors import BadInput, UnknownName
from compass.domain.space import Category, Number, Role, Space
from compass.reducers.columns import Cells
from compass.reducers.probabilities import EqualProbability, label_features, strata


def cells(**columns: Any) -> dict[str, Cells]:
    return {name: Cells(pa.chunked_array([pa.array(c)])) for name, c in columns.items()}


def test_alike_is_the_share() -> None:
    assert EqualProbability(0.2).of({}, 3).tolist() == [0.2] * 3


def test_strata_have_chances_that_fall_with_the_root_of_their_size() -> None:
    app = ["a"] * 900 + ["b"] * 100 + ["c"] * 25
    flag = [True] * 1025
    columns = cells(app=app, flag=flag)
    made = strata(columns, ["app", "flag"], np.ones(1025, dtype=bool), 0.1, 0.01)
    probability = made.of(columns, 1025)
    assert probability.mean() == pytest.approx(0.1)
    a, b, c = probability[0], probability[900], probability[1000]
    assert c > b > a
    # With nearly no floor, a stratum of a ninth of the rows has three times the chance.
    assert b / a == pytest.approx(3, rel=0.05)
    assert c / a == pytest.approx(6, rel=0.05)


def test_chances_are_found_row_by_row_whatever_the_columns_hold() -> None:
    rng = np.random.default_rng(0)
    n = 400
    data: dict[str, list[Any]] = {
        "app": [None if x < 0 else f"l{x}" for x in rng.integers(-1, 4, n)],
        "nodes": [None if x < 0 else int(x) for x in rng.integers(-1, 3, n)],
        "flag": (rng.random(n) < 0.5).tolist(),
    }
    columns = cells(**data)
    made = strata(columns, list(data), np.ones(n, dtype=bool), 0.2, 0.2)
    found = made.of(columns, n)
    for row, stratum in enumerate(zip(*data.values(), strict=True)):
        assert found[row] == made.probabilities[stratum]


def test_a_stratum_that_is_new_or_was_not_usable_is_kept() -> None:
    columns = cells(app=["a"] * 50 + ["b"] * 50)
    made = strata(columns, ["app"], np.arange(100) < 50, 0.1, 0.2)
    assert made.of(columns, 100)[[0, 99]].tolist() == [pytest.approx(0.1), 1.0]
    assert made.of(cells(app=["zzz", None]), 2).tolist() == [1.0, 1.0]


def test_what_cannot_be_strata_is_told() -> None:
    columns = cells(app=["a"] * 20_000, id=list(range(20_000)))
    every = np.ones(20_000, dtype=bool)
    with pytest.raises(UnknownName, match="app"):
        strata(columns, ["apq"], every, 0.1, 0.2)
    with pytest.raises(BadInput, match="more than 10,000 strata"):
        strata(columns, ["app", "id"], every, 0.1, 0.2)


def test_strata_are_made_of_labels_when_nobody_says() -> None:
    space = Space(
        parameters=(
            Category(name="app", role=Role.CONTEXT, values=("a", "b")),
            Number(name="nodes", role=Role.KNOB, low=1, high=4),
            Category(name="state", role=Role.OUTCOME, values=("x",)),
        )
    )
    types = {"app": pa.string(), "nodes": pa.int64(), "state": pa.string()}
    assert label_features(space, types) == ("app",)
    with pytest.raises(BadInput, match="no feature holds labels"):
        label_features(space, types | {"app": pa.int64()})
