"""Tuning the settings of models with Optuna, within a time limit.

The defaults are the first to be tried, on the same folds, and stay unless something is better on
these folds and again on folds that were not used for looking: so tuning is never worse than the
defaults on validation, and rarely only lucky. What has been tried can be kept in a file (JSON
lines), and a later search goes on from there.
"""

import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from compass.execute import Executor
from compass.learn.elimination import Progress
from compass.learn.folds import CrossValidation, evaluate_folds, workers
from compass.learn.journal import open_study
from compass.learn.search_space import defaults, relative_cost, space_of, suggested, within
from compass.model.base import family
from compass.model.recipe import Recipe
from compass.prepare.split import folds

_LOOK = 0.8  # share of the time for looking; the rest confirms
_LONGEST = 0.4  # share of the time that is left which one attempt may take
_MARGIN = 0.005  # least share of the error that an improvement has to be worth
_PROOFS = 0.05  # the same, when proofs would be lost
_PATIENCE = 1.1  # times the best error of the folds tried so far that ends an attempt
_DEFAULT = "default"  # mark of the attempts that are the defaults


@dataclass(frozen=True)
class FamilyErrors:
    """The errors of a family with its defaults, from comparing families on the same folds."""

    errors: tuple[float, ...]  # of every fold
    seconds: float  # processor time of one
    provable: bool = False  # whether answers can be proved over its models


@dataclass(frozen=True)
class Tuned:
    """What tuning found, and what it cost."""

    recipe: Recipe
    before: float | None  # error of the defaults on the folds; None: nothing was tried
    after: float | None  # error of the recipe on the same folds
    trials: int  # attempts altogether, earlier ones included
    reason: str


