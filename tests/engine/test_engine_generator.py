"""A generator that learns gets the past runs of the engine, with what was measured."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import compass as cp
from compass import registry
from compass.generate.base import Candidates
from compass.generate.search import LegalSearch
from compass.generate.task import SearchTask


class Learning:
    """Keeps what it was fitted on, and searches as the built-in does."""

    name = "learning"
    fits: list[tuple[Any, dict[str, Any], tuple[str, ...]]]

    @classmethod
    def fit(cls, X: Any, y: dict[str, Any], *, space: Any, seed: int) -> "type[Learning]":
        cls.fits.append((X, y, space.names))
        return cls

    @staticmethod
    def generate(task: SearchTask) -> Candidates:
        return LegalSearch.generate(task)


@pytest.fixture
def learning() -> Iterator[type[Learning]]:
    Learning.fits = []
    registry.add("generator", Learning.name)(Learning)
    yield Learning
    registry.remove("generator", Learning.name)


def test_it_is_fitted_on_configurations_and_outcomes(learning: type[Learning]) -> None:
    rng = np.random.default_rng(3)
    nodes, cores = rng.integers(1, 9, 80), rng.integers(1, 17, 80)
    table = {
        "nodes": nodes.tolist(),
        "cores": cores.tolist(),
        "runtime": (100.0 / nodes + cores).tolist(),
        "state": np.where(cores > 8, "failed", "done").tolist(),
    }
    data = cp.read(table).roles(knobs=["nodes", "cores"], outcomes=["runtime", "state"])
    engine = cp.Compass(data, surrogate="forest", generator="learning")
    goals = {"runtime": cp.minimize, "state": cp.is_class("done")}
    learned = engine.recommend(["nodes", "cores"], goals)
    X, y, names = learning.fits[0]
    assert set(names) == {"nodes", "cores"}
    at = {name: X[:, column] for column, name in enumerate(names)}
    assert y["runtime"][:, 0] == pytest.approx(100.0 / at["nodes"] + at["cores"])
    assert y["state"].shape == (len(X), 2)
    assert (y["state"].sum(axis=1) == 1.0).all()
    built_in = cp.Compass(data, surrogate="forest").recommend(["nodes", "cores"], goals)
    assert [s.config for s in learned] == [s.config for s in built_in]
