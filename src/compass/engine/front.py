"""The answer to a question with several outcomes to minimise or maximise: their front.

Decision 0047 (docs/decisions).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from compass.acquire.base import AcquisitionRequest
from compass.acquire.propose import for_answer
from compass.domain.answer import Answer, Label, Pending, Proposal, Provenance, Suggestion
from compass.domain.errors import ConflictingRules
from compass.domain.front import Front, FrontProof
from compass.engine.answer import WantedRuns, chance_asked, gives_way, time_to_prove
from compass.engine.bounds import bound_notes
from compass.engine.dependencies import dependency_notes
from compass.engine.notes import assumptions, blocking_rules, notes, why_not
from compass.engine.plan import allowing, linked
from compass.engine.provenance import Clock
from compass.engine.suggestions import suggested
from compass.evidence.assessor import Assessor
from compass.evidence.contexts import completed, left_open
from compass.evidence.runnable import failure_notes
from compass.generate.base import Floats
from compass.generate.legality import checked, lawful
from compass.generate.objectives import preference
from compass.generate.task import SearchTask
from compass.language import format_query
from compass.learn.store import Progress
from compass.model.recipe import attention
from compass.pareto.facts import Point, Reference, front_of, in_units, reference_point
from compass.pareto.front import Positions, representatives
from compass.pareto.proof import complete, in_words, prove_points
from compass.pareto.search import FoundFront, costs, find_front, points_to_tell

_IDEAS = 3  # unsupported points that are told beside them


@dataclass(frozen=True)
class _Told:
    """A front with the points that are told, judged."""

    task: SearchTask  # that it is of, its targets as they were asked
    found: FoundFront
    chosen: Positions  # in `found`: the suggestions, then the ideas, as the answer has them
    suggestions: tuple[Suggestion, ...]
    ideas: tuple[Suggestion, ...]
    front: Front
    notes: tuple[str, ...]

    @property
    def points(self) -> Floats:
        """The suggestions as the search found them, [n, d]."""
        return self.found.scored.X[self.chosen[: len(self.suggestions)]]


def answers_by_front(
    task: SearchTask,
    assessor: Assessor,
    provenance: Provenance,
    clock: Clock,
    runs: WantedRuns,
    tell: Progress,
) -> Iterator[Answer]:
    """The front as soon as it is found, then with its proofs, then with the runs to make next.

    Each answer is complete but for what its `pending` names.
    """
    reference = reference_point(task)
    asked, found = _found(task, assessor)
    clock.mark("search")
    told = _judge(asked, assessor, found, reference)
    clock.mark("trust")
    wanted, left = time_to_prove(task)
    proves = wanted > 0 and left > 0 and bool(told.suggestions) and len(asked.movable) > 0
    if proves and found.exhaustive:
        points = sorted(told.front.points, key=lambda point: point.place)
        best = [not point.dominated for point in points if not point.idea]
        told = _with_proof(told, best, complete(sum(best)))
        proves = False
    later = (Pending.RUN_NEXT,) if runs.count or _no_answer(told) is not None else ()
    if proves:
        yield _answer(task, assessor, told, provenance, (Pending.PROOF, *later))
        clock.go_on()
        tell("proving", 0, ceil(left))
        told = _proved(assessor, told, reference, left)
        clock.mark("proof")
    answer = _answer(task, assessor, told, provenance, later)
    yield answer
    if later:
        clock.go_on()
        proposals = _proposals(assessor, told, runs, answer.no_answer)
        clock.mark("next runs")
        yield answer.model_copy(update={"run_next": proposals, "pending": ()})


def _found(task: SearchTask, assessor: Assessor) -> tuple[SearchTask, FoundFront]:
    """First with everything not named held; then letting give way what rules tie to the rest.

    The front, and the task that it is of.
    """
    conflict: ConflictingRules | None = None
    found: FoundFront | None = None
    try:
        found = find_front(task)
    except ConflictingRules as error:
        conflict = error
    if found is not None and found.meets:
        return task, found
    forced = linked(task)
    if found is not None and len(found):
        forced = gives_way(task, forced)
    if forced:
        wider = allowing(task, forced, assessor)
        more = find_front(wider)
        if found is None or more.meets or not len(found):
            return wider, more
    if found is None:
        assert conflict is not None
        raise conflict
    return task, found


def _judge(task: SearchTask, assessor: Assessor, found: FoundFront, reference: Reference) -> _Told:
    """The points that are told, with all that is said of them; nothing is proved yet."""
    searched = found.task
    chosen = _chosen(searched, found, reference)
    some = found.take(chosen)
    candidates = some.candidates()
    if searched.baseline is None:
        candidates = replace(candidates, X=completed(searched, assessor, candidates.X))
    kept, withheld, _ = checked(searched, candidates)
    fine = [bool((x == kept.X).all(axis=1).any()) for x in candidates.X]
    chosen = chosen[np.array(fine, dtype=np.bool_)] if len(chosen) else chosen
    judged = suggested(searched, assessor, kept)
    order = _order(found.take(chosen), judged)
    suggestions = tuple(judged[i] for i in order if _may_be_suggested(judged[i]))
    ideas = tuple(one for one in judged if not _may_be_suggested(one))
    points = _points(judged, suggestions, ideas)
    told = [i for i, one in enumerate(judged) if _may_be_suggested(one)]
    told += [i for i, one in enumerate(judged) if not _may_be_suggested(one)]
    shown = kept.X[order][: len(suggestions)]
    return _Told(
        task,
        found,
        chosen[order],
        suggestions,
        ideas,
        front_of(found, chosen[told], points, reference).model_copy(
            update={"attention": _attention(assessor, kept.X)}
        ),
        (
            *task.assumed.notes,
            *withheld,
            *dependency_notes(task, suggestions or ideas),
            *bound_notes(searched, suggestions, shown),
            *failure_notes(assessor, shown),
            *notes(searched, suggestions),
            *left_open(searched, assessor, shown),
            *assessor.unbounded(changes=task.baseline is not None),
            *_cut_short(found),
        ),
    )


def _attention(assessor: Assessor, X: Floats) -> dict[str, dict[str, float]]:
    """What the models look at in configurations X [n, d], of those that tell."""
    shares = {name: attention(one.model, X) for name, one in assessor.trained.items() if len(X)}
    return {
        name: dict(zip(assessor.view.names, found.mean(axis=0).tolist(), strict=True))
        for name, found in shares.items()
        if found is not None
    }


def _may_be_suggested(one: Suggestion) -> bool:
    return one.meets_goals and one.trust.label is not Label.UNSUPPORTED


def _order(told: FoundFront, judged: Sequence[Suggestion]) -> Positions:
    """Positions of the points in the order of the answer: suggestions first.

    The first is the balanced one, where the sum of the outcomes in standard deviations is least:
    what a job script is written of must not be an end of the front. The others follow by the first
    outcome.
    """
    sums = _balance(told)
    sums[[not _may_be_suggested(one) for one in judged]] = np.inf
    first = int(np.argmin(sums)) if len(sums) else 0
    ranked = sorted(
        range(len(judged)), key=lambda i: (not _may_be_suggested(judged[i]), i != first)
    )
    return np.array(ranked, dtype=np.int64)


def _balance(found: FoundFront) -> Floats:
    """The sum of the outcomes of each point [n], in standard deviations; infinite off the front."""
    return np.where(found.on_front, preference(found.values), np.inf)


def _points(
    judged: Sequence[Suggestion], suggestions: Sequence[Suggestion], ideas: Sequence[Suggestion]
) -> list[Point]:
    """The points by the first outcome, suggestions before ideas, with their places."""
    places = {id(one): place for some in (suggestions, ideas) for place, one in enumerate(some)}
    sure = [Point(one, places[id(one)], idea=False) for one in judged if _may_be_suggested(one)]
    return sure + [Point(one, places[id(one)], idea=True) for one in ideas]


def _chosen(task: SearchTask, found: FoundFront, reference: Reference) -> Positions:
    """Positions of the points to tell: what stands for the supported ones, and a few beyond."""
    if not found.meets:
        return np.arange(len(found))[: task.count]
    values, worst = costs(task, found.scored), reference.point
    values[:, : len(worst)] = in_units(task, found.values)
    if task.proximity:  # points that are a smaller change are worth telling as well
        worst = np.append(worst, values[:, -1].max())
    inside, beyond = np.flatnonzero(found.supported), np.flatnonzero(~found.supported)
    # What is promising fills up what is told: it stands for itself.
    extra = np.flatnonzero(found.supported & found.promising)
    inside = inside[~np.isin(inside, extra)]
    few = inside
    if len(inside):
        balanced = int(np.argmin(_balance(found.take(inside))))
        few = representatives(values[inside], worst, points_to_tell(task), balanced)
    more = representatives(values[beyond], worst, _IDEAS) if len(beyond) else beyond
    told = np.union1d(inside[few], extra)
    return np.concatenate([told, beyond[more]]).astype(np.int64)


def _no_answer(told: _Told) -> str | None:
    found = told.found
    return why_not(
        found.task,
        told.suggestions,
        told.ideas,
        found.candidates(),
        None,
        lambda: blocking_rules(found.task),
    )


def _proved(assessor: Assessor, told: _Told, reference: Reference, seconds: float) -> _Told:
    """The front with proofs of its points; what a proof finds to be better joins the front."""
    first, X = _by_interest(told.front), told.points
    proof = prove_points(told.found.task, X[first], seconds)
    known = {X[i].tobytes(): state for i, state in zip(first, proof.proved, strict=True)}
    if len(proof.better):
        again = find_front(told.task, more=proof.better)
        told = _judge(told.task, assessor, again, reference)
    states = [known.get(x.tobytes()) for x in told.points]
    about = in_words([state is True for state in states], proof.told, told.found.task)
    return _with_proof(told, states, about)


def _by_interest(front: Front) -> list[int]:
    """Places of the suggestions: the knees, the ends, then the others."""
    points = [point for point in front.points if not point.idea]
    ends = points[:1] + points[-1:]
    ranked = sorted(points, key=lambda one: (not one.knee, one not in ends))
    return [one.place for one in ranked]


def _with_proof(told: _Told, states: Sequence[bool | None], about: FrontProof) -> _Told:
    """The front with what is proved of each point that is suggested."""
    points = tuple(
        point.model_copy(update={"proved": None if point.idea else states[point.place] or None})
        for point in told.front.points
    )
    return replace(told, front=told.front.model_copy(update={"points": points, "proof": about}))


def _proposals(
    assessor: Assessor, told: _Told, runs: WantedRuns, no_answer: str | None
) -> tuple[Proposal, ...]:
    searched = replace(told.found.task, targets=told.task.targets)
    request = AcquisitionRequest(
        searched,
        assessor,
        (*told.suggestions, *told.ideas),
        runs.count,
        runs.encoded(searched.space),
        runs.count > 0,
    )
    return lawful(searched.rules, for_answer(request, no_answer, searched.settings.acquisition))


def _answer(
    task: SearchTask,
    assessor: Assessor,
    told: _Told,
    provenance: Provenance,
    pending: tuple[Pending, ...],
) -> Answer:
    """The answer without the runs to make next."""
    return Answer(
        query=task.query,
        text=format_query(task.query),
        suggestions=told.suggestions,
        ideas=told.ideas,
        chance=chance_asked(task),
        baseline=None if task.baseline is None else task.baseline.config,
        context=assumptions(told.found.task),
        contexts=len(task.contexts),
        comparable=assessor.matched.known,
        front=told.front,
        notes=told.notes,
        no_answer=_no_answer(told),
        exhausted=told.found.exhaustive,
        pending=pending,
        models=tuple(trained.card for trained in assessor.trained.values()),
        provenance=provenance,
    )


def _cut_short(found: FoundFront) -> tuple[str, ...]:
    if not found.candidates().timed_out:
        return ()
    limit = f"{found.task.settings.deadline:g} s"
    return (f"The deadline of {limit} ended the search early; with more time it may do better.",)
