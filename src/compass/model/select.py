"""Which family of models learns an outcome best: measured, within a time limit, and told.

Families race. On a large table all of them first learn a few thousand runs; then one fold of the
cross-validation, then the rest. Whoever is so far behind the leader that it cannot catch up is
stopped, so that time goes to those that may win. Which rows are where, and who is stopped, depends
on the data and the seed only; the clock merely ends a search that takes too long, and says so.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from compass import registry
from compass.domain.answer import FamilyScore
from compass.domain.errors import CompassError, DataProblem
from compass.domain.space import Space
from compass.model.alone import one_thread
from compass.model.base import Floats, Task, family, obstacle
from compass.model.kernel import cores
from compass.model.recipe import Recipe, provable
from compass.model.score import Score, interval, named, row_errors, small
from compass.prepare.split import folds
from compass.settings import Settings

AUTO = "auto"
Rows = NDArray[np.int64]
Tell = Callable[[str, int, int], None]
_FEW = 4000  # rows of the first heat; a table that is not much larger skips it
_FIRST = 2.0  # times the best error in the first heat that ends a race: few rows say little
_SKEWED = 2.0  # largest over smallest value from which a logarithm can make a difference
_DOUBT = 0.05  # largest lead, as a share of the error, that chance may explain


@dataclass(frozen=True, eq=False)
class Course:
    """What is learnt, and from which rows."""

    X: Floats  # [n, d] training rows only
    y: Floats  # [n]
    task: Task
    weight: Floats | None
    groups: NDArray[np.generic]  # [n] rows of one group are on one side of every fold
    part: NDArray[np.int64]  # [n] the fold that a row is checked in
    seed: int
    settings: Settings
    features: Space | None = None

    @property
    def parts(self) -> int:
        """How many folds there are."""
        return int(self.part.max()) + 1 if len(self.part) else 0

    @property
    def scale(self) -> float:
        """The size below which an outcome counts as zero."""
        return small(self.y) if self.task.classes is None else 0.0


@dataclass
class Runner:
    """One way to make the model, and how it has done so far."""

    recipe: Recipe
    wanted: bool = False  # somebody named it: what goes wrong is told, not skipped
    predicted: dict[int, Floats] = field(default_factory=dict)  # by fold: predictions of its rows
    errors: dict[int, float] = field(default_factory=dict)  # by fold
    losses: dict[int, Floats] = field(default_factory=dict)  # by fold: of each row
    seconds: float = 0.0
    heat: float | None = None  # seconds of the last attempt
    provable: bool = False
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
    def error(self) -> float:
        """Mean error of the folds tried."""
        return float(np.mean(list(self.errors.values()))) if self.errors else np.inf

    def stop(self, status: str, reason: str) -> None:
        """Take it out of the race."""
        self.status, self.reason = status, reason

    def forget(self) -> None:
        """Begin anew: what was learnt from few rows does not count."""
        if self.running:
            self.errors.clear()
            self.losses.clear()
            self.predicted.clear()


@dataclass(frozen=True)
class Selected:
    """The recipe that won and how all others did."""

    recipe: Recipe
    scores: tuple[FamilyScore, ...]
    notes: tuple[str, ...] = ()


def course(
    X: Floats,
    y: Floats,
    task: Task,
    *,
    groups: NDArray[np.generic],
    weight: Floats | None,
    seed: int,
    settings: Settings,
    features: Space | None = None,
) -> Course:
    """The rows of a race; `groups` [n] are kept on one side of every fold."""
    part = folds(groups, settings.select.folds, seed)
    return Course(X, y, task, weight, groups, part, seed, settings, features)


def select(
    here: Course, *, families: Sequence[str] | None = None, tell: Tell | None = None
) -> Selected:
    """The recipe with the lowest cross-validated error; ties go to models that can be proved over.

    `families`: only these; otherwise every family that is known.
    """
    until = time.monotonic() + here.settings.select.seconds
    runners, skipped = _entered(here, families)
    if not runners:
        raise DataProblem(
            "no family of models can learn this table: " + "; ".join(s.reason for s in skipped),
            hint="name one that should be tried anyway: surrogate='forest'",
        )
    if here.parts < 2:
        first = runners[0]
        why = "too few configurations to compare models: the first one was taken"
        return Selected(first.recipe, (), (why,))
    with one_thread(), ThreadPoolExecutor(max_workers=here.settings.threads or cores()) as pool:
        _race(_Track(here, pool, until), runners, tell)
    return _result(here, runners, skipped)


def log_is_a_question(here: Course) -> bool:
    """Whether the logarithm of the outcome may be easier to learn than the outcome."""
    y = here.y
    return here.task.classes is None and bool(y.min() > 0) and y.max() > _SKEWED * y.min()


def cross_validate(here: Course, recipe: Recipe, part: int) -> tuple[Floats, float, bool]:
    """Predictions of the rows of one fold by a model of the others, its error, and if provable."""
    leg = _leg_of(here, part)
    return _attempt(here, recipe, leg.learn, leg.check)


def _entered(
    here: Course, families: Sequence[str] | None
) -> tuple[list[Runner], list[FamilyScore]]:
    scales = (False, True) if log_is_a_question(here) else (False,)
    runners, skipped = [], []
    learnt = int(len(here.X) * (1 - 1 / max(here.parts, 2)))
    for name in families or known():
        why = obstacle(family(name), learnt, here.X.shape[1], here.task) if not families else None
        if why is not None:
            skipped.append(FamilyScore(family=name, status="skipped", reason=why))
            continue
        runners += [Runner(Recipe(family=name, log=log), bool(families)) for log in scales]
    return runners, skipped


def known() -> list[str]:
    """The families that take part unless others are named."""
    found = registry.everything("surrogate")
    return [name for name, kind in found.items() if getattr(kind, "selectable", True)]


@dataclass(frozen=True, eq=False)
class Leg:
    """A part of the race: rows to learn from and rows to be checked with."""

    part: int
    learn: Rows
    check: Rows


@dataclass(frozen=True, eq=False)
class _Track:
    """Where the race is run, and until when."""

    here: Course
    pool: ThreadPoolExecutor
    until: float

    @property
    def workers(self) -> int:
        return self.here.settings.threads or cores()

    def run(self, runners: Iterable[Runner], legs: Sequence[Leg]) -> None:
        """Everybody runs these legs; the slow ones start first, so that nobody waits long."""
        ordered = sorted(runners, key=lambda r: -(r.heat or 0.0))
        running = [self.pool.submit(self._leg, runner, leg) for runner in ordered for leg in legs]
        for finished in running:
            finished.result()

    def _leg(self, runner: Runner, leg: Leg) -> None:
        if not runner.running:
            return
        if time.monotonic() > self.until:
            runner.stop("skipped", "the time for comparing models was over")
            return
        here, began = self.here, time.thread_time()
        try:
            predicted, error, sound = _attempt(here, runner.recipe, leg.learn, leg.check)
        except Exception as problem:  # one family that cannot learn this must not stop the others
            if runner.wanted:
                raise
            runner.stop("skipped", f"failed: {_why(problem)}")
            return
        took = time.thread_time() - began
        runner.heat = took
        runner.seconds += took
        runner.predicted[leg.part], runner.errors[leg.part] = predicted, error
        runner.losses[leg.part] = _losses(here, predicted, leg.check)
        runner.provable = sound


def _race(track: _Track, runners: list[Runner], tell: Tell | None) -> None:
    here = track.here
    if len(here.X) > 2 * _FEW:
        _heat(track, runners)
    first, *others = [_leg_of(here, part) for part in range(here.parts)]
    _both_scales(track, runners, first)
    done = 1
    while others:
        patience = 1 + (here.settings.select.hopeless - 1) / done
        _leave_behind(runners, patience, f"after {done} of {here.parts} folds")
        if tell is not None:
            tell("comparing models", done, here.parts)
        # As many folds at once as there are processors: whoever is slow keeps all of them busy.
        legs, others = others[: track.workers], others[track.workers :]
        track.run([r for r in runners if r.running], legs)
        done += len(legs)


def _both_scales(track: _Track, runners: list[Runner], leg: Leg) -> None:
    """A leg on both scales; slow families run last, and only on the scale of the leader."""
    track.run([r for r in runners if r.running and not r.slow], [leg])
    leader = min((r for r in runners if r.running and r.errors), key=_by_error, default=None)
    for runner in (r for r in runners if r.running and r.slow):
        if leader is not None and runner.recipe.log != leader.recipe.log:
            runner.stop("stopped", f"{_told(leader)} learns the other scale better")
    track.run([r for r in runners if r.running and r.slow], [leg])
    _choose_scale(runners)


def _heat(track: _Track, runners: list[Runner]) -> None:
    """Everybody learns the same few rows and predicts some others; the last are left behind."""
    here = track.here
    rng = np.random.default_rng(here.seed)
    leg = _leg_of(here, 0)
    learn = np.sort(rng.choice(leg.learn, min(_FEW, len(leg.learn)), replace=False))
    check = np.sort(rng.choice(leg.check, min(_FEW, len(leg.check)), replace=False))
    _both_scales(track, runners, Leg(0, learn, check))
    left = max(track.until - time.monotonic(), 0.0) * track.workers
    for runner in (r for r in runners if r.running):
        # Training takes at least as much more time as there are more rows.
        needed = (runner.heat or 0.0) * len(leg.learn) / len(learn) * here.parts
        if needed > left:
            runner.stop("skipped", f"would take about {needed:.0f} s")
    _leave_behind(runners, _FIRST, f"when {_FEW} rows are learnt")
    for runner in runners:
        runner.forget()


def _leg_of(here: Course, part: int) -> Leg:
    return Leg(part, np.flatnonzero(here.part != part), _rows_of(here, part))


def _why(problem: Exception) -> str:
    said = problem.message if isinstance(problem, CompassError) else str(problem)
    return said[:200] or type(problem).__name__


def _attempt(here: Course, recipe: Recipe, learn: Rows, check: Rows) -> tuple[Floats, float, bool]:
    alone = here.settings.model_copy(update={"threads": 1})
    model = recipe.fit(
        here.X[learn],
        here.y[learn],
        task=here.task,
        weight=None if here.weight is None else here.weight[learn],
        seed=here.seed,
        settings=alone,
        features=here.features,
    )
    predicted = model.predict(here.X[check])
    return predicted, _error(here, predicted, check).error, provable(model)


def _error(here: Course, predicted: Floats, rows: Rows) -> Score:
    weight = None if here.weight is None else here.weight[rows]
    return named(here.y[rows], predicted, here.task, scale=here.scale, weight=weight)


def _losses(here: Course, predicted: Floats, rows: Rows) -> Floats:
    """How wrong each row is, [n]: by its share, or 1 for a wrong class."""
    if here.task.classes is None:
        return row_errors(here.y[rows], predicted[:, 0], scale=here.scale)
    return np.asarray(np.argmax(predicted, axis=1) != here.y[rows], dtype=np.float64)


def _rows_of(here: Course, part: int) -> Rows:
    return np.flatnonzero(here.part == part)


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


def _leave_behind(runners: list[Runner], times: float, when: str) -> None:
    """Stop those whose error is that many times the leader's, beyond what chance explains."""
    running = [r for r in runners if r.running]
    leader = min(running, key=_by_error, default=None)
    if leader is None:
        return
    for runner in running:
        if runner.error > times * leader.error and _surely_worse(runner, leader):
            behind = f"{runner.error:.1%} against {leader.error:.1%} of {_told(leader)}"
            runner.stop("stopped", f"{behind} {when}")


