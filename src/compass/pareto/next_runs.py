"""Which runs to make next when several outcomes are to be small: pure functions of what was run.

First runs far apart; then those that an acquisition chooses among what may be run
(`compass.pareto.acquisition`), usually by the volume that they are expected to add.

Decision 0047 (docs/decisions).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compass.acquire.loop import LoopProblem, Reason
from compass.acquire.loop.members import FEWEST
from compass.acquire.loop.pool import distinct
from compass.acquire.loop.starts import spread
from compass.domain.errors import BadInput
from compass.execute.one_thread import one_thread
from compass.pareto.acquisition import (
    USUAL,
    FrontAcquisition,
    FrontChoice,
    FrontRequest,
    SeenRuns,
    front_acquisition,
    reference_for,
)
from compass.pareto.front import nondominated
from compass.pareto.hypervolume import hypervolume
from compass.pareto.improvement import Signs

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

_PARENTS = 16  # points of the front whose one-change neighbours are candidates
_LOOKED_AT = 1024  # candidates that starts are chosen from


@dataclass(frozen=True, eq=False)
class FrontProposal:
    """A run to make. Means and intervals are in the units of the losses; NaN before any model."""

    x: Floats  # [d]
    mean: Floats  # [k]
    low: Floats  # [k]
    high: Floats  # [k]
    failure: float  # the probability that it fails
    meets: float  # the probability that it meets the conditions
    widening: Floats  # [k] of the intervals (`compass.acquire.loop.calibration`)
    gain: float  # volume that it is expected to add, a share of that so far; NaN: there is none
    reason: Reason


@dataclass(frozen=True, eq=False)
class NextFrontRuns:
    """The runs worth making, the most useful first, and what they are measured against."""

    proposals: tuple[FrontProposal, ...]
    reference: Floats  # [k] up to where volume counts; NaN before any run succeeded
    volume: float  # of what was measured
    left: int | None  # legal configurations that were not run; None: too many to list

    @property
    def gain(self) -> float:
        """The most that one more run is expected to add, a share of the volume; NaN: no model."""
        gains = [one.gain for one in self.proposals if not np.isnan(one.gain)]
        return max(gains, default=float("nan"))


def next_front_runs(
    problem: LoopProblem,
    seen: SeenRuns,
    *,
    pending: Floats,
    count: int,
    log_sign: Sequence[int],
    reference: Floats | None = None,
    favoured: Floats | None = None,
    acquisition: str = USUAL,
) -> NextFrontRuns:
    """Up to `count` runs to make next, all different, none of them run or pending [p, d].

    `log_sign` says of each outcome what it is learnt as (`compass.pareto.improvement`), `reference`
    [k] up to where volume counts; None, or NaN in an outcome: a tenth behind the front of what was
    measured, and in the choice of runs behind what else is expected to be on it, since what lies
    behind the reference would never be tried. Every other start is one of `favoured` [f, d], as
    long as there are some. `acquisition` names the plug-in of the joint `front_acquisition` that
    chooses once there is something to learn from.
    """
    chooser = front_acquisition(acquisition)
    with one_thread():
        signs = np.array(log_sign, dtype=np.int64)
        return _next_runs(problem, seen, pending, count, signs, reference, favoured, chooser)


def _next_runs(
    problem: LoopProblem,
    seen: SeenRuns,
    pending: Floats,
    count: int,
    log_sign: Signs,
    reference: Floats | None,
    favoured: Floats | None,
    chooser: FrontAcquisition,
) -> NextFrontRuns:
    """The same on one thread."""
    pending = pending.reshape(-1, len(problem.space))
    own, Y = seen.means(log_sign)
    candidates = _candidates(problem, seen, pending, own[nondominated(Y)] if len(Y) else own)
    limit = reference_for(Y, seen.losses[seen.fine], reference)
    volume = hypervolume(Y, limit).value if len(Y) else 0.0
    made = np.concatenate([seen.X, pending])
    starts = problem.settings.starts or min(max(2 * len(problem.space), 8), 20)
    known = len(np.unique(seen.X[seen.fine], axis=0))
    first = count if known < FEWEST else min(count, max(starts - len(made), 0))
    chosen, liked = _starts(problem, made, candidates, first, favoured)
    found = [
        _start(x, len(log_sign), one) for x, one in zip(candidates[chosen], liked, strict=True)
    ]
    if len(found) < min(count, len(candidates)):
        waiting = np.concatenate([pending, candidates[chosen]])
        rest = np.delete(candidates, chosen, axis=0)
        wanted = count - len(found)
        request = FrontRequest(problem, seen, waiting, rest, wanted, Y, limit, reference, log_sign)
        found += [_modelled(rest, one) for one in checked(chooser, request)]
    return NextFrontRuns(tuple(found), limit, volume, _left(problem, made))


def _left(problem: LoopProblem, made: Floats) -> int | None:
    """How many legal configurations were not run; None: too many to list."""
    if not problem.pool.complete:
        return None
    found = problem.pool.find(made)
    return len(problem.pool.X) - len(np.unique(found[found >= 0]))


def _candidates(problem: LoopProblem, seen: SeenRuns, pending: Floats, parents: Floats) -> Floats:
    """Legal configurations [m, d] that were not run and are not pending.

    All of them where they are few; else some from anywhere and the neighbours of the parents.
    """
    pool, settings = problem.pool, problem.settings
    made = np.concatenate([seen.X, pending])
    rng = np.random.default_rng([problem.seed, len(made)])
    if len(parents) > _PARENTS:
        parents = parents[rng.choice(len(parents), _PARENTS, replace=False)]
    if not pool.complete:
        near = [pool.neighbours(x, rng) for x in parents]
        X = distinct(np.concatenate([*near, pool.draws(settings.drawn, rng)])) + 0.0
        tried = {row.tobytes() for row in made + 0.0}
        return np.asarray(X[[row.tobytes() not in tried for row in X]])
    open_ = np.ones(len(pool.X), dtype=np.bool_)
    found = pool.find(made)
    open_[found[found >= 0]] = False
    places = np.flatnonzero(open_)
    if len(places) > settings.scored:
        some = np.zeros(len(pool.X), dtype=np.bool_)
        some[rng.choice(places, settings.scored, replace=False)] = True
        for x in parents:
            own_places = pool.neighbour_places(x)
            some[own_places[own_places >= 0]] = True
        places = np.flatnonzero(some & open_)
    return pool.X[places]


def _starts(
    problem: LoopProblem,
    made: Floats,
    candidates: Floats,
    count: int,
    favoured: Floats | None,
) -> tuple[Places, list[bool]]:
    """Positions of candidates far from everything that was made, and which are favoured ones.

    Every other one is favoured, as long as there are some.
    """
    count = min(count, len(candidates))
    if not count:
        return np.empty(0, dtype=np.int64), []
    rng = np.random.default_rng([problem.seed, len(made)])
    some = np.sort(rng.permutation(len(candidates))[:_LOOKED_AT])
    known = problem.inputs(made).Z
    far = some[spread(problem.inputs(candidates[some]).Z, count, known, rng)].tolist()
    place_of = {row.tobytes(): place for place, row in enumerate(candidates + 0.0)}
    wanted = np.empty((0, candidates.shape[1])) if favoured is None else favoured + 0.0
    near = [place_of[row.tobytes()] for row in wanted if row.tobytes() in place_of]
    chosen: dict[int, bool] = {}
    for number in range(len(made), len(made) + count):
        far, near = ([one for one in own if one not in chosen] for own in (far, near))
        likes = bool(near) and number % 2 == 0
        chosen[near[0] if likes or not far else far[0]] = likes or not far
    return np.array(list(chosen), dtype=np.int64), list(chosen.values())


def _start(x: Floats, k: int, favoured: bool) -> FrontProposal:
    nothing, none = np.full(k, np.nan), float("nan")
    reason = Reason.HISTORY if favoured else Reason.START
    return FrontProposal(x, nothing, nothing, nothing, none, none, nothing, none, reason)


def _modelled(candidates: Floats, one: FrontChoice) -> FrontProposal:
    return FrontProposal(
        x=candidates[one.place],
        mean=one.mean,
        low=one.low,
        high=one.high,
        failure=one.failure,
        meets=one.meets,
        widening=np.ones(len(one.mean)) if one.widening is None else one.widening,
        gain=one.gain,
        reason=Reason.IMPROVEMENT,
    )


def checked(chooser: FrontAcquisition, request: FrontRequest) -> tuple[FrontChoice, ...]:
    """What it chooses: never more than asked for, never a candidate twice."""
    found = chooser.choose(request)
    places = [one.place for one in found]
    known = all(0 <= place < len(request.candidates) for place in places)
    if not known or len(set(places)) < len(places) or len(places) > request.count:
        raise BadInput(
            f"the front acquisition '{chooser.name}' chose {places} for {request.count} different "
            f"runs among {len(request.candidates)} candidates",
            hint="choose another one (acquisition: expected-volume), and tell its author",
        )
    return found
