"""What speaks against each configuration, and its label (Algorithm 1, steps 3 and 5)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from compass.domain.answer import Label
from compass.domain.doubt import Doubt, DoubtCode
from compass.settings import TrustSettings
from compass.trust.conclude import label_of
from compass.trust.rank import Floats, Rows
from compass.trust.spread import Perturbed
from compass.trust.support import Support

REPEATED = 2  # runs of one configuration that tell of it without the model


@dataclass(frozen=True)
class Scores:
    """What Algorithm 1 and the expected error say about one configuration."""

    ood: float  # share of validation runs that are closer to the training runs
    uq: float  # share of validation runs whose prediction is more certain
    risk: float  # share of validation runs whose prediction is expected to err less
    near: int  # training runs within tau
    runs: int = 0  # past runs of exactly this configuration


@dataclass(frozen=True, eq=False)
class Assessment:
    """How far the prediction for one configuration can be relied on, and why not."""

    scores: Scores
    rows: Rows  # training rows within tau (the support), nearest first
    distances: Floats  # how far away they are
    doubts: tuple[Doubt, ...]

    @property
    def label(self) -> Label:
        """How far it can be relied on."""
        return label_of(self.doubts)


def assess(
    X: Floats,
    support: Support,
    perturbed: Perturbed | Sequence[Perturbed],
    settings: TrustSettings,
    names: Sequence[str] = (),
    runs: Rows | None = None,
) -> list[Assessment]:
    """Assess configurations X float64[n, d]; `perturbed` is one measure or one per target.

    `names` are those of the columns, for doubts about some of them. `runs` [n] counts past runs of
    exactly each configuration: where there are any, nearness to others says nothing against it.
    """
    whole = perturbed if isinstance(perturbed, Perturbed) else Perturbed.together(perturbed)
    assessments = []
    shares, close = support.around(X)
    certainty, risks = whole.uq(X).tolist(), whole.risk(X).tolist()
    strange = zip(support.unseen(X), support.outside(X), strict=True)
    counts = np.zeros(len(X), dtype=np.int64) if runs is None else runs
    measured = zip(close, shares.tolist(), certainty, risks, strange, counts.tolist(), strict=True)
    for (rows, distances), ood, uq, risk, (unseen, outside), own in measured:
        scores = Scores(ood, uq, risk, rows.size, own)
        doubts = doubts_about(
            scores,
            settings,
            unseen=[_called(names, j) for j in unseen],
            outside=[_called(names, j) for j in outside],
        )
        assessments.append(Assessment(scores, rows, distances, doubts))
    return assessments


def published(scores: Scores, settings: TrustSettings) -> Label:
    """The label of Algorithm 1 as it was published: novelty and certainty alone."""
    if scores.ood > settings.unsupported:
        return Label.UNSUPPORTED
    if scores.ood > settings.caution or scores.uq > settings.caution:
        return Label.CAUTION
    return Label.TRUSTED


def _called(names: Sequence[str], column: int) -> str:
    return names[column] if column < len(names) else f"column {column}"


def doubts_about(
    scores: Scores,
    settings: TrustSettings,
    *,
    unseen: Sequence[str] = (),
    outside: Sequence[str] = (),
) -> tuple[Doubt, ...]:
    """What speaks against a prediction with these scores.

    What is beside Algorithm 1 never makes a label better. A large expected error (`risk`) makes
    `trusted` a `caution`, and `unsupported` what has no past run near it besides. A label that no
    run learnt from has (`unseen` columns) is unsupported however near the numbers are, a number
    beyond all of them (`outside`) is at most caution. What was run itself is not far from past
    runs; what was run twice is known by its own runs, however uncertain the model is.
    """
    if scores.runs:
        return _about_certainty(scores, settings) if scores.runs < REPEATED else ()
    if unseen:
        return (Doubt(code=DoubtCode.UNSEEN_VALUE, columns=tuple(unseen)),)
    ood = scores.ood
    if ood > (limit := settings.unsupported):
        return (Doubt(code=DoubtCode.OUTSIDE_PAST_RUNS, value=ood, limit=limit),)
    found, limit = [], settings.caution
    if ood > limit:
        found.append(Doubt(code=DoubtCode.FAR_FROM_PAST_RUNS, value=ood, limit=limit))
    if scores.near == 0:
        found.append(Doubt(code=DoubtCode.NO_RUN_NEAR, value=0.0, limit=1.0))
    if outside:
        found.append(Doubt(code=DoubtCode.BEYOND_RANGE, columns=tuple(outside)))
    return (*found, *_about_certainty(scores, settings))


def _about_certainty(scores: Scores, settings: TrustSettings) -> tuple[Doubt, ...]:
    found, limit = [], settings.caution
    if scores.uq > limit:
        found.append(Doubt(code=DoubtCode.UNCERTAIN, value=scores.uq, limit=limit))
    if scores.risk > limit:
        found.append(Doubt(code=DoubtCode.LARGE_ERROR, value=scores.risk, limit=limit))
    return tuple(found)
