"""A synthesizer: every column on its own, which is what all others have to beat."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from compass import registry
from compass.domain.space import Space
from compass.rules import Domain
from compass.settings import SynthesisSettings
from compass.synth.base import Floats, Tell, anywhere, within


class Columns:
    """The measured values of each column."""

    name = "independent"

    def __init__(self, rows: Floats) -> None:
        self.rows = rows

    def sample(self, given: Floats, domains: Sequence[Domain], rng: np.random.Generator) -> Floats:
        """Open cells drawn from the values of their column that are asked for."""
        drawn = given.copy()
        for place, domain in enumerate(domains):
            cells = np.isnan(given[:, place])
            known = self.rows[within(domain, self.rows[:, place]), place]
            count = int(cells.sum())
            found = rng.choice(known, count) if len(known) else anywhere(domain, count, rng)
            drawn[cells, place] = found
        return drawn

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Everything needed to restore it."""
        return {"rows": self.rows}


@registry.add("synthesizer", "independent")
class Independent:
    """Every column on its own: nothing of what columns have to do with each other."""

    name = "independent"

    @staticmethod
    def fit(
        X: Floats, space: Space, *, seed: int, settings: SynthesisSettings, tell: Tell
    ) -> Columns:
        """Keep the rows X float64[n, d]."""
        del space, seed, settings, tell
        return Columns(X.copy())

    @staticmethod
    def restore(arrays: Mapping[str, NDArray[np.generic]], space: Space) -> Columns:
        """What was learnt and gave these arrays."""
        del space
        return Columns(np.asarray(arrays["rows"], dtype=np.float64))
