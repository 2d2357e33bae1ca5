"""What chooses the runs of several outcomes: it says which candidates extend the front.

Everything is minimised. What may be run is listed before (legal, not run, not pending); an
acquisition picks positions of that list, so that it cannot propose anything else, and what it picks
is checked to be different (`compass.pareto.next_runs`).

Decision 0072 (docs/decisions).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from compass import registry
from compass.acquire.loop import Condition, LoopProblem
from compass.domain.errors import BadInput
from compass.pareto.front import nondominated, reference_of
from compass.pareto.hypervolume import hypervolume
from compass.pareto.improvement import Signs, loss_of, normal_of

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Places = NDArray[np.int64]

USUAL = "expected-volume"


@dataclass(frozen=True, eq=False)
class SeenRuns:
    """The runs that were made, in the order in which they ended."""

    X: Floats  # [n, d]
    losses: Floats  # [n, k] to be minimised; NaN where the run failed
    failed: Bools  # [n]
    conditions: tuple[Condition, ...] = ()
    # [k] of each outcome the half-widths by which earlier predictions were off; (): none was made
    told: tuple[Floats, ...] = ()

    def __post_init__(self) -> None:
        if not len(self.X) == len(self.losses) == len(self.failed):
            raise BadInput(
                "the runs that were made have arrays of different lengths",
                hint="give X, losses and failed of every run",
            )
        told = np.column_stack([self.losses, *(one.values for one in self.conditions)])
        if not np.isfinite(told[~self.failed]).all():
            raise BadInput(
                "a run that did not fail lacks an outcome",
                hint="mark it as failed, or leave it out",
            )

    @cached_property
    def fine(self) -> Places:
        """The runs that succeeded."""
        return np.flatnonzero(~self.failed)

    def means(self, log_sign: Signs) -> tuple[Floats, Floats]:
        """Configurations that meet the conditions in all their runs [u, d], and their means [u, k].

        The mean is that of the logarithms where these are learnt.
        """
        X, losses = self.X[self.fine], self.losses[self.fine]
        own, of_run = np.unique(X, axis=0, return_inverse=True)
        of_run = of_run.ravel()
        runs = np.bincount(of_run, minlength=len(own))
        normal = normal_of(losses, log_sign)
        sums = [np.bincount(of_run, column, minlength=len(own)) for column in normal.T]
        meets = np.ones(len(own), dtype=np.bool_)
        for condition in self.conditions:
            meets[of_run[~condition.holds[self.fine]]] = False
        means = loss_of(np.column_stack(sums) / runs[:, None], log_sign)
        return own[meets], means[meets]


@dataclass(frozen=True, eq=False)
class FrontRequest:
    """What may be run, and what is known of it."""

    problem: LoopProblem
    seen: SeenRuns
    pending: Floats  # [p, d] runs that are being made already
    candidates: Floats  # [m, d] legal, not run, not pending
    count: int  # runs that can be made together
    front: Floats  # [u, k] what was measured of configurations that meet the conditions
    reference: Floats  # [k] up to where that counts
    given: Floats | None  # [k] the reference that was given; NaN where none was
    log_sign: Signs  # [k] what each outcome is learnt as (`compass.pareto.improvement`)

    def reach(self, predicted: Floats) -> tuple[Floats, float]:
        """The reference of what was measured and is predicted [m, k], and the volume up to it.

        What lies behind the reference of what was measured alone would never be tried.
        """
        both = np.concatenate([self.front, predicted[np.isfinite(predicted).all(axis=1)]])
        wide = np.maximum(reference_for(both, both, self.given), self.reference)
        if self.given is not None:
            wide = np.where(np.isnan(self.given), wide, self.given)
        return wide, hypervolume(self.front, wide).value if len(self.front) else 0.0


@dataclass(frozen=True, eq=False)
class FrontChoice:
    """A candidate that is worth a run. Means and intervals are in the units of the losses."""

    place: int  # of the candidates
    mean: Floats  # [k]
    low: Floats  # [k]
    high: Floats  # [k]
    failure: float  # the probability that it fails
    meets: float  # the probability that it meets the conditions
    gain: float  # volume that it is expected to add, a share of that so far; NaN: there is none
    # [k] by how much the intervals were widened (`compass.acquire.loop.calibration`)
    widening: Floats | None = None


@runtime_checkable
class FrontAcquisition(Protocol):
    """A way to choose runs of several outcomes.

    Register the class: `@registry.add("front_acquisition", "name")`. It takes no arguments.
    """

    name: str
    models: str  # how what it predicts with is called

    @staticmethod
    def prepare() -> None:
        """Raise EnvironmentProblem where something that it needs is not installed."""

    def choose(self, request: FrontRequest) -> tuple[FrontChoice, ...]:
        """Up to `request.count` different candidates, the most useful first."""


def front_acquisition(name: str) -> FrontAcquisition:
    """The acquisition of that name, ready to use; an unknown name offers the nearest one."""
    found = cast(FrontAcquisition, registry.get("front_acquisition", name)())
    found.prepare()
    return found


def reference_for(Y: Floats, every: Floats, given: Floats | None) -> Floats:
    """Up to where volume counts: of what meets the conditions, else of all that was measured."""
    known = Y if len(Y) else every
    found = np.full(every.shape[1], np.nan)
    if len(known):
        found = reference_of(known[nondominated(known)], known)
    return found if given is None else np.where(np.isnan(given), found, given)
