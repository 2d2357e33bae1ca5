"""The front of an experiment: the measured configurations that no other one dominates.

A configuration is worth the mean of its runs (of their logarithms where an outcome is above 0), and
counts where all of them meet the bounds. The volume after each run is that up to the same
reference, which is given or a tenth behind the front as it is now.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from compass.domain.experiment import ExperimentRun, LearningPoint, RunOrigin, RunState
from compass.domain.front import Direction, Front, FrontPoint, ReferenceFrom
from compass.experiment.history import is_own
from compass.experiment.objective import Objective
from compass.pareto.front import (
    alike,
    extent,
    knees,
    nondominated,
    reference_of,
    spread,
    unit_values,
)
from compass.pareto.hypervolume import hypervolume
from compass.pareto.improvement import Signs, loss_of, normal_of

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

_WIDTH = 1.645  # deviations of a 90 % interval
_EXACT = 3  # outcomes whose volume is worked out anew with every run; of more it is sampled
_POWER = 12  # of two: points of the box that the volume of more outcomes is sampled with


@dataclass(frozen=True, eq=False)
class MeasuredRuns:
    """The runs of an experiment that gave a result, by configuration; smaller is better."""

    objective: Objective
    runs: tuple[ExperimentRun, ...]  # all with a result; each in the order in which it was given
    values: Floats  # [n, k] as the normal distribution that outcomes are made of
    meets: NDArray[np.bool_]  # [n]
    log_sign: Signs  # [k]

    @classmethod
    def of(cls, objective: Objective, runs: Sequence[ExperimentRun]) -> "MeasuredRuns":
        """Those of them that are done, of the experiment's own kind."""
        fixed = objective.plan.fixed
        done = [run for run in runs if run.state is RunState.DONE and is_own(run, fixed)]
        found = objective.trade_offs(done)
        fine = np.flatnonzero(~found.failed)
        values = normal_of(found.losses[fine], found.log_sign)
        kept = tuple(done[i] for i in fine)
        return cls(objective, kept, values, found.meets[fine], found.log_sign)

    @cached_property
    def places(self) -> dict[str, list[int]]:
        """The positions of the runs of each configuration, by its key."""
        found: dict[str, list[int]] = {}
        for place, run in enumerate(self.runs):
            found.setdefault(run.key, []).append(place)
        return found

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The configurations that meet every bound in all their runs."""
        return tuple(key for key, own in self.places.items() if self.meets[own].all())

    @cached_property
    def means(self) -> Floats:
        """What these are worth, [u, k], turned so that smaller is better."""
        k = self.values.shape[1]
        means = [self.values[self.places[key]].mean(axis=0) for key in self.keys]
        return loss_of(np.array(means, dtype=np.float64).reshape(-1, k), self.log_sign)

    @cached_property
    def reference(self) -> Floats | None:
        """Up to where volume counts, [k]; None: no configuration meets the bounds yet."""
        given = self.objective.reference
        if not np.isnan(given).any():
            return given
        if not len(self.means):
            return None
        found = reference_of(self.means[nondominated(self.means)], self.means)
        return np.where(np.isnan(given), found, given)

    @cached_property
    def scatter(self) -> Floats:
        """One deviation of a single run [k], of the normal distribution; NaN: none was repeated."""
        away, free = np.zeros(self.values.shape[1]), 0
        for own in self.places.values():
            away += ((self.values[own] - self.values[own].mean(axis=0)) ** 2).sum(axis=0)
            free += len(own) - 1
        return np.sqrt(away / free) if free else np.full(len(away), np.nan)

    def intervals(self, key: str) -> tuple[Floats, Floats]:
        """The 90 % interval of the mean of a configuration, [k] each; without ends: unknown."""
        own = self.places[key]
        mean = self.values[own].mean(axis=0)
        half = np.where(np.isnan(self.scatter), np.inf, _WIDTH * self.scatter / np.sqrt(len(own)))
        return loss_of(mean - half, self.log_sign), loss_of(mean + half, self.log_sign)


def front_of_runs(objective: Objective, runs: Sequence[ExperimentRun]) -> Front | None:
    """The front of what was measured; None where no configuration meets the goals yet."""
    measured = MeasuredRuns.of(objective, runs)
    reference, values = measured.reference, measured.means
    if not len(values) or reference is None:
        return None
    on_front = np.flatnonzero(nondominated(values))
    on_front = on_front[np.lexsort(values[on_front].T[::-1])]
    best = values[on_front]
    names = list(objective.extremes)
    turn = np.array(list(objective.extremes.values()))
    directions: dict[str, Direction] = {
        name: "minimize" if sign > 0 else "maximize" for name, sign in objective.extremes.items()
    }
    volume = hypervolume(best, reference)
    ideal = best.min(axis=0)
    given = objective.plan.reference
    told = [ReferenceFrom.GIVEN if n in given else ReferenceFrom.MEASURED for n in names]
    return Front(
        directions=directions,
        reference=dict(zip(names, (turn * reference).tolist(), strict=True)),
        reference_from=dict(zip(names, told, strict=True)),
        hypervolume=volume.value,
        hypervolume_error=volume.error,
        hypervolume_found=volume.value,
        found=len(on_front),
        spread=spread(best, ideal, reference),
        extent=dict(zip(names, extent(best, ideal, reference).tolist(), strict=True)),
        points=_points(measured, on_front, names, turn),
    )


def _points(
    measured: MeasuredRuns, on_front: Places, names: list[str], turn: Floats
) -> tuple[FrontPoint, ...]:
    from compass.pareto.facts import against

    best = measured.means[on_front]
    bends = set(knees(best).tolist())
    keys = [measured.keys[place] for place in on_front]
    ends = [measured.intervals(key) for key in keys]
    low, high = (np.array([one[side] for one in ends]) for side in (0, 1))
    known = np.isfinite(low).all() and np.isfinite(high).all()
    # Without repeats it is not known how far runs scatter: nothing is said then.
    like = alike(low, high) if known else np.eye(len(keys), dtype=np.bool_)
    fixed = measured.objective.plan.fixed
    found = []
    for i, key in enumerate(keys):
        own = [measured.runs[place] for place in measured.places[key]]
        edges = np.sort(turn * np.array([low[i], high[i]]), axis=0).T
        intervals = {n: (float(a), float(b)) for n, (a, b) in zip(names, edges, strict=True)}
        found.append(
            FrontPoint(
                place=i,
                settings={n: v for n, v in own[0].config.items() if n not in fixed},
                values=dict(zip(names, (turn * best[i]).tolist(), strict=True)),
                measured=len(own),
                best_measured=True,
                knee=i in bends,
                runs=tuple(run.number for run in own),
                intervals=intervals if known else {},
                alike=tuple(int(j) for j in np.flatnonzero(like[i]) if j != i),
                against=against(names, turn, best[i], best),
            )
        )
    return tuple(found)


def balanced_run(front: Front, runs: Sequence[ExperimentRun]) -> ExperimentRun:
    """A run of the most balanced point.

    With every outcome from 0 (best of the front) to 1 (worst), its sum is the least.
    """
    turn = np.array([1.0 if way == "minimize" else -1.0 for way in front.directions.values()])
    values = turn * np.array([list(point.values.values()) for point in front.points])
    unit = unit_values(values, values.min(axis=0), values.max(axis=0))
    numbers = front.points[int(np.argmin(unit.sum(axis=1)))].runs
    return next(run for run in runs if run.number == numbers[0])


def volume_curve(objective: Objective, runs: Sequence[ExperimentRun]) -> tuple[LearningPoint, ...]:
    """The volume after each run that ended, in the order in which they ended."""
    made = [
        run
        for run in runs
        if run.origin is not RunOrigin.HISTORY and run.state in (RunState.DONE, RunState.FAILED)
    ]
    made.sort(key=lambda run: (run.ended_at or run.suggested_at, run.number))
    past = [run for run in runs if run.origin is RunOrigin.HISTORY]
    measured = MeasuredRuns.of(objective, [*past, *made])
    place_of = {run.number: place for place, run in enumerate(measured.runs)}
    volumes = None if measured.reference is None else _Volumes(measured, measured.reference)
    for run in past:
        if volumes is not None and run.number in place_of:
            volumes.add(place_of[run.number])
    points = []
    for count, run in enumerate(made, 1):
        before = 0.0 if volumes is None else volumes.value
        if volumes is not None and run.number in place_of:
            volumes.add(place_of[run.number])
        now = 0.0 if volumes is None else volumes.value
        points.append(
            LearningPoint(
                runs=count,
                number=run.number,
                best=now or None,
                measured=None,
                failed=run.state is RunState.FAILED,
                better=now > before,
            )
        )
    return tuple(points)


class _Volumes:
    """The dominated volume as runs come in: exact up to three outcomes, else sampled.

    Means move as configurations are run once more, so the volume may get smaller again.
    """

    def __init__(self, measured: MeasuredRuns, reference: Floats) -> None:
        self.value = 0.0
        self._measured, self._reference = measured, reference
        self._own: dict[str, list[int]] = {}
        self._worth: dict[str, Floats] = {}  # of configurations that meet every bound so far
        self._front: set[str] = set()
        self._box: Floats | None = None
        if len(reference) > _EXACT:
            from scipy.stats import qmc

            low = np.minimum(measured.means.min(axis=0), reference)
            rng = np.random.default_rng(0)
            drawn = qmc.Sobol(len(reference), scramble=True, rng=rng).random_base2(_POWER)
            self._box = low + drawn * (reference - low)
            self._size = float(np.prod(reference - low)) / len(drawn)
            self._covered = np.zeros(len(drawn), dtype=np.int64)

    def add(self, place: int) -> None:
        """Take in a run with a result."""
        measured = self._measured
        key = measured.runs[place].key
        own = self._own.setdefault(key, [])
        own.append(place)
        before = self._worth.pop(key, None)
        now = None
        if measured.meets[own].all():
            mean = measured.values[own].mean(axis=0)
            now = self._worth[key] = loss_of(mean, measured.log_sign)
        if self._box is not None:
            for worth, sign in ((before, -1), (now, 1)):
                if worth is not None:
                    self._covered += sign * (worth <= self._box).all(axis=1)
            self.value = self._size * int((self._covered > 0).sum())
        elif key in self._front or (now is not None and not self._dominated(now)):
            self._work_out()

    def _dominated(self, worth: Floats) -> bool:
        return any((self._worth[key] <= worth).all() for key in self._front if key in self._worth)

    def _work_out(self) -> None:
        keys = list(self._worth)
        values = np.array(list(self._worth.values())).reshape(-1, len(self._reference))
        self._front = {keys[place] for place in np.flatnonzero(nondominated(values))}
        self.value = hypervolume(values, self._reference).value
