"""Comparing model families by cross-validation, within a limit of work.

Recipes are eliminated step by step (see `elimination`). Which rows are in which fold, and which
recipes are stopped, depends on the data and the seed only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from compass import registry
from compass.domain.answer import FamilyScore
from compass.domain.errors import DataProblem
from compass.execute import Executor
from compass.learn.compared import ComparedRecipe, by_error
from compass.learn.elimination import Evaluator, Progress, eliminate
from compass.learn.folds import CrossValidation, scales_of, workers
from compass.model.base import family, undeclared
from compass.model.error import HeldOutPredictions, folds_interval
from compass.model.recipe import Recipe

_DOUBT = 0.05  # largest lead, as a share of the error, that chance may explain
_ROUNDING = 1e-9  # share of the work that sums may be wrong by


@dataclass(frozen=True)
class Selection:
    """The recipe that was chosen, and how all others did."""

    recipe: Recipe
    scores: tuple[FamilyScore, ...]
    notes: tuple[str, ...] = ()
    sampled: bool = False  # whether folds learnt from a part of their rows
    fold_seconds: Mapping[str, float] = field(default_factory=dict)
    """By family that did all folds: processor time of one."""


def compare_families(
    cv: CrossValidation,
    *,
    families: Sequence[str] | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Selection:
    """The recipe with the lowest cross-validated error; ties go to models that can be proved over.

    `families`: only these; otherwise every family that may be selected. `executor`: where the
    attempts run; the result does not depend on it.
    """
    recipes, skipped = _recipes(cv, families)
    if not recipes:
        raise DataProblem(
            "no family of models can learn this table: " + "; ".join(s.reason for s in skipped),
            hint="name one that should be tried anyway: surrogate='forest'",
        )
    if cv.count < 2:
        first = recipes[0]
        why = "too few configurations to compare models: the first one was taken"
        return Selection(first.recipe, (), (why,))
    with workers(executor, cv.settings) as place:
        evaluator = Evaluator(cv, place, cv.settings.select.work)
        learnt = eliminate(evaluator, recipes, progress)
    return _result(cv, recipes, skipped, _notes(cv, learnt, evaluator.left), learnt)


def selectable_families() -> list[str]:
    """The families that are compared unless others are named."""
    found = registry.everything("surrogate")
    # A plug-in that breaks the contract must not stop the others.
    return [name for name, kind in found.items() if not undeclared(kind) and kind.selectable]


def _recipes(
    cv: CrossValidation, families: Sequence[str] | None
) -> tuple[list[ComparedRecipe], list[FamilyScore]]:
    """The recipes to compare, and the families that are skipped."""
    data = cv.data
    recipes, skipped = [], []
    learnt = int(len(data.X) * (1 - 1 / max(cv.count, 2)))
    for name in families or selectable_families():
        why = None if families else family(name).obstacle(learnt, data.X.shape[1], data.task)
        if why is not None:
            skipped.append(FamilyScore(family=name, status="skipped", reason=why))
            continue
        recipes += [
            ComparedRecipe(Recipe(family=name, log=log), bool(families)) for log in scales_of(data)
        ]
    return recipes, skipped


def _notes(cv: CrossValidation, learnt: int, left: float) -> list[str]:
    """What a person should know of the rows that each fold learnt from, and of the work."""
    notes, work = [], cv.settings.select.work
    if learnt < len(cv.fold(0).train):
        notes.append(
            f"Models were compared on {learnt:,} of {len(cv.fold(0).train):,} runs: "
            "more would be more work than Settings.select.work allows."
        )
    if left < -_ROUNDING * work:
        notes.append(
            f"Comparing models was about {work - left:.1f} s of work, more than the {work:g} s of "
            "Settings.select.work: less would not have compared anything."
        )
    return notes


def _result(
    cv: CrossValidation,
    recipes: list[ComparedRecipe],
    skipped: list[FamilyScore],
    notes: list[str],
    learnt: int,
) -> Selection:
    """What was chosen; `learnt`: rows that each fold learnt from."""
    finished = [r for r in recipes if r.running and len(r.errors) == cv.count]
    if not finished:
        raise DataProblem(
            "no family of models could learn this outcome: "
            + "; ".join(f"{r.label} {r.reason}" for r in recipes),
            hint="name a family, so that its whole problem is told: surrogate='forest'",
        )
    sampled = learnt < len(cv.fold(0).train)
    best = min(finished, key=by_error)
    winner = best
    if not best.provable:
        equal = [r for r in finished if r.provable and _ties(cv, r, best)]
        winner = min(equal, key=by_error, default=best)
    winner.status = "chosen"
    if winner is not best:
        winner.reason = f"as good as {best.label}, and answers can be proved over it"
    scores = [_score(cv, compared) for compared in _one_per_family(recipes)]
    seconds = {r.recipe.family: float(np.mean([*r.fold_seconds.values()])) for r in finished}
    scores.sort(key=lambda s: (s.status != "chosen", -s.folds, s.error or 0.0))
    return Selection(winner.recipe, (*scores, *skipped), tuple(notes), sampled, seconds)


def _ties(cv: CrossValidation, compared: ComparedRecipe, best: ComparedRecipe) -> bool:
    """Whether the difference to the best is too small, or too uncertain, to matter."""
    if compared.error <= (1 + cv.settings.select.tie) * best.error:
        return True
    if compared.error > (1 + _DOUBT) * best.error:
        return False
    more = np.array([compared.errors[p] - best.errors[p] for p in range(cv.count)])
    return bool(more.mean() < more.std(ddof=1) / np.sqrt(len(more)))


def _one_per_family(recipes: list[ComparedRecipe]) -> list[ComparedRecipe]:
    """The scale that went further, with the time of both."""
    found: dict[str, ComparedRecipe] = {}
    for compared in recipes:
        rival = found.get(compared.recipe.family)
        if rival is None:
            found[compared.recipe.family] = compared
            continue
        better = max(compared, rival, key=lambda r: (r.status == "chosen", len(r.errors), -r.error))
        found[compared.recipe.family] = replace(better, times=[*compared.times, *rival.times])
    return list(found.values())


def _score(cv: CrossValidation, compared: ComparedRecipe) -> FamilyScore:
    data = cv.data
    low = high = None
    if compared.predicted:
        held_out = [
            HeldOutPredictions(data.y[rows], compared.predicted[number], data.weight_of(rows))
            for number, rows in sorted(compared.valid.items())
        ]
        low, high = folds_interval(held_out, data.task, scale=cv.scale, seed=data.seed)
    return FamilyScore(
        family=compared.recipe.family,
        log=compared.recipe.log,
        embedding=compared.recipe.embedding,
        error=compared.error if compared.errors else None,
        low=low,
        high=high,
        folds=len(compared.errors),
        errors=tuple(compared.errors[number] for number in sorted(compared.errors)),
        seconds=compared.seconds,
        provable=compared.provable,
        status=compared.status,
        reason=compared.reason,
    )
