"""Candidates that meet the goals with the chance that is asked for.

A search compares predictions with targets. How far a target has to be shifted for runs to keep the
chance depends on how uncertain a prediction is, and that on the configuration: so the search is
made for predictions that are as uncertain as the start, and again for those that are as uncertain
as what it found, until what comes first is likely enough. Of everything that was tried, what is
likely enough is taken, wherever its prediction lies.

Decision 0032 (docs/decisions).
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from compass.domain.space import Number
from compass.generate.base import Bools, Candidates, Floats, Generator
from compass.generate.loss import proximity
from compass.generate.objectives import objectives
from compass.generate.pick import pick, preferred
from compass.generate.repair import restore_forced
from compass.generate.score import score, score_targets
from compass.generate.supported import towards_past_runs
from compass.generate.task import SearchTask
from compass.prepare.legal import snap
from compass.prepare.split import configurations

_ROUNDS = 4  # searches for one question at most
_ENOUGH = 1e-9
_LOOKED_AT = 400  # of what a search tried, best first, whose chance is worked out
_PER_ANSWER = 8  # or so many for each answer that is wanted, where those are more
_DOUBTED = 4  # likely configurations from which past runs are gone towards
_STEPS = 12  # values of a column between the start and a candidate
_PASSES = 3  # times that all columns are tried


def generate_certain(generator: Generator, task: SearchTask) -> tuple[SearchTask, Candidates]:
    """The candidates, and the task with the targets shifted as they were searched with.

    `meets` of the candidates says whether runs meet every goal with the chance.
    """
    chances = task.chances
    if chances is None:
        return task, generator.generate(task)
    at = task.start
    tried: list[Floats] = []
    for _ in range(_ROUNDS):
        shifted = _shifted(task, at)
        # What can be trusted is chosen once, among all that is likely enough.
        found = generator.generate(replace(shifted, trusted=None))
        if not len(found.X):
            return shifted, found
        tried += (
            [found.tried[: max(_LOOKED_AT, _PER_ANSWER * task.count)]] if len(found.tried) else []
        )
        first = _first_supported(task, found.X)
        if _sure(task, found.X[[first]])[0] or not found.meets[first] or task.timed_out:
            break
        if (at == found.X[first]).all():
            break
        at = found.X[first]
    every = _unique(np.concatenate([found.X, *tried]))
    likely = chances.least(every)
    every, likely = _with_trusted(task, every, likely)
    if found.exhaustive and tried and not reached(task, every, likely, chances.chance).any():
        every = _unique(np.concatenate([found.X, found.tried]))
        likely = chances.least(every)
    found = replace(found, tried=every, likely=likely)
    sure = reached(task, every, likely, chances.chance)
    if not sure.any():
        return shifted, replace(found, meets=np.zeros(len(found.X), dtype=np.bool_))
    if tried:
        found = _chosen(shifted, found, every[sure])
    else:  # another generator: its own choice, what is likely enough first
        fine = _sure(task, found.X)
        found = replace(found, meets=fine).take(np.argsort(~fine, kind="stable"))
    # A proof is about predictions that are as uncertain as that of what comes first.
    return _shifted(task, found.X[0]), found


def confirmed(task: SearchTask, found: Candidates) -> Candidates:
    """Candidates with `meets` telling whether runs meet every goal with the chance."""
    if task.chances is None or not len(found.X):
        return found
    return replace(found, meets=found.meets & _sure(task, found.X))


def _with_trusted(task: SearchTask, X: Floats, likely: Floats) -> tuple[Floats, Floats]:
    """Configurations X [n, d] and their chances [n], and some that are nearer to past runs.

    Where the first that are likely enough are in doubt.
    """
    assert task.chances is not None
    best = X[np.flatnonzero(likely >= task.chances.chance - _ENOUGH)[:_DOUBTED]]
    if task.trusted is None or not len(best) or task.trusted(best[:1])[0]:
        return X, likely
    more = towards_past_runs(task, best)
    more = more[score(task, more).violation == 0]
    if not len(more):
        return X, likely
    return np.concatenate([X, more]), np.concatenate([likely, task.chances.least(more)])


def _shifted(task: SearchTask, at: Floats) -> SearchTask:
    """The task with the targets of predictions that are as uncertain as the one at this point."""
    assert task.chances is not None
    shifted = replace(task, targets=task.chances.shifted(at), past_runs=None)
    if task.past_runs is None:
        return shifted
    return replace(shifted, past_runs=task.past_runs.ranked_for(shifted))


def _chosen(task: SearchTask, found: Candidates, X: Floats) -> Candidates:
    """The answers among configurations X [n, d] that are all likely enough."""
    scored = score(task, X)
    scored = replace(scored, valid=np.zeros(len(X)))  # they meet the goals, shifted or not
    ranked = preferred(task, scored.take(np.flatnonzero(scored.violation == 0)))
    if not len(ranked):
        return replace(found, meets=np.zeros(len(found.X), dtype=np.bool_))
    chosen = ranked.take(pick(task, ranked))
    if task.proximity and not objectives(task.targets):
        X = _unique(_brought_nearer(task, chosen.X))
        chosen = replace(score(task, X), valid=np.zeros(len(X)))
    best = chosen.candidates()
    arrays = {name: getattr(best, name) for name in ("X", "values", "meets", "proximity")}
    return replace(found, **arrays)


def _brought_nearer(task: SearchTask, X: Floats) -> Floats:
    """Answers X [n, d] with the first that may be suggested, and the first trusted one, nearer."""
    assert task.chances is not None
    X = X.copy()
    done: set[int] = set()
    for fine in (task.trusted, task.supported):
        if fine is None:
            continue
        good = np.flatnonzero(fine(X))
        if len(good) and int(good[0]) not in done:
            X[good[0]] = nearer(task, X[good[0]], task.chances.chance, fine)
            done.add(int(good[0]))
    return X


def nearer(
    task: SearchTask, x: Floats, chance: float, fine: Callable[[Floats], Bools] | None = None
) -> Floats:
    """A configuration x [d] moved back towards the start while goals are met with the chance.

    One column at a time, the largest saving first, and only to what is `fine`.
    """
    assert task.chances is not None
    own = float(proximity(x[None, :], task.start, task.geometry)[0])
    for _ in range(_PASSES):
        if task.timed_out:
            break
        X = _pulled_back(task, x)
        near = proximity(X, task.start, task.geometry)
        X = X[near < own - _ENOUGH]
        X = X[score(task, X).violation == 0]
        X = X[reached(task, X, task.chances.least(X), chance)]
        if fine is not None and len(X):
            X = X[fine(X)]
        if not len(X):
            break
        near = proximity(X, task.start, task.geometry)
        x, own = X[int(np.argmin(near))], float(near.min())
    return x


def _pulled_back(task: SearchTask, x: Floats) -> Floats:
    """Configurations [n, d] with one moved column of x [d] nearer to the start."""
    found = []
    for column in task.movable[x[task.movable] != task.start[task.movable]]:
        parameter = task.space.parameters[column]
        steps = np.linspace(task.start[column], x[column], _STEPS, endpoint=False)
        # Of labels, and from or to `none`, there is nothing between.
        plain = task.geometry.none[column] not in (task.start[column], x[column])
        between = isinstance(parameter, Number) and plain
        values = np.unique(snap(parameter, steps)) if between else steps[:1]
        rows = np.repeat(x[None, :], len(values), axis=0)
        rows[:, column] = values
        found.append(rows)
    made = np.concatenate(found) if found else np.empty((0, len(x)))
    return restore_forced(task, made) if len(made) else made


def _first_supported(task: SearchTask, X: Floats) -> int:
    """Which of X [n, d], n > 0, would be suggested first: the first that past runs support."""
    return 0 if task.supported is None else int(np.argmax(task.supported(X)))


def _sure(task: SearchTask, X: Floats) -> Bools:
    """Whether runs of X [n, d] meet every goal with the chance that is asked for."""
    assert task.chances is not None
    return reached(task, X, task.chances.least(X), task.chances.chance)


def reached(task: SearchTask, X: Floats, likely: Floats, chance: float) -> Bools:
    """Whether X [n, d], whose goals are met with these chances [n], are likely enough.

    Goals that need not be met with a chance have to be met by the prediction.
    """
    enough = likely >= chance - _ENOUGH
    others = tuple(t for t in task.targets if not t.by_chance and t.direction is None)
    if others and len(X):
        aims = score_targets(replace(task, targets=others), task.predict(X), len(X))
        enough &= aims.valid <= 0
    return enough


def _unique(X: Floats) -> Floats:
    """Different rows, in the order of the first of each."""
    _, first = np.unique(configurations(X), return_index=True)
    return X[np.sort(first)]
