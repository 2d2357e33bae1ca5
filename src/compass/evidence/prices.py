"""What certainty costs: the smallest change that meets the goals with more or less chance.

Decision 0032 (docs/decisions).
"""

import numpy as np
from numpy.typing import NDArray

from compass.domain.answer import Price
from compass.evidence.assessor import Assessor
from compass.generate.base import Candidates
from compass.generate.certain import nearer, reached
from compass.generate.loss import proximity
from compass.generate.objectives import objectives
from compass.generate.task import SearchTask
from compass.prepare.encode import Encoder

Floats = NDArray[np.float64]

_CHANCES = (0.5, 0.8, 0.95)
_LOOKED_AT = 24  # nearest configurations that are likely enough, until one is supported


def prices(task: SearchTask, assessor: Assessor, found: Candidates) -> tuple[Price, ...]:
    """The nearest configurations that were tried with each chance, and the one asked for."""
    chances = task.chances
    if task.baseline is None or chances is None or task.forward or not len(found.likely):
        return ()
    if objectives(task.targets) or not any(target.by_chance for target in chances.targets):
        return ()  # where something is minimised, the smallest change is not what is asked for
    told: list[Price] = []
    for level in sorted({*_CHANCES, chances.chance}, reverse=True):
        price = _price(task, assessor, found, level)
        surer = told[-1] if told else None
        if surer is not None and surer.reached and _dearer(price, surer):
            price = surer.model_copy(update={"chance": level})  # who is surer is sure enough
        told.append(price)
    return tuple(reversed(told))


def _dearer(one: Price, other: Price) -> bool:
    """Whether a price is higher than another that is reached."""
    assert other.distance is not None
    return one.distance is None or one.distance > other.distance


def _price(task: SearchTask, assessor: Assessor, found: Candidates, chance: float) -> Price:
    good = reached(task, found.tried, found.likely, chance)
    own = found.X[found.meets] if task.chances and chance == task.chances.chance else found.X[:0]
    X = np.concatenate([own, found.tried[good]])
    near = np.argsort(proximity(X, task.start, task.geometry), kind="stable")[:_LOOKED_AT]
    X = X[near]
    if task.supported is not None and len(X):
        X = X[task.supported(X)]
    if not len(X):
        return Price(chance=chance, reached=False)
    x = nearer(task, X[0], chance, task.supported)
    return _told(task, assessor, x, chance)


def _told(task: SearchTask, assessor: Assessor, x: Floats, chance: float) -> Price:
    config = Encoder(task.space).decode(x)
    moved = [task.space.names[j] for j in np.flatnonzero(x != task.origin)]
    return Price(
        chance=chance,
        reached=True,
        distance=float(proximity(x[None, :], task.origin, task.geometry)[0]),
        config=config,
        settings={name: config[name] for name in moved},
        outcomes={name: assessor.predicted(x)[name] for name in assessor.trained},
    )
