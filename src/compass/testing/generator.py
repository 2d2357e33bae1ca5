"""What a generator promises: legal candidates, described truly, best first, repeatable."""

from typing import Any

import numpy as np

from compass.domain.errors import ConflictingRules
from compass.generate import loss
from compass.generate.base import Candidates, ready
from compass.generate.objectives import as_good_as, objectives
from compass.generate.repair import rule_violation
from compass.generate.score import ScoredCandidates, score
from compass.generate.task import SearchTask
from compass.prepare.legal import legal_mask
from compass.testing.base import Witness, first_difference, witness
from compass.testing.search_tasks import GeneratorCase, cases, everything

_EASY = 0.1  # share of all configurations that answer a problem which nobody may fail
_ROUNDING = 0.02  # numbers may be rounded to what a person would type, in standard deviations


def check_generator(plugin: Any, *, name: str | None = None) -> None:
    """Raise ConformanceError unless the generator keeps its promises."""
    found = witness("generator", plugin, name)
    for case in cases():
        task, at = case.task, found.at(case.look)
        before = _arrays(task)
        result = _generate(at, plugin, case)
        for what, array in _arrays(task).items():
            at.expect(
                np.array_equal(array, before[what], equal_nan=True),
                f"it leaves the problem's `{what}` as it is",
                first_difference(array, before[what]),
            )
        truth = everything(task)
        _existence(at, task, result, truth)
        if not getattr(plugin, "weighs_goals", False):
            _plenty(at, result, truth)
        if result is None:
            continue
        _shapes(at, task, result)
        _legal(at, task, result)
        _forced(at, task, result)
        _distinct(at, result)
        scored = score(task, result.X)
        _truthful(at, task, result, scored)
        _best_first(at, task, result, scored)
        _repeatable(at, plugin, case, result)


def _arrays(task: SearchTask) -> dict[str, Any]:
    return {
        "start": task.start.copy(),
        "free": task.free.copy(),
        "forced": task.forced.copy(),
        "observed": task.observed.copy(),
        **{f"measured {name}": y.copy() for name, y in task.measured().items()},
        "geometry.scale": task.geometry.scale.copy(),
        "geometry.weight": task.geometry.weight.copy(),
    }


def _generate(at: Witness, plugin: Any, case: GeneratorCase) -> Candidates | None:
    """What was generated; None: it says that the rules conflict."""
    with at.calling(f"it copes with: {case.label}"):
        try:
            result = ready(plugin, case.task).generate(case.task)
        except ConflictingRules:
            return None
    at.expect(isinstance(result, Candidates), "it returns a Candidates", type(result).__name__)
    assert isinstance(result, Candidates)
    return result


def _existence(
    at: Witness, task: SearchTask, result: Candidates | None, truth: ScoredCandidates | None
) -> None:
    """Nothing where there is nothing; the start where nothing moves; no false certainty."""
    empty = result is None or not len(result.X)
    if truth is None:
        return
    obeying = truth.violation == 0
    if not obeying.any():
        at.expect(
            empty,
            "where no configuration obeys the rules it gives none, or raises ConflictingRules",
            f"{0 if result is None else len(result.X)} candidates",
        )
        return
    at.expect(
        result is not None,
        "it raises ConflictingRules only where no configuration obeys the rules",
        f"{int(obeying.sum())} configurations obey them",
    )
    assert result is not None
    at.expect(
        len(task.movable) or np.array_equal(result.X, task.start[None, :]),
        "where nothing may move it gives the start",
        f"{result.X.tolist()}",
    )
    meeting = obeying & (truth.valid <= 0)
    at.expect(
        not result.exhaustive or bool(np.any(result.meets)) == bool(meeting.any()),
        "`exhaustive` is said only when every configuration was tried",
        f"{int(meeting.sum())} answers were overlooked",
    )


def _plenty(at: Witness, result: Candidates | None, truth: ScoredCandidates | None) -> None:
    """Something where there is plenty: for generators that put rules and goals before all else."""
    if truth is None or result is None:
        return
    obeying = truth.violation == 0
    at.expect(
        len(result.X) or obeying.mean() < _EASY,
        "where one configuration in ten obeys the rules it gives some, even if no goal is met",
        f"none, though {int(obeying.sum())} of {len(obeying)} legal configurations obey them",
    )
    meeting = obeying & (truth.valid <= 0)
    at.expect(
        bool(np.any(result.meets)) or meeting.mean() < _EASY,
        "it finds an answer where one configuration in ten is one",
        f"none, though {int(meeting.sum())} of {len(meeting)} legal configurations are answers",
    )


