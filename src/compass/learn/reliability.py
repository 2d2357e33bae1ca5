"""How far repeated runs scatter, and how far a model errs beyond that."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compass.prepare.weigh import mean, normal, uneven

Floats = NDArray[np.float64]

_UNREPEATED = 0.05  # scatter of repeated runs where none is known, as a share of the model's error

_KNOWN = 8  # repeated runs that tell how far runs scatter


@dataclass(frozen=True)
class Reliability:
    """How far single runs of a configuration scatter, and how far the model errs beyond that."""

    noise: float  # variance of one run around the mean of its configuration
    error: float  # variance of the model around that mean
    repeats: int = 0  # runs beyond the first of their configuration: what tells the noise

    @property
    def scatter(self) -> float:
        """The variance of a single run to reckon with.

        Where hardly any configuration was repeated, half of the model's error may be scatter.
        """
        if self.repeats >= _KNOWN:
            return self.noise
        return max(self.noise, (self.noise + self.error) / 2)

    @property
    def model_error(self) -> float:
        """The variance of the model beside that scatter."""
        return max(self.noise + self.error - self.scatter, 0.0)

    @property
    def own_error(self) -> float:
        """One standard deviation of what surely is the model's error, and not scatter of runs."""
        return float(np.sqrt(self.error)) if self.repeats >= _KNOWN else 0.0

    def weight(self, runs: NDArray[np.int64]) -> Floats:
        """The share of the measured mean in the value of a configuration with so many runs, [n].

        The mean of n runs has the variance noise / n, the model has the variance error: weighed
        by their inverse variances the measured mean has the share n error / (n error + noise).
        """
        mass = runs * self.error
        total = mass + self.noise
        # Runs that do not scatter are believed even where the model never erred.
        return np.where(runs > 0, np.where(total > 0, mass / np.where(total > 0, total, 1), 1), 0.0)


def reliability(
    y: Floats,
    configuration: NDArray[np.int64],
    miss: Floats,
    *,
    relative: bool,
    weight: Floats | None = None,
    miss_weight: Floats | None = None,
) -> Reliability:
    """What repeated runs and unseen runs say about measurements and about the model.

    `y` [n, outputs] are measured outcomes, `configuration` [n] numbers them; `miss` [v] are the
    squared errors on runs that the model did not see (see `missed`). Where no configuration was
    repeated, runs are taken to scatter by a twentieth of the model's error; that guess counts as
    much as one repetition. `weight` [n] and `miss_weight` [v] say how much runs count; a run that
    stands for many is one measurement all the same.
    """
    held = mean(miss, miss_weight) if len(miss) else 0.0
    count = np.bincount(configuration)
    counts = np.ones(len(y)) if uneven(weight) is None else normal(np.asarray(weight))
    mass = np.bincount(configuration, counts)
    sums = np.stack([np.bincount(configuration, counts * column) for column in y.T], axis=1)
    centre = (sums / np.where(mass > 0, mass, 1)[:, None])[configuration]
    apart = float((counts * missed(y, centre, relative=relative)).sum())
    freedom = int(np.maximum(count - 1, 0).sum())
    noise = (apart + _UNREPEATED**2 * held) / (freedom + 1)
    return Reliability(noise, max(held - noise, _UNREPEATED**2 * held), freedom)


def missed(y: Floats, p: Floats, *, relative: bool) -> Floats:
    """Squared error [n] of predictions p for y (both [n, outputs]).

    `relative`: as a share of the larger of the two. That is never above 1, so that a few slow runs
    do not decide about the fast ones.
    """
    apart = np.abs(y - p)
    if relative:
        size = np.maximum(np.abs(y), np.abs(p))
        apart = np.divide(apart, size, out=np.zeros_like(apart), where=size > 0)
    return np.asarray((apart**2).sum(axis=1))
