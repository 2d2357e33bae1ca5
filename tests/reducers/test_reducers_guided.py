"""Guided and stratified samples of data in memory."""

import numpy as np
import pyarrow as pa
import pytest
from reduce_case import STUDY, jobs

import compass as cp
from compass import registry
from compass.domain.errors import BadInput
from compass.prepare import Prepared, prepare
from compass.readers import Table
from compass.reducers.guided import systematic
from compass.testing import check_reducer
from conftest import QUICK


def prepared(rows: int = 3000) -> Prepared:
    return prepare(Table.of(jobs(rows)), STUDY)


@pytest.mark.parametrize("name", ["guided", "stratified"])
def test_promises_are_kept_with_real_scores_and_gaps(name: str) -> None:
    check_reducer(registry.get("reducer", name), data=prepared())


def test_noisy_rows_are_kept_more_often_and_count_less() -> None:
    data = prepared()
    rows, weight = registry.get("reducer", "guided")().reduce(data, 0.1, 1)
    app = data.space["app"]
    label = np.array([app.values[int(code)] for code in data.column("app")])  # type: ignore[union-attr]
    share = {
        name: np.mean(label[rows] == name) / np.mean(label == name) for name in ("amg", "wild")
    }
    assert share["wild"] > 2 * share["amg"]
    assert weight[label[rows] == "wild"].mean() < weight[label[rows] == "amg"].mean()
    assert weight.sum() == pytest.approx(data.weight.sum())


def test_every_row_has_the_chance_that_was_meant() -> None:
    chance = np.linspace(0.02, 1.0, 60)
    counts = np.zeros(60)
    for seed in range(3000):
        rows = systematic(chance, seed)
        counts[rows] += 1
        assert abs(len(rows) - chance.sum()) < 1.001
    # Five standard deviations of a share over 3000 draws.
    slack = 5 * np.sqrt(chance * (1 - chance) / 3000) + 1e-12
    assert (np.abs(counts / 3000 - chance) < slack).all()


@pytest.mark.parametrize("reducer", ["guided", "stratified"])
def test_an_engine_learns_from_what_is_kept(reducer: str) -> None:
    data = cp.read(jobs(1500)).roles(knobs=["nodes"], context=["app", "size"], outcomes=["runtime"])
    engine = cp.Compass(data, keep=0.3, reducer=reducer, settings=QUICK).fit()
    assert abs(engine.store.prepared.rows - 0.3 * data.prepared.rows) < 0.1 * data.prepared.rows
    assert engine.store.prepared.weight.sum() == pytest.approx(data.prepared.rows)
    answer = engine.recommend(ask=["nodes"], goals={"runtime": cp.minimize}, where=["app == amg"])
    assert answer.suggestions


def test_too_little_to_learn_from_is_told() -> None:
    with pytest.raises(BadInput, match="too few"):
        registry.get("reducer", "guided")().reduce(prepared(12), 0.5, 1)
    numbers = cp.read(pa.table({"n": [1, 2, 3] * 9, "t": [0.5, 1.0, 2.0] * 9})).roles(
        knobs=["n"], outcomes=["t"]
    )
    with pytest.raises(BadInput, match="no feature holds labels"):
        registry.get("reducer", "stratified")().reduce(numbers.prepared, 0.5, 1)
