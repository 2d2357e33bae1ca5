"""A function in place of a learnt model: the same search, no proof, gradients where offered."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import compass as cp
from compass.domain.answer import CertificateStatus
from compass.domain.errors import CompassError

STUDY = {
    "columns": {
        "x": {"role": "knob"},
        "y": {"role": "knob"},
        "kind": {"role": "knob"},
        "cost": {"role": "outcome"},
    },
    "rules": ["x + y <= 12"],
}


def law(columns: Mapping[str, Any]) -> np.ndarray:
    extra = np.where(columns["kind"] == "slow", 5.0, 0.0)
    return (columns["x"] - 3.21) ** 2 + (columns["y"] - 7.77) ** 2 + extra + 1.0


class Smooth:
    """The same law with its gradient; counts how often it is asked."""

    def __init__(self) -> None:
        self.slopes = 0

    def __call__(self, columns: Mapping[str, Any]) -> np.ndarray:
        return law(columns)

    def gradient(self, columns: Mapping[str, Any]) -> dict[str, np.ndarray]:
        self.slopes += 1
        return {"x": 2 * (columns["x"] - 3.21), "y": 2 * (columns["y"] - 7.77)}


@pytest.fixture(scope="module")
def runs() -> dict[str, Any]:
    rng = np.random.default_rng(3)
    n = 300
    table: dict[str, Any] = {
        "x": rng.uniform(0, 6, n),
        "y": rng.uniform(0, 6, n),
        "kind": rng.choice(["slow", "fast"], n),
    }
    return table | {"cost": law(table) + rng.normal(0, 0.1, n)}


def test_a_function_answers_without_a_proof(runs: dict[str, Any]) -> None:
    engine = cp.Compass(cp.read(runs, study=STUDY), models={"cost": law}, surrogate="forest")
    answer = engine.reconfigure(5, ["x", "y", "kind"], {"cost": cp.at_most(8.0)})
    assert answer[0].meets_goals
    config = {name: np.array([value]) for name, value in answer[0].config.items()}
    assert law(config)[0] == pytest.approx(answer[0].outcome("cost").value)
    assert law(config)[0] <= 8.0
    assert answer.certificate is not None
    assert answer.certificate.status is CertificateStatus.NO_PROOF
    assert answer.models[0].family == "given"


def test_the_card_of_a_given_model_says_that_it_may_know_the_runs(runs: dict[str, Any]) -> None:
    table = runs | {"heat": 2 * runs["cost"]}
    study = {"columns": STUDY["columns"] | {"heat": {"role": "outcome"}}}
    engine = cp.Compass(cp.read(table, study=study), models={"cost": law}, surrogate="linear")
    engine.fit()
    assert {card.target: card.unseen for card in engine.cards} == {"cost": False, "heat": True}
    assert engine.importance("cost").unseen is False
    assert engine.importance("heat").unseen is True


def test_a_gradient_finds_the_bottom_of_a_smooth_law(runs: dict[str, Any]) -> None:
    smooth = Smooth()
    data = cp.read(runs, study={**STUDY, "rules": []})
    ask: dict[str, Any] = {
        "ask": ["x", "y"],
        "goals": {"cost": cp.minimize},
        "where": ["kind == 'fast'"],
    }
    with_slopes = cp.Compass(data, models={"cost": smooth}, surrogate="forest").recommend(**ask)
    without = cp.Compass(data, models={"cost": law}, surrogate="forest").recommend(**ask)
    assert smooth.slopes > 0
    best = 1.0 + (7.77 - max(runs["y"])) ** 2  # the law's bottom lies beyond the range of y
    assert with_slopes[0].outcome("cost").value == pytest.approx(best, abs=1e-3)
    assert with_slopes[0].outcome("cost").value <= without[0].outcome("cost").value + 1e-9


def test_a_function_is_not_saved_and_a_bad_one_is_told(runs: dict[str, Any], tmp_path: Any) -> None:
    data = cp.read(runs, study=STUDY)
    engine = cp.Compass(data, models={"cost": law}, surrogate="forest").fit()
    with pytest.raises(CompassError, match="cannot be saved"):
        engine.save(tmp_path / "x.compass")
    with pytest.raises(CompassError, match="returned shape"):
        cp.Compass(data, models={"cost": lambda columns: np.zeros(3)}, surrogate="forest").fit()
    with pytest.raises(CompassError, match="no column named 'costs'"):
        cp.Compass(data, models={"costs": law}, surrogate="forest")
