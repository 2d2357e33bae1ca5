"""What is expected of one outcome by two processes and a forest together; outcomes with bounds.

Few runs make a single process sure of wrong things. The processes, a smooth one and one with steps,
count by how well each predicts every run from the others; a fifth is a forest of extra trees.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from compass.acquire.loop import forest
from compass.acquire.loop.calibration import SPREAD, widening
from compass.acquire.loop.inputs import Points
from compass.acquire.loop.outcomes import Outcomes
from compass.acquire.loop.problem import Condition, Expected
from compass.acquire.loop.process import Process
from compass.model.trees.flat import FlatForest

Floats = NDArray[np.float64]

_TREES = 0.2  # share of the forest in what is expected (seeds 0 to 5 of benchmarks/pareto/replay)
_LEAST = 1e-9  # variance below which nothing is uncertain
_NEVER = -700.0  # the logarithm of the least probability


@dataclass(frozen=True, eq=False)
class Mixture:
    """What is expected of one outcome, standardised: a mixture of two processes and a forest."""

    processes: tuple[Process, ...]
    trees: FlatForest
    shares: Floats  # of the processes, then of the forest
    outcomes: Outcomes
    left_out: Floats  # [u] half-widths by which the likelier process misses each run left out

    @staticmethod
    def of(processes: Sequence[Process], trees: FlatForest, own: Outcomes) -> "Mixture":
        """Processes that are as likely as they predict each run from the others; trees."""
        left_out = [process.left_out(own.y) for process in processes]
        densities = np.array([log_density(own.y, *one) for one in left_out])
        likely = np.exp(densities - densities.max())
        shares = np.append((1 - _TREES) * likely / likely.sum(), _TREES)
        off = half_widths(own.y, *left_out[int(np.argmax(densities))])
        return Mixture(tuple(processes), trees, shares, own, off)

    @property
    def noise(self) -> float:
        """The deviation of a single run of a configuration, in the unit of the mean."""
        own = self.shares[:-1] / self.shares[:-1].sum()
        variance = own @ np.array([process.noise for process in self.processes])
        return float(np.sqrt(variance)) * self.outcomes.scale

    def predict(self, points: Points) -> tuple[Floats, Floats]:
        """Mean and deviation [m] in the unit of the loss, or of its logarithm."""
        each = [process.predict(points) for process in self.processes]
        each.append(forest.beliefs(self.trees, points.Z))
        means, variances = (np.array(part) for part in zip(*each, strict=True))
        mean = self.shares @ means
        # Where the members differ nothing is certain.
        variance = self.shares @ (np.maximum(variances, 0.0) + (means - mean) ** 2)
        own = self.outcomes
        deviation = np.sqrt(np.maximum(variance, _LEAST))
        return own.centre + own.scale * mean, own.scale * deviation

    def knowing(self, point: Points) -> "Mixture":
        """The same where one more configuration is being run."""
        processes = tuple(process.knowing(point) for process in self.processes)
        return replace(self, processes=processes)


@dataclass(frozen=True, eq=False)
class Bound:
    """A condition, and what is expected of its outcome."""

    condition: Condition
    mixture: Mixture

    def log_within(self, points: Points) -> Floats:
        """The logarithm of the probability [m] that a run of each point meets the condition."""
        mean, deviation = self.mixture.predict(points)
        spread = np.sqrt(deviation**2 + self.mixture.noise**2)
        low, high = ((edge - mean) / spread for edge in self.condition.edges)
        return log_between(low, high)

    def expected(self, point: Points) -> Expected:
        """Value and interval of a run of a single point."""
        mean, deviation = (float(part[0]) for part in self.mixture.predict(point))
        wider = widening(self.mixture.left_out, self.condition.told)
        half = SPREAD * wider * float(np.hypot(deviation, self.mixture.noise))
        turned = np.exp if self.condition.positive else np.asarray
        value, low, high = (
            float(turned(min(one, 700.0))) for one in (mean, mean - half, mean + half)
        )
        return Expected(value, low, high, wider)

    def knowing(self, point: Points) -> "Bound":
        """The same where one more configuration is being run."""
        return replace(self, mixture=self.mixture.knowing(point))


def log_density(y: Floats, mean: Floats, variance: Floats) -> float:
    """The log density of outcomes [n], less a constant, as the others predict each."""
    return float(-0.5 * ((y - mean) ** 2 / variance + np.log(variance)).sum())


def half_widths(y: Floats, mean: Floats, variance: Floats) -> Floats:
    """By how many half-widths of an interval the others miss each outcome, [n]."""
    return np.asarray(np.abs(y - mean) / np.sqrt(variance) / SPREAD)


def log_between(low: Floats, high: Floats) -> Floats:
    """log P(low < Z < high) of a standard normal Z, exact where the probability is 0 in floats."""
    from scipy.special import log_ndtr

    above = low > 0
    first, last = np.where(above, -high, low), np.where(above, -low, high)
    inner, outer = log_ndtr(last), log_ndtr(first)
    with np.errstate(invalid="ignore", divide="ignore"):
        found = inner + np.log1p(-np.exp(outer - inner))
    return np.where(np.isnan(found), _NEVER, np.maximum(found, _NEVER))
