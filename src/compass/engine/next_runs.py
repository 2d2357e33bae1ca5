"""Which configurations to run next: those that would teach the models most."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from compass.domain.answer import Label, Proposal, Suggestion
from compass.domain.space import Role, Space
from compass.engine.judge import Judge
from compass.generate import loss
from compass.generate.base import Arena, Geometry
from compass.generate.nearest import distances
from compass.prepare.encode import Encoder
from compass.prepare.legal import legal_mask, snap
from compass.prepare.split import configurations
from compass.rules import Rule

if TYPE_CHECKING:
    from compass.engine.answering import Desk

Floats = NDArray[np.float64]

_TRIED = 512
_STEPS = (1.0, 0.5, 0.25, 0.75)  # how far from the nearest past run towards the suggestion


def for_answer(
    desk: "Desk", arena: Arena, suggestions: tuple[Suggestion, ...], no_answer: str | None
) -> tuple[Proposal, ...]:
    """The runs that would help this question most; none where its evidence is not thin."""
    doubtful = [s for s in suggestions if s.trust.label is not Label.TRUSTED]
    if suggestions and len(doubtful) == len(suggestions):
        row = Encoder(arena.space).encode(suggestions[0].config)
        return towards(desk.judge, arena.rules, arena.geometry, row, n=5)
    if no_answer is not None:
        seed, within = desk.provenance.seed, desk.plan.contexts
        return anywhere(desk.judge, arena.rules, arena.geometry, n=5, seed=seed, within=within)
    return ()


def towards(
    judge: Judge, rules: Sequence[Rule], geometry: Geometry, x: Floats, n: int
) -> tuple[Proposal, ...]:
    """Runs that would support the configuration x [d]: itself, and steps that lead to it."""
    space = judge.here.features
    past = judge.here.X[judge.here.train]
    knobs = _knobs(space)
    apart = distances(past, x, np.arange(len(x)), geometry)
    # A run in the same context comes before any other: what nobody can set stays as it is.
    elsewhere = np.zeros(len(past), dtype=np.int64)
    for column in set(range(len(x))) - set(knobs):
        elsewhere += past[:, column] != x[column]
    here = np.flatnonzero(elsewhere == elsewhere.min())
    origin = past[here[int(np.argmin(apart[here]))]]
    moved = [column for column in knobs if origin[column] != x[column]]
    rows = []
    for step in _STEPS:
        point = x.copy()
        for column in moved:
            ends = (origin[column], x[column])
            if not geometry.category[column] and geometry.none[column] not in ends:
                between = x[[column]] - (1.0 - step) * (x[column] - origin[column])
                point[column] = snap(space.parameters[column], between)[0]
        rows.append(point)
    for column in moved:  # one parameter at a time tells which of them matters
        point = x.copy()
        point[column] = origin[column]
        rows.append(point)
    candidates = _allowed(judge, rules, np.array(rows))
    unseen = candidates[~_measured(candidates, past)]
    return _told(judge, [(row, _why(row, x, space.names)) for row in unseen])[:n]


def _why(row: Floats, x: Floats, names: tuple[str, ...]) -> str:
    if np.array_equal(row, x):
        return "the suggestion itself: one run tells whether it holds"
    same = [name for name, a, b in zip(names, row, x, strict=True) if a != b]
    return f"between past runs and the suggestion, differs in {', '.join(same)}"


def anywhere(
    judge: Judge,
    rules: Sequence[Rule],
    geometry: Geometry,
    n: int,
    seed: int,
    within: Floats | None = None,
) -> tuple[Proposal, ...]:
    """Legal configurations where the models know least, far from each other and from the past.

    `within` [c, d] holds the contexts to stay in; without it, those of all past runs.
    """
    rng = np.random.default_rng(seed)
    space, past = judge.here.features, judge.here.X[judge.here.train]
    stay = past if within is None else within
    mixed = stay[rng.integers(len(stay), size=_TRIED)].copy()
    donors = past[rng.integers(len(past), size=_TRIED)]
    knobs = _knobs(space)
    take = rng.random((_TRIED, len(knobs))) < 0.5
    for place, column in enumerate(knobs):
        mixed[take[:, place], column] = donors[take[:, place], column]
    candidates = np.unique(_allowed(judge, rules, mixed), axis=0)
    if not len(candidates):
        return ()
    known = _measured(candidates, past)
    if not known.all():
        candidates = candidates[~known]
    certainty = judge.bench.certainty(space.names, tuple(judge.trained))
    doubt = certainty.uq(candidates)
    far = judge.here.support.ood(candidates)
    chosen: list[int] = []
    apart = np.full(len(candidates), 1.0)
    while len(chosen) < min(n, len(candidates)):
        best = int(np.argmax((doubt + far) * apart))
        if apart[best] <= 0:
            break
        chosen.append(best)
        gap = loss.column_distance(candidates, candidates[best], geometry).sum(axis=1)
        apart = np.minimum(apart, np.minimum(gap, 1.0))
    why = "predictions are less certain here than for {:.0%} of past runs"
    return _told(judge, [(candidates[i], why.format(doubt[i])) for i in chosen])


def _knobs(space: Space) -> list[int]:
    """The columns that a person can set; all where none is known to be."""
    return [space.names.index(name) for name in space.having(Role.KNOB) or space.names]


def _measured(X: Floats, past: Floats) -> NDArray[np.bool_]:
    """Which configurations [n, d] are those of past runs [p, d]."""
    return np.isin(configurations(X), configurations(past))


def _allowed(judge: Judge, rules: Sequence[Rule], X: Floats) -> Floats:
    """The configurations that are legal and obey the rules."""
    fine = np.ones(len(X), dtype=bool)
    for column, parameter in enumerate(judge.here.features.parameters):
        fine &= legal_mask(parameter, X[:, column])
    for rule in rules:
        fine &= rule.holds(X)
    return X[fine]


def _told(judge: Judge, rows: Sequence[tuple[Floats, str]]) -> tuple[Proposal, ...]:
    encoder = Encoder(judge.here.features)
    seen: set[bytes] = set()
    proposals = []
    for row, why in rows:
        if row.tobytes() not in seen:
            seen.add(row.tobytes())
            proposals.append(Proposal(config=encoder.decode(row), why=why))
    return tuple(proposals)