def _surely_worse(runner: Runner, leader: Runner) -> bool:
    """Whether the rows that both predicted say so by three standard errors."""
    more = np.concatenate([runner.losses[p] - leader.losses[p] for p in leader.losses])
    return bool(more.mean() > 3 * more.std() / np.sqrt(len(more)))


def _by_error(runner: Runner) -> float:
    return runner.error


def _told(runner: Runner) -> str:
    return runner.recipe.family + (" (log)" if runner.recipe.log else "")


def _result(here: Course, runners: list[Runner], skipped: list[FamilyScore]) -> Selected:
    finished = [r for r in runners if r.running and len(r.errors) == here.parts]
    notes: list[str] = []
    if not any(r.errors for r in runners):
        raise DataProblem(
            "no family of models could learn this outcome: "
            + "; ".join(f"{_told(r)} {r.reason}" for r in runners),
            hint="give it more time, or name a family: surrogate='forest'",
        )
    if not finished:
        # The clock ended the race: the one that came furthest is taken.
        finished = [max(runners, key=lambda r: (len(r.errors), -r.error))]
        notes.append("The time for comparing models was over before any was fully compared.")
    best = min(finished, key=_by_error)
    winner = best
    if not best.provable:
        equal = [r for r in finished if r.provable and _ties(here, r, best)]
        winner = min(equal, key=_by_error, default=best)
    winner.status = "chosen"
    if winner is not best:
        winner.reason = f"as good as {_told(best)}, and answers can be proved over it"
    told = [_score(here, runner) for runner in _one_per_family(runners)]
    told.sort(key=lambda s: (s.status != "chosen", -s.folds, s.error or 0.0))
    return Selected(winner.recipe, (*told, *skipped), tuple(notes))


