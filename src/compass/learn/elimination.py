"""Successive elimination of recipes: which are trained on which rows, and which are stopped when.

On a large table the first rung trains all of them on a few thousand rows; the next is one fold of
the cross-validation, then come the other folds. A recipe that is so much worse than the best one
that it cannot win is stopped, so that time goes to those that may.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from compass.execute import Executor, WorkerLost
from compass.learn.folds import Attempt, CrossValidation, Fold, FoldResult, TooLate, run_attempt
from compass.learn.training import Rows
from compass.model.base import Floats, family, growth
from compass.model.recipe import Recipe

Progress = Callable[[str, int, int], None]
_FEW = 4000  # rows of the first rung; a table that is not much larger skips it
_FIRST = 4.0  # times the best error that ends a recipe on the first rung: few rows say little


@dataclass
class ComparedRecipe:
    """A recipe under comparison, and its results so far."""

    recipe: Recipe
    required: bool = False  # somebody named it: what goes wrong is raised, not skipped
    valid: dict[int, Rows] = field(default_factory=dict)  # by fold: the rows it predicted
    predicted: dict[int, Floats] = field(default_factory=dict)  # by fold: predictions of its rows
    errors: dict[int, float] = field(default_factory=dict)  # by fold
    losses: dict[int, Floats] = field(default_factory=dict)  # by fold: of each row
    times: list[float] = field(default_factory=list)  # processor seconds of each attempt
    early_error: float = np.inf  # on the first rung, of few rows
    provable: bool = False
    late: bool = False  # the time limit stopped it
    failed: bool = False
    status: str = "tried"
    reason: str = ""

    @property
    def slow(self) -> bool:
        """Whether trying it on both scales would take too long."""
        return family(self.recipe.family).slow and not self.required

    @property
    def running(self) -> bool:
        """Whether it may still win."""
        return self.status == "tried"

    @property
    def label(self) -> str:
        """Its name, with the scale."""
        return self.recipe.family + (" (log)" if self.recipe.log else "")

    @property
    def seconds(self) -> float:
        """Processor time of all attempts."""
        return sum(self.times)

    @property
    def error(self) -> float:
        """Mean error of the folds tried."""
        return self.error_of(self.errors)

    def error_of(self, numbers: Iterable[int]) -> float:
        """Mean error of these folds; in their order, or the last bit would depend on threads."""
        known = [self.errors[number] for number in sorted(numbers)]
        return float(np.mean(known)) if known else np.inf

    def stop(self, status: str, reason: str) -> None:
        """End its evaluation."""
        self.status, self.reason = status, reason

    def stop_late(self) -> None:
        """End its evaluation because the time is over."""
        self.stop("skipped", "the time for comparing models was over")
        self.late = True

    def keep(self, count: int) -> None:
        """Forget all but the first folds."""
        for known in (self.valid, self.predicted, self.errors, self.losses):
            for number in [number for number in known if number >= count]:
                del known[number]


def by_error(compared: ComparedRecipe) -> float:
    """What compared recipes are ordered by."""
    return compared.error


@dataclass(frozen=True, eq=False)
class Evaluator:
    """Evaluates recipes on folds by an executor, until a time limit."""

    cv: CrossValidation
    executor: Executor
    until: float  # time.monotonic()

    @property
    def workers(self) -> int:
        """How many attempts run at once."""
        return self.executor.workers

    def run(self, recipes: Iterable[ComparedRecipe], folds: Sequence[Fold]) -> None:
        """Evaluate recipes on folds; the slow ones start first, so that no worker waits long."""
        ordered = sorted(recipes, key=lambda r: -(r.times[-1] if r.times else 0.0))
        waiting = [(compared, fold) for compared in ordered for fold in folds]
        while waiting:
            waiting = self._run(waiting)

    def _run(self, waiting: list[tuple[ComparedRecipe, Fold]]) -> list[tuple[ComparedRecipe, Fold]]:
        """Evaluate these; returns what is left after a recipe has killed its worker."""
        done = set()
        try:
            for place, result in self.executor.map(
                partial(run_attempt, self.cv), _Attempts(waiting, self.until)
            ):
                done.add(place)
                self._record(*waiting[place], result)
        except WorkerLost as lost:
            compared = waiting[lost.position][0]
            if compared.required:
                raise
            compared.stop("skipped", f"failed: {lost.message}")
            compared.failed = True
            done.add(lost.position)
            return [pair for place, pair in enumerate(waiting) if place not in done]
        return []

    def _record(
        self, compared: ComparedRecipe, fold: Fold, result: FoldResult | TooLate | str | None
    ) -> None:
        if isinstance(result, TooLate):
            if compared.running:
                compared.stop_late()
        elif isinstance(result, str):
            compared.stop("skipped", f"failed: {result}")
            compared.failed = True
        elif result is not None:
            number = fold.number
            compared.times.append(result.seconds)
            compared.predicted[number], compared.errors[number] = result.predicted, result.error
            compared.valid[number] = fold.valid
            compared.losses[number] = self.cv.losses(result.predicted, fold.valid)
            compared.provable = result.provable


class _Attempts(Sequence[Attempt | None]):
    """The attempts as they are handed out; one that has become pointless is None."""

    def __init__(self, waiting: Sequence[tuple[ComparedRecipe, Fold]], until: float) -> None:
        self.waiting = waiting
        self.until = until

    def __len__(self) -> int:
        return len(self.waiting)

    def __getitem__(self, place: Any) -> Any:
        compared, fold = self.waiting[place]
        if not compared.running:
            return None
        left = self.until - time.monotonic()
        if left < 0:
            compared.stop_late()
            return None
        return Attempt(compared.recipe, fold, compared.required, time.time() + left)


def eliminate(
    evaluator: Evaluator, recipes: list[ComparedRecipe], progress: Progress | None
) -> None:
    """Evaluate recipes until all folds are done, the time is over, or one recipe is left."""
    cv = evaluator.cv
    if len(cv.data.X) > 2 * _FEW:
        _first_rung(evaluator, recipes)
    folds = [cv.fold(number) for number in range(cv.count)]
    _both_scales(evaluator, recipes, folds[0])
    judged = 0
    done = 1
    while True:
        # Judged fold by fold, however many were run at once: which recipes are stopped must not
        # depend on the number of processors.
        for passed in range(judged + 1, min(done, cv.count - 1) + 1):
            patience = 1 + (cv.settings.select.hopeless - 1) / passed
            _stop_worse(recipes, patience, passed, f"after {passed} of {cv.count} folds")
        if done >= cv.count:
            return
        if progress is not None:
            progress("comparing models", done, cv.count)
        # As many folds at once as there are processors: a slow recipe keeps all of them busy.
        wave = folds[done : done + evaluator.workers]
        evaluator.run([r for r in recipes if r.running], wave)
        judged, done = done, done + len(wave)


def _both_scales(evaluator: Evaluator, recipes: list[ComparedRecipe], fold: Fold) -> None:
    """A fold on both scales; slow families come last, and only on the scale of the best one."""
    evaluator.run([r for r in recipes if r.running and not r.slow], [fold])
    best = min((r for r in recipes if r.running and r.errors), key=by_error, default=None)
    for slow in (r for r in recipes if r.running and r.slow):
        if best is not None and slow.recipe.log != best.recipe.log:
            slow.stop("stopped", f"{best.label} learns the other scale better")
    evaluator.run([r for r in recipes if r.running and r.slow], [fold])
    _choose_scale(recipes)


def _first_rung(evaluator: Evaluator, recipes: list[ComparedRecipe]) -> None:
    """Train all on the same few rows and predict some others; stop the worst and the slowest."""
    cv = evaluator.cv
    rng = np.random.default_rng(cv.data.seed)
    fold = cv.fold(0)
    train = np.sort(rng.choice(fold.train, min(_FEW, len(fold.train)), replace=False))
    valid = np.sort(rng.choice(fold.valid, min(_FEW, len(fold.valid)), replace=False))
    _both_scales(evaluator, recipes, Fold(0, train, valid))
    left = max(evaluator.until - time.monotonic(), 0.0) * evaluator.workers
    for compared in (r for r in recipes if r.running):
        needed = compared.times[-1] * growth(compared.recipe.family, len(train), len(fold.train))
        needed *= cv.count
        if needed > left:
            compared.stop("skipped", f"would take about {needed:.0f} s")
            compared.late = True
    _stop_worse(recipes, _FIRST, 1, f"when {_FEW} rows are learnt")
    for compared in (r for r in recipes if r.status != "stopped"):
        # What was learnt from few rows does not count, unless the time ends before more is known.
        compared.early_error = compared.error
        compared.keep(0)


def _choose_scale(recipes: list[ComparedRecipe]) -> None:
    """Of two scales of one family the better one goes on."""
    best: dict[str, ComparedRecipe] = {}
    for compared in (r for r in recipes if r.running):
        rival = best.get(compared.recipe.family)
        if rival is None or compared.error < rival.error:
            best[compared.recipe.family] = compared
    for compared in (r for r in recipes if r.running):
        if best[compared.recipe.family] is not compared:
            winner = "the logarithm" if not compared.recipe.log else "the outcome as it is"
            compared.stop("stopped", f"learns {winner} better")


def _stop_worse(recipes: list[ComparedRecipe], times: float, count: int, when: str) -> None:
    """Stop those whose error on the first folds is that many times the best, beyond chance."""
    first = range(count)
    running = [r for r in recipes if r.running]
    best = min(running, key=lambda r: r.error_of(first), default=None)
    if best is None:
        return
    least = best.error_of(first)
    for compared in running:
        error = compared.error_of(first)
        if error > times * least and _surely_worse(compared, best, count):
            compared.stop("stopped", f"{error:.1%} against {least:.1%} of {best.label} {when}")
            compared.keep(count)


def _surely_worse(compared: ComparedRecipe, best: ComparedRecipe, count: int) -> bool:
    """Whether the rows that both predicted say so by three standard errors."""
    more = np.concatenate([compared.losses[p] - best.losses[p] for p in range(count)])
    return bool(more.mean() > 3 * more.std() / np.sqrt(len(more)))
