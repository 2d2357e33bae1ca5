from pathlib import Path

import numpy as np
import pytest

from compass.domain.errors import BadInput, DataProblem, EngineProblem
from compass.platforms.amm import adjusted, aggregated, load_amm, machine_model

E = np.array([[1.0, -2.0, 0.0], [3.0, 4.0, 0.0], [0.0, 1.0, 2.0]])


def test_both_readings_of_the_formulas() -> None:
    assert aggregated(E, "mean", "weights") == pytest.approx([4 / 3, 1.0, 2 / 3])
    squares = [sum(row[k] ** 2 for row in E.tolist()) for k in range(3)]
    assert aggregated(E, "l2", "values") == pytest.approx(np.sqrt(squares))
    spread = [np.mean([(row[k] - E[:, k].mean()) ** 2 for row in E]) for k in range(3)]
    assert aggregated(E, "variance", "values") == pytest.approx(spread)
    norms = [np.sqrt(sum(v**2 for v in row)) for row in E.tolist()]
    expected = sum(n * row for n, row in zip(norms, E, strict=True)) / sum(norms)
    assert aggregated(E, "l2", "weights") == pytest.approx(expected)
    far = [np.mean((row - E.mean(axis=0)) ** 2) for row in E]
    expected = sum(n * row for n, row in zip(far, E, strict=True)) / sum(far)
    assert aggregated(E, "variance", "weights") == pytest.approx(expected)


def test_runs_that_are_all_alike_count_the_same() -> None:
    assert aggregated(np.ones((3, 2)), "variance", "weights").tolist() == [1.0, 1.0]
    assert aggregated(np.zeros((3, 2)), "l2", "weights").tolist() == [0.0, 0.0]
    with pytest.raises(DataProblem):
        aggregated(np.zeros((0, 2)), "mean", "weights")


def test_the_adjustment_is_that_of_algorithm_1() -> None:
    expected = np.log1p([2.0, 0.03, 0.0])
    assert adjusted(np.array([2.0, -3.0, 0.0])) == pytest.approx(expected - expected.max())


def test_it_is_saved_as_text_and_read_again(tmp_path: Path) -> None:
    made = machine_model("lassen", E, "abc")
    made.save(tmp_path / "lassen.amm.json")
    assert load_amm(tmp_path / "lassen.amm.json") == made
    assert made.samples == 3
    (tmp_path / "bad.json").write_text("[1]")
    with pytest.raises(EngineProblem, match="no machine model"):
        load_amm(tmp_path / "bad.json")
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(EngineProblem, match="cannot be read"):
        load_amm(tmp_path / "bad.json")
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(BadInput, match="field required"):
        load_amm(tmp_path / "bad.json")
