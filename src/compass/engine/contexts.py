"""Candidates in the contexts that a recommendation is averaged over."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from compass.engine.judge import Judge
from compass.engine.plan import Plan
from compass.generate.base import Arena

Floats = NDArray[np.float64]


def with_familiar(plan: Plan, judge: Judge, arena: Arena) -> Arena:
    """The arena with a way to tell which candidates are near past runs."""
    limit, support = judge.bench.settings.trust.caution, judge.here.support

    def familiar(X: Floats) -> NDArray[np.bool_]:
        if plan.baseline is not None:
            return support.ood(X) <= limit
        known = np.zeros(len(X), dtype=np.bool_)
        # Near past runs in one of the contexts is enough: most candidates are so in the first.
        for context in plan.contexts:
            rest = np.flatnonzero(~known)
            if not len(rest):
                break
            full = _in_contexts(arena, X[rest], context[None, :])
            known[rest] = _obey(arena, full) & (support.ood(full) <= limit)
        return known

    return replace(arena, familiar=familiar)


def completed(plan: Plan, judge: Judge, arena: Arena, X: Floats) -> Floats:
    """Recommended settings [n, d] with what was not asked for taken from the best known context.

    Predictions are averaged over all contexts; the configuration that is shown, and whose trust is
    told, is the one of those contexts that lies closest to past runs and obeys the rules.
    """
    contexts = plan.contexts
    full = _in_contexts(arena, X, contexts)
    fine = _obey(arena, full)
    far = np.full(len(full), np.inf)
    if len(contexts) > 1:
        far[fine] = judge.here.support.novelty(full[fine])
    nearest = np.argmin(far.reshape(len(X), len(contexts)), axis=1)
    best = nearest + np.arange(len(X)) * len(contexts)
    return np.where(fine[best][:, None], full[best], X)


def _in_contexts(arena: Arena, X: Floats, contexts: Floats) -> Floats:
    """Every configuration X [n, d] in every context [c, d], [n * c, d]."""
    full = np.tile(contexts, (len(X), 1))
    full[:, arena.movable] = np.repeat(X[:, arena.movable], len(contexts), axis=0)
    return full


def _obey(arena: Arena, X: Floats) -> NDArray[np.bool_]:
    fine = np.ones(len(X), dtype=np.bool_)
    for rule in arena.rules:
        fine &= rule.holds(X)
    return fine
