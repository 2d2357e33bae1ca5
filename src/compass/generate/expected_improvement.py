"""Which untried configurations are most likely to beat the best past run.

Two sources, taken in turn. The model's: the expected improvement, which weighs a predicted
gain against its uncertainty. And the neighbourhood of the best past run, which needs no model: a
model that does not believe the best run does not believe in what lies around it either.
"""

import numpy as np
from numpy.typing import NDArray

from compass.generate.base import Floats
from compass.generate.distinct import Distinct
from compass.generate.past import PastRuns
from compass.generate.score import ScoredCandidates
from compass.generate.task import SearchTask
from compass.prepare.geometry import column_distances, distances
from compass.trust.normal import below

Positions = NDArray[np.int64]

_POOL = 256  # candidates, best first, whose chance is worked out
_SURE = 1e-6  # share of the value below which a standard deviation is rounding
_WIDER = 4  # times as many as are wanted, so that different and familiar ones are among them


def expected_improvement(mean: Floats, deviation: Floats, best: float, *, ratio: bool) -> Floats:
    """E[max(best - Y, 0)] [n] for a Y of this mean and standard deviation (both [n]).

    Y is normal; with `ratio` it is log-normal (its negative, where mean and best are negative): a
    time cannot fall below 0, however large its standard deviation is.
    """
    size, reference = np.abs(mean), abs(best)
    spread = np.maximum(deviation, _SURE * np.maximum(size, reference) + 1e-300)
    if not ratio:
        z = (best - mean) / spread
        density = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
        return np.asarray(spread * (z * below(z) + density))
    sigma = np.sqrt(np.log1p((spread / size) ** 2))
    d = (np.log(reference / size) + sigma**2 / 2) / sigma
    if best > 0:
        return np.asarray(reference * below(d) - size * below(d - sigma))
    return np.asarray(size * below(sigma - d) - reference * below(-d))


def choose_untried(task: SearchTask, past_runs: PastRuns, scored: ScoredCandidates) -> Positions:
    """Positions in `scored` (best first) of the answers: the best, then the most promising.

    Where something untried comes first, the best past run is among the others. All are at least
    `distinct` apart. There must be a best past run.
    """
    run = past_runs.find(scored.X)
    untried = np.flatnonzero(run < 0)
    untried = untried[untried > 0]
    safe = np.flatnonzero(run == past_runs.best)
    promising = _by_improvement(task, past_runs, scored, untried)
    near = _by_nearness(task, scored.X, untried, past_runs.X[past_runs.best])
    chosen, distinct = [0], Distinct.of(task)
    fits = np.ones(len(scored), dtype=np.bool_)
    least = max(task.settings.search.distinct, 1e-12)
    for turn in range(task.count - 1):
        latest = scored.X[chosen[-1]]
        fits &= distances(scored.X, latest, task.movable, task.geometry) >= least
        fits &= distinct.another(scored, chosen[-1])
        sources = (near, promising) if turn % 2 else (promising, near)
        ranked = np.concatenate([safe[: not turn], *sources, np.arange(len(scored))])
        different = ranked[fits[ranked]]
        if not len(different):
            break
        chosen.append(int(different[0]))
    return np.concatenate([chosen[:1], np.sort(chosen[1:])]).astype(np.int64)


def _by_improvement(
    task: SearchTask, past_runs: PastRuns, scored: ScoredCandidates, untried: Positions
) -> Positions:
    """Untried candidates by expected improvement, those that are near past runs first."""
    pool = untried[: max(_POOL, _WIDER * task.count)]
    if not len(pool):
        return pool
    mean, best = scored.preference[pool], past_runs.preference
    ratio = bool(past_runs.positive and (mean * best > 0).all())
    gain = expected_improvement(mean, past_runs.doubt(scored.X[pool]), best, ratio=ratio)
    pool = pool[np.argsort(-gain, kind="stable")[: _WIDER * task.count]]
    if task.familiar is None:
        return pool
    # What is far from everything that was ever tried is taken only when there is nothing else.
    return np.asarray(pool[np.argsort(~task.familiar(scored.X[pool]), kind="stable")])


def _by_nearness(task: SearchTask, X: Floats, untried: Positions, x: Floats) -> Positions:
    """Untried candidates by how many parameters differ from x [d], then by how far."""
    columns = column_distances(X[untried], x, task.geometry)[:, task.movable]
    ranked = np.lexsort((columns.sum(axis=1), (columns > 0).sum(axis=1)))
    return np.asarray(untried[ranked[: max(_POOL, _WIDER * task.count)]])
