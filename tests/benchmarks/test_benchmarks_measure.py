"""The measures against numbers worked out by hand."""

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.measure import (
    configurations,
    difference,
    folds,
    interval,
    penalised,
    percentile,
    scale_of,
)
from benchmarks.regret import ratio
from benchmarks.show import save, table


@pytest.mark.parametrize(
    ("got", "want", "scale", "error"),
    [
        (12, 10, 1.0, 0.2),
        (12, 10, 20.0, 0.1),  # small values are told relative to the training scale
        (-1.0, 0.0, 4.0, 0.25),
        (0.0, 0.0, 0.0, 0.0),
        (1.0, 0.0, 0.0, 1.0),
        ("a", "a", None, 0.0),
        ("a", "b", None, 1.0),
        (1, 2, None, 1.0),  # labels that happen to be numbers
        (None, 80.0, 10.0, 1.0),  # the level none
        (None, None, 10.0, 0.0),
    ],
)
def test_the_error_of_one_value(got: object, want: object, scale: float, error: float) -> None:
    assert difference(got, want, scale) == pytest.approx(error)


def test_penalised_mape_adds_the_share_of_broken_rules() -> None:
    got = {"nodes": 8, "app": "wrf", "gpus": 2}
    want = {"nodes": 4, "app": "lammps"}
    scales = {"nodes": 1.0, "app": None}
    assert penalised(got, want, scales, 0.0) == pytest.approx((1.0 + 1.0) / 2)
    assert penalised(got, want, scales, 0.5) == pytest.approx(1.5)
    assert penalised(want, want, scales, 0.0) == 0


def test_the_interval_is_students_t_over_partition_means() -> None:
    found = interval([[1.0, 3.0], [4.0], [6.0]])  # means 2, 4, 6
    assert found.mean == pytest.approx(4)
    assert found.half == pytest.approx(4.302653 * 2 / np.sqrt(3), rel=1e-6)
    single = interval([[0.5, 0.7]])
    assert single.mean == pytest.approx(0.6)
    assert np.isnan(single.half)


def test_partitions_are_disjoint_complete_and_keep_configurations_together() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(200, 3)).astype(float)
    groups = configurations(X)
    assert len(np.unique(groups)) == len(np.unique(X, axis=0))
    parts = folds(groups, 5, seed=2)
    assert np.array_equal(np.sort(np.concatenate(parts)), np.arange(200))
    for i, one in enumerate(parts):
        for other in parts[i + 1 :]:
            assert not set(groups[one]) & set(groups[other])
    again = folds(groups, 5, seed=2)
    assert all(np.array_equal(a, b) for a, b in zip(parts, again, strict=True))
    assert not all(
        np.array_equal(a, b) for a, b in zip(parts, folds(groups, 5, seed=3), strict=True)
    )


def test_small_measures() -> None:
    assert scale_of([1.0, 3.0, float("nan")]) == pytest.approx(1.0)
    assert percentile([1.0, 2.0, 3.0], 50) == 2.0
    assert np.isnan(percentile([], 50))
    assert ratio(3.0, 2.0) == 1.5
    assert ratio(None, 2.0) == float("inf")  # a launch that failed is a miss


def test_a_table_lines_up() -> None:
    text = table(("name", "n"), [("a", 1), ("long one", 200)])
    lines = text.splitlines()
    assert lines[0] == "name        n"
    assert lines[2] == "a           1"
    assert lines[3] == "long one  200"


def test_figures_are_strict_json(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    save(file, {"regret": [{"first": float("inf"), "seed": 1}], "half": float("nan")})
    found = json.loads(file.read_text(), parse_constant=pytest.fail)
    assert found["regret"] == [{"first": None, "seed": 1}]
    assert found["half"] is None
    assert found["machine"]["cores"] >= 1
