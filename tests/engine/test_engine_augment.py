"""Synthetic rows beside measured ones: only where they help, and never cited."""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pytest

import compass as cp
from compass import registry
from compass.domain.errors import QueryProblem, UnknownName
from compass.domain.space import Space
from compass.engine.dataset import Dataset
from compass.rules import Domain
from compass.synth.base import Floats


def true_runtime(nodes: Floats, threads: Floats) -> Floats:
    return 100.0 / (nodes * np.sqrt(threads))


def runs(n: int = 60) -> Dataset:
    """Few runs of a smooth outcome, and one that nothing tells."""
    rng = np.random.default_rng(1)
    nodes, threads = rng.integers(1, 65, n), rng.integers(1, 33, n)
    columns = {
        "nodes": nodes,
        "threads": threads,
        "runtime": true_runtime(nodes, threads),
        "luck": rng.normal(10, 1, n),
    }
    data = cp.read(pa.table(columns))
    return data.roles(knobs=["nodes", "threads"], outcomes=["runtime", "luck"])


class Knowing:
    """It knows the true runtimes, which no synthesizer does."""

    name = "knowing"

    def __init__(self, space: Space) -> None:
        self.space = space

    @staticmethod
    def fit(X: Floats, space: Space, **options: object) -> "Knowing":
        return Knowing(space)

    def sample(self, given: Floats, domains: Sequence[Domain], rng: np.random.Generator) -> Floats:
        m = len(given)
        nodes, threads = rng.integers(1, 65, m), rng.integers(1, 33, m)
        known = {"nodes": nodes, "threads": threads, "runtime": true_runtime(nodes, threads)}
        luck = rng.uniform(9, 11, m)
        found = np.column_stack([known.get(name, luck) for name in self.space.names])
        lows = [domain.low for domain in domains]
        return np.clip(found, lows, [domain.high for domain in domains]).astype(np.float64)


@pytest.fixture
def knowing() -> Iterator[str]:
    registry.add("synthesizer", "knowing")(Knowing)
    yield "knowing"
    registry.remove("synthesizer", "knowing")


def engine() -> cp.Compass:
    return cp.Compass(runs(), surrogate="forest", rules=["nodes <= 60"])


def test_only_outcomes_that_gain_learn_from_synthetic_rows(knowing: str) -> None:
    taught = engine().fit(augment=knowing)
    report = taught.augmentation
    assert report is not None
    assert {one.outcome: one.used for one in report.outcomes} == {"runtime": True, "luck": False}
    assert report.rows > 0
    cards = {card.target: card for card in taught.cards}
    plain = {card.target: card for card in engine().fit().cards}
    assert cards["runtime"].rows > plain["runtime"].rows
    assert cards["luck"].rows == plain["luck"].rows
    assert cards["runtime"].error < plain["runtime"].error
    assert cards["runtime"].checked == plain["runtime"].checked  # measured runs, the same ones


def test_synthetic_rows_are_never_cited(knowing: str) -> None:
    taught = engine().fit(augment=knowing)
    rows = len(runs())
    assert len(taught.data) > rows
    assert set(taught.data.table.column("row_origin").to_pylist()) == {"measured", "synthetic"}
    answer = taught.recommend(ask=["nodes", "threads"], goals={"runtime": cp.minimize})
    assert len(answer)
    for suggestion in answer:
        assert suggestion.trust is not None
        assert all(one.row < rows for one in suggestion.trust.evidence)
        assert suggestion.config["nodes"] <= 60


def test_an_engine_keeps_its_synthetic_rows(knowing: str, tmp_path: object) -> None:
    taught = engine().fit(["runtime"], augment=knowing)
    again = cp.load(taught.save(f"{tmp_path}/jobs.compass"))
    assert len(again.data) == len(taught.data)
    assert again.data.prepared.measured.sum() == taught.data.prepared.measured.sum()


def test_rows_that_do_not_help_leave_the_engine_as_it_is() -> None:
    rng = np.random.default_rng(0)
    data = cp.read(pa.table({"x": rng.normal(size=60), "y": rng.normal(size=60)}))
    noise = data.roles(knobs=["x"], outcomes=["y"])
    taught = cp.Compass(noise, surrogate="linear").fit(augment="copula")
    assert taught.augmentation is not None
    assert taught.augmentation.rows == 0
    assert taught.data is noise


def test_what_cannot_be_augmented_is_refused(knowing: str) -> None:
    with pytest.raises(UnknownName):
        engine().fit(augment="nobody")
    with pytest.raises(QueryProblem, match="sample"):
        cp.Compass(runs(), keep=0.5, surrogate="forest").fit(augment=knowing)
    taught = engine().fit(augment=knowing)
    with pytest.raises(QueryProblem, match="synthetic rows already"):
        taught.fit(augment=knowing)
