"""The skill of a model on the runs that it did not see."""

import numpy as np

from compass.domain.space import Category, Role
from compass.learn.outcomes import OutcomeData
from compass.model.base import Floats
from compass.prepare.names import names_jobs
from compass.prepare.split import configurations
from compass.trust.skill import Skill, errors_of, last_before, skill, usual


def skill_of(data: OutcomeData, predicted: Floats) -> Skill:
    """How much of the error of the simplest prediction is saved by predictions [v, outputs]."""
    classes, valid = data.task.classes is not None, data.valid
    y, weight = data.y, data.weight
    guess = predicted.argmax(axis=1).astype(np.float64) if classes else predicted[:, 0]
    middle = usual(y[data.train], weight[data.train], classes=classes)
    ways = [np.full(len(valid), middle)]
    if data.view.prepared.time is not None or _names_jobs(data):
        # Rows in the order in which runs were made: neighbours in a sweep are nearly the same run.
        last = last_before(_contexts(data), data.train, valid)
        ways.append(np.where(last >= 0, y[np.maximum(last, 0)], middle))
    simple = [errors_of(y[valid], values, classes=classes) for values in ways]
    better = min(simple, key=lambda one: float((weight[valid] * one).sum()))
    return skill(errors_of(y[valid], guess, classes=classes), better, weight[valid])


def _names_jobs(data: OutcomeData) -> bool:
    """Whether the table is a trace of people's jobs."""
    return any(names_jobs(report.name) for report in data.view.prepared.columns)


def _contexts(data: OutcomeData) -> "np.ndarray[tuple[int], np.dtype[np.uint64]]":
    """A number per run [n] that is the same for runs with the same labels of the context."""
    labels = [
        j
        for j, parameter in enumerate(data.view.features)
        if parameter.role is Role.CONTEXT and isinstance(parameter, Category)
    ]
    return configurations(data.X[:, labels] if labels else np.zeros((len(data.X), 1)))
