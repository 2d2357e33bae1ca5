"""Which family of models learns an outcome best: measured, within a time limit, and told.

Families race (see `race`). Which rows are where, and who is stopped, depends on the data and the
seed only; the clock merely ends a search that takes too long, and says so.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from compass import registry
from compass.domain.answer import FamilyScore
from compass.domain.errors import DataProblem
from compass.execute import Executor
from compass.learn.attempt import workers
from compass.learn.elimination import Runner, Tell, Track, by_error, race
from compass.learn.folds import Course, course, cross_validate, log_is_a_question, scales_of
from compass.learn.score import Checked, folds_interval
from compass.model.base import family, obstacle
from compass.model.recipe import Recipe

__all__ = [
    "AUTO",
    "Course",
    "Selected",
    "Tell",
    "course",
    "cross_validate",
    "known",
    "log_is_a_question",
    "scales_of",
    "select",
]

AUTO = "auto"
_DOUBT = 0.05  # largest lead, as a share of the error, that chance may explain


@dataclass(frozen=True)
class Selected:
    """The recipe that won and how all others did."""

    recipe: Recipe
    scores: tuple[FamilyScore, ...]
    notes: tuple[str, ...] = ()


def select(
    view: Course,
    *,
    families: Sequence[str] | None = None,
    executor: Executor | None = None,
    tell: Tell | None = None,
) -> Selected:
    """The recipe with the lowest cross-validated error; ties go to models that can be proved over.

    `families`: only these; otherwise every family that is known. `executor`: where the attempts
    run; the result does not depend on it.
    """
    until = time.monotonic() + view.settings.select.seconds
    runners, skipped = _entered(view, families)
    if not runners:
        raise DataProblem(
            "no family of models can learn this table: " + "; ".join(s.reason for s in skipped),
            hint="name one that should be tried anyway: surrogate='forest'",
        )
    if view.parts < 2:
        first = runners[0]
        why = "too few configurations to compare models: the first one was taken"
        return Selected(first.recipe, (), (why,))
    with workers(executor, view.settings) as place:
        race(Track(view, place, until), runners, tell)
    return _result(view, runners, skipped)


def known() -> list[str]:
    """The families that take part unless others are named."""
    found = registry.everything("surrogate")
    return [name for name, kind in found.items() if getattr(kind, "selectable", True)]


def _entered(
    view: Course, families: Sequence[str] | None
) -> tuple[list[Runner], list[FamilyScore]]:
    scales = scales_of(view)
    runners, skipped = [], []
    learnt = int(len(view.X) * (1 - 1 / max(view.parts, 2)))
    for name in families or known():
        why = obstacle(family(name), learnt, view.X.shape[1], view.task) if not families else None
        if why is not None:
            skipped.append(FamilyScore(family=name, status="skipped", reason=why))
            continue
        runners += [Runner(Recipe(family=name, log=log), bool(families)) for log in scales]
    return runners, skipped


def _result(view: Course, runners: list[Runner], skipped: list[FamilyScore]) -> Selected:
    finished = [r for r in runners if r.running and len(r.errors) == view.parts]
    notes: list[str] = []
    if not finished:
        # The clock ended the race.
        finished = [_furthest(runners)]
        finished[0].reason = ""
        notes.append("The time for comparing models was over before any was fully compared.")
    elif late := sorted({r.recipe.family for r in runners if r.late}):
        notes.append(f"The time for comparing models was over before {', '.join(late)} ended.")
    best = min(finished, key=by_error)
    winner = best
    if not best.provable:
        equal = [r for r in finished if r.provable and _ties(view, r, best)]
        winner = min(equal, key=by_error, default=best)
    winner.status = "chosen"
    if winner is not best:
        winner.reason = f"as good as {best.told}, and answers can be proved over it"
    told = [_score(view, runner) for runner in _one_per_family(runners)]
    told.sort(key=lambda s: (s.status != "chosen", -s.folds, s.error or 0.0))
    return Selected(winner.recipe, (*told, *skipped), tuple(notes))


def _furthest(runners: list[Runner]) -> Runner:
    """Who did best in the first fold, or on few rows; never one left behind.

    Later folds do not count: the clock may have kept the best one from running them.
    """
    able = [
        r
        for r in runners
        if r.status != "stopped" and not r.failed and min(r.error, r.early) < np.inf
    ]
    if not able:
        raise DataProblem(
            "no family of models could learn this outcome: "
            + "; ".join(f"{r.told} {r.reason}" for r in runners),
            hint="give it more time, or name a family: surrogate='forest'",
        )
    return min(able, key=lambda r: (not r.errors, r.errors.get(0, min(r.error, r.early))))


def _ties(view: Course, runner: Runner, best: Runner) -> bool:
    """Whether the difference to the best is too small, or too uncertain, to matter."""
    if runner.error <= (1 + view.settings.select.tie) * best.error:
        return True
    if runner.error > (1 + _DOUBT) * best.error:
        return False
    more = np.array([runner.errors[p] - best.errors[p] for p in range(view.parts)])
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
        found[runner.recipe.family] = replace(better, took=[*runner.took, *rival.took])
    return list(found.values())


def _score(view: Course, runner: Runner) -> FamilyScore:
    low = high = None
    if runner.predicted:
        checked = [
            Checked(view.y[rows], runner.predicted[part], view.weight_of(rows))
            for part, rows in sorted(runner.checked.items())
        ]
        low, high = folds_interval(checked, view.task, scale=view.scale, seed=view.seed)
    return FamilyScore(
        family=runner.recipe.family,
        log=runner.recipe.log,
        embedding=runner.recipe.embedding,
        error=runner.error if runner.errors else None,
        low=low,
        high=high,
        folds=len(runner.errors),
        errors=tuple(runner.errors[part] for part in sorted(runner.errors)),
        seconds=runner.seconds,
        provable=runner.provable,
        status=runner.status,
        reason=runner.reason,
    )
