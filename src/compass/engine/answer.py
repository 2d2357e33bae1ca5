"""Search-based answers: recommend, reconfigure, and what-if where something must give way."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from compass.acquire.base import AcquisitionRequest
from compass.acquire.propose import for_answer
from compass.domain.answer import (
    Answer,
    Certificate,
    Label,
    Measured,
    Pending,
    Price,
    Proposal,
    Provenance,
    Suggestion,
)
from compass.domain.base import Config
from compass.domain.doubt import DoubtCode
from compass.domain.errors import BadInput, ConflictingRules
from compass.domain.space import Category, Number, Role, Space
from compass.engine.bounds import bound_notes
from compass.engine.dependencies import (
    dependency_notes,
)
from compass.engine.notes import (
    assumptions,
    blocking_rules,
    broken_conditions,
    exhausted,
    notes,
    why_not,
)
from compass.engine.plan import allowing, followers, linked, opening
from compass.engine.provenance import Clock
from compass.engine.relied_on import about_first, relied_on, set_aside, with_measured
from compass.engine.suggestions import suggested
from compass.evidence.assessor import Assessor
from compass.evidence.best_measured import best_measured
from compass.evidence.contexts import completed, left_open
from compass.evidence.past_runs import beside_best
from compass.evidence.prices import prices
from compass.evidence.runnable import failure_notes
from compass.generate.base import Candidates, Floats, generator_for
from compass.generate.certain import confirmed, generate_certain
from compass.generate.legality import WITHHELD, checked, lawful
from compass.generate.score import score
from compass.generate.task import SearchTask
from compass.language import format_query
from compass.learn.store import Progress
from compass.prepare.encode import Encoder
from compass.prove.certify import certified, proof_wanted, takes_time
from compass.trust.conclude import label_of


@dataclass(frozen=True)
class WantedRuns:
    """How many runs to propose, and those that are being made."""

    count: int = 0  # 0: a few, where the evidence is thin
    pending: tuple[Config, ...] = ()

    def encoded(self, space: Space) -> Floats:
        """The pending configurations, [p, d]."""
        for config in self.pending:
            gaps = [name for name in space.names if name not in config]
            if gaps:
                raise BadInput(
                    f"a pending run has no value for {', '.join(gaps)}",
                    hint="give every feature, as proposals have them",
                )
        rows = [Encoder(space).encode({n: c[n] for n in space.names}) for c in self.pending]
        return np.array(rows).reshape(-1, len(space))


@dataclass(frozen=True)
class _Search:
    """What a search has found, and the time that is left for a proof of it."""

    task: SearchTask  # as it was asked
    assessor: Assessor
    searched: SearchTask  # what the candidates are of
    found: Candidates
    widest: SearchTask  # the last one that was searched, where nothing meets the goals
    wanted: float  # seconds for a proof
    left: float  # of them those that there are


@dataclass(frozen=True)
class _Judged:
    """Candidates with all that is said of them, apart from proofs and runs to make."""

    searched: SearchTask
    found: Candidates
    judged: tuple[Suggestion, ...]
    suggestions: tuple[Suggestion, ...]
    ideas: tuple[Suggestion, ...]
    best: Measured | None
    prices: tuple[Price, ...]
    reachable: dict[str, float]
    notes: tuple[str, ...]
    first_withheld: bool


def answers_by_search(
    task: SearchTask,
    assessor: Assessor,
    provenance: Provenance,
    clock: Clock,
    runs: WantedRuns,
    tell: Progress,
) -> Iterator[Answer]:
    """The answer as soon as it is found, then with its proof, then with the runs to make next.

    Each is complete but for what its `pending` names; who wants all of it takes the last. A proof
    that takes no time comes with the answer. `runs` says how many to propose, and which are being
    made already; `tell` is told that a proof has begun, and the seconds that it may take.
    """
    search = _searched(task, assessor)
    clock.mark("search")
    proves = takes_time(search.widest, search.found, search.wanted, search.left)
    certificate = None
    if not proves:
        search, certificate = _proved(search)
    judged = _judge(search)
    clock.mark("trust")
    if proves:
        # Which rules stand in the way is looked for when the proof does not tell.
        no_answer = _why_not(judged, None, lambda: ())
        pending = (Pending.PROOF, *_runs_pending(judged, no_answer, runs))
        yield _told(search, judged, provenance, None, no_answer, pending)
        clock.go_on()
        tell("proving", 0, ceil(search.left))
        before = search
        search, certificate = _proved(search)
        clock.mark("proof")
        if search is not before:
            judged = _judge(search)
        clock.mark("trust")
    certificate = _about_shown(judged, certificate)
    no_answer = _why_not(judged, certificate, lambda: blocking_rules(judged.searched))
    pending = _runs_pending(judged, no_answer, runs)
    answer = _told(search, judged, provenance, certificate, no_answer, pending)
    yield answer
    if pending:
        clock.go_on()
        proposals = _proposals(search, judged, no_answer, runs)
        clock.mark("next runs")
        yield answer.model_copy(update={"run_next": proposals, "pending": ()})


def _searched(task: SearchTask, assessor: Assessor) -> _Search:
    searched, found, widest = _generate(task, assessor)
    return _Search(task, assessor, searched, found, widest, *time_to_prove(task))


def _proved(search: _Search) -> tuple[_Search, Certificate | None]:
    """The search with what a proof found to be better, and the certificate.

    It is the same search where nothing is.
    """
    found, certificate = certified(search.widest, search.found, search.wanted, search.left)
    if found is search.found:
        return search, certificate
    searched = search.widest if found.meets.any() else search.searched
    return replace(search, searched=searched, found=found), certificate


def _judge(search: _Search) -> _Judged:
    searched, assessor, found = search.searched, search.assessor, search.found
    if searched.baseline is None:
        found = replace(found, X=completed(searched, assessor, found.X))
    if proof_wanted(search.widest, search.wanted):
        found = confirmed(searched, found)
    found, withheld, first_withheld = checked(searched, found)
    best = best_measured(searched, assessor)
    found = with_measured(searched, found, best)
    judged = suggested(searched, assessor, found)
    suggestions, ideas = relied_on(searched, assessor, judged, best)
    shown = _first_shown(found, judged, suggestions)
    return _Judged(
        searched,
        found,
        judged,
        suggestions,
        ideas,
        best,
        prices(searched, assessor, found),
        {} if suggestions else _reachable(searched, judged, found),
        (
            *search.task.assumed.notes,
            *withheld,
            *dependency_notes(search.task, suggestions or ideas),
            *bound_notes(searched, suggestions, shown.X),
            *set_aside(judged, suggestions),
            *failure_notes(assessor, shown.X if suggestions else shown.X[:0]),
            *beside_best(searched, assessor, shown),
            *notes(searched, suggestions),
            *left_open(searched, assessor, shown.X),
            *assessor.unbounded(changes=search.task.baseline is not None),
            *_cut_short(searched, found),
            *broken_conditions(searched, found),
        ),
        first_withheld,
    )


def _about_shown(judged: _Judged, certificate: Certificate | None) -> Certificate | None:
    """The certificate of the first candidate as one of the first suggestion."""
    if certificate is not None and judged.first_withheld:
        return WITHHELD
    return about_first(certificate, judged.judged, judged.suggestions)


def _why_not(
    judged: _Judged, certificate: Certificate | None, blocking: Callable[[], tuple[str, ...]]
) -> str | None:
    return why_not(
        judged.searched, judged.suggestions, judged.ideas, judged.found, certificate, blocking
    )


def _runs_pending(judged: _Judged, no_answer: str | None, runs: WantedRuns) -> tuple[Pending, ...]:
    """Runs are proposed where they are requested, and where the evidence of an answer is thin."""
    shown = (*judged.suggestions, *judged.ideas)
    thin = judged.searched.forward and all(s.trust.label is not Label.TRUSTED for s in shown)
    return (Pending.RUN_NEXT,) if runs.count or no_answer is not None or thin else ()


def _proposals(
    search: _Search, judged: _Judged, no_answer: str | None, runs: WantedRuns
) -> tuple[Proposal, ...]:
    searched = judged.searched
    if search.task.chances is not None:
        searched = replace(searched, targets=search.task.targets)
    request = AcquisitionRequest(
        searched,
        search.assessor,
        (*judged.suggestions, *judged.ideas),
        runs.count,
        runs.encoded(searched.space),
        runs.count > 0,
    )
    found = for_answer(request, no_answer, search.task.settings.acquisition)
    return lawful(searched.rules, found)


def _told(
    search: _Search,
    judged: _Judged,
    provenance: Provenance,
    certificate: Certificate | None,
    no_answer: str | None,
    pending: tuple[Pending, ...],
) -> Answer:
    """The answer without the runs to make next."""
    task, assessor = search.task, search.assessor
    return Answer(
        query=task.query,
        text=format_query(task.query),
        suggestions=judged.suggestions,
        ideas=judged.ideas,
        best_measured=judged.best,
        prices=judged.prices,
        chance=chance_asked(task),
        reachable=judged.reachable,
        baseline=None if task.baseline is None else task.baseline.config,
        context=assumptions(judged.searched),
        contexts=len(task.contexts),
        comparable=assessor.matched.known,
        notes=judged.notes,
        no_answer=no_answer,
        exhausted=exhausted(judged.found, certificate),
        certificate=certificate,
        pending=pending,
        models=tuple(trained.card for trained in assessor.trained.values()),
        provenance=provenance,
    )


def _first_shown(
    found: Candidates, judged: tuple[Suggestion, ...], suggestions: tuple[Suggestion, ...]
) -> Candidates:
    """The candidates with that of the first suggestion first: notes are about it."""
    if not suggestions:
        return found
    first = next(place for place, one in enumerate(judged) if one is suggestions[0])
    return found.take(np.r_[first, np.delete(np.arange(len(found)), first)])


def time_to_prove(task: SearchTask) -> tuple[float, float]:
    """Seconds for the proof that are wanted, and those that there are.

    Who says how long a proof may take gets that time; else the deadline limits it.
    """
    if task.query.prove is not None:
        return task.query.prove, task.query.prove
    wanted = task.settings.prove
    return wanted, min(wanted, task.until - time.monotonic())


def _generate(task: SearchTask, assessor: Assessor) -> tuple[SearchTask, Candidates, SearchTask]:
    """First with everything not named held; then letting give way what rules tie to the rest.

    The task of the candidates, they themselves, and the widest task that was searched.
    To reach a goal, labels of the context (machine, application) never give way; they do so only
    where the rules cannot be obeyed otherwise.
    """
    generator = generator_for(task)
    conflict: ConflictingRules | None = None
    found: Candidates | None = None
    searched = task
    try:
        searched, found = generate_certain(generator, task)
    except ConflictingRules as error:
        conflict = error
    if found is not None and found.meets.any():
        return searched, found, searched
    forced = linked(task)
    if found is not None and len(found.X):
        forced = gives_way(task, forced)
    wider = searched
    if forced:
        wider, more = generate_certain(generator, allowing(task, forced, assessor))
        if found is None or more.meets.any() or _miss(wider, more) < _miss(searched, found):
            return wider, more, wider
        found = replace(found, exhaustive=found.exhaustive and more.exhaustive)
    opened = opening(task, assessor)
    if opened is not None:
        opened, more = generate_certain(generator, opened)
        if more.meets.any() or found is None:
            return opened, more, opened
        wider = opened
        found = replace(found, exhaustive=found.exhaustive and more.exhaustive)
    if found is None:
        assert conflict is not None
        raise conflict
    return searched, found, wider


def gives_way(task: SearchTask, forced: tuple[str, ...]) -> tuple[str, ...]:
    """What of these features may move to reach a goal: not what says where a run is made."""
    follow = followers(task)
    return tuple(n for n in forced if n in follow or not _names_context(task.space[n]))


def chance_asked(task: SearchTask) -> float | None:
    """How likely each goal has to be met; None where no goal has to be."""
    if task.chances is None or not any(target.by_chance for target in task.targets):
        return None
    return task.chances.chance


_GOAL_DOUBTS = frozenset({DoubtCode.GOAL_CHANCE, DoubtCode.GOAL_MISSED})


def _reachable(
    task: SearchTask, judged: tuple[Suggestion, ...], found: Candidates
) -> dict[str, float]:
    """The goals that the closest of what past runs support meets with the chance, as bounds."""
    if task.chances is None:
        return {}
    for x, one in zip(found.X, judged, strict=True):
        others = [doubt for doubt in one.trust.doubts if doubt.code not in _GOAL_DOUBTS]
        if label_of(others) is not Label.UNSUPPORTED:
            return task.chances.reachable(x)
    return {}


def _names_context(parameter: Number | Category) -> bool:
    """Whether a column says what runs where, rather than how much of something."""
    return isinstance(parameter, Category) and parameter.role is Role.CONTEXT


def _miss(task: SearchTask, found: Candidates) -> float:
    """How far the best candidate is from the goals; infinite when there is none."""
    return float(score(task, found.X[:1]).valid[0]) if len(found.X) else np.inf


def _cut_short(task: SearchTask, found: Candidates) -> tuple[str, ...]:
    if not found.timed_out:
        return ()
    limit = f"{task.settings.deadline:g} s"
    return (f"The deadline of {limit} ended the search early; with more time it may do better.",)
