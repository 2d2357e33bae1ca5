"""A generator: throw dice, keep what obeys the rules. The baseline that a search has to beat."""

import numpy as np

from compass import registry
from compass.domain.space import Number
from compass.generate.base import Candidates, Floats
from compass.generate.pick import pick, preferred
from compass.generate.repair import restore_forced
from compass.generate.score import score
from compass.generate.task import SearchTask
from compass.prepare.legal import legal_values

_THROWS = 5_000


@registry.add("generator", "random")
class RandomSearch:
    """Random legal values; what breaks a rule is thrown away."""

    name = "random"

    @staticmethod
    def generate(task: SearchTask) -> Candidates:
        """The best of many random configurations, and the start if it is legal."""
        rng = np.random.default_rng(task.seed)
        X = np.repeat(task.start[None, :], _THROWS if len(task.movable) else 1, axis=0)
        for column in task.movable:
            X[1:, column] = _throw(task, int(column), len(X) - 1, rng)
        # Columns that only rules may move go back to where they were, if the rules allow it.
        scored = score(task, np.unique(restore_forced(task, X), axis=0))
        legal = scored.take(np.flatnonzero(scored.violation == 0))
        ranked = preferred(task, legal)
        if (ranked.valid <= 0).any():  # who meets the goals needs no company of those who do not
            ranked = ranked.take(np.flatnonzero(ranked.valid <= 0))
        best = ranked.take(pick(task, ranked))
        return best.candidates(evaluated=len(scored))


def _throw(task: SearchTask, column: int, count: int, rng: np.random.Generator) -> Floats:
    """Random legal values of one column, [count]; `none` is one of them where it is allowed."""
    parameter = task.space.parameters[column]
    values = legal_values(parameter, limit=100_000)
    if values is not None:
        return rng.choice(values, count)
    assert isinstance(parameter, Number)
    return rng.uniform(parameter.low, parameter.high, count)
