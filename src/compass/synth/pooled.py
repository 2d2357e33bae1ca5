"""Conditions for what can only draw whole rows: answered from a pool of rows that it drew.

Networks that make a row at once cannot be asked for a range of one of its numbers. So a pool of
their rows is drawn when it is first needed, sequential trees learn it, and these answer: what is
asked for is drawn as it is likely in the rows of the network, without waiting for it.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from compass.domain.space import Space
from compass.rules import Domain
from compass.rules.domains import domain_of
from compass.settings import SynthesisSettings
from compass.synth.base import Floats, narrowed, silent
from compass.synth.cart import DonorTrees, SequentialTrees

_SEED = 20240719  # of the pool: it belongs to the model, not to a call


class Pooled(ABC):
    """A model that draws whole rows; `sample` answers conditions from a pool of them."""

    space: Space
    pool: int

    @abstractmethod
    def rows(self, count: int, rng: np.random.Generator) -> Floats:
        """`count` whole legal rows float64[count, d]."""

    @abstractmethod
    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Everything needed to restore it, as plain arrays."""

    @cached_property
    def _legal(self) -> tuple[Domain, ...]:
        return tuple(domain_of(parameter) for parameter in self.space)

    @cached_property
    def _trees(self) -> DonorTrees:
        drawn = self.rows(self.pool, np.random.default_rng(_SEED))
        settings = SynthesisSettings()
        return SequentialTrees.fit(drawn, self.space, seed=_SEED, settings=settings, tell=silent)

    def sample(self, given: Floats, domains: Sequence[Domain], rng: np.random.Generator) -> Floats:
        """Rows float64[m, d]: those of `given`, with values drawn where it is NaN."""
        free = not any(map(narrowed, domains, self._legal))
        if free and np.isnan(given).all():
            return self.rows(len(given), rng)
        return self._trees.sample(given, domains, rng)
