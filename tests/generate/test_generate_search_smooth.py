"""Searches on models without cells, and what they may claim."""

from dataclasses import replace

import numpy as np
from tasks import SPACE, everything, model, task

from compass.domain.space import Number, Space
from compass.domain.target import Target
from compass.generate.base import Floats
from compass.generate.search import LegalSearch
from compass.generate.task import SearchTask
from compass.prepare.geometry import Geometry
from compass.settings import Settings

START = everything()[0]


class Smooth:
    """A prediction that changes everywhere, as models that are not trees have."""

    def __call__(self, X: Floats) -> dict[str, Floats]:
        return {"y": np.abs(X[:, :1] - 3.21987)}

    parts = None

    def gradient(self, X: Floats) -> None:
        return None

    def edges(self, column: int) -> None:
        del column


def continuous(high: float) -> SearchTask:
    fitted, observed = model()
    found = task(fitted, observed, START, Target(name="y", high=high), free=(0,))
    space = Space(parameters=(Number(name="a", low=1, high=12), *SPACE.parameters[1:]))
    return replace(found, space=space, predict=Smooth())


def test_a_search_without_cells_claims_no_proof() -> None:
    found = LegalSearch.generate(continuous(high=-1.0))
    assert not found.meets.any()
    assert not found.exhaustive


def test_a_search_on_cells_may_claim_one() -> None:
    fitted, observed = model()
    found = LegalSearch.generate(
        task(fitted, observed, START, Target(name="y", high=-1e9), free=(0,))
    )
    assert not found.meets.any()
    assert found.exhaustive


class TwoMatter:
    """The smaller of the first two columns; all others have cells, but no effect."""

    def __call__(self, X: Floats) -> dict[str, Floats]:
        return {"y": X[:, :2].min(axis=1, keepdims=True)}

    parts = None

    def gradient(self, X: Floats) -> None:
        return None

    def edges(self, column: int) -> Floats:
        return np.array([0.25, 0.5, 0.75]) if column < 2 else np.linspace(0.001, 0.999, 400)


def test_columns_without_effect_do_not_crowd_out_other_answers() -> None:
    d = 24
    found = LegalSearch.generate(
        SearchTask(
            space=Space(parameters=tuple(Number(name=f"k{i}", low=0, high=1) for i in range(d))),
            start=np.full(d, 0.9),
            free=np.arange(d),
            forced=np.empty(0, dtype=np.int64),
            rules=(),
            outcome_rules=(),
            outcomes=("y",),
            targets=(Target(name="y", high=0.5),),
            labels={},
            predict=TwoMatter(),
            geometry=Geometry(
                scale=np.where(np.arange(d) < 2, 1.0, 100.0),
                weight=np.ones(d),
                category=np.zeros(d, dtype=bool),
                none=np.full(d, np.nan),
            ),
            observed=np.random.default_rng(0).random((200, d)),
            proximity=True,
            count=5,
            seed=7,
            settings=Settings(),
        )
    )
    assert len(found.X) == 5
    assert found.meets.all()
