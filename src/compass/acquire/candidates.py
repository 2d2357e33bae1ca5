"""Configurations that may improve the answer to a question: legal, and worth a look."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from compass.acquire import improvement
from compass.acquire.runnable import allowed, likely_ends_well
from compass.domain.space import Number
from compass.evidence.assessor import Assessor
from compass.evidence.contexts import completed
from compass.evidence.past_runs import past_runs_of
from compass.generate.blocks import Block, blocks
from compass.generate.past import PastRuns
from compass.generate.predict import Averaged
from compass.generate.repair import restore_forced, rule_violation
from compass.generate.task import SearchTask
from compass.generate.variation import children, draw, variation_of

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Rng = np.random.Generator

_BRED = 384  # candidates bred from suggestions and from the best measured runs
_RANDOM = 192  # legal candidates from anywhere
_PARENTS = 32  # measured configurations, best first, that candidates are bred from
REPEATED = 8  # of those, the ones that may be run again
_DIGITS = 4  # of numbers without a grid


def legal_candidates(
    task: SearchTask, assessor: Assessor, suggested: Floats, measured: Floats, rng: Rng
) -> Floats:
    """Everything [m, d] that could be run for a question: the suggested configurations first.

    Then the best measured ones [k, d], to be run again, and others that are bred from both.
    """
    bred = _bred(task, np.concatenate([suggested, measured]), rng)
    X = np.concatenate([suggested, measured[:REPEATED], bred])
    if task.baseline is None and len(X):
        X = _placed(task, assessor, X)
    X = _first_of_each(X[_fine(task, X)])
    return X[likely_ends_well(assessor, X)]


def _placed(task: SearchTask, assessor: Assessor, X: Floats) -> Floats:
    """Settings X [m, d] in the best known context, of several in one where they were not run yet.

    A run that was made already teaches little, and where a question is about several contexts the
    settings can be tried in another one.
    """
    contexts, space = task.contexts, task.space
    settings = np.repeat(task.start[None, :], len(X), axis=0)
    settings[:, task.movable] = X[:, task.movable]
    full = completed(task, assessor, _first_of_each(settings))
    made = assessor.view.all_runs
    again = np.flatnonzero(made.known(full))
    if len(contexts) < 2 or not len(again):
        return full
    tried = np.tile(contexts, (len(again), 1))
    tried[:, task.movable] = np.repeat(full[again][:, task.movable], len(contexts), axis=0)
    fresh = ~made.known(tried) & allowed(space, task.rules, tried, task.movable)
    far = np.full(len(tried), np.inf)
    far[fresh] = assessor.view.support.novelty(tried[fresh])
    nearest = far.reshape(len(again), -1).argmin(axis=1) + np.arange(len(again)) * len(contexts)
    full[again] = np.where(fresh[nearest][:, None], tried[nearest], full[again])
    return full


def measured_in(
    task: SearchTask, assessor: Assessor, contexts: Floats | None = None
) -> PastRuns | None:
    """What was measured in the context of the question; None where there are several contexts."""
    if task.past_runs is not None or not isinstance(task.predict, Averaged):
        return task.past_runs
    # Past runs are kept of what is minimised; goals are looked up in the same way.
    aimed = tuple(t.model_copy(update={"direction": "minimize"}) for t in task.targets)
    where = task.contexts if contexts is None else contexts
    return past_runs_of(replace(task, targets=aimed), assessor, where, task.predict.spread)


def best_measured(task: SearchTask, past_runs: PastRuns | None) -> Integers:
    """Positions among the past runs of the best configurations that are legal, best first.

    What was measured is drawn towards the model as far as runs scatter.
    """
    if past_runs is None:
        return np.empty(0, dtype=np.int64)
    rows = np.ones(len(past_runs.X), dtype=np.bool_)
    for name in deciding_outcomes(task):
        rows &= past_runs.runs[name] > 0
    places = np.flatnonzero(rows)
    places = places[_fine(task, past_runs.X[places])]
    if not len(places):
        return places
    as_measured = {
        name: _as_drawn(past_runs.mean[name][places]) for name in deciding_outcomes(task)
    }
    found = improvement.result(task, past_runs.X[places], as_measured)
    losses = found.losses(float(found.value.max()))[0]
    best = places[np.argsort(losses, kind="stable")[:_PARENTS]]
    losses = measured_losses(task, past_runs, best)
    return np.asarray(best[np.argsort(losses, kind="stable")])


def measured_losses(
    task: SearchTask, past_runs: PastRuns, places: Integers, worst: float | None = None
) -> Floats:
    """The losses [k] of measured configurations, drawn towards the model."""
    X = past_runs.X[places]
    believed = past_runs.believed(task.predict(X), places)
    found = improvement.result(
        task, X, {n: _as_drawn(believed[n]) for n in deciding_outcomes(task)}
    )
    return np.asarray(found.losses(float(found.value.max()) if worst is None else worst)[0])


def deciding_outcomes(task: SearchTask) -> tuple[str, ...]:
    """The outcomes that decide."""
    aimed = [target.name for target in task.targets]
    return tuple(dict.fromkeys([*aimed, *(task.outcomes if task.outcome_rules else ())]))


def _as_drawn(scores: Floats) -> Floats:
    """Numbers, or positions of the likeliest class, [1, m] from scores [m, outputs]."""
    one = scores[:, 0] if scores.shape[1] == 1 else scores.argmax(axis=1).astype(np.float64)
    return np.asarray(one[None, :])


def _fine(task: SearchTask, X: Floats) -> NDArray[np.bool_]:
    return allowed(task.space, task.rules, X, task.movable)


def _bred(task: SearchTask, parents: Floats, rng: Rng) -> Floats:
    """Legal candidates: near the parents, mixtures of them, and from anywhere."""
    bare = replace(task, past_runs=None)
    groups = blocks(bare) if len(task.movable) else []
    if not groups or any(block.table is not None and not len(block.table) for block in groups):
        return task.start[None, :]
    variation = variation_of(bare, groups)
    random = np.repeat(variation.legal_start[None, :], _RANDOM, axis=0)
    for block in groups:
        random[:, block.columns] = draw(block, len(random), rng)
    heads = parents if len(parents) else random
    bred = children(variation, heads, _BRED, rng)
    X = np.concatenate([*(_steps(x, groups) for x in heads[:4]), bred, random])
    X = restore_forced(bare, X[rule_violation(task, X) == 0])
    return _rounded(task, X)


def _steps(x: Floats, groups: list[Block]) -> Floats:
    """Configurations that differ from x [d] by one step of one column."""
    found = [x]
    for block in groups:
        for column, values in zip(block.columns, block.values, strict=True):
            view = int(np.searchsorted(values, x[column]))
            for place in (view - 1, view, view + 1):
                if 0 <= place < len(values) and values[place] != x[column]:
                    moved = x.copy()
                    moved[column] = values[place]
                    found.append(moved)
    return np.array(found)


def _rounded(task: SearchTask, X: Floats) -> Floats:
    """Numbers without a grid as a person would type them, where the rules allow it."""
    short = X.copy()
    for column in task.movable:
        parameter = task.space.parameters[column]
        if isinstance(parameter, Number) and not parameter.step and not parameter.allowed:
            values = X[:, column]
            rounded = [float(f"{value:.{_DIGITS}g}") for value in values]
            kept = (values == task.geometry.none[column]) | (values == task.start[column])
            short[:, column] = np.where(kept, values, rounded)
    return np.where(_fine(task, short)[:, None], short, X)


def _first_of_each(X: Floats) -> Floats:
    _, first = np.unique(X, axis=0, return_index=True)
    return np.asarray(X[np.sort(first)])
