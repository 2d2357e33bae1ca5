"""Ten analytical performance laws with the ranges that runs are drawn from.

The formulas are those of the COMPASS paper's Table IX. Where it leaves a range open, ours is:
arithmetic intensity log-uniform in [0.1, 1000], Amdahl's p in [1, 8192], Hoefler's px and py in
[2, 64] and sweeps in [1, 8], features of the linear law uniform in [0, 1]. Whole numbers are drawn
uniformly, and no configuration is drawn twice.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Formula = Callable[[Floats], Floats]

PROCESSES = (64, 131_072)
MESSAGE = 1e-5  # seconds per message of Hoefler's sweep model
SERIAL = 0.1  # serial share of Amdahl's law
PEAK, BANDWIDTH = 1e12, 5e10  # of the roofline
GPU_PEAK, GPU_BANDWIDTH = 2e12, 8e10  # of the smooth roofline


@dataclass(frozen=True)
class Input:
    """One input of a law: whole numbers, real numbers, or real numbers spread over decades."""

    name: str
    low: float
    high: float
    whole: bool = False
    log: bool = False

    def draw(self, n: int, rng: np.random.Generator) -> Floats:
        """Values inside the range, [n]."""
        if self.whole:
            return rng.integers(int(self.low), int(self.high), size=n, endpoint=True).astype(float)
        if self.log:
            return np.exp(rng.uniform(np.log(self.low), np.log(self.high), size=n))
        return rng.uniform(self.low, self.high, size=n)

    def allows(self, value: float) -> bool:
        """Whether a value is legal."""
        return self.low <= value <= self.high and (not self.whole or value == int(value))


@dataclass(frozen=True)
class Law:
    """A formula, the inputs it takes and how many runs of it are learnt from."""

    name: str
    inputs: tuple[Input, ...]
    rows: int
    formula: Formula  # [n, d] -> [n]

    def at(self, config: dict[str, float]) -> float:
        """The law's value at one configuration."""
        row = np.array([[float(config[one.name]) for one in self.inputs]])
        return float(self.formula(row)[0])

    def allows(self, config: dict[str, float]) -> bool:
        """Whether every input is inside its range, and whole where it has to be."""
        return all(one.allows(float(config[one.name])) for one in self.inputs)

    def draw(self, n: int, rng: np.random.Generator) -> Floats:
        """Distinct configurations in random order, [n, d]."""
        found = np.empty((0, len(self.inputs)))
        while len(found) < n:
            more = np.column_stack([one.draw(2 * n, rng) for one in self.inputs])
            found = np.unique(np.concatenate([found, more]), axis=0)
        return found[rng.permutation(len(found))[:n]]


def milc(x: Floats) -> Floats:
    return 6.3e-6 * np.log2(x[:, 0])


def homme_small(x: Floats) -> Floats:
    p = x[:, 0]
    return 0.026 + 2.53e-6 * np.sqrt(p) + 1.24e-12 * p**3


def homme_large(x: Floats) -> Floats:
    p = x[:, 0]
    return 2.60e-2 * np.sqrt(p) + 1.17e-12 * p**3


def vlaplace(x: Floats) -> Floats:
    return 0.034 + 1.33e-10 * x[:, 0] ** 2


def sweep3d(x: Floats) -> Floats:
    return 1e-6 * np.sqrt(x[:, 0])


def hoefler(x: Floats) -> Floats:
    px, py, sweeps = x.T
    return np.asarray((2 * (px + py - 2) + 4 * (sweeps - 1)) * MESSAGE)


def roofline(x: Floats) -> Floats:
    return np.minimum(PEAK, BANDWIDTH * x[:, 0])


def amdahl(x: Floats) -> Floats:
    return 1 / (SERIAL + (1 - SERIAL) / x[:, 0])


def smooth_roofline(x: Floats) -> Floats:
    flow = GPU_BANDWIDTH * x[:, 0]
    return flow / (1 + flow / GPU_PEAK)


def linear(x: Floats) -> Floats:
    return 2 * x[:, 0] - 1.5 * x[:, 1] + 0.5 * x[:, 2]


_P = (Input("p", *PROCESSES, whole=True),)
_INTENSITY = (Input("intensity", 0.1, 1000, log=True),)
_SWEEP = (
    Input("px", 2, 64, whole=True),
    Input("py", 2, 64, whole=True),
    Input("sweeps", 1, 8, whole=True),
)

LAWS = (
    Law("MILC", _P, 4749, milc),
    Law("HOMME-reduce, small", _P, 4749, homme_small),
    Law("HOMME-reduce, large", _P, 4749, homme_large),
    Law("Vlaplace", _P, 4749, vlaplace),
    Law("Sweep3D", _P, 4749, sweep3d),
    Law("Hoefler", _SWEEP, 6174, hoefler),
    Law("Roofline", _INTENSITY, 10_000, roofline),
    Law("Amdahl", (Input("p", 1, 8192, whole=True),), 7287, amdahl),
    Law("Roofline, GPU", _INTENSITY, 10_000, smooth_roofline),
    Law("Linear of 15", tuple(Input(f"x{i}", 0, 1) for i in range(1, 16)), 6000, linear),
)
