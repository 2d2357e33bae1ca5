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
        task = case.task
        before = _arrays(task)
        result = _generate(found, plugin, case)
        for what, array in _arrays(task).items():
            found.expect(
                np.array_equal(array, before[what], equal_nan=True),
                f"it leaves the problem's `{what}` as it is",
                first_difference(array, before[what]),
                case.look,
            )
        truth = everything(task)
        _existence(found, case, result, truth)
        if result is None:
            continue
        _shapes(found, case, result)
        _legal(found, case, result)
        _forced(found, case, result)
        _distinct(found, case, result)
        scored = score(task, result.X)
        _truthful(found, case, result, scored)
        _best_first(found, case, result, scored)
        _repeatable(found, plugin, case, result)


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


def _generate(found: Witness, plugin: Any, case: GeneratorCase) -> Candidates | None:
    """What was generated; None: it says that the rules conflict."""
    with found.calling(f"it copes with: {case.label}", case.look):
        try:
            result = ready(plugin, case.task).generate(case.task)
        except ConflictingRules:
            return None
    found.expect(
        isinstance(result, Candidates),
        "it returns a Candidates",
        type(result).__name__,
        case.look,
    )
    assert isinstance(result, Candidates)
    return result


def _existence(
    found: Witness, case: GeneratorCase, result: Candidates | None, truth: ScoredCandidates | None
) -> None:
    """Nothing where there is nothing; something where there is plenty; no false certainty."""
    empty = result is None or not len(result.X)
    if truth is None:
        return
    obeying = truth.violation == 0
    if not obeying.any():
        found.expect(
            empty,
            "where no configuration obeys the rules it gives none, or raises ConflictingRules",
            f"{0 if result is None else len(result.X)} candidates",
            case.look,
        )
        return
    found.expect(
        result is not None,
        "it raises ConflictingRules only where no configuration obeys the rules",
        f"{int(obeying.sum())} configurations obey them",
        case.look,
    )
    assert result is not None
    found.expect(
        len(case.task.movable) or np.array_equal(result.X, case.task.start[None, :]),
        "where nothing may move it gives the start",
        f"{result.X.tolist()}",
        case.look,
    )
    found.expect(
        len(result.X) or obeying.mean() < _EASY,
        "where one configuration in ten obeys the rules it gives some, even if no goal is met",
        f"none, though {int(obeying.sum())} of {len(obeying)} legal configurations obey them",
        case.look,
    )
    meeting = obeying & (truth.valid <= 0)
    found.expect(
        not result.exhaustive or bool(np.any(result.meets)) == bool(meeting.any()),
        "`exhaustive` is said only when every configuration was tried",
        f"{int(meeting.sum())} answers were overlooked",
        case.look,
    )
    found.expect(
        bool(np.any(result.meets)) or meeting.mean() < _EASY,
        "it finds an answer where one configuration in ten is one",
        f"none, though {int(meeting.sum())} of {len(meeting)} legal configurations are answers",
        case.look,
    )


def _shapes(found: Witness, case: GeneratorCase, result: Candidates) -> None:
    task, X = case.task, result.X
    found.expect(
        isinstance(X, np.ndarray)
        and X.dtype == np.float64
        and X.ndim == 2
        and X.shape[1] == len(task.start),
        f"`X` is a float64 array with {len(task.start)} columns",
        f"{getattr(X, 'dtype', type(X).__name__)} of shape {np.shape(X)}",
        case.look,
    )
    found.expect(
        np.shape(result.values) == (len(X), len(objectives(task.targets))),
        "`values` has a row for each candidate and a column for each objective",
        f"shape {np.shape(result.values)}",
        case.look,
    )
    found.expect(
        result.meets.shape == (len(X),) and result.meets.dtype == np.bool_,
        "`meets` is a yes or no for each candidate",
        f"{result.meets.dtype} of shape {result.meets.shape}",
        case.look,
    )
    found.expect(
        result.proximity.shape == (len(X),),
        "`proximity` is a number for each candidate",
        f"shape {result.proximity.shape}",
        case.look,
    )
    found.expect(
        len(X) <= task.count,
        "it gives at most as many candidates as are asked for",
        f"{len(X)} instead of {task.count}",
        case.look,
    )


