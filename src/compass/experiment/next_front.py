"""Which runs are expected to extend the front of an experiment, and whether they are worth it."""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from compass.acquire.loop.problem import LoopProblem, Reason, StopFacts, Verdict
from compass.experiment.objective import TradeOffs
from compass.pareto.acquisition import SeenRuns
from compass.pareto.front import nondominated
from compass.pareto.next_runs import FrontProposal, NextFrontRuns, next_front_runs

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def ask_for_front(
    problem: LoopProblem,
    known: TradeOffs,
    X: Floats,
    *,
    own: Bools,
    pending: Floats,
    count: int,
    reference: Floats,
    acquisition: str,
    told: tuple[Floats, ...],
) -> NextFrontRuns:
    """The runs to make next, from those that ended: X [n, d]; `own` [n]: not of another kind.

    Runs of another kind (machine, size, version) only say where to begin.
    """
    seen = SeenRuns(
        X[own],
        known.losses[own],
        known.failed[own],
        tuple(replace(one, values=one.values[own]) for one in known.conditions),
        told,
    )
    others = np.flatnonzero(~own & known.meets)
    favoured = X[others[nondominated(known.losses[others])]] if len(others) else None
    return next_front_runs(
        problem,
        seen,
        pending=pending,
        count=count,
        log_sign=known.log_sign.tolist(),
        reference=reference,
        favoured=favoured,
        acquisition=acquisition,
    )


def stop_facts(found: NextFrontRuns, problem: LoopProblem) -> StopFacts:
    """Whether to go on; a small space is swept, whatever is expected of it."""
    pool, settings = problem.pool, problem.settings
    swept = pool.complete and len(pool.X) <= settings.sweep
    verdict = None
    if not found.proposals:
        verdict = Verdict.EXHAUSTED
    elif not swept and found.gain < settings.worthwhile:
        verdict = Verdict.NO_IMPROVEMENT
    return StopFacts(verdict, found.gain, math.nan, found.left)


def why_of_front(one: FrontProposal) -> str:
    """Why a run is worth making, in words."""
    match one.reason:
        case Reason.START:
            return "far from everything that was run"
        case Reason.HISTORY:
            return "on the front of past runs of another kind"
    bounds = f"; meets the bounds with {one.meets:.0%}" if one.meets < 1 else ""
    if math.isnan(one.gain):
        return f"nothing measured counts up to the reference yet{bounds}"
    return f"expected to add {one.gain:.1%} to the hypervolume{bounds}"
