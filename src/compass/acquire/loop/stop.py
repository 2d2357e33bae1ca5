"""Whether more runs are worth it."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from compass.acquire.loop.ask import Ask
from compass.acquire.loop.gain import plain_gain, share_gained
from compass.acquire.loop.members import Belief, belief_of
from compass.acquire.loop.problem import LoopProposal, StopFacts, Verdict
from compass.acquire.loop.turns import members_of

Floats = NDArray[np.float64]

_LEAST = 1e-9
_TOP = 3  # best configurations that runs have to tell apart


def exhausted(ask: Ask) -> StopFacts:
    """Every legal configuration that is found was run or is being run."""
    return StopFacts(Verdict.EXHAUSTED, 0.0, float("nan"), ask.left)


def unknown(ask: Ask) -> StopFacts:
    """Nothing was modelled yet."""
    return StopFacts(None, float("nan"), float("nan"), ask.left)


def stop_facts(
    ask: Ask, beliefs: dict[str, Belief], proposals: Sequence[LoopProposal], *, history: bool
) -> StopFacts:
    """Whether to go on after the proposed runs; to stop, all members have to agree."""
    gain = max(one.improvement for one in proposals)
    noise = _noise(ask)
    if ask.swept:
        return StopFacts(None, gain, noise, ask.left)
    least = ask.problem.settings.worthwhile
    if ask.seen.best < 0:  # what meets the conditions first is worth any number of runs
        return StopFacts(None, gain, noise, ask.left)
    doubtful = noise > 0 and _alike(ask, noise)
    if gain >= max(least, noise if doubtful else 0.0):
        return StopFacts(None, gain, noise, ask.left)
    for name in members_of(ask.problem.settings):
        belief = beliefs[name] if name in beliefs else belief_of(name, ask, history=history)
        gain = max(gain, float(gains(ask, belief).max(initial=0.0)))
    verdict = None
    if gain < least:
        verdict = Verdict.NO_IMPROVEMENT
    elif doubtful and gain < noise:
        verdict = Verdict.WITHIN_NOISE
    return StopFacts(verdict, gain, noise, ask.left)


def gains(ask: Ask, belief: Belief) -> Floats:
    """The expected improvement of the candidates of a belief, a share of the best loss.

    While nothing meets the conditions it is the probability to be the first that does.
    """
    outcomes = belief.outcomes
    likely = (1.0 - ask.failing[belief.places]) * np.exp(ask.log_meets[belief.places])
    if outcomes.limit == np.inf:
        return np.asarray(likely)
    at = outcomes.centre + outcomes.scale * belief.mean
    to = outcomes.scale * np.sqrt(np.maximum(belief.variance, _LEAST))
    best = outcomes.centre + outcomes.scale * outcomes.limit
    if outcomes.positive:
        found = share_gained(at, to, best)
    else:
        found = plain_gain(at, to, best) / (abs(best) or 1.0)
    return np.asarray(found * likely)


def _noise(ask: Ask) -> float:
    """One standard deviation of a repeated run, a share of the best; 0: none was repeated."""
    outcomes = ask.outcomes
    if np.isnan(outcomes.scatter):
        return 0.0
    deviation = outcomes.scale * float(np.sqrt(outcomes.scatter))
    if outcomes.positive:
        return float(np.expm1(deviation))
    best = outcomes.limit if np.isfinite(outcomes.limit) else float(outcomes.y.min())
    return deviation / (abs(float(outcomes.loss(best))) or 1.0)


def _alike(ask: Ask, noise: float) -> bool:
    """Whether runs scatter by more than the best configurations differ."""
    best = np.sort(ask.outcomes.loss(ask.outcomes.y[ask.outcomes.meets]))[:_TOP]
    return len(best) == _TOP and bool(best[-1] - best[0] <= noise * abs(best[0]))
