"""Selecting the recipe of an outcome: the family, then a representation, then its settings.

Decision 0014 (docs/decisions).
"""

import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from compass import registry
from compass.domain.answer import FamilyScore
from compass.embed.base import embedder
from compass.execute import Executor
from compass.learn.compare import Selection, compare_families
from compass.learn.elimination import Progress
from compass.learn.folds import CrossValidation, evaluate, evaluate_folds, scales_of
from compass.learn.tune import FamilyErrors, tune
from compass.model.base import family
from compass.model.recipe import Recipe
from compass.settings import Settings

AUTO = "auto"
_WORTH = 0.98  # share of the error that a representation must bring it down to: proofs are lost
_RAN = ("tried", "stopped")  # families that can learn the outcome in time, but did not win
_TUNED = 3  # families whose settings are tuned together


def check_names(settings: Settings) -> None:
    """Refuse names of families and representations that are not known, before anything is done."""
    if settings.surrogate != AUTO:
        family(settings.surrogate)
    if settings.represent not in (None, AUTO):
        embedder(str(settings.represent))


def select_recipe(
    cv: CrossValidation,
    *,
    journal: Path | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Selection:
    """The recipe that the settings ask for: a named family or the best one, tuned if wanted."""
    settings = cv.settings
    check_names(settings)
    if settings.surrogate == AUTO:
        chosen = compare_families(cv, executor=executor, progress=progress)
    elif len(scales := scales_of(cv.data)) > 1 and cv.count > 1:
        # Who names a family leaves open on which scale it learns.
        chosen = compare_families(
            cv, families=[settings.surrogate], executor=executor, progress=progress
        )
    else:
        chosen = Selection(Recipe(family=settings.surrogate, log=scales[0]), ())
    if cv.count < 2:
        return chosen
    if settings.represent is not None:
        chosen = _represented(cv, chosen, executor, progress)
    if settings.tune > 0:
        chosen = _tuned(cv, chosen, journal, executor, progress)
    return chosen


def _represented(
    cv: CrossValidation, chosen: Selection, executor: Executor | None, progress: Progress | None
) -> Selection:
    """The same recipe behind a learned representation, if that validates better."""
    named = cv.settings.represent
    assert named is not None
    names = list(registry.everything("embedding")) if named == AUTO else [named]
    plain, _ = _errors(cv, chosen.recipe, executor)
    best, best_error = chosen.recipe, float(np.mean(plain))
    scores: list[FamilyScore] = []
    for place, name in enumerate(names):
        if progress is not None:
            progress(f"learning the representation {name}", place, len(names))
        recipe = chosen.recipe.model_copy(update={"embedding": name})
        errors, seconds = _errors(cv, recipe, executor)
        error = float(np.mean(errors))
        better = error < min(best_error, _WORTH * float(np.mean(plain))) and _clearly(plain, errors)
        if better:
            best, best_error = recipe, error
        scores.append(
            FamilyScore(
                family=recipe.family,
                log=recipe.log,
                embedding=name,
                error=error,
                folds=len(errors),
                seconds=seconds,
                status="tried",
                reason=f"{float(np.mean(plain)):.2%} without it",
            )
        )
    marked = tuple(_marked(score, best) for score in (*chosen.scores, *scores))
    kept = "kept" if best.embedding else "not kept: the model validates as well without it"
    note = f"Representation {best.embedding or ', '.join(names)}: {kept}."
    return replace(chosen, recipe=best, scores=marked, notes=(*chosen.notes, note))


def _marked(score: FamilyScore, best: Recipe) -> FamilyScore:
    same = (score.family, score.embedding) == (best.family, best.embedding)
    if same == (score.status == "chosen"):
        return score
    if not same:
        return score.model_copy(update={"status": "tried", "reason": ""})
    tuned = "better once tuned" if best.changes else "better on other folds"
    reason = score.reason if score.embedding else tuned
    return score.model_copy(update={"status": "chosen", "reason": reason})


def _clearly(plain: list[float], errors: list[float]) -> bool:
    """Whether the folds agree that the second is better: by more than their standard error."""
    gain = np.array(plain) - np.array(errors)
    return bool(gain.mean() > gain.std(ddof=1) / np.sqrt(len(gain)))


def _errors(
    cv: CrossValidation, recipe: Recipe, executor: Executor | None
) -> tuple[list[float], float]:
    """The errors of all folds, and the processor seconds that they took."""
    if executor is None:
        began = time.process_time()
        errors = [evaluate(cv, recipe, cv.fold(number)).error for number in range(cv.count)]
        return errors, time.process_time() - began
    results = evaluate_folds(cv, recipe, range(cv.count), executor)
    return [result.error for result in results], sum(result.seconds for result in results)


def _tuned(
    cv: CrossValidation,
    chosen: Selection,
    journal: Path | None,
    executor: Executor | None,
    progress: Progress | None,
) -> Selection:
    found = tune(
        cv,
        recipes_to_tune(chosen),
        cv.settings.tune,
        known=family_errors(chosen),
        journal=journal,
        executor=executor,
        progress=progress,
    )
    if found.before is None or found.after is None:
        return replace(chosen, notes=(*chosen.notes, f"Tuning: {found.reason}."))
    text = f"{found.trials} settings tried, error {found.before:.2%} -> {found.after:.2%}"
    note = f"Tuning: {text}; {found.reason}."
    scores = tuple(_marked(score, found.recipe) for score in chosen.scores)
    return replace(chosen, recipe=found.recipe, scores=scores, notes=(*chosen.notes, note))


def family_errors(chosen: Selection) -> dict[str, FamilyErrors]:
    """What comparing families has found out already, by family."""
    # Behind a representation the chosen family has other errors than without it.
    other = chosen.recipe.family if chosen.recipe.embedding else None
    return {
        s.family: FamilyErrors(s.errors, chosen.fold_seconds[s.family], s.provable)
        for s in chosen.scores
        if s.embedding is None
        and s.family in chosen.fold_seconds
        and s.family != other
        and not chosen.sampled
    }


def recipes_to_tune(chosen: Selection) -> list[Recipe]:
    """The recipe that won, and the next best families."""
    others = sorted(
        (s for s in chosen.scores if s.family != chosen.recipe.family and s.status in _RAN),
        key=lambda s: (-s.folds, s.error or 0.0),
    )
    more = [
        Recipe(family=s.family, log=s.log, embedding=s.embedding)
        for s in others
        if s.embedding is None
    ]
    return [chosen.recipe, *more][:_TUNED]
