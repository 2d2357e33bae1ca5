"""Which configurations to run next: those that help a question most, or teach the models most.

Decision 0022 (docs/decisions).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from compass import registry
from compass.acquire.base import AcquisitionRequest, acquisition, proposal
from compass.acquire.draws import draw_candidates
from compass.acquire.improvement import batch
from compass.acquire.pairs import pairs_for
from compass.acquire.runnable import allowed, apart, likely_ends_well, spaced
from compass.acquire.sentences import what_it_settles
from compass.domain.answer import Label, Proposal, Suggestion
from compass.domain.space import Role, Space
from compass.evidence.assessor import Assessor
from compass.generate.task import SearchTask
from compass.prepare.encode import Encoder
from compass.prepare.geometry import Geometry, column_distances, distances
from compass.prepare.legal import snap
from compass.rules import Rule

Floats = NDArray[np.float64]

_USUAL = 5  # runs that an answer proposes where its evidence is thin
_TRIED = 512
_UNSURE = 0.5  # less known than of half of the past runs: below that there is nothing to learn
_STEPS = (1.0, 0.5, 0.25, 0.75)  # how far from the nearest past run towards the suggestion


def for_answer(
    request: AcquisitionRequest, no_answer: str | None, name: str
) -> tuple[Proposal, ...]:
    """The runs that would help a question most, by the acquisition of that name.

    Where nobody requested them there are none unless the evidence is thin. First come pairs of runs
    that show what a moved parameter does, where past runs do not say it.
    """
    task, assessor, suggestions = request.task, request.assessor, request.suggestions
    n = request.count or _USUAL
    thin = all(s.trust.label is not Label.TRUSTED for s in suggestions) or no_answer is not None
    if not request.requested and not thin:
        return ()
    request = replace(request, count=n)
    first = pairs_for(task, assessor, suggestions[0], max(n - n // 2, 1)) if suggestions else ()
    if not task.targets:
        others = _for_what_if(task, assessor, suggestions, n)
    else:
        others = acquisition(name).propose(request)
    pending = [proposal(Encoder(task.space).decode(x), "") for x in request.pending]
    busy = {one.id for one in pending}
    first = tuple(one for one in first if one.id not in busy)
    found = [*first, *_beside(task, [*pending, *first], others)][:n]
    if found or not (request.requested or no_answer is not None):
        return tuple(found)
    more = anywhere(
        assessor,
        task.rules,
        task.geometry,
        n,
        task.seed,
        within=task.contexts,
        pending=request.pending,
    )
    if no_answer is not None:
        return more
    settled = "no run is expected to change the answer; "
    return tuple(p.model_copy(update={"why": settled + p.why}) for p in more)


def _beside(
    task: SearchTask, first: Sequence[Proposal], others: Sequence[Proposal]
) -> list[Proposal]:
    """The other runs that are no near copies of the first ones or of each other."""
    encoder, width = Encoder(task.space), len(task.start)
    rows = np.array([encoder.encode(p.config) for p in others]).reshape(-1, width)
    known = np.array([encoder.encode(p.config) for p in first]).reshape(-1, width)
    least = task.settings.search.distinct
    return [others[place] for place in spaced(rows, task.geometry, least, known)]


@registry.add("acquisition", "expected-improvement")
class ExpectedImprovement:
    """Runs, to be made together, with the largest expected improvement of the decision."""

    name = "expected-improvement"

    @staticmethod
    def propose(request: AcquisitionRequest) -> tuple[Proposal, ...]:
        """Up to `request.count` runs, each with what it would settle."""
        drawn, task = draw_candidates(request), request.task
        if drawn is None:
            return ()
        settings = drawn.X.copy()  # in another context the same settings are the same decision
        fixed = np.setdiff1d(np.arange(settings.shape[1]), task.movable)
        settings[:, fixed] = task.start[fixed]
        chosen: list[tuple[int, float | None]] = [
            *batch(
                drawn.losses,
                drawn.incumbent,
                settings,
                task.geometry,
                apart=task.settings.search.distinct,
                n=request.count,
                pending=drawn.pending,
            )
        ]
        runs, first = request.assessor.view.all_runs, drawn.incumbent.place
        fresh = first not in drawn.pending and not runs.rows(drawn.X[first])
        if not chosen and request.requested and fresh:
            chosen = [(first, None)]  # sure as it seems, it was never run
        directed = [target for target in task.targets if target.direction is not None]
        single = len(directed) == len(task.targets) == 1 and not task.outcome_rules
        encoder = Encoder(task.space)
        return tuple(
            proposal(
                encoder.decode(drawn.X[place]),
                what_it_settles(task, request.assessor, drawn, place),
                gain * directed[0].scale if single and gain is not None else None,
            )
            for place, gain in chosen
        )


def _for_what_if(
    task: SearchTask, assessor: Assessor, suggestions: tuple[Suggestion, ...], n: int
) -> tuple[Proposal, ...]:
    """The changed configuration, the baseline where it was never measured, and steps between."""
    encoder, origin = Encoder(task.space), task.origin
    made = assessor.view.all_runs
    rows = [encoder.encode(s.config) for s in suggestions[:1]]
    itself = "the change itself: one run tells whether the prediction holds"
    found = [(x, itself) for x in rows if not made.rows(x)]
    fine = bool(allowed(task.space, task.rules, origin[None], task.movable).all())
    if rows and not made.rows(origin) and fine:
        why = "the baseline was never measured: with it the change can be told from the difference"
        found.append((origin, why))
    runs = _proposals(assessor, found)
    steps = [p for x in rows for p in towards(assessor, task.rules, task.geometry, x, n)]
    return (*runs, *_beside(task, runs, steps))[:n]


def for_population(
    assessor: Assessor,
    rules: Sequence[Rule],
    before: Floats,
    after: Floats,
    n: int,
    pending: Floats,
) -> tuple[Proposal, ...]:
    """Runs for a change of past runs [m, d]: the changed ones that are least certain.

    Nothing near a `pending` run [p, d] is proposed.
    """
    space, made, geometry = (
        assessor.view.features,
        assessor.view.all_runs,
        assessor.view.geometry({}),
    )
    # A past run that broke a rule tells what happened; nobody is asked to break it again.
    possible = allowed(space, rules, after) & ~made.known(after)
    for x in pending:
        possible &= apart(after, x, geometry, assessor.store.settings.search.distinct)
    fresh = np.flatnonzero(possible)[:_TRIED]
    fresh = fresh[likely_ends_well(assessor, after[fresh])]
    if not len(fresh):
        return ()
    proposals = []
    for place in _doubtful(assessor, geometry, after[fresh], n).chosen:
        row = made.rows(before[fresh[place]])
        why = f"row {row[0]} with the change made: the two tell what it does there"
        proposals.append((after[fresh[place]], why))
    return _proposals(assessor, proposals)


def towards(
    assessor: Assessor, rules: Sequence[Rule], geometry: Geometry, x: Floats, n: int
) -> tuple[Proposal, ...]:
    """Runs that would support the configuration x [d]: itself, and steps that lead to it."""
    space = assessor.view.features
    past = assessor.view.X[assessor.view.supporting]
    knobs = _knobs(space)
    apart = distances(past, x, np.arange(len(x)), geometry)
    # A run in the same context comes before any other: what nobody can set stays as it is.
    elsewhere = np.zeros(len(past), dtype=np.int64)
    for column in set(range(len(x))) - set(knobs):
        elsewhere += past[:, column] != x[column]
    view = np.flatnonzero(elsewhere == elsewhere.min())
    origin = past[view[int(np.argmin(apart[view]))]]
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
    candidates = np.array(rows)[allowed(space, rules, np.array(rows))]
    candidates = candidates[likely_ends_well(assessor, candidates)]
    unseen = candidates[~assessor.view.all_runs.known(candidates)]
    least = assessor.store.settings.search.distinct
    kept = unseen[spaced(unseen, geometry, least)]
    return _proposals(assessor, [(row, _why(row, x, space.names)) for row in kept])[:n]


def _why(row: Floats, x: Floats, names: tuple[str, ...]) -> str:
    if np.array_equal(row, x):
        return "the suggestion itself: one run tells whether it holds"
    same = [name for name, a, b in zip(names, row, x, strict=True) if a != b]
    return f"between past runs and the suggestion, differs in {', '.join(same)}"


def anywhere(
    assessor: Assessor,
    rules: Sequence[Rule],
    geometry: Geometry,
    n: int,
    seed: int,
    within: Floats | None = None,
    pending: Floats | None = None,
) -> tuple[Proposal, ...]:
    """Legal configurations where the models know least, far from each other and from the past.

    `within` [c, d] holds the contexts to stay in; without it, those of all past runs. What was run
    before comes last, as a repeat; where nothing is in doubt, nothing is proposed, and nothing near
    a `pending` run [p, d].
    """
    rng = np.random.default_rng(seed)
    space, past = assessor.view.features, assessor.view.X[assessor.view.supporting]
    stay = past if within is None else within
    mixed = stay[rng.integers(len(stay), size=_TRIED)].copy()
    donors = past[rng.integers(len(past), size=_TRIED)]
    knobs = _knobs(space)
    take = rng.random((_TRIED, len(knobs))) < 0.5
    for place, column in enumerate(knobs):
        mixed[take[:, place], column] = donors[take[:, place], column]
    candidates = np.unique(mixed[allowed(space, rules, mixed)], axis=0)
    candidates = candidates[likely_ends_well(assessor, candidates)]
    for x in () if pending is None else pending:
        far = apart(candidates, x, geometry, assessor.store.settings.search.distinct)
        candidates = candidates[far]
    if not len(candidates):
        return ()
    made = assessor.view.all_runs
    known = made.known(candidates)
    rows: list[tuple[Floats, str]] = []
    for some in (candidates[~known], candidates[known]):
        if not len(some) or len(rows) == n:
            continue
        found = _doubtful(assessor, geometry, some, n - len(rows))
        for place in found.chosen:
            if found.share[place] <= _UNSURE:
                continue
            again = made.rows(some[place])
            who = f"row {again[0]} again, to tell how far runs scatter: " if again else ""
            rows.append((some[place], f"{who}{found.why(place)}"))
    return _proposals(assessor, rows)


@dataclass(frozen=True, eq=False)
class _Doubtful:
    """Candidates about which little is known, far from each other."""

    chosen: list[int]
    doubt: Floats  # [m] share of past runs that are predicted with more certainty
    far: Floats  # [m] share of past runs that are nearer to the others

    @property
    def share(self) -> Floats:
        """How much of a reason there is to run each candidate [m], from 0 to 1."""
        return np.maximum(self.doubt, self.far)

    def why(self, place: int) -> str:
        """The reason, in words."""
        if self.doubt[place] >= self.far[place]:
            return (
                f"predictions are less certain here than for {self.doubt[place]:.0%} of past runs"
            )
        return f"farther from past runs than {self.far[place]:.0%} of them are from the others"


def _doubtful(assessor: Assessor, geometry: Geometry, candidates: Floats, n: int) -> _Doubtful:
    """Up to n doubtful candidates [m, d] that are far from each other."""
    certainty = assessor.store.certainty(assessor.view.features.names, tuple(assessor.trained))
    doubt = certainty.uq(candidates)
    far = assessor.view.support.ood(candidates)
    least = assessor.store.settings.search.distinct
    chosen: list[int] = []
    away = np.full(len(candidates), 1.0)
    open_ = np.ones(len(candidates), dtype=np.bool_)
    while len(chosen) < n and open_.any():
        best = int(np.argmax(np.where(open_, (doubt + far) * away, -1.0)))
        chosen.append(best)
        gap = column_distances(candidates, candidates[best], geometry).sum(axis=1)
        away = np.minimum(away, np.minimum(gap, 1.0))
        open_ &= apart(candidates, candidates[best], geometry, least)
    return _Doubtful(chosen, doubt, far)


def _knobs(space: Space) -> list[int]:
    """The columns that a person can set; all where none is known to be."""
    return [space.names.index(name) for name in space.having(Role.KNOB) or space.names]


def _proposals(assessor: Assessor, rows: Sequence[tuple[Floats, str]]) -> tuple[Proposal, ...]:
    encoder = Encoder(assessor.view.features)
    seen: set[bytes] = set()
    proposals = []
    for row, why in rows:
        if row.tobytes() not in seen:
            seen.add(row.tobytes())
            proposals.append(proposal(encoder.decode(row), why))
    return tuple(proposals)
