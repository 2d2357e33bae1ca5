"""Is this application like those seen, and is this machine like those benchmarked?"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from compass.domain.doubt import Doubt, DoubtCode
from compass.domain.label import Label
from compass.platforms.intervals import ABSTAIN_ABOVE
from compass.platforms.pairs import Floats, MatchedRuns
from compass.platforms.predictor import PlatformModel

_NEAREST = 5  # lines
_FAR = 2.0  # beyond the strangest application seen by this factor: like none of them
_FEW = 3  # applications on a machine
_DECISIVE = {DoubtCode.UNSEEN_VALUE, DoubtCode.LARGE_ERROR, DoubtCode.OUTSIDE_PAST_RUNS}


@dataclass(frozen=True, eq=False)
class Support:
    """The profiles that were learnt from, to compare others with."""

    model: PlatformModel

    @cached_property
    def view(self) -> str:
        """The view in which profiles are compared: ratios, where the members have such a view."""
        views = self.model.learner.scalings
        return "physical" if "physical" in views else next(iter(views))

    @cached_property
    def profiles(self) -> Floats:
        """The profiles of the lines learnt from, [n, d]."""
        return self._scaled(self.model.lines)

    @cached_property
    def usual(self) -> Floats:
        """How far each application is from the others, sorted, [a]."""
        names = self.model.lines.applications
        far = []
        for application in np.unique(names):
            own = names == application
            found = distances(self.profiles[own], self.profiles[~own])
            far.append(float(np.median(_nearest(found))))
        return np.sort(far)

    def distance(self, runs: MatchedRuns) -> Floats:
        """Distance of each line to the nearest lines learnt from, [k]."""
        return _nearest(distances(self._scaled(runs), self.profiles))

    def nearest(self, runs: MatchedRuns, line: int, count: int) -> list[tuple[int, float]]:
        """The lines learnt from that are most like this one, with their distance."""
        found = distances(self._scaled(runs.some(np.array([line]))), self.profiles)[0]
        order = np.argsort(found, kind="stable")[:count]
        return [(int(at), float(found[at])) for at in order]

    def within(self, runs: MatchedRuns, line: int, machine: int, distance: float) -> int:
        """How many lines within this distance were run on a machine."""
        found = distances(self._scaled(runs.some(np.array([line]))), self.profiles)[0]
        ran = np.isfinite(self.model.lines.log_runtime[:, machine])
        return int(((found <= distance) & ran).sum())

    def stranger_than(self, distance: float) -> float:
        """The share of applications that are nearer to the others than this."""
        return float(np.searchsorted(self.usual, distance) / len(self.usual))

    def applications_on(self, machine: int) -> int:
        """How many applications were run on the source and on this machine."""
        ran = np.isfinite(self.model.lines.log_runtime[:, machine])
        return len(set(self.model.lines.applications[ran].tolist()))

    def doubt(self, distance: float, machine: int, factor: float) -> tuple[Doubt, str] | None:
        """What speaks most against the ratio of a line on a machine, and why; None: nothing."""
        seen, name = self.applications_on(machine), self.model.machines[machine]
        if seen == 0:
            unseen = Doubt(code=DoubtCode.UNSEEN_VALUE, value=0.0)
            return unseen, f"no application is known on {name}: run one there"
        if not factor <= ABSTAIN_ABOVE:
            wide = Doubt(code=DoubtCode.LARGE_ERROR, value=factor, limit=ABSTAIN_ABOVE)
            return wide, f"known to no better than a factor of {factor:.1f}: run it once on {name}"
        stranger = self.stranger_than(distance)
        if distance > _FAR * self.usual[-1]:
            odd = Doubt(code=DoubtCode.OUTSIDE_PAST_RUNS, value=stranger, limit=1.0)
            return odd, "its profile is like none of the applications learnt from"
        if stranger >= 1.0:
            far = Doubt(code=DoubtCode.FAR_FROM_PAST_RUNS, value=stranger, limit=1.0)
            many = len(self.usual)
            return far, f"its profile is stranger than those of all {many} applications known"
        if seen < _FEW:
            few = Doubt(code=DoubtCode.NO_RUN_NEAR, value=float(seen), limit=float(_FEW))
            many_known = "application" if seen == 1 else "applications"
            return few, f"only {seen} {many_known} known on {name}"
        return None

    def judged(self, distance: float, machine: int, factor: float) -> tuple[Label, str]:
        """How far the ratio of a line on a machine can be relied on, and why."""
        found = self.doubt(distance, machine, factor)
        if found is not None:
            doubt, why = found
            return (Label.UNSUPPORTED if doubt.code in _DECISIVE else Label.CAUTION), why
        seen, name = self.applications_on(machine), self.model.machines[machine]
        stranger = self.stranger_than(distance)
        return Label.TRUSTED, (
            f"{seen} applications known on {name}; "
            f"{100 * stranger:.0f} % of them have a more usual profile"
        )

    def _scaled(self, runs: MatchedRuns) -> Floats:
        return self.model.learner.scalings[self.view].apply(self.model.views(runs)[self.view])


def distances(A: Floats, B: Floats) -> Floats:
    """Root mean squared difference of the rows of A [n, d] and B [k, d], [n, k]."""
    squared = (A**2).sum(axis=1)[:, None] + (B**2).sum(axis=1) - 2 * A @ B.T
    return np.asarray(np.sqrt(np.maximum(squared, 0.0) / max(A.shape[1], 1)))


def _nearest(found: Floats) -> Floats:
    count = min(_NEAREST, found.shape[1])
    return np.asarray(np.sort(found, axis=1)[:, :count].mean(axis=1))
