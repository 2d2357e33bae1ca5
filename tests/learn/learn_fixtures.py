"""Families of models that err by a known share, for the tests of comparing."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from learn_select_cases import law

from compass import registry
from compass.model.base import FamilyDefaults, FittedDefaults, Task


@dataclass(frozen=True)
class Pretended(FittedDefaults):
    """A model that misses the law of these tests by a share that alternates with its rows."""

    share: float
    task: Task
    family: str
    forest: Any = None

    def predict(self, X: np.ndarray) -> np.ndarray:
        return (law(X) * (1 + self.share))[:, None]

    def spread(self, X: np.ndarray) -> np.ndarray:
        return np.zeros(len(X))

    def arrays(self) -> dict[str, np.ndarray]:
        return {}

    def trees(self) -> Any:
        return self.forest


@pytest.fixture
def pretend() -> Iterator[Callable[..., None]]:
    """Registers families that err by a known share, or fail."""
    made = []

    def register(
        name: str,
        share: float = 0.0,
        *,
        provable: bool = False,
        fails: Exception | None = None,
        fails_from: int = 0,
        why_not: str | None = None,
        slow_: bool = False,
        work: float = 0.001,
        learns: float = 0.0,
    ) -> None:
        """`work`: seconds for 100 rows, by its estimate; `learns`: the share more with 100 rows.

        `fails`: what it raises if there are at least `fails_from` rows.
        """

        class Kind(FamilyDefaults):
            slow = slow_

            @staticmethod
            def effort(rows: int, columns: int, task: Task) -> float:
                return work * rows / 100

            @staticmethod
            def obstacle(rows: int, columns: int, task: Task) -> str | None:
                return why_not

            @staticmethod
            def fit(X: np.ndarray, y: np.ndarray, *, task: Task, **_: Any) -> Pretended:
                if fails is not None and len(X) >= fails_from:
                    raise fails
                missed = share + learns * 100 / len(X)
                return Pretended(missed, task, name, object() if provable else None)

        registry.add("surrogate", name)(type(name, (Kind,), {"name": name}))
        made.append(name)

    yield register
    for name in made:
        registry.remove("surrogate", name)


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Lets only these families take part, as if nothing else were installed."""

    def enter(*names: str) -> None:
        monkeypatch.setattr("compass.learn.compare.selectable_families", lambda: list(names))

    return enter
