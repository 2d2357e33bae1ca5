"""What a synthesizer is: it learns rows of a table and draws new ones on conditions.

A synthesizer is registered under its name at the joint `synthesizer`; `fit` and `restore` are
static, so that the class itself is the plug-in. Rows are encoded as everywhere: numbers as they
are, labels by their position, nothing missing. What is drawn is checked by `compass.synth.draw`:
a row that is not legal, or breaks a condition, never reaches a person.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from compass import registry
from compass.domain.space import Space
from compass.rules import Domain
from compass.settings import SynthesisSettings

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
Arrays = Mapping[str, NDArray[np.generic]]
Tell = Callable[[str, int, int], None]  # what is done, how much of it, of how much


@runtime_checkable
class FittedSynthesizer(Protocol):
    """What has been learnt from a table."""

    @property
    def name(self) -> str:
        """The name of the synthesizer that made it."""

    def sample(self, given: Floats, domains: Sequence[Domain], rng: np.random.Generator) -> Floats:
        """Rows float64[m, d]: those of `given`, with values drawn where it is NaN.

        A drawn value should lie in the domain of its column, which may be narrower than the legal
        values: rows are drawn as they are likely under these conditions. The same generator of
        random numbers gives the same rows.
        """

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Everything needed to restore it, as plain arrays."""


@runtime_checkable
class Synthesizer(Protocol):
    """A way to learn rows."""

    name: str

    def fit(
        self, X: Floats, space: Space, *, seed: int, settings: SynthesisSettings, tell: Tell
    ) -> FittedSynthesizer:
        """Learn from X float64[n, d], whose columns are those of the space."""

    def restore(self, arrays: Arrays, space: Space) -> FittedSynthesizer:
        """What was learnt and gave these `arrays()`; it draws the same rows bit for bit."""


def synthesizer(name: str) -> Synthesizer:
    """The synthesizer of that name; an unknown name offers the nearest one."""
    return cast(Synthesizer, registry.get("synthesizer", name))


def silent(what: str, done: int, total: int) -> None:
    """Tells nobody how far the work is."""


def narrowed(domain: Domain, legal: Domain) -> bool:
    """Whether a domain leaves less than the legal values."""
    return (domain.low, domain.high, domain.none, domain.count) != (
        legal.low,
        legal.high,
        legal.none,
        legal.count,
    )


def within(domain: Domain, values: Floats) -> NDArray[np.bool_]:
    """Which encoded values lie in a domain; its grid is not looked at where it is not listed."""
    if domain.values is not None:
        if not len(domain.values):
            return np.zeros(values.shape, dtype=np.bool_)
        place = np.searchsorted(domain.values, values).clip(0, len(domain.values) - 1)
        return np.asarray(domain.values[place] == values)
    inside = (values >= domain.low) & (values <= domain.high)
    return inside if domain.none is None else inside | (values == domain.none)


def anywhere(domain: Domain, count: int, rng: np.random.Generator) -> Floats:
    """Values of a domain of which nothing is known: each as likely as any other, [count]."""
    if domain.values is not None:
        return np.asarray(rng.choice(domain.values, count), dtype=np.float64)
    if domain.low > domain.high:
        return np.full(count, np.nan if domain.none is None else domain.none)
    if domain.step is None:
        return rng.uniform(domain.low, domain.high, count)
    from compass.rules.domains import grid

    first = round((domain.low - domain.origin) / domain.step)
    last = round((domain.high - domain.origin) / domain.step)
    steps = rng.integers(first, last + 1, count).astype(np.float64)
    return grid(domain.origin, domain.step, steps)
