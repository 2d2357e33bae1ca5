"""What of the candidates is suggested, in which order, and what is only an idea.

Decision 0032 (docs/decisions).
"""

from dataclasses import replace

import numpy as np

from compass.domain.answer import (
    Certificate,
    CertificateStatus,
    Label,
    Measured,
    Suggestion,
)
from compass.domain.doubt import DoubtCode
from compass.evidence.assessor import Assessor
from compass.evidence.best_measured import worse_than_measured
from compass.generate.base import Candidates
from compass.generate.objectives import objectives, sign
from compass.generate.score import score
from compass.generate.task import SearchTask
from compass.language import format_value, listed
from compass.prepare.encode import Encoder
from compass.trust.words import about_running

_EQUAL = 1e-9
_ABOUT_NEIGHBOURS = frozenset({DoubtCode.NEVER_TOGETHER, DoubtCode.SIMILAR_FAILED})
_ABOUT_RUNNING = _ABOUT_NEIGHBOURS | {DoubtCode.BREAKS_DEPENDENCY}
_LITTLE = 0.5  # share of a predicted value that likely being able to run is worth
_BETTER = (Label.TRUSTED, Label.CAUTION, Label.UNSUPPORTED)


def with_measured(task: SearchTask, found: Candidates, best: Measured | None) -> Candidates:
    """The candidates with the best measured configuration, where it can be one of them."""
    if best is None or task.past_runs is None or task.baseline is not None:
        return found
    x = Encoder(task.space).encode(best.config)
    if (x == found.X).all(axis=1).any():
        return found
    scored = score(task, x[None, :])
    if scored.violation[0] > 0:
        return found
    first = scored.candidates()
    if task.chances is not None:
        sure = task.chances.least(first.X) >= task.chances.chance
        first = replace(first, meets=first.meets & sure)
    last = np.roll(np.arange(len(found) + 1), -1)  # a certificate is about the first
    return found.after(first).take(last)


def relied_on(
    task: SearchTask,
    assessor: Assessor,
    judged: tuple[Suggestion, ...],
    best: Measured | None = None,
) -> tuple[tuple[Suggestion, ...], tuple[Suggestion, ...]]:
    """What can be suggested, the better label first; and the rest: ideas that a run may settle.

    What is worse than the best measured run comes after everything else. The changed
    configuration of a what-if is the person's own: it is told whatever its label.
    """
    if task.forward:
        return judged, ()
    fine = [s for s in judged if _may_be_suggested(s)]
    rest = tuple(s for s in judged if not _may_be_suggested(s))
    if objectives(task.targets) and fine and fine[0].edits:
        # To change nothing is trusted, and no answer where something better was found.
        fine = [s for s in fine if s.edits or task.baseline is None]

    surer = [one for one in fine if not _may_not_run(one)]

    def place(one: Suggestion) -> tuple[bool, bool, int]:
        worse = worse_than_measured(task, assessor, one, best)
        return _replaceable(task, one, surer), worse, _BETTER.index(one.trust.label)

    shown = sorted(fine, key=place)[: task.count]
    if task.count > 1 and fine and fine[0] not in shown and not _replaceable(task, fine[0], surer):
        shown[-1] = fine[0]  # what comes first by the goals alone is a choice, whatever its label
    return tuple(shown), rest


def _may_not_run(one: Suggestion) -> bool:
    return any(doubt.code in _ABOUT_RUNNING for doubt in one.trust.doubts)


def set_aside(
    judged: tuple[Suggestion, ...], suggestions: tuple[Suggestion, ...]
) -> tuple[str, ...]:
    """Why what comes first by the goals alone is not suggested, where it may not run."""
    if not judged or judged[0] in suggestions or not suggestions:
        return ()
    doubts = [d for d in judged[0].trust.doubts if d.code in _ABOUT_NEIGHBOURS]
    if not doubts:
        return ()
    values = ", ".join(f"{n} = {format_value(v)}" for n, v in judged[0].settings.items())
    why = listed([about_running(doubt) for doubt in doubts])
    return (f"Set aside, though the model likes it best: {values}: {why} (`beyond` allows it).",)


def _replaceable(task: SearchTask, one: Suggestion, surer: list[Suggestion]) -> bool:
    """Whether it is doubtful that it can be run, and another one loses little beside it."""
    return _may_not_run(one) and any(_loses_little(task, other, one) for other in surer)


def _loses_little(task: SearchTask, other: Suggestion, one: Suggestion) -> bool:
    """Whether a suggestion is predicted to be not much worse than another, nor much further."""
    if task.proximity and other.distance > one.distance + task.settings.search.budget:
        return False
    for target in objectives(task.targets):
        own, value = other.outcome(target.name).value, one.outcome(target.name).value
        assert isinstance(own, float)  # what has a direction is a number
        assert isinstance(value, float)
        if sign(target) * (own - value) > _LITTLE * abs(value):
            return False
    return True


def _may_be_suggested(one: Suggestion) -> bool:
    return one.meets_goals and one.trust.label is not Label.UNSUPPORTED


def about_first(
    certificate: Certificate | None,
    judged: tuple[Suggestion, ...],
    suggestions: tuple[Suggestion, ...],
) -> Certificate | None:
    """The certificate of what was found first; it claims nothing of another first suggestion."""
    if certificate is None or not suggestions or suggestions[0] is judged[0]:
        return certificate
    if certificate.status is not CertificateStatus.OPTIMAL:
        return certificate
    other, first = judged[0], suggestions[0]
    if certificate.tolerance is None and first.distance <= other.distance * (1 + _EQUAL):
        return certificate  # no smaller change exists than either
    if not other.meets_goals:
        why = "but is not likely enough"
    elif other.trust.label is not first.trust.label:
        why = f"but is {other.trust.label.value}"
    else:
        why = "but measured runs speak for the first suggestion"
    reason = f"Another configuration is best under this model, {why}."
    return certificate.model_copy(update={"status": CertificateStatus.BEST_FOUND, "reason": reason})
