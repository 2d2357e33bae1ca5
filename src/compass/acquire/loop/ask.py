"""One question for runs, and what follows from it: candidates, outcomes, chances of failure."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from compass.acquire.loop import forest
from compass.acquire.loop.inputs import Points
from compass.acquire.loop.mixture import Bound
from compass.acquire.loop.outcomes import Outcomes
from compass.acquire.loop.pool import distinct
from compass.acquire.loop.problem import History, LoopProblem, Seen
from compass.acquire.loop.transfer import Reference

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Places = NDArray[np.int64]

LATEST = 2000  # runs that failures are learnt from
_NEVER = 1e-6  # the least probability of success that is reckoned with


@dataclass(frozen=True, eq=False)
class Ask:
    """What may be chosen, what was run, and what is being run."""

    problem: LoopProblem
    seen: Seen
    pending: Floats  # [k, d]
    positive: bool
    history: History | None = None
    bounds: tuple[Bound, ...] = ()  # what was learnt of the conditions

    @cached_property
    def reference(self) -> Reference | None:
        """What was learnt from the history; None: there is none."""
        history, problem = self.history, self.problem
        if history is None or not problem.settings.transfer or not np.isfinite(history.loss).any():
            return None
        key = (problem.seed, self.positive)
        if key not in history.learnt:
            history.learnt[key] = Reference.of(
                history.X, history.loss, problem.inputs, positive=self.positive, seed=problem.seed
            )
        return history.learnt[key]

    @cached_property
    def there(self) -> Floats | None:
        """What is expected of the candidates [m] where the history was made."""
        return None if self.reference is None else self.reference(self.points.Z)

    @cached_property
    def rng(self) -> np.random.Generator:
        """The same draws whenever as much was run and is pending."""
        return np.random.default_rng([self.problem.seed, len(self.made)])

    @cached_property
    def made(self) -> Floats:
        """Everything that was run or is being run, [n + k, d]."""
        return np.concatenate([self.seen.X, self.pending])

    @cached_property
    def swept(self) -> bool:
        """Whether the space is so small that everything is tried."""
        pool = self.problem.pool
        return pool.complete and len(pool.X) <= self.problem.settings.sweep

    @cached_property
    def outcomes(self) -> Outcomes:
        """What was learnt from runs that succeeded."""
        return self._outcomes(soften=False)

    @cached_property
    def softened(self) -> Outcomes:
        """The same with less between those above the median."""
        return self._outcomes(soften=True)

    def _outcomes(self, *, soften: bool) -> Outcomes:
        fine = ~self.seen.failed
        X, loss = self.seen.X[fine], self.seen.loss[fine]
        meets = self.seen.meets[fine]
        return Outcomes.of(X, loss, positive=self.positive, soften=soften, meets=meets)

    @cached_property
    def left(self) -> int | None:
        """Legal configurations that were not run; None: too many to list."""
        return int(self._open.sum()) if self.problem.pool.complete else None

    @cached_property
    def candidates(self) -> Floats:
        """Legal configurations [m, d] that were not run and are not pending."""
        return self.problem.pool.X[self._places] if self.problem.pool.complete else self._drawn

    @cached_property
    def points(self) -> Points:
        """The candidates as models see them."""
        if self.problem.pool.complete:
            return self.problem.pool_points.take(self._places)
        return self.problem.inputs(self.candidates)

    @cached_property
    def _open(self) -> Bools:
        pool = self.problem.pool
        open_ = np.ones(len(pool.X), dtype=np.bool_)
        found = pool.find(self.made)
        open_[found[found >= 0]] = False
        return open_

    @cached_property
    def _best(self) -> Floats:
        """The best runs, [parents, d]."""
        order = np.lexsort((self.outcomes.y, ~self.outcomes.meets))
        return self.outcomes.X[order[: self.problem.settings.parents]]

    @cached_property
    def _places(self) -> Places:
        """Positions in a complete pool: all that is open, or neighbours of the best and draws."""
        settings, pool = self.problem.settings, self.problem.pool
        places = np.flatnonzero(self._open)
        if len(places) <= settings.scored:
            return places
        some = np.zeros(len(pool.X), dtype=np.bool_)
        some[self.rng.choice(places, settings.scored, replace=False, shuffle=False)] = True
        near = [pool.neighbour_places(x) for x in self._best]
        if self.reference is not None:
            near.append(pool.find(self.reference.X))
        for own in near:
            some[own[own >= 0]] = True
        return np.flatnonzero(some & self._open)

    @cached_property
    def _drawn(self) -> Floats:
        """Neighbours of the best runs, and configurations from anywhere."""
        pool, settings = self.problem.pool, self.problem.settings
        near = [pool.neighbours(x, self.rng) for x in self._best]
        if self.reference is not None:
            near.append(self.reference.X[pool.legal(self.reference.X)])
        X = distinct(np.concatenate([*near, pool.draws(settings.drawn, self.rng)])) + 0.0
        tried = {row.tobytes() for row in self.made + 0.0}
        return np.asarray(X[[row.tobytes() not in tried for row in X]])

    @cached_property
    def seen_points(self) -> Points:
        """The runs that were made, as models see them."""
        return self.problem.inputs(self.seen.X)

    @cached_property
    def failing(self) -> Floats:
        """The probability [m] that each candidate fails, as similar runs did."""
        failed = self.seen.failed
        if not failed.any() or not self.problem.settings.failures:
            return np.zeros(len(self.candidates))
        Z, failed = self.seen_points.Z[-LATEST:], failed[-LATEST:]
        grown = forest.grown(
            Z, failed.astype(float), self.problem.settings.trees, self.problem.seed
        )
        found = forest.beliefs(grown, self.points.Z)[0]
        if failed.all():  # nothing tells yet where runs succeed
            return np.full(len(found), float(len(failed) / (len(failed) + 1)))
        return found

    def log_within(self, points: Points) -> Floats:
        """The logarithm of the probability [k] that runs of points meet every condition."""
        found = np.zeros(len(points))
        for one in self.bounds:
            found = found + one.log_within(points)
        return found

    @cached_property
    def log_meets(self) -> Floats:
        """The same of each candidate, [m]."""
        return self.log_within(self.points)

    @cached_property
    def log_success(self) -> Floats:
        """The logarithm of the probability [m] that each succeeds and meets every condition."""
        return np.log(np.maximum(1.0 - self.failing, _NEVER)) + self.log_meets
