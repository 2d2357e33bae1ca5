"""What an embedding is: columns learnt from past runs that say more than the raw ones.

An embedder is registered under its name at the joint `embedding`; `fit` and `restore` are static,
so that the class itself is the plug-in.
"""

from collections.abc import Mapping
from typing import Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from compass import registry
from compass.domain.space import Space
from compass.settings import Settings

Floats = NDArray[np.float64]


@runtime_checkable
class Embedding(Protocol):
    """A trained representation."""

    @property
    def name(self) -> str:
        """The name of the embedder that made it."""

    @property
    def width(self) -> int:
        """How many columns it gives."""

    def transform(self, X: Floats) -> Floats:
        """The new columns float64[n, width] of X float64[n, d]; each row on its own."""

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Everything needed to restore it, as plain arrays."""


@runtime_checkable
class TellsImportance(Protocol):
    """A representation that says which columns it looks at."""

    def importance(self, X: Floats) -> Floats:
        """How much each column of X counted for each row, float64[n, d]; rows sum to 1."""


@runtime_checkable
class Embedder(Protocol):
    """A kind of representation that can be trained and restored."""

    name: str

    def fit(
        self,
        X: Floats,
        y: Floats,
        *,
        classes: int | None,
        weight: Floats | None,
        seed: int,
        settings: Settings,
        features: Space | None = None,
    ) -> Embedding:
        """Train on X float64[n, d] and y float64[n]; `classes`: y holds positions of labels."""

    def restore(self, arrays: Mapping[str, NDArray[np.generic]]) -> Embedding:
        """The representation whose `arrays()` these are; it gives the same bit for bit."""


def embedder(name: str) -> Embedder:
    """The embedder of that name; an unknown name offers the nearest one."""
    return cast(Embedder, registry.get("embedding", name))
