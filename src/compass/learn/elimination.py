"""The race of the families: who runs which rows, and who is left behind when.

On a large table all of them first learn a few thousand runs; then one fold of the
cross-validation, then the rest. Whoever is so far behind the leader that it cannot catch up is
stopped, so that time goes to those that may win.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from compass.execute import Executor, WorkerLost
from compass.learn.attempt import Late, Tested, Try, attempted
from compass.learn.folds import Course, Leg, Rows, leg_of, losses
from compass.model.base import Floats, family, growth
from compass.model.recipe import Recipe

Tell = Callable[[str, int, int], None]
_FEW = 4000  # rows of the first heat; a table that is not much larger skips it
_FIRST = 4.0  # times the best error in the first heat that ends a race: few rows say little


@dataclass
class Runner:
    """One way to make the model, and how it has done so far."""

    recipe: Recipe
    wanted: bool = False  # somebody named it: what goes wrong is told, not skipped
    checked: dict[int, Rows] = field(default_factory=dict)  # by fold: the rows it was asked for
    predicted: dict[int, Floats] = field(default_factory=dict)  # by fold: predictions of its rows
    errors: dict[int, float] = field(default_factory=dict)  # by fold
    losses: dict[int, Floats] = field(default_factory=dict)  # by fold: of each row
    took: list[float] = field(default_factory=list)  # processor seconds of each attempt
    early: float = np.inf  # error when it had learnt few rows
    provable: bool = False
    late: bool = False  # the clock took it out
    failed: bool = False
    status: str = "tried"
    reason: str = ""

    @property
    def slow(self) -> bool:
        """Whether trying it on both scales would take too long."""
        return bool(getattr(family(self.recipe.family), "slow", False)) and not self.wanted

    @property
    def running(self) -> bool:
        """Whether it may still win."""
        return self.status == "tried"

    @property
    def told(self) -> str:
        """Its name, with the scale."""
        return self.recipe.family + (" (log)" if self.recipe.log else "")

    @property
    def seconds(self) -> float:
        """Processor time of all attempts."""
        return sum(self.took)

    @property
    def error(self) -> float:
        """Mean error of the folds tried."""
        return self.error_of(self.errors)

    def error_of(self, parts: Iterable[int]) -> float:
        """Mean error of these folds; in their order, or the last bit would depend on threads."""
        known = [self.errors[part] for part in sorted(parts)]
        return float(np.mean(known)) if known else np.inf

    def stop(self, status: str, reason: str) -> None:
        """Take it out of the race."""
        self.status, self.reason = status, reason

    def out_of_time(self) -> None:
        """Take it out because the clock says so."""
        self.stop("skipped", "the time for comparing models was over")
        self.late = True

    def keep(self, parts: int) -> None:
        """Forget all but the first folds."""
        for known in (self.checked, self.predicted, self.errors, self.losses):
            for part in [part for part in known if part >= parts]:
                del known[part]


def by_error(runner: Runner) -> float:
    """What runners are ordered by."""
    return runner.error


@dataclass(frozen=True, eq=False)
class Track:
    """Where the race is run, and until when."""

    view: Course
    executor: Executor
    until: float

    @property
    def workers(self) -> int:
        """How many attempts run at once."""
        return self.executor.workers

    def run(self, runners: Iterable[Runner], legs: Sequence[Leg]) -> None:
        """Everybody runs these legs; the slow ones start first, so that nobody waits long."""
        ordered = sorted(runners, key=lambda r: -(r.took[-1] if r.took else 0.0))
        waiting = [(runner, leg) for runner in ordered for leg in legs]
        while waiting:
            waiting = self._without_the_lost(waiting)

    def _without_the_lost(self, waiting: list[tuple[Runner, Leg]]) -> list[tuple[Runner, Leg]]:
        """Runs these; what is left when a family has ended the workers that learnt it."""
        done = set()
        try:
            for place, ended in self.executor.map(
                partial(attempted, self.view), _Starts(waiting, self.until)
            ):
                done.add(place)
                self._finish(*waiting[place], ended)
        except WorkerLost as lost:
            runner = waiting[lost.position][0]
            if runner.wanted:
                raise
            runner.stop("skipped", f"failed: {lost.message}")
            runner.failed = True
            done.add(lost.position)
            return [pair for place, pair in enumerate(waiting) if place not in done]
        return []

    def _finish(self, runner: Runner, leg: Leg, ended: Tested | Late | str | None) -> None:
        if isinstance(ended, Late):
            if runner.running:
                runner.out_of_time()
        elif isinstance(ended, str):
            runner.stop("skipped", f"failed: {ended}")
            runner.failed = True
        elif ended is not None:
            runner.took.append(ended.seconds)
            runner.predicted[leg.part], runner.errors[leg.part] = ended.predicted, ended.error
            runner.checked[leg.part] = leg.check
            runner.losses[leg.part] = losses(self.view, ended.predicted, leg.check)
            runner.provable = ended.provable


class _Starts(Sequence[Try | None]):
    """The attempts as they are handed out; one that has become pointless is None."""

    def __init__(self, waiting: Sequence[tuple[Runner, Leg]], until: float) -> None:
        self.waiting = waiting
        self.until = until

    def __len__(self) -> int:
        return len(self.waiting)

    def __getitem__(self, place: Any) -> Any:
        runner, leg = self.waiting[place]
        if not runner.running:
            return None
        left = self.until - time.monotonic()
        if left < 0:
            runner.out_of_time()
            return None
        return Try(runner.recipe, leg, runner.wanted, time.time() + left)


def race(track: Track, runners: list[Runner], tell: Tell | None) -> None:
    """Let everybody run until all folds are done, the time is over, or they are left behind."""
    view = track.view
    if len(view.X) > 2 * _FEW:
        _heat(track, runners)
    legs = [leg_of(view, part) for part in range(view.parts)]
    _both_scales(track, runners, legs[0])
    judged = 0
    done = 1
    while True:
        # Judged fold by fold, however many were run at once: who is left behind must not depend
        # on the number of processors.
        for passed in range(judged + 1, min(done, view.parts - 1) + 1):
            patience = 1 + (view.settings.select.hopeless - 1) / passed
            _leave_behind(runners, patience, passed, f"after {passed} of {view.parts} folds")
        if done >= view.parts:
            return
        if tell is not None:
            tell("comparing models", done, view.parts)
        # As many folds at once as there are processors: whoever is slow keeps all of them busy.
        wave = legs[done : done + track.workers]
        track.run([r for r in runners if r.running], wave)
        judged, done = done, done + len(wave)


def _both_scales(track: Track, runners: list[Runner], leg: Leg) -> None:
    """A leg on both scales; slow families run last, and only on the scale of the leader."""
    track.run([r for r in runners if r.running and not r.slow], [leg])
    leader = min((r for r in runners if r.running and r.errors), key=by_error, default=None)
    for runner in (r for r in runners if r.running and r.slow):
        if leader is not None and runner.recipe.log != leader.recipe.log:
            runner.stop("stopped", f"{leader.told} learns the other scale better")
    track.run([r for r in runners if r.running and r.slow], [leg])
    _choose_scale(runners)


def _heat(track: Track, runners: list[Runner]) -> None:
    """Everybody learns the same few rows and predicts some others; the last are left behind."""
    view = track.view
    rng = np.random.default_rng(view.seed)
    leg = leg_of(view, 0)
    learn = np.sort(rng.choice(leg.learn, min(_FEW, len(leg.learn)), replace=False))
    check = np.sort(rng.choice(leg.check, min(_FEW, len(leg.check)), replace=False))
    _both_scales(track, runners, Leg(0, learn, check))
    left = max(track.until - time.monotonic(), 0.0) * track.workers
    for runner in (r for r in runners if r.running):
        needed = runner.took[-1] * growth(runner.recipe.family, len(learn), len(leg.learn))
        needed *= view.parts
        if needed > left:
            runner.stop("skipped", f"would take about {needed:.0f} s")
            runner.late = True
    _leave_behind(runners, _FIRST, 1, f"when {_FEW} rows are learnt")
    for runner in (r for r in runners if r.status != "stopped"):
        # What was learnt from few rows does not count, unless the time ends before more is known.
        runner.early = runner.error
        runner.keep(0)


def _choose_scale(runners: list[Runner]) -> None:
    """Of two scales of one family the better one goes on."""
    best: dict[str, Runner] = {}
    for runner in (r for r in runners if r.running):
        rival = best.get(runner.recipe.family)
        if rival is None or runner.error < rival.error:
            best[runner.recipe.family] = runner
    for runner in (r for r in runners if r.running):
        if best[runner.recipe.family] is not runner:
            winner = "the logarithm" if not runner.recipe.log else "the outcome as it is"
            runner.stop("stopped", f"learns {winner} better")


def _leave_behind(runners: list[Runner], times: float, parts: int, when: str) -> None:
    """Stop those whose error on the first folds is that many times the leader's, beyond chance."""
    first = range(parts)
    running = [r for r in runners if r.running]
    leader = min(running, key=lambda r: r.error_of(first), default=None)
    if leader is None:
        return
    best = leader.error_of(first)
    for runner in running:
        error = runner.error_of(first)
        if error > times * best and _surely_worse(runner, leader, parts):
            runner.stop("stopped", f"{error:.1%} against {best:.1%} of {leader.told} {when}")
            runner.keep(parts)


def _surely_worse(runner: Runner, leader: Runner, parts: int) -> bool:
    """Whether the rows that both predicted say so by three standard errors."""
    more = np.concatenate([runner.losses[p] - leader.losses[p] for p in range(parts)])
    return bool(more.mean() > 3 * more.std() / np.sqrt(len(more)))
