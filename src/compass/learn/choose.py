"""From rows to a recipe: the family, then a representation, then its settings."""

import time
from pathlib import Path

import numpy as np

from compass import registry
from compass.domain.answer import FamilyScore
from compass.embed.base import embedder
from compass.execute import Executor
from compass.learn.attempt import fold_tests
from compass.learn.select import (
    AUTO,
    Course,
    Selected,
    Tell,
    cross_validate,
    scales_of,
    select,
)
from compass.learn.tune import Tried, tune
from compass.model.recipe import Recipe

_WORTH = 0.98  # share of the error that a representation must bring it down to: proofs are lost
_RAN = ("tried", "stopped")  # families that can learn the outcome in time, but did not win
_TUNED = 3  # families whose settings are looked at together


def choose(
    view: Course,
    *,
    journal: Path | None = None,
    executor: Executor | None = None,
    tell: Tell | None = None,
) -> Selected:
    """The recipe that the settings ask for: a named family or the best one, tuned if wanted."""
    settings = view.settings
    if settings.represent not in (None, AUTO):
        embedder(str(settings.represent))  # a wrong name is told before anything is trained
    if settings.surrogate == AUTO:
        chosen = select(view, executor=executor, tell=tell)
    elif len(scales := scales_of(view)) > 1 and view.parts > 1:
        # Who names a family leaves open on which scale it learns.
        chosen = select(view, families=[settings.surrogate], executor=executor, tell=tell)
    else:
        chosen = Selected(Recipe(family=settings.surrogate, log=scales[0]), ())
    if view.parts < 2:
        return chosen
    if settings.represent is not None:
        chosen = _represented(view, chosen, executor, tell)
    if settings.tune > 0:
        chosen = _tuned(view, chosen, journal, executor, tell)
    return chosen


def _represented(
    view: Course, chosen: Selected, executor: Executor | None, tell: Tell | None
) -> Selected:
    """The same recipe behind a learned representation, if that validates better."""
    named = view.settings.represent
    assert named is not None
    names = list(registry.everything("embedding")) if named == AUTO else [named]
    plain, _ = _errors(view, chosen.recipe, executor)
    best, best_error = chosen.recipe, float(np.mean(plain))
    scores: list[FamilyScore] = []
    for place, name in enumerate(names):
        if tell is not None:
            tell(f"learning the representation {name}", place, len(names))
        recipe = chosen.recipe.model_copy(update={"embedding": name})
        errors, seconds = _errors(view, recipe, executor)
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
    told = tuple(_marked(score, best) for score in (*chosen.scores, *scores))
    kept = "kept" if best.embedding else "not kept: the model validates as well without it"
    note = f"Representation {best.embedding or ', '.join(names)}: {kept}."
    return Selected(best, told, (*chosen.notes, note))


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


def _errors(view: Course, recipe: Recipe, executor: Executor | None) -> tuple[list[float], float]:
    """The errors of all folds, and the processor seconds that they took."""
    if executor is None:
        began = time.process_time()
        alone = [cross_validate(view, recipe, part)[1] for part in range(view.parts)]
        return alone, time.process_time() - began
    tests = fold_tests(view, recipe, range(view.parts), executor)
    return [test.error for test in tests], sum(test.seconds for test in tests)


def _tuned(
    view: Course,
    chosen: Selected,
    journal: Path | None,
    executor: Executor | None,
    tell: Tell | None,
) -> Selected:
    found = tune(
        view,
        contenders(chosen),
        view.settings.tune,
        known=tried(chosen),
        journal=journal,
        executor=executor,
        tell=tell,
    )
    if found.before is None or found.after is None:
        return Selected(chosen.recipe, chosen.scores, (*chosen.notes, f"Tuning: {found.reason}."))
    told = f"{found.trials} settings tried, error {found.before:.2%} -> {found.after:.2%}"
    note = f"Tuning: {told}; {found.reason}."
    scores = tuple(_marked(score, found.recipe) for score in chosen.scores)
    return Selected(found.recipe, scores, (*chosen.notes, note))


def tried(chosen: Selected) -> dict[str, Tried]:
    """What comparing families has found out already, by family."""
    # Behind a representation the chosen family has other errors than alone.
    other = chosen.recipe.family if chosen.recipe.embedding else None
    return {
        s.family: Tried(s.errors, s.seconds / max(s.folds, 1), s.provable)
        for s in chosen.scores
        if s.embedding is None and s.status in ("chosen", "tried") and s.family != other
    }


def contenders(chosen: Selected) -> list[Recipe]:
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
