"""Successive elimination of recipes: which are trained on which rows, and which are stopped when.

All of them learn a few hundred rows first, the cheap ones before the others. Who may still win
learns four times as many, and so on up to all rows of a fold; then come the other folds, for fewer
and fewer of them. A recipe is stopped when it cannot win, or would be worth too little for the
work that it takes. Work is estimated by the families, never measured: who is stopped depends on
the rows and the seed only.

Decision 0035 (docs/decisions).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from compass.execute import Executor, WorkerLost
from compass.learn.compared import Budget, ComparedRecipe, effort, running, too_much
from compass.learn.folds import Attempt, CrossValidation, Fold, FoldResult, run_attempt

Progress = Callable[[str, int, int], None]
_FIRST = 500  # rows of the first rung
_GROWTH = 4  # times the rows that the next rung has
_STEP = 2.5  # times the rows of a rung that a fold has to have, or it is not worth its time
_CHECKED = 2000  # rows that a rung is judged by
_QUICK = 0.05  # seconds of work of the families that tell which scale is better
_CATCH_UP = 0.2  # power of the rows yet to come by which a recipe may be behind
_LEAD = 0.02  # power of the work by which the best of a fold has to be better: ten times, 5 %
_THRIFT = 0.15  # the same for all others, on rungs and folds
_FINALISTS = (3, 2)  # recipes that go on after the first and after the second fold


_Waiting = tuple[ComparedRecipe, Attempt]


@dataclass(eq=False)
class Evaluator:
    """Evaluates recipes on folds by an executor, and counts the work that this is."""

    cv: CrossValidation
    executor: Executor
    left: float  # seconds of work

    def run(
        self, recipes: Iterable[ComparedRecipe], folds: Sequence[Fold], *, quicker: bool = False
    ) -> None:
        """Evaluate recipes on folds; the long ones start first, so that no worker waits long."""
        settings = self.cv.settings
        waiting = [
            (compared, Attempt(recipe, fold, compared.required))
            for compared in recipes
            for recipe in [compared.quicker(settings) if quicker else compared.recipe]
            for fold in folds
        ]
        efforts = [effort(a.recipe, self.cv.data, len(a.fold.train)) for _, a in waiting]
        self.left -= sum(efforts)
        waiting = [waiting[place] for place in np.argsort(-np.array(efforts), kind="stable")]
        while waiting:
            waiting = self._run(waiting)

    def effort(self, compared: ComparedRecipe, rows: int) -> float:
        """Seconds of work that training it on so many rows is."""
        return compared.effort(self.cv.data, rows)

    def has_quicker(self, compared: ComparedRecipe) -> bool:
        """Whether its first impression is of other settings, so that it has to be repeated."""
        return compared.quicker(self.cv.settings) != compared.recipe

    def efforts(self, compared: ComparedRecipe, rows: int) -> tuple[float, float]:
        """The work of its first impression, and that of all folds after it."""
        first = effort(compared.quicker(self.cv.settings), self.cv.data, rows)
        others = self.cv.count - 1 + self.has_quicker(compared)
        return first, others * self.effort(compared, rows)

    def _run(self, waiting: list[_Waiting]) -> list[_Waiting]:
        """Evaluate these; returns what is left after a recipe has killed its worker."""
        done = set()
        attempts = [attempt for _, attempt in waiting]
        try:
            for place, result in self.executor.map(partial(run_attempt, self.cv), attempts):
                done.add(place)
                self._record(waiting[place][0], attempts[place].fold, result)
        except WorkerLost as lost:
            compared = waiting[lost.position][0]
            if compared.required:
                raise
            compared.stop("skipped", f"failed: {lost.message}")
            compared.failed = True
            done.add(lost.position)
            left = [pair for place, pair in enumerate(waiting) if place not in done]
            return [(r, attempt) for r, attempt in left if r.running]
        return []

    def _record(self, compared: ComparedRecipe, fold: Fold, result: FoldResult | str) -> None:
        if isinstance(result, str):
            compared.stop("skipped", f"failed: {result}")
            compared.failed = True
            return
        number = fold.number
        compared.times.append(result.seconds)
        compared.rows = len(fold.train)
        compared.predicted[number], compared.errors[number] = result.predicted, result.error
        compared.valid[number], compared.fold_seconds[number] = fold.valid, result.seconds
        compared.provable = result.provable


def eliminate(
    evaluator: Evaluator, recipes: list[ComparedRecipe], progress: Progress | None
) -> int:
    """Evaluate recipes until the best have done all folds; the rows that these learnt from."""
    cv = evaluator.cv
    rungs = sizes(len(cv.fold(0).train))
    steps = len(rungs) + cv.count - 1
    rows = rungs[0]
    for place, more in enumerate(rungs):
        if place and not _affordable(evaluator, recipes, more):
            break
        if progress is not None:
            progress("comparing models", place, steps)
        rows = more
        _rung(evaluator, recipes, _fold(cv, 0, rows), first=place == 0)
        if rows < rungs[-1]:
            _judge_rung(evaluator, recipes, rows, rungs[place + 1 :])
    _other_folds(evaluator, recipes, rows, lambda done: _told(progress, done, cv.count, steps))
    _bring_back(evaluator, recipes, rows)
    return rows


def sizes(rows: int) -> list[int]:
    """How many rows are learnt on each rung, for folds that have so many; the last is all."""
    found, size = [], _FIRST
    while size * _STEP <= rows:
        found.append(size)
        size *= _GROWTH
    return [*found, rows]


def _told(progress: Progress | None, done: int, folds: int, steps: int) -> None:
    if progress is not None:
        progress("comparing models", steps - folds + done, steps)


def _fold(cv: CrossValidation, number: int, rows: int) -> Fold:
    """A fold of so many rows to train on; all of them where that is what the first one has."""
    fold = cv.fold(number)
    if rows >= len(cv.fold(0).train):
        return fold
    return cv.part(fold, rows, max(rows, _CHECKED))


def _rung(evaluator: Evaluator, recipes: list[ComparedRecipe], fold: Fold, *, first: bool) -> None:
    """A fold of everybody; on the first rung on both scales, one of which goes on."""
    rows = len(fold.train)
    if first:
        _admit(evaluator, recipes, rows)
    for compared in running(recipes):
        compared.forget()
    quick = [r for r in running(recipes) if not r.slow and evaluator.effort(r, rows) <= _QUICK]
    evaluator.run(quick, [fold], quicker=True)
    _drop_scale(recipes, quick)
    evaluator.run(
        [r for r in running(recipes) if not r.errors and not r.slow], [fold], quicker=True
    )
    _drop_slow_scale(recipes)
    evaluator.run([r for r in running(recipes) if not r.errors], [fold], quicker=True)
    _choose_scale(recipes)


def _other_scale(compared: ComparedRecipe, recipes: Iterable[ComparedRecipe]) -> bool:
    """Whether the same family takes part on the other scale too."""
    return any(
        r.recipe.family == compared.recipe.family and r.recipe.log != compared.recipe.log
        for r in running(recipes)
    )


def _drop_scale(recipes: Iterable[ComparedRecipe], quick: Iterable[ComparedRecipe]) -> None:
    """Where all quick families learn one scale better, the others do not try the other one."""
    errors = _by_scale(quick)
    better = {_gain(one) > 0 for one in errors.values()}
    if len(better) != 1:
        return
    log = better.pop()
    names = ", ".join(sorted(errors))
    for compared in (r for r in running(recipes) if not r.errors and r.recipe.log != log):
        if not compared.required and _other_scale(compared, recipes):
            scale = "the logarithm" if log else "the outcome as it is"
            compared.stop("stopped", f"{names} learn {scale} better")


def _drop_slow_scale(recipes: Iterable[ComparedRecipe]) -> None:
    """Those yet to come try only the scale that suits the others, if these have tried both."""
    errors = _by_scale(recipes)
    if not errors:
        return
    log = sum(_gain(one) for one in errors.values()) > 0
    for slow in (r for r in running(recipes) if not r.errors and r.recipe.log != log):
        if _other_scale(slow, recipes):
            slow.stop("stopped", "other families learn the other scale better")


def _by_scale(recipes: Iterable[ComparedRecipe]) -> dict[str, dict[bool, float]]:
    """The errors of the families that were tried on both scales, by `Recipe.log`."""
    found: dict[str, dict[bool, float]] = {}
    for compared in (r for r in running(recipes) if r.errors):
        found.setdefault(compared.recipe.family, {})[compared.recipe.log] = compared.error
    return {name: errors for name, errors in found.items() if len(errors) == 2}


def _gain(errors: dict[bool, float]) -> float:
    """How much better a family learns the logarithm: the logarithm of the ratio of its errors."""
    tiny = np.finfo(float).tiny
    return float(np.log(max(errors[False], tiny)) - np.log(max(errors[True], tiny)))


def _choose_scale(recipes: Iterable[ComparedRecipe]) -> None:
    """Of two scales of one family the better one goes on."""
    best: dict[str, ComparedRecipe] = {}
    for compared in running(recipes):
        rival = best.get(compared.recipe.family)
        if rival is None or compared.error < rival.error:
            best[compared.recipe.family] = compared
    for compared in running(recipes):
        if best[compared.recipe.family] is not compared:
            winner = "the logarithm" if not compared.recipe.log else "the outcome as it is"
            compared.stop("stopped", f"learns {winner} better")


def _admit(evaluator: Evaluator, recipes: list[ComparedRecipe], rows: int) -> None:
    """Skip who cannot do all folds beside the two cheapest families; the dear ones first.

    The cheapest recipe takes part whatever its work, and so does who was named.
    """
    budget = Budget(evaluator.left)
    families: set[str] = set()
    ordered = sorted(running(recipes), key=lambda r: evaluator.effort(r, rows))
    for place, compared in enumerate(ordered):
        first, others = evaluator.efforts(compared, rows)
        if compared.recipe.family in families:
            others = 0.0  # one of its scales does the other folds
        if place and not compared.required and not budget.fits(first, others):
            compared.stop("skipped", budget.too_much(first, others))
            continue
        budget.take(first, others, reserve=len(families) < 2)
        families.add(compared.recipe.family)


def _affordable(evaluator: Evaluator, recipes: list[ComparedRecipe], rows: int) -> bool:
    """Whether the two best can do all folds of so many rows; who cannot beside them is skipped."""
    budget = Budget(evaluator.left)
    ordered = sorted(running(recipes), key=_handicapped(recipes, evaluator))
    for place, compared in enumerate(ordered):
        first, others = evaluator.efforts(compared, rows)
        if budget.fits(first, others):
            budget.take(first, others, reserve=place < 2)
        elif place < 2:
            return False
        else:
            compared.stop("skipped", budget.too_much(first, others))
    return True


def _skip_unaffordable(evaluator: Evaluator, recipes: list[ComparedRecipe], rows: int) -> None:
    """Skip who cannot do the other folds beside those that are better; the best always can."""
    left = evaluator.left
    for place, standing in enumerate(_standings(evaluator, recipes, rows, lead=_LEAD)):
        _, needed = evaluator.efforts(standing.compared, rows)
        if place and needed > left:
            standing.compared.stop("skipped", too_much(needed, left))
        else:
            left -= needed


def _judge_rung(
    evaluator: Evaluator, recipes: list[ComparedRecipe], rows: int, more: Sequence[int]
) -> None:
    """Stop who is too far behind to catch up when more rows are learnt."""
    patience = (more[-1] / rows) ** _CATCH_UP
    for standing in _standings(evaluator, recipes, more[0], lead=0.0)[2:]:
        if standing.behind > patience:
            standing.stop(f"when {rows} runs are learnt")


def _other_folds(
    evaluator: Evaluator,
    recipes: list[ComparedRecipe],
    rows: int,
    tell: Callable[[int], None],
) -> None:
    """The folds after the first: one by one while recipes are stopped, then all others at once."""
    cv = evaluator.cv
    done = 1
    while done < cv.count:
        tell(done)
        _judge_folds(evaluator, recipes, rows, done)
        if done == 1:
            _skip_unaffordable(evaluator, recipes, rows)
            again = [r for r in running(recipes) if evaluator.has_quicker(r)]
            evaluator.run(again, [_fold(cv, 0, rows)])
        last = len(running(recipes)) <= 2 or done >= len(_FINALISTS)
        numbers = range(done, cv.count if last else done + 1)
        evaluator.run(running(recipes), [_fold(cv, number, rows) for number in numbers])
        done += len(numbers)


def _bring_back(evaluator: Evaluator, recipes: list[ComparedRecipe], rows: int) -> None:
    """Where all who were left have failed, the best of those stopped does all folds instead."""
    cv = evaluator.cv
    while not running(recipes):
        stopped = [r for r in recipes if r.status == "stopped"]
        if not stopped:
            return
        # Errors of more rows come first: those of few rows cannot be compared with them.
        best = min(stopped, key=lambda r: (-r.rows, -len(r.errors), r.error))
        best.resume("those that were better failed when more runs were learnt")
        evaluator.run([best], [_fold(cv, number, rows) for number in range(cv.count)])


def _judge_folds(evaluator: Evaluator, recipes: list[ComparedRecipe], rows: int, done: int) -> None:
    """Stop who is behind after some folds; the best two always go on."""
    cv = evaluator.cv
    patience = 1 + (cv.settings.select.hopeless - 1) / done
    most = _FINALISTS[min(done, len(_FINALISTS)) - 1]
    standings = _standings(evaluator, recipes, rows, lead=_LEAD)
    for place, standing in enumerate(standings):
        if place >= 2 and (standing.behind > patience or place >= most):
            standing.stop(f"after {done} of {cv.count} folds")


@dataclass(frozen=True, eq=False)
class _Standing:
    """A recipe beside the best one."""

    compared: ComparedRecipe
    best: ComparedRecipe
    work: float  # times that of the best
    behind: float  # times the least error, once proofs and work are counted

    def stop(self, when: str) -> None:
        """End its evaluation, with the reason."""
        one, best = self.compared, self.best
        reason = f"{one.error:.1%} against {best.error:.1%} of {best.label} {when}"
        if one.error <= best.error and best.provable and not one.provable:
            reason += ", and no proofs"
        if self.work > 2:
            reason += f", for {self.work:.0f} times the work"
        one.stop("stopped", reason)


def _standings(
    evaluator: Evaluator, recipes: list[ComparedRecipe], rows: int, lead: float
) -> list[_Standing]:
    """The recipes that run: the lowest error first, then by what they are worth for their work."""
    data, error = evaluator.cv.data, _handicapped(recipes, evaluator)
    still = running(recipes)
    if not still:
        return []
    best = min(still, key=lambda r: error(r) * r.work(data, rows) ** lead)
    price = {id(r): error(r) * r.work(data, rows) ** _THRIFT for r in still}
    least = max(min(price.values()), np.finfo(float).tiny)
    found = [
        _Standing(r, best, r.work(data, rows) / best.work(data, rows), price[id(r)] / least)
        for r in still
    ]
    return sorted(found, key=lambda one: (one.compared is not best, one.behind))


def _handicapped(
    recipes: Iterable[ComparedRecipe], evaluator: Evaluator
) -> Callable[[ComparedRecipe], float]:
    """The error by which recipes are judged: without proofs it has to be lower, as at the end."""
    proofs = any(r.provable for r in running(recipes))
    tie = evaluator.cv.settings.select.tie if proofs else 0.0
    return lambda compared: compared.error * (1.0 if compared.provable else 1.0 + tie)