def _shapes(at: Witness, task: SearchTask, result: Candidates) -> None:
    X = result.X
    at.expect(
        isinstance(X, np.ndarray)
        and X.dtype == np.float64
        and X.ndim == 2
        and X.shape[1] == len(task.start),
        f"`X` is a float64 array with {len(task.start)} columns",
        f"{getattr(X, 'dtype', type(X).__name__)} of shape {np.shape(X)}",
    )
    at.expect(
        np.shape(result.values) == (len(X), len(objectives(task.targets))),
        "`values` has a row for each candidate and a column for each objective",
        f"shape {np.shape(result.values)}",
    )
    at.expect(
        result.meets.shape == (len(X),) and result.meets.dtype == np.bool_,
        "`meets` is a yes or no for each candidate",
        f"{result.meets.dtype} of shape {result.meets.shape}",
    )
    at.expect(
        result.proximity.shape == (len(X),),
        "`proximity` is a number for each candidate",
        f"shape {result.proximity.shape}",
    )
    at.expect(
        len(X) <= task.count,
        "it gives at most as many candidates as are asked for",
        f"{len(X)} instead of {task.count}",
    )


def _legal(at: Witness, task: SearchTask, result: Candidates) -> None:
    X = result.X
    for place, parameter in enumerate(task.space):
        values = X[:, place]
        if place in task.movable:
            wrong = values[~legal_mask(parameter, values)]
            at.expect(
                not len(wrong),
                "every value that it sets is a legal one",
                f"{parameter.name} = {wrong[:3].tolist()}",
            )
        else:
            at.expect(
                (values == task.start[place]).all(),
                "columns that are neither free nor forced stay as they are",
                f"{parameter.name} went from {task.start[place]:g} to {values[:3].tolist()}",
            )
    for rule in task.rules:
        wrong_rows = np.flatnonzero(~rule.holds(X))
        at.expect(
            not len(wrong_rows),
            "every candidate obeys every rule",
            f"{X[wrong_rows[:1]].tolist()} breaks {rule.text}",
        )


def _forced(at: Witness, task: SearchTask, result: Candidates) -> None:
    for column in task.forced:
        back = result.X.copy()
        back[:, column] = task.start[column]
        moved = result.X[:, column] != task.start[column]
        idle = moved & (rule_violation(task, back) == 0)
        at.expect(
            not idle.any(),
            "a forced column moves only where a rule leaves no other way",
            f"{task.space.names[column]} moved in {result.X[idle][:1].tolist()}, "
            "though the rules hold without that",
        )


def _distinct(at: Witness, result: Candidates) -> None:
    different = len(np.unique(result.X, axis=0)) if len(result.X) else 0
    at.expect(
        different == len(result.X),
        "candidates are distinct",
        f"{different} different ones among {len(result.X)}",
    )


def _truthful(at: Witness, task: SearchTask, result: Candidates, scored: ScoredCandidates) -> None:
    at.expect(
        (scored.violation == 0).all(),
        "every candidate obeys the conditions on predicted outcomes",
        f"{result.X[scored.violation > 0][:1].tolist()} does not",
    )
    at.same(result.meets, scored.valid <= 0, "`meets` says truly which candidates meet every goal")
    promise = "`values` are what is minimised, in standard deviations (generate.score.score)"
    at.same(result.values, scored.values, promise, rounding=1e-9)
    near = loss.proximity(result.X, task.start, task.geometry)
    promise = "`proximity` is the weighted change against the start (generate.loss.proximity)"
    at.same(result.proximity, near, promise, rounding=1e-9)


def _best_first(
    at: Witness, task: SearchTask, result: Candidates, scored: ScoredCandidates
) -> None:
    if len(result.X) < 2:
        return
    at.expect(
        (np.diff(result.meets.astype(np.int64)) <= 0).all(),
        "candidates that meet the goals come before those that do not",
        f"meets = {result.meets.tolist()}",
    )
    at.expect(
        scored.valid[0] <= scored.valid.min() + 1e-9,
        "the first candidate misses the goals by least",
        f"misses {scored.valid.tolist()}",
    )
    equals = scored.valid <= scored.valid[0] + 1e-9
    if objectives(task.targets):
        best = float(scored.preference[equals].min())
        at.expect(
            scored.preference[0] <= as_good_as(best, task.settings.search.tolerance) + 1e-9,
            "the first candidate has the best value of what is minimised",
            f"values {scored.preference.tolist()}",
        )
    elif task.proximity:
        at.expect(
            scored.proximity[0] <= scored.proximity[equals].min() + _ROUNDING,
            "the first candidate is the smallest change",
            f"changes {scored.proximity.tolist()}",
        )


def _repeatable(at: Witness, plugin: Any, case: GeneratorCase, result: Candidates) -> None:
    again = _generate(at, plugin, case)
    at.at(f"{at.look}, twice").expect(
        again is not None and np.array_equal(again.X, result.X),
        "the same problem and seed give the same candidates",
        "ConflictingRules" if again is None else first_difference(again.X, result.X),
    )
