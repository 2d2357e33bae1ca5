"""The laws are what the paper prints, and answers are judged by them alone."""

import json

import numpy as np
import pytest

from benchmarks import laws
from benchmarks.formulas import LAWS, Input, Law

BY_NAME = {law.name: law for law in LAWS}


@pytest.mark.parametrize(
    ("name", "config", "value"),
    [
        ("MILC", {"p": 1024}, 6.3e-5),
        ("HOMME-reduce, small", {"p": 10_000}, 0.026 + 2.53e-4 + 1.24),
        ("HOMME-reduce, large", {"p": 10_000}, 2.6 + 1.17),
        ("Vlaplace", {"p": 100_000}, 0.034 + 1.33),
        ("Sweep3D", {"p": 10_000}, 1e-4),
        ("Hoefler", {"px": 3, "py": 4, "sweeps": 2}, (2 * 5 + 4) * 1e-5),
        ("Roofline", {"intensity": 2}, 1e11),
        ("Roofline", {"intensity": 500}, 1e12),
        ("Amdahl", {"p": 1}, 1.0),
        ("Amdahl", {"p": 9}, 5.0),
        ("Roofline, GPU", {"intensity": 25}, 1e12),
        ("Linear of 15", {f"x{i}": 1 for i in range(1, 16)}, 1.0),
    ],
)
def test_laws_by_hand(name: str, config: dict[str, float], value: float) -> None:
    assert BY_NAME[name].at(config) == pytest.approx(value, rel=1e-12)


def test_the_sizes_are_those_of_the_paper() -> None:
    sizes = [law.rows for law in LAWS]
    assert sizes == [4749] * 5 + [6174, 10_000, 7287, 10_000, 6000]
    assert [len(law.inputs) for law in LAWS] == [1] * 5 + [3, 1, 1, 1, 15]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_runs_are_distinct_and_inside_the_range(law: Law) -> None:
    X = law.draw(law.rows + 100, np.random.default_rng(1))
    assert X.shape == (law.rows + 100, len(law.inputs))
    assert len(np.unique(X, axis=0)) == len(X)
    names = [one.name for one in law.inputs]
    assert all(law.allows(dict(zip(names, row, strict=True))) for row in X[:200])
    for one, column in zip(law.inputs, X.T, strict=True):
        assert column.min() >= one.low
        assert column.max() <= one.high
        # The draws reach into both ends of the range.
        ends = np.log([one.low, one.high]) if one.log else np.array([one.low, one.high])
        drawn = np.log(column) if one.log else column
        assert (drawn.max() - drawn.min()) / np.ptp(ends) > 0.95


def test_whole_numbers_and_ranges_are_checked() -> None:
    law = BY_NAME["MILC"]
    assert law.allows({"p": 64})
    assert law.allows({"p": 131_072.0})
    assert not law.allows({"p": 64.5})
    assert not law.allows({"p": 63})
    assert not law.allows({"p": 131_073})
    assert Input("x", 0, 1).allows(0.25)


def test_the_error_is_the_laws_and_no_answer_is_an_error_of_one() -> None:
    law = BY_NAME["Sweep3D"]
    assert laws.error_of(law, {"p": 10_000}, 2e-4) == pytest.approx(0.5)
    assert laws.error_of(law, {"p": 10_000}, law.at({"p": 10_000})) == 0
    assert laws.error_of(law, None, 1e-4) == 1.0
    linear = BY_NAME["Linear of 15"]
    at_zero = {f"x{i}": 0.0 for i in range(1, 16)}
    assert laws.error_of(linear, at_zero, -0.5) == 1.0


def test_requirements_that_are_missed_are_named() -> None:
    good = laws.Result("L", 1, 10, 3, 0.001, 0.002, 0.5, 1.0, 0, 0, 0, 1.0, 0.1)
    assert good.missed() == []
    values = good.__dict__
    assert "smallest" in laws.Result(**{**values, "minimum": 0.01}).missed()[0]
    assert "median" in laws.Result(**{**values, "median": 0.01}).missed()[0]
    assert laws.Result(**{**values, "median": 0.01, "inputs": 3}).missed() == []
    assert "range" in laws.Result(**{**values, "violations": 1}).missed()[0]


class _Nothing(tuple[()]):
    ideas = ()


class _Silent:
    """An engine that never has an answer."""

    def recommend(self, **asked: object) -> "_Nothing":
        return _Nothing()


def test_an_engine_without_answers_scores_100_percent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laws, "learn", lambda law, X, seed: _Silent())
    result = laws.run(BY_NAME["MILC"], queries=4, seed=1)
    assert result.unanswered == 4
    assert (result.minimum, result.median, result.p95) == (1.0, 1.0, 1.0)
    assert result.inside == 0
    assert len(result.missed()) == 2


def test_the_command_writes_its_figures_and_tells_what_is_missed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object, capsys: pytest.CaptureFixture[str]
) -> None:
    small = Law("Sweep3D", (Input("p", 64, 4096, whole=True),), 300, BY_NAME["Sweep3D"].formula)
    monkeypatch.setattr(laws, "LAWS", (small,))
    file = tmp_path / "laws.json"  # type: ignore[operator]
    assert laws.main(["--queries", "3", "--json", str(file)]) == 0
    (figures,) = json.loads(file.read_text())["laws"]
    assert figures["queries"] == 3
    assert figures["minimum"] < 0.01
    assert figures["violations"] == 0
    assert "Sweep3D" in capsys.readouterr().out
    monkeypatch.setattr(laws, "learn", lambda law, X, seed: _Silent())
    assert laws.main(["--queries", "2"]) == 1
    assert "MISSED" in capsys.readouterr().out
