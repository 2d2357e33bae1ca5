"""Searches on models without cells, and what they may claim."""

from dataclasses import replace

import numpy as np

from arenas import SPACE, arena, everything, model
from compass.domain.problem import Target
from compass.domain.space import Number, Space
from compass.generate.base import Arena, Floats
from compass.generate.search import C3G

START = everything()[0]


class Smooth:
    """A prediction that changes everywhere, as models that are not trees have."""

    def __call__(self, X: Floats) -> dict[str, Floats]:
        return {"y": np.abs(X[:, :1] - 3.21987)}

    def edges(self, column: int) -> None:
        del column


def continuous(high: float) -> Arena:
    fitted, observed = model()
    found = arena(fitted, observed, START, Target(name="y", high=high), free=(0,))
    space = Space(parameters=(Number(name="a", low=1, high=12), *SPACE.parameters[1:]))
    return replace(found, space=space, predict=Smooth())


def test_a_search_without_cells_claims_no_proof() -> None:
    found = C3G.generate(continuous(high=-1.0))
    assert not found.meets.any()
    assert not found.exhaustive


def test_a_search_on_cells_may_claim_one() -> None:
    fitted, observed = model()
    found = C3G.generate(arena(fitted, observed, START, Target(name="y", high=-1e9), free=(0,)))
    assert not found.meets.any()
    assert found.exhaustive
