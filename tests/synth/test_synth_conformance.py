"""Every registered synthesizer keeps its promises, and the suite tells when one does not."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from compass import registry
from compass.rules import Domain
from compass.synth.base import Floats
from compass.synth.cart import DonorTrees, SequentialTrees
from compass.testing import ConformanceError, check, check_synthesizer


@pytest.mark.parametrize("name", registry.everything("synthesizer"))
def test_built_ins_keep_their_promises(name: str) -> None:
    if name in ("ctgan", "tvae", "great"):
        pytest.importorskip("torch" if name != "great" else "transformers")
    check("synthesizer", name)


def broken(change: Any) -> type[SequentialTrees]:
    """The default synthesizer with a change made to the rows that it draws."""

    class Model(DonorTrees):
        def sample(
            self, given: Floats, domains: Sequence[Domain], rng: np.random.Generator
        ) -> Floats:
            return np.asarray(change(super().sample(given, domains, rng), given))

    class Broken(SequentialTrees):
        """It breaks a promise."""

        @staticmethod
        def fit(X: Floats, space: Any, **options: Any) -> DonorTrees:
            learnt = SequentialTrees.fit(X, space, **options)
            return Model(learnt.rows, learnt.space, learnt.order, learnt.least, learnt.gain)

    return Broken


@pytest.mark.parametrize(
    ("change", "promise"),
    [
        (lambda X, given: X + 0.5, "every value is legal"),
        (lambda X, given: X[:-1], "of the shape"),
        (lambda X, given: np.where(np.isnan(given), X, 1.0), "cells that are given stay"),
        (lambda X, given: np.broadcast_to(X[0], X.shape), "columns vary"),
    ],
)
def test_the_suite_tells_which_promise_is_broken(change: Any, promise: str) -> None:
    with pytest.raises(ConformanceError) as caught:
        check_synthesizer(broken(change))
    assert promise in caught.value.promise


def test_the_suite_tells_when_conditions_are_not_met() -> None:
    class Deaf(DonorTrees):
        def sample(
            self, given: Floats, domains: Sequence[Domain], rng: np.random.Generator
        ) -> Floats:
            return super().sample(given, self.legal, rng)

    class Forgetful(SequentialTrees):
        """It does not listen."""

        @staticmethod
        def fit(X: Floats, space: Any, **options: Any) -> DonorTrees:
            learnt = SequentialTrees.fit(X, space, **options)
            return Deaf(learnt.rows, learnt.space, learnt.order, learnt.least, learnt.gain)

    with pytest.raises(ConformanceError, match="conditions on single columns are met"):
        check_synthesizer(Forgetful)
