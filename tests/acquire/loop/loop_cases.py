"""Problems of a loop with a known law, shared by its tests."""

import numpy as np

from compass.acquire.loop import LoopProblem, Seen, next_runs
from compass.domain.space import Category, Number, Space
from compass.language import bind_rule, parse_rule
from compass.rules import compile_rule
from compass.settings import LoopSettings

TILES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)


def space_of(**columns):
    """A space of numbers (a tuple of values, or low and high) and labels (a list)."""
    parameters = []
    for name, values in columns.items():
        if isinstance(values, list):
            parameters.append(Category(name=name, values=tuple(values)))
        elif isinstance(values, dict):
            parameters.append(Number(name=name, **values))
        else:
            parameters.append(
                Number(name=name, low=values[0], high=values[-1], allowed=tuple(values))
            )
    return Space(parameters=tuple(parameters))


def rules_of(space, *texts):
    return tuple(
        compile_rule(bind_rule(parse_rule(text), space), space, space.names, text) for text in texts
    )


KERNEL = space_of(x=TILES, y=TILES, z=(1.0, 2.0, 3.0, 4.0), mode=["plain", "shared", "read"])
TOGETHER = ("x * y <= 256", "x % z == 0 or z == 1")


def kernel_problem(seed=0, **settings):
    return LoopProblem(KERNEL, rules_of(KERNEL, *TOGETHER), seed, LoopSettings(**settings))


def kernel_time(X):
    """A time with its minimum in the middle; the mode counts, and so does a jump."""
    x, y, z, mode = np.log2(X[:, 0]), np.log2(X[:, 1]), X[:, 2], X[:, 3]
    return np.exp(
        0.1 * (x - 3) ** 2 + 0.15 * (y - 2) ** 2 + 0.2 * abs(z - 2) + 0.5 * (mode != 1) + 1
    )


def too_large(X):
    """Which launches fail."""
    return X[:, 0] * X[:, 1] * X[:, 2] > 128


def looped(problem, law, runs, *, fails=None, batch=1, history=None, seen=None):
    """The runs after a loop of this many, as it would be made by a driver."""
    d = len(problem.space)
    X = np.empty((0, d)) if seen is None else seen.X
    member = [] if seen is None else [*seen.member]
    while len(X) < runs:
        found = next_runs(
            problem,
            measured(X, law, fails, member),
            pending=np.empty((0, d)),
            count=min(batch, runs - len(X)),
            history=history,
            positive=True,
        )
        if not found.proposals:
            break
        X = np.concatenate([X, [one.x for one in found.proposals]])
        member += [one.member for one in found.proposals]
    return measured(X, law, fails, member)


def measured(X, law, fails=None, member=()):
    failed = np.zeros(len(X), dtype=bool) if fails is None else fails(X)
    loss = np.where(failed, np.nan, law(X)) if len(X) else np.empty(0)
    return Seen(X, loss, failed, tuple(member))