def tune(
    cv: CrossValidation,
    recipes: Sequence[Recipe],
    seconds: float,
    *,
    known: Mapping[str, FamilyErrors] | None = None,
    journal: Path | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Tuned:
    """The best settings found for one of the recipes; the first one is what has to be beaten.

    `known` by family: recipes that need not be tried again. `journal`: a file in which attempts
    are kept, so that a later call goes on.
    """
    for recipe in recipes:
        family(recipe.family)  # plug-ins are loaded here: threads would find half of them
    tunable = [recipe for recipe in recipes if family(recipe.family).search_space is not None]
    if not tunable:
        return Tuned(recipes[0], None, None, 0, f"{recipes[0].family} has nothing to tune")
    began = time.monotonic()
    with workers(executor, cv.settings) as place:
        tuning = _Tuning(cv, tunable, place, began + seconds, dict(known or {}))
        study = _study(cv, tunable, journal)
        _look(tuning, study, began + _LOOK * seconds, progress)
        return _confirmed(tuning, study, recipes[0])


@dataclass(frozen=True, eq=False)
class _Tuning:
    """The folds and who computes them."""

    cv: CrossValidation
    recipes: Sequence[Recipe]
    executor: Executor
    end: float  # time.monotonic() at which everything should be done
    known: dict[str, FamilyErrors]

    def of(self, family: str) -> Recipe:
        """The recipe that is tuned for a family."""
        return next(recipe for recipe in self.recipes if recipe.family == family)

    def proves(self, family: str) -> bool:
        """Whether answers can be proved over models of a family."""
        return family in self.known and self.known[family].provable

    def waves(self) -> list[range]:
        """The folds, as many at once as there are processors."""
        step = self.executor.workers
        return [
            range(first, min(first + step, self.cv.count))
            for first in range(0, self.cv.count, step)
        ]

    def errors(self, recipe: Recipe, numbers: Sequence[int], cv: CrossValidation) -> list[float]:
        """The errors of some folds."""
        return [one.error for one in evaluate_folds(cv, recipe, numbers, self.executor)]


def _study(cv: CrossValidation, recipes: Sequence[Recipe], journal: Path | None) -> Any:
    """The attempts so far: none, or those that the journal has of the same rows."""
    study = open_study(_identity(cv, recipes), journal, cv.data.seed)
    there = {
        trial.user_attrs.get(_DEFAULT)
        for trial in study.get_trials(deepcopy=False)
        if trial.state.name in ("COMPLETE", "WAITING")
    }
    for recipe in recipes:
        if recipe.family not in there:
            first = {"family": recipe.family} | defaults(recipe, cv.settings)
            study.enqueue_trial(within(recipe, first), user_attrs={_DEFAULT: recipe.family})
    return study


def _identity(cv: CrossValidation, recipes: Sequence[Recipe]) -> str:
    """The same for the same rows, folds and families, whatever the process."""
    digest = hashlib.blake2b(digest_size=16)
    for array in (cv.data.X, cv.data.y, cv.fold_of, cv.data.weight):
        if array is not None:
            digest.update(np.ascontiguousarray(array).tobytes())
    for recipe in recipes:
        # With other ranges or other defaults the errors of earlier attempts say nothing.
        space = space_of(recipe)
        section = getattr(cv.settings, space.section)
        digest.update(f"{recipe.model_dump_json()} {space} {section!r}".encode())
    return digest.hexdigest()


def _look(tuning: _Tuning, study: Any, until: float, progress: Progress | None) -> None:
    began = time.monotonic()
    # By family: seconds of as many folds of the defaults as run at once.
    usual = {name: one.seconds for name, one in tuning.known.items()}
    while True:
        states = {trial.state.name for trial in study.get_trials(deepcopy=False)}
        now = time.monotonic()
        if now > tuning.end or (now > until and "COMPLETE" in states):
            return
        trial = study.ask()
        names = [recipe.family for recipe in tuning.recipes]
        recipe = tuning.of(trial.suggest_categorical("family", names))
        given = trial.user_attrs.get(_DEFAULT) is not None
        tried = suggested(recipe, tuning.cv.settings, trial)
        if given:
            tried = recipe  # exactly the defaults, also where they lie outside of the ranges
        _attempt(tuning, study, trial, tried, given, usual)
        if progress is not None:
            share = min((time.monotonic() - began) / max(until - began, 1e-9), 1.0)
            progress(f"tuning ({len(study.trials)} tried)", int(100 * share), 100)


def _attempt(
    tuning: _Tuning, study: Any, trial: Any, recipe: Recipe, given: bool, usual: dict[str, float]
) -> None:
    """Folds until all are done or the attempt is clearly behind; tells the study."""
    import optuna

    pruned = optuna.trial.TrialState.PRUNED
    known = tuning.known.get(recipe.family)
    if given and known is not None and len(known.errors) == tuning.cv.count:
        trial.set_user_attr("folds", list(known.errors))
        study.tell(trial, float(np.mean(known.errors)))
        return
    if recipe.family in usual and not given:
        expected = usual[recipe.family] * relative_cost(recipe, tuning.cv.settings)
        if expected * len(tuning.waves()) > _LONGEST * (tuning.end - time.monotonic()):
            study.tell(trial, state=pruned)
            return
    best = _best_folds(study)
    errors: list[float] = []
    for wave in tuning.waves():
        began = time.monotonic()
        try:
            errors += tuning.errors(recipe, wave, tuning.cv)
        except Exception:
            if given and recipe is tuning.recipes[0]:
                raise  # it won before: this is no matter of settings
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
            return
        if given and wave.start == 0:
            usual[recipe.family] = time.monotonic() - began
        trial.set_user_attr("folds", errors)
        behind = best is not None and np.mean(errors) > _PATIENCE * np.mean(best[: len(errors)])
        if behind and not given and len(errors) < tuning.cv.count:
            trial.report(float(np.mean(errors)), len(errors))
            study.tell(trial, state=pruned)
            return
    study.tell(trial, float(np.mean(errors)))


def _best_folds(study: Any) -> list[float] | None:
    complete = [t for t in study.get_trials(deepcopy=False) if t.state.name == "COMPLETE"]
    if not complete:
        return None
    return list(min(complete, key=lambda t: t.value).user_attrs["folds"])


def _confirmed(tuning: _Tuning, study: Any, first: Recipe) -> Tuned:
    """The best attempt, if it is better than the first recipe on other folds too."""
    cv, settings = tuning.cv, tuning.cv.settings
    complete = [t for t in study.get_trials(deepcopy=False) if t.state.name == "COMPLETE"]
    marks = {t.user_attrs.get(_DEFAULT): t.value for t in complete}
    before = marks.get(first.family)
    if before is None:  # it has nothing to tune, so it is not among the attempts
        known = tuning.known.get(first.family)
        whole = known is not None and len(known.errors) == cv.count
        errors = known.errors if known and whole else tuning.errors(first, range(cv.count), cv)
        before = float(np.mean(errors))
    tried = len(study.trials)
    best = min(complete, key=lambda t: t.value, default=None)
    kept = Tuned(first, before, before, tried, "nothing better than the defaults was found")
    if best is None:
        return kept
    recipe = tuning.of(best.params["family"])
    proofs = tuning.proves(first.family) and not tuning.proves(recipe.family)
    if best.value > (1 - (_PROOFS if proofs else _MARGIN)) * before:
        return kept
    if best.user_attrs.get(_DEFAULT) is None:
        import optuna

        recipe = suggested(recipe, settings, optuna.trial.FixedTrial(best.params))
    # Other folds, as many as there is time for.
    fresh = replace(cv, fold_of=folds(cv.groups, cv.count, cv.data.seed + 1))
    ours: list[float] = []
    theirs: list[float] = []
    for wave in tuning.waves():
        if ours and time.monotonic() > tuning.end:
            break
        ours += tuning.errors(recipe, wave, fresh)
        theirs += tuning.errors(first, wave, fresh)
    if np.mean(ours) >= np.mean(theirs):
        return replace(kept, reason="what looked better was not on other folds; defaults kept")
    return Tuned(recipe, before, float(best.value), tried, f"better on {len(ours)} other folds too")
