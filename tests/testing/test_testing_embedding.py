"""Built-in representations keep their promises, and the suite tells when one does not."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from testing_broken import caught

from compass import registry
from compass.testing import check, check_embedding


@pytest.mark.parametrize("name", registry.everything("embedding"))
def test_built_ins_keep_their_promises(name: str) -> None:
    check("embedding", name)


class Front:
    """Products with random directions."""

    name = "directions"

    def __init__(self, directions: Any) -> None:
        self.directions = directions

    @property
    def width(self) -> int:
        return int(self.directions.shape[1])

    def transform(self, X: Any) -> Any:
        found = np.zeros((len(X), self.width))
        for place, column in enumerate(X.T):
            found += column[:, None] * self.directions[place]
        return found

    def arrays(self) -> dict[str, Any]:
        return {"directions": self.directions}


class Directions:
    """Random directions."""

    name = "directions"
    front: type[Front] = Front

    @classmethod
    def fit(cls, X: Any, y: Any, *, seed: int, **_: Any) -> Front:
        return cls.front(np.random.default_rng(seed).normal(size=(X.shape[1], 3)))

    @classmethod
    def restore(cls, arrays: Mapping[str, Any]) -> Front:
        return cls.front(arrays["directions"])


def test_one_that_keeps_them_all_passes() -> None:
    check_embedding(Directions)


def broken(**methods: Any) -> type[Directions]:
    changed = type("Changed", (Front,), methods)
    return type("Broken", (Directions,), {"front": changed, "__doc__": "Broken."})


def batch_dependent(self: Front, X: Any) -> Any:
    return Front.transform(self, X) * (1 + 1e-15 * len(X))


def layout_dependent(self: Front, X: Any) -> Any:
    return Front.transform(self, X) + (0.0 if X.flags.c_contiguous else 1e-12)


def forgetful(self: Front) -> dict[str, Any]:
    return {"directions": self.directions.round(3)}


CASES: list[tuple[dict[str, Any], str]] = [
    ({"transform": batch_dependent}, "in a batch"),
    ({"transform": layout_dependent}, "memory layout"),
    ({"transform": lambda self, X: Front.transform(self, X)[:, :2]}, "`width` columns"),
    ({"transform": lambda self, X: Front.transform(self, X) / 0 * 0}, "finite"),
    ({"transform": lambda self, X: Front.transform(self, X)[: max(len(X), 1)] * 1j}, "float64"),
    ({"arrays": forgetful}, "restored representation"),
    ({"arrays": lambda self: {"directions": self.directions.astype(object)}}, "plain numbers"),
    ({"name": "other"}, "the one that restores it"),
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("methods", "promise"), CASES)
def test_a_broken_one_is_caught(methods: dict[str, Any], promise: str) -> None:
    caught(lambda: check_embedding(broken(**methods)), promise)


def test_training_that_is_not_repeatable_is_caught() -> None:
    class Unseeded(Directions):
        """Another one every time."""

        @classmethod
        def fit(cls, X: Any, y: Any, *, seed: int, **_: Any) -> Front:
            return cls.front(np.random.default_rng().normal(size=(X.shape[1], 3)))

    caught(lambda: check_embedding(Unseeded), "same rows and seed")


def test_one_that_keeps_a_view_of_its_rows_is_caught() -> None:
    class View(Directions):
        """A view."""

        @classmethod
        def fit(cls, X: Any, y: Any, *, seed: int, **_: Any) -> Front:
            return cls.front(X[:2].T)

    caught(lambda: check_embedding(View), "arrays it was trained on")


def test_one_that_spoils_its_rows_is_caught() -> None:
    class Spoiler(Directions):
        """Spoils."""

        @classmethod
        def fit(cls, X: Any, y: Any, *, seed: int, **_: Any) -> Front:
            X[0] += 1
            return cls.front(np.ones((X.shape[1], 1)))

    caught(lambda: check_embedding(Spoiler), "leaves X as it is")