def _legal(found: Witness, case: GeneratorCase, result: Candidates) -> None:
    task, X = case.task, result.X
    for place, parameter in enumerate(task.space):
        values = X[:, place]
        if place in task.movable:
            wrong = values[~legal_mask(parameter, values)]
            found.expect(
                not len(wrong),
                "every value that it sets is a legal one",
                f"{parameter.name} = {wrong[:3].tolist()}",
                case.look,
            )
        else:
            found.expect(
                (values == task.start[place]).all(),
                "columns that are neither free nor forced stay as they are",
                f"{parameter.name} went from {task.start[place]:g} to {values[:3].tolist()}",
                case.look,
            )
    for rule in task.rules:
        wrong_rows = np.flatnonzero(~rule.holds(X))
        found.expect(
            not len(wrong_rows),
            "every candidate obeys every rule",
            f"{X[wrong_rows[:1]].tolist()} breaks {rule.text}",
            case.look,
        )


def _forced(found: Witness, case: GeneratorCase, result: Candidates) -> None:
    task = case.task
    for column in task.forced:
        back = result.X.copy()
        back[:, column] = task.start[column]
        moved = result.X[:, column] != task.start[column]
        idle = moved & (rule_violation(task, back) == 0)
        found.expect(
            not idle.any(),
            "a forced column moves only where a rule leaves no other way",
            f"{task.space.names[column]} moved in {result.X[idle][:1].tolist()}, "
            "though the rules hold without that",
            case.look,
        )


def _distinct(found: Witness, case: GeneratorCase, result: Candidates) -> None:
    different = len(np.unique(result.X, axis=0)) if len(result.X) else 0
    found.expect(
        different == len(result.X),
        "candidates are distinct",
        f"{different} different ones among {len(result.X)}",
        case.look,
    )


def _truthful(
    found: Witness, case: GeneratorCase, result: Candidates, scored: ScoredCandidates
) -> None:
    found.expect(
        (scored.violation == 0).all(),
        "every candidate obeys the conditions on predicted outcomes",
        f"{result.X[scored.violation > 0][:1].tolist()} does not",
        case.look,
    )
    found.expect(
        np.array_equal(result.meets, scored.valid <= 0),
        "`meets` says truly which candidates meet every goal",
        first_difference(result.meets, scored.valid <= 0),
        case.look,
    )
    found.expect(
        np.allclose(result.values, scored.values, rtol=1e-9, atol=1e-9),
        "`values` are what is minimised, in standard deviations (generate.score.score)",
        first_difference(result.values, scored.values),
        case.look,
    )
    near = loss.proximity(result.X, case.task.start, case.task.geometry)
    found.expect(
        np.allclose(result.proximity, near, rtol=1e-9, atol=1e-9),
        "`proximity` is the weighted change against the start (generate.loss.proximity)",
        first_difference(result.proximity, near),
        case.look,
    )


def _best_first(
    found: Witness, case: GeneratorCase, result: Candidates, scored: ScoredCandidates
) -> None:
    task = case.task
    if len(result.X) < 2:
        return
    found.expect(
        (np.diff(result.meets.astype(np.int64)) <= 0).all(),
        "candidates that meet the goals come before those that do not",
        f"meets = {result.meets.tolist()}",
        case.look,
    )
    found.expect(
        scored.valid[0] <= scored.valid.min() + 1e-9,
        "the first candidate misses the goals by least",
        f"misses {scored.valid.tolist()}",
        case.look,
    )
    equals = scored.valid <= scored.valid[0] + 1e-9
    if objectives(task.targets):
        best = float(scored.preference[equals].min())
        found.expect(
            scored.preference[0] <= as_good_as(best, task.settings.search.tolerance) + 1e-9,
            "the first candidate has the best value of what is minimised",
            f"values {scored.preference.tolist()}",
            case.look,
        )
    elif task.proximity:
        found.expect(
            scored.proximity[0] <= scored.proximity[equals].min() + _ROUNDING,
            "the first candidate is the smallest change",
            f"changes {scored.proximity.tolist()}",
            case.look,
        )


def _repeatable(found: Witness, plugin: Any, case: GeneratorCase, result: Candidates) -> None:
    again = _generate(found, plugin, case)
    found.expect(
        again is not None and np.array_equal(again.X, result.X),
        "the same problem and seed give the same candidates",
        "ConflictingRules" if again is None else first_difference(again.X, result.X),
        case.look + ", twice",
    )
