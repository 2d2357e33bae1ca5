"""The certificate of an answer: what is proved about its first suggestion."""

from dataclasses import replace

import numpy as np

from compass.domain.answer import Certificate, Standing
from compass.generate import loss
from compass.generate.base import Arena, Floats, Generated
from compass.generate.nearest import distances
from compass.generate.score import order, score

_LEAST = 0.01  # seconds; with less than this there is no use in starting


def certified(
    arena: Arena, found: Generated, seconds: float
) -> tuple[Generated, Certificate | None]:
    """The candidates, with a better one first where the proof found it, and the certificate.

    None: no proof is wanted, or there is nothing that could be better or worse.
    """
    if seconds <= 0 or not len(arena.movable) or not (arena.targets or arena.proximity):
        return found, None
    if seconds < _LEAST:
        late = "The time for this question was over before a proof could begin."
        return found, Certificate(status=Standing.NO_PROOF, reason=late, cut=True)
    from compass.generate.prove import prove

    # A proof is about predictions; what was measured has no say in it.
    bare = replace(arena, record=None)
    weighed = arena.record is not None and len(found.X) > 0
    proof = prove(bare, _by_prediction(bare, found) if weighed else found, seconds)
    if proof.better is None or weighed:
        return found, proof.certificate
    return _with_first(bare, found, proof.better), proof.certificate


def _by_prediction(arena: Arena, found: Generated) -> Generated:
    """The candidates in the order of their predictions alone."""
    ranked = order(arena, score(arena, found.X))
    return replace(
        found,
        X=found.X[ranked],
        meets=found.meets[ranked],
        proximity=found.proximity[ranked],
    )


def _with_first(arena: Arena, found: Generated, x: Floats) -> Generated:
    """The candidates after a better first one; those that hardly differ from it are left out."""
    near = loss.proximity(x[None, :], arena.start, arena.geometry)
    others = np.flatnonzero(found.meets) if len(found.X) else np.empty(0, dtype=np.int64)
    apart = distances(found.X[others], x, arena.movable, arena.geometry)
    kept = others[apart >= max(arena.settings.search.distinct, 1e-12)][: arena.count - 1]
    return replace(
        found,
        X=np.concatenate([x[None, :], found.X[kept]]),
        meets=np.concatenate([[True], found.meets[kept]]),
        proximity=np.concatenate([near, found.proximity[kept]]),
    )
