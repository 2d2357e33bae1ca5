"""The certificate of an answer: what is proved about its first suggestion."""

import numpy as np

from compass.domain.answer import Certificate, CertificateStatus
from compass.generate.base import Candidates, Floats
from compass.generate.objectives import objectives
from compass.generate.score import score
from compass.generate.targets import in_numbers
from compass.generate.task import SearchTask
from compass.prepare.geometry import distances

# docs/decisions/0013-measured-runs-beside-the-model.md
_MEASURED = (
    "Past runs count with what was measured; a predicted gain over them that is within the model's "
    "error counts as none."
)
_LEAST = 0.01  # seconds; with less than this there is no use in starting


def proof_wanted(task: SearchTask, wanted: float) -> bool:
    """Whether a proof is wanted and there is something that could be better or worse."""
    return wanted > 0 and bool(len(task.movable)) and bool(task.targets or task.proximity)


def takes_time(task: SearchTask, found: Candidates, wanted: float, seconds: float) -> bool:
    """Whether the certificate needs a proof, and not only a look at what the search found."""
    if not proof_wanted(task, wanted) or seconds < _LEAST or _likely_otherwise(task, found):
        return False
    from compass.prove.proof import needs_solver

    return needs_solver(task, found)


def certified(
    task: SearchTask, found: Candidates, wanted: float, seconds: float
) -> tuple[Candidates, Certificate | None]:
    """The candidates, with a better one first where the proof found it, and the certificate.

    `wanted` are the seconds that the proof should have, `seconds` those that are left for it.
    None: no proof is wanted, or there is nothing that could be better or worse.
    """
    if not proof_wanted(task, wanted):
        return found, None
    if seconds < _LEAST:
        reason = "The time for this question was over before a proof could begin."
        return found, Certificate(status=CertificateStatus.NO_PROOF, reason=reason, cut=True)
    if _likely_otherwise(task, found):
        reason = (
            "How likely a run meets the goals depends on more than one prediction here, so nothing "
            "is proved about them."
        )
        return found, _about(task, Certificate(status=CertificateStatus.NO_PROOF, reason=reason))
    from compass.prove import prove

    proof = prove(task, found, seconds)
    certificate = _about(task, proof.certificate)
    if task.past_runs is not None:
        # Predictions bound what was never run: measured runs are compared with that bound.
        reason = f"{certificate.reason} {_MEASURED}"
        certificate = certificate.model_copy(update={"reason": reason})
    if proof.better is None:
        return found, certificate
    return _with_first(task, found, proof.better), certificate


def _likely_otherwise(task: SearchTask, found: Candidates) -> bool:
    """Whether the first candidate is likely enough though its prediction misses the shifted goals.

    It is where chances are means over several contexts, or those of runs of that configuration.
    """
    if task.chances is None or not len(found.X) or not found.meets[0]:
        return False
    return bool(score(task, found.X[:1]).valid[0] > 0)


def _about(task: SearchTask, certificate: Certificate) -> Certificate:
    """The certificate with the goals that it is about, shifted to keep the chance."""
    goals = tuple(in_numbers(target) for target in task.targets if target.direction is None)
    chances = task.chances
    by_chance = chances is not None and any(target.by_chance for target in task.targets)
    return certificate.model_copy(
        update={
            "goals": goals,
            "chance": chances.chance if chances is not None and by_chance else None,
            "tolerance": task.settings.search.tolerance if objectives(task.targets) else None,
            "measured": task.past_runs is not None,
        }
    )


def _with_first(task: SearchTask, found: Candidates, x: Floats) -> Candidates:
    """The candidates after a better first one; those that hardly differ from it are left out."""
    first = score(task, x[None, :]).candidates()
    others = np.flatnonzero(found.meets)
    apart = distances(found.X[others], x, task.movable, task.geometry)
    kept = others[apart >= max(task.settings.search.distinct, 1e-12)][: task.count - 1]
    return found.take(kept).after(first)
