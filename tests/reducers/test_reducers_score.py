"""Scores: errors and spreads against a slow scorer, and what cannot be learnt."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from reduce_case import jobs, score_of

from compass.reducers.columns import Cells, bins_of, labels_binned, numbers_binned
from compass.reducers.score import PilotTarget, Scorer, pruned, scorer_of, target_of
from compass.settings import ReduceSettings

HOW = ReduceSettings(trees=8, depth=4)


def columns_of(table: pa.Table) -> dict[str, Cells]:
    return {name: Cells(table.column(name)) for name in table.column_names}


def made(table: pa.Table, *targets: PilotTarget) -> Scorer:
    columns = columns_of(table)
    y = np.zeros(table.num_rows)
    features = [
        labels_binned("app", *columns["app"].codes(), y, 250),
        numbers_binned("nodes", columns["nodes"].numbers().astype(float), 32),
        numbers_binned("size", columns["size"].numbers(), 32),
    ]
    bins = bins_of(columns, features, table.num_rows)
    found = scorer_of(features, targets, columns, bins, 1, HOW)
    assert found is not None
    return found[0]


def scores(scorer: Scorer, table: pa.Table) -> np.ndarray:
    columns = columns_of(table)
    return scorer.scores(columns, bins_of(columns, scorer.features, table.num_rows))


TARGETS = (PilotTarget("runtime", log=True), PilotTarget("id"), PilotTarget("app", "wild"))


def test_scores_are_those_of_a_slow_scorer() -> None:
    scorer = made(jobs(2000), *TARGETS)
    assert len(scorer.targets) == 3
    odd: dict[str, list[Any]] = {
        "app": ["amg", None, "new", "wild"],
        "nodes": [1, None, 10**6, -5],
        "size": [None, 1e300, -1e300, 3.0],
        "runtime": [0.0, -1.0, None, 1e-5],
        "id": [None, 1, 2**40, 0],
    }
    for table in (jobs(300, seed=2), pa.table(odd)):
        wanted = [score_of(scorer, row) for row in table.to_pylist()]
        np.testing.assert_allclose(scores(scorer, table), wanted, rtol=1e-9)


def test_pruning_changes_no_score() -> None:
    scorer = made(jobs(2000), *TARGETS)
    few = pruned(scorer)
    count = [
        sum(len(f.borders) for f in s.features if f.borders is not None) for s in (scorer, few)
    ]
    assert count[1] < count[0]
    table = jobs(3000, seed=4)
    np.testing.assert_array_equal(scores(few, table), scores(scorer, table))


def test_one_is_the_usual_score_and_noisy_rows_have_more() -> None:
    scorer = made(jobs(6000), PilotTarget("runtime", log=True))
    table = jobs(6000, seed=9)
    found = scores(scorer, table)
    assert (found**2).mean() == pytest.approx(1, rel=0.25)
    app = np.array(table.column("app").to_pylist())
    assert found[app == "wild"].mean() > 3 * found[app == "amg"].mean()
    assert scorer.targets[0].explained > 0.5


def test_a_row_without_outcome_counts_as_a_usual_one() -> None:
    scorer = made(jobs(1000), PilotTarget("runtime", log=True))
    table = jobs(4).set_column(3, "runtime", pa.array([None, float("inf"), -1.0, 0.0]))
    assert scores(scorer, table).tolist() == [1.0] * 4


def test_outcomes_that_span_orders_of_magnitude_are_learnt_as_logarithms() -> None:
    wide = np.geomspace(1e-3, 1e3, 100)
    assert target_of("x", wide).log
    assert not target_of("x", np.append(wide, 0.0)).log
    assert not target_of("x", np.linspace(10, 20, 50)).log
    assert not target_of("x", np.full(5, np.nan)).log
    assert target_of("x", np.append(wide, [np.nan, np.inf])).log


@pytest.mark.parametrize("outcome", [[2.0] * 100, [None] * 100, [1.0] * 8 + [None] * 92])
def test_what_teaches_nothing_makes_no_model(outcome: list[float | None]) -> None:
    columns = columns_of(pa.table({"x": np.arange(100.0), "y": pa.array(outcome, pa.float64())}))
    features = [numbers_binned("x", np.arange(100.0), 32)]
    bins = bins_of(columns, features, 100)
    assert scorer_of(features, [PilotTarget("y")], columns, bins, 1, HOW) is None