def _ties(here: Course, runner: Runner, best: Runner) -> bool:
    """Whether the difference to the best is too small, or too uncertain, to matter."""
    if runner.error <= (1 + here.settings.select.tie) * best.error:
        return True
    if runner.error > (1 + _DOUBT) * best.error:
        return False
    more = np.array([runner.errors[p] - best.errors[p] for p in range(here.parts)])
    return bool(more.mean() < more.std(ddof=1) / np.sqrt(len(more)))


def _one_per_family(runners: list[Runner]) -> list[Runner]:
    """The scale that went further, with the time of both."""
    found: dict[str, Runner] = {}
    for runner in runners:
        rival = found.get(runner.recipe.family)
        if rival is None:
            found[runner.recipe.family] = runner
            continue
        better = max(runner, rival, key=lambda r: (r.status == "chosen", len(r.errors), -r.error))
        together = runner.seconds + rival.seconds
        found[runner.recipe.family] = replace(better, seconds=together)
    return list(found.values())


def _score(here: Course, runner: Runner) -> FamilyScore:
    low = high = None
    if runner.predicted:
        rows = np.concatenate([_rows_of(here, part) for part in runner.predicted])
        said = np.concatenate(list(runner.predicted.values()))
        weight = None if here.weight is None else here.weight[rows]
        low, high = interval(
            here.y[rows], said, here.task, scale=here.scale, weight=weight, seed=here.seed
        )
    return FamilyScore(
        family=runner.recipe.family,
        log=runner.recipe.log,
        embedding=runner.recipe.embedding,
        error=runner.error if runner.errors else None,
        low=low,
        high=high,
        folds=len(runner.errors),
        seconds=runner.seconds,
        provable=runner.provable,
        status=runner.status,
        reason=runner.reason,
    )
