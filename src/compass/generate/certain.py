"""Candidates that meet the goals with the chance that is asked for.

A search compares predictions with targets. How far a target has to be shifted for runs to keep the
chance depends on how uncertain a prediction is, and that on the configuration: so the search is
made for predictions that are as uncertain as the start, and again for those that are as uncertain
as what it found, until what comes first is likely enough.

Decision 0032 (docs/decisions).
"""

from dataclasses import replace

import numpy as np

from compass.generate.base import Bools, Candidates, Floats, Generator
from compass.generate.score import score_targets
from compass.generate.task import SearchTask

_ROUNDS = 4  # searches for one question at most
_ENOUGH = 1e-9


def generate_certain(generator: Generator, task: SearchTask) -> tuple[SearchTask, Candidates]:
    """The candidates, and the task with the targets shifted as they were searched with.

    `meets` of the candidates says whether runs meet every goal with the chance.
    """
    chances = task.chances
    if chances is None:
        return task, generator.generate(task)
    at = task.start
    for _ in range(_ROUNDS):
        shifted = replace(task, targets=chances.shifted(at), past_runs=None)
        if task.past_runs is not None:
            shifted = replace(shifted, past_runs=task.past_runs.ranked_for(shifted))
        found = generator.generate(shifted)
        if not len(found.X):
            return shifted, found
        sure = chances.least(found.X) >= chances.chance - _ENOUGH
        sure &= _meets_others(task, found.X)
        if sure[0] or not found.meets[0] or task.timed_out:
            break
        if (at == found.X[0]).all():
            break
        at = found.X[0]
    # Predictions that miss the shifted target may be certain enough to meet the goal all the same.
    order = np.argsort(~sure, kind="stable")
    return shifted, replace(found, meets=sure).take(order)


def _meets_others(task: SearchTask, X: Floats) -> Bools:
    """Whether predictions of X [n, d] meet the goals that need not be met with the chance."""
    others = tuple(t for t in task.targets if not t.by_chance and t.direction is None)
    if not others:
        return np.ones(len(X), dtype=np.bool_)
    aims = score_targets(replace(task, targets=others), task.predict(X), len(X))
    return np.asarray(aims.valid <= 0)
