"""Labels of predictions: few runs say nothing, many are sampled and say the same as all."""

import numpy as np
from tests.experiment.law_case import plan

from compass.experiment import labels
from compass.experiment.labels import Labels
from compass.experiment.space import space_of
from compass.settings import TrustSettings


def _runs(count: int) -> np.ndarray:
    rng = np.random.default_rng(1)
    threads, flags = rng.choice([1.0, 2, 4, 8, 16], count), rng.integers(0, 4, count)
    return np.column_stack([threads, 16 * rng.integers(1, 17, count), flags]).astype(np.float64)


def test_few_runs_say_nothing() -> None:
    assert Labels.of(_runs(9), [], space_of(plan()), TrustSettings()) is None


def test_a_sample_of_many_runs_says_what_all_say(monkeypatch) -> None:
    X, space, settings = _runs(3000), space_of(plan()), TrustSettings(neighbours=5)
    sampled = Labels.of(X, [], space, settings)
    assert sampled is not None
    monkeypatch.setattr(labels, "_SAMPLE", len(X))
    whole = Labels.of(X, [], space, settings)
    assert whole is not None
    assert sampled.placed.shape == whole.placed.shape
    levels = np.quantile([_away(whole, x) for x in X[:200]], [0.1, 0.5, 0.9])
    assert np.abs(sampled.novelty.below(levels) - whole.novelty.below(levels)).max() < 0.1
    again = Labels.of(X, [], space, settings)
    assert again is not None
    assert again.novelty.below(levels).tolist() == whole.novelty.below(levels).tolist()


def _away(known: Labels, x: np.ndarray) -> float:
    point = known.scale.place(x[None])[:, 0]
    found = np.sort(np.linalg.norm(known.placed - point[:, None], axis=0))
    return float(found[1 : known.neighbours + 1].mean())
