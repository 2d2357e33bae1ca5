"""The nouns of the loop: what may be chosen, what was run, and what is proposed.

Configurations are encoded (`prepare.encode.Encoder`) over the columns of the problem's space.
Everything that is proposed follows from these nouns alone, so that a loop that was killed goes on
as if it had not been.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from compass.acquire.loop.inputs import Inputs, Points
from compass.acquire.loop.pool import Pool
from compass.acquire.loop.process import Shape
from compass.acquire.loop.transfer import Reference
from compass.domain.errors import BadInput
from compass.domain.space import Space
from compass.rules import Rule
from compass.settings import LoopSettings

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def nothing() -> Floats:
    """No number at all."""
    return np.empty(0)


@dataclass(frozen=True, eq=False)
class LoopProblem:
    """What may be chosen: the free parameters and the rules between them.

    What does not change from ask to ask (the legal configurations) is worked out once and kept
    with it.
    """

    space: Space
    rules: tuple[Rule, ...] = ()  # over the columns of the space
    seed: int = 0
    settings: LoopSettings = field(default_factory=LoopSettings)

    @cached_property
    def pool(self) -> Pool:
        """The legal configurations; raises ConflictingRules where there are none."""
        return Pool.of(self.space, self.rules, self.settings.complete)

    @cached_property
    def inputs(self) -> Inputs:
        """How the models see a configuration."""
        return Inputs.of(self.space)

    @cached_property
    def pool_points(self) -> Points:
        """The pool as models see it."""
        return self.inputs(self.pool.X)

    @cached_property
    def fitted(self) -> dict[bytes, Shape]:
        """Settings of the process by what they were fitted to."""
        return {}


@dataclass(frozen=True, eq=False)
class Condition:
    """An outcome that has to be within bounds, as it was measured."""

    values: Floats  # [n]; NaN where the run failed
    low: float
    high: float
    positive: bool  # whether it is above 0, where a factor counts the same everywhere
    told: Floats = field(
        default_factory=nothing
    )  # [k] half-widths by which earlier predictions of it were off

    @property
    def holds(self) -> Bools:
        """Which of the runs [n] are within the bounds."""
        return np.asarray((self.values >= self.low) & (self.values <= self.high))

    @property
    def edges(self) -> tuple[float, float]:
        """The bounds as models see them: as logarithms where the outcome is above 0."""
        if not self.positive:
            return self.low, self.high
        low, high = (math.log(one) if one > 0 else -math.inf for one in (self.low, self.high))
        return low, high


@dataclass(frozen=True, eq=False)
class Seen:
    """The runs that were made, in the order in which they ended."""

    X: Floats  # [n, d]
    loss: Floats  # [n] to be minimised; NaN where the run failed
    failed: Bools  # [n]
    member: tuple[str, ...] = ()  # who proposed each; "": a person, a start, history
    conditions: tuple[Condition, ...] = ()  # of other outcomes; a run that misses one is not best
    told: Floats = field(
        default_factory=nothing
    )  # [k] half-widths by which earlier predictions of the loss were off

    def __post_init__(self) -> None:
        if not self.member:
            object.__setattr__(self, "member", ("",) * len(self.X))
        if not len(self.X) == len(self.loss) == len(self.failed) == len(self.member):
            raise BadInput(
                "the runs that were made have arrays of different lengths",
                hint="give X, loss, failed and member of every run",
            )
        if not np.isfinite(self.loss[~self.failed]).all():
            raise BadInput(
                "a run that did not fail has no loss", hint="mark it as failed, or leave it out"
            )
        for one in self.conditions:
            if len(one.values) != len(self.X) or not np.isfinite(one.values[~self.failed]).all():
                raise BadInput(
                    "a run that did not fail lacks an outcome of a condition",
                    hint="mark it as failed, or leave it out",
                )

    def __len__(self) -> int:
        return len(self.X)

    @cached_property
    def meets(self) -> Bools:
        """Which runs [n] succeeded and meet every condition."""
        found = ~self.failed
        for one in self.conditions:
            found = found & one.holds
        return found

    @cached_property
    def best(self) -> int:
        """The position of the smallest loss that meets every condition; -1 where none does."""
        counted = self.counted
        return -1 if np.isnan(counted).all() else int(np.nanargmin(counted))

    @cached_property
    def counted(self) -> Floats:
        """The losses [n], NaN where a run failed or one of its configuration misses a condition."""
        if not self.conditions:
            return self.measured
        _, of_run = np.unique(self.X, axis=0, return_inverse=True)
        of_run = of_run.ravel()
        missed = np.bincount(of_run, ~self.failed & ~self.meets) > 0
        return np.where(self.meets & ~missed[of_run], self.loss, np.nan)

    @cached_property
    def measured(self) -> Floats:
        """The losses [n], NaN where a run failed."""
        return np.where(self.failed, np.nan, self.loss)


@dataclass(frozen=True, eq=False)
class History:
    """Runs of another machine, size or version of the program, in the same space."""

    X: Floats  # [h, d]
    loss: Floats  # [h]; NaN where the run failed
    meets: Bools | None = None  # [h] whether it meets every condition; None: all do

    @cached_property
    def learnt(self) -> dict[tuple[int, bool], Reference]:
        """What was learnt from it, by seed and whether losses are positive."""
        return {}


class Reason(StrEnum):
    """Why a run is proposed."""

    START = "start"  # far from everything that was run
    HISTORY = "history"  # among the best of another machine, size or version
    SWEEP = "sweep"  # the space is small: everything is tried
    IMPROVEMENT = "improvement"  # it has the largest expected improvement


@dataclass(frozen=True)
class Expected:
    """What is expected of an outcome, with its interval, in its own unit."""

    value: float
    low: float
    high: float
    widening: float  # of the interval (`calibration`)


@dataclass(frozen=True, eq=False)
class LoopProposal:
    """A run to make. Mean and interval are in the unit of the loss; NaN before any model."""

    x: Floats  # [d]
    mean: float
    low: float
    high: float
    failure: float  # the probability that it fails
    # Expected, as a share of the best loss so far; while no run meets the conditions, the
    # probability that this one does.
    improvement: float
    member: str  # which model proposes it; "": none
    reason: Reason
    nearest: int = -1  # the position of the most similar run that was made
    changes: tuple[str, ...] = ()  # the parameters that differ from the best run
    bounded: tuple[Expected, ...] = ()  # the outcome of each condition
    meets: float = 1.0  # the probability that it meets them
    widening: float = 1.0  # of the interval (`calibration`)


class Verdict(StrEnum):
    """Why more runs are not worth it."""

    EXHAUSTED = "exhausted"  # every legal configuration was run or is being run
    NO_IMPROVEMENT = "no improvement"  # what may be gained is below the stated share
    WITHIN_NOISE = "within noise"  # what may be gained is less than runs scatter


@dataclass(frozen=True)
class StopFacts:
    """Whether to go on; numbers are NaN where nothing was modelled."""

    verdict: Verdict | None  # None: more runs are worth it
    improvement: float  # the largest expected improvement, a share of the best loss
    noise: float  # one standard deviation of a repeated run, a share of the best loss
    left: int | None  # legal configurations that were not run; None: too many to list


@dataclass(frozen=True, eq=False)
class NextRuns:
    """The runs worth making, the most useful first, and whether they are."""

    proposals: tuple[LoopProposal, ...]
    stop: StopFacts
    credit: Mapping[str, float] = field(default_factory=dict)  # share of the turns of each member
    history: bool | None = None  # whether the history is used; None: there is none, or no runs yet
