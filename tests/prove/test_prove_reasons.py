"""A certificate claims what the order of preference gives, and no more (decision 0003)."""

import numpy as np
import pytest
from prove_tasks import Trees, everything, judged, random_forest, random_start, task

import compass as cp
from compass.domain.answer import CertificateStatus
from compass.domain.target import Target
from compass.model.base import Task
from compass.prove import prove
from compass.prove.reasons import tried_all, value

# Nine threads are best, two are nearly as good and close to the run that is changed.
RUNTIME = {2: 100.5, 9: 100.0}


def predict(columns: dict[str, np.ndarray]) -> np.ndarray:
    return np.array([RUNTIME.get(int(n), 200.0) for n in columns["threads"]])


@pytest.fixture(scope="module")
def engine() -> cp.Compass:
    threads = np.tile(np.arange(11), 6)
    table = {"threads": threads.tolist(), "runtime": predict({"threads": threads}).tolist()}
    data = cp.read(table).roles(knobs=["threads"], outcomes=["runtime"])
    return cp.Compass(data, models={"runtime": predict})


def test_a_value_near_the_best_is_not_called_the_best(engine: cp.Compass) -> None:
    answer = engine.reconfigure(1, ["threads"], {"runtime": cp.minimize})
    assert answer[0].config["threads"] == 2
    assert answer.certificate is not None
    assert answer.certificate.status is CertificateStatus.OPTIMAL
    assert answer.certificate.reason.startswith(
        "Every legal configuration was tried; this is within 1 % of the best value, "
        "and no smaller change is under this model."
    )


def test_without_a_baseline_the_best_is_the_best(engine: cp.Compass) -> None:
    answer = engine.recommend(["threads"], {"runtime": cp.minimize})
    assert answer[0].config["threads"] == 9
    assert answer.certificate is not None
    assert answer.certificate.reason.startswith(
        "Every legal configuration was tried; none is better under this model."
    )


def test_a_goal_that_is_met_is_reached_by_the_smallest_change(engine: cp.Compass) -> None:
    answer = engine.reconfigure(1, ["threads"], {"runtime": cp.at_most(150)})
    assert answer[0].config["threads"] == 2
    assert answer.certificate is not None
    assert answer.certificate.reason == (
        "Every legal configuration was tried; no smaller change meets the goals under this model."
    )


@pytest.mark.parametrize("seed", [11, 30, 36])
def test_a_proof_tells_the_tolerance_too(seed: int) -> None:
    """Trees whose first suggestion is not the one with the best value."""
    rng = np.random.default_rng(seed)
    model = Trees(random_forest(rng, trees=5), Task())
    target = Target(name="cost", direction="minimize", scale=0.7)
    problem = task({"cost": model}, (target,), random_start(rng))
    best = judged(problem, everything(problem))
    assert best.preference[0] > best.preference.min()
    found = best.take(np.arange(1)).candidates()
    told = prove(problem, found, 60.0).certificate
    assert told.status is CertificateStatus.OPTIMAL
    assert told.reason.startswith(
        "The value of cost is within 1 % of the best value that can be reached, and no smaller"
    )


def test_without_a_tolerance_the_value_is_the_best() -> None:
    assert "this is the best value" in tried_all(directed=True, proximity=True, tolerance=0.0)
    assert value(True, 0.0, None) == "No better value of the goals can be reached"
