"""A label and a reason for each configuration (Algorithm 1, steps 3 and 5)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compass.domain.answer import Label
from compass.language import listed
from compass.settings import TrustSettings
from compass.trust.rank import Floats
from compass.trust.spread import Perturbed
from compass.trust.support import Support


@dataclass(frozen=True, eq=False)
class Verdict:
    """How far the prediction for one configuration can be relied on, and why."""

    label: Label
    ood: float  # share of validation runs that are closer to the training runs
    uq: float  # share of validation runs whose prediction is more certain
    rows: NDArray[np.int64]  # training rows within tau (the support), nearest first
    distances: Floats  # how far away they are
    reason: str
    risk: float  # share of validation runs whose prediction is expected to err less


def assess(
    X: Floats,
    support: Support,
    perturbed: Perturbed | Sequence[Perturbed],
    settings: TrustSettings,
    names: Sequence[str] = (),
) -> list[Verdict]:
    """Assessor configurations X float64[n, d]; `perturbed` is one measure or one per target.

    `names` of the columns let reasons speak of them.
    """
    whole = perturbed if isinstance(perturbed, Perturbed) else Perturbed.together(perturbed)
    verdicts = []
    shares, close = support.around(X)
    doubts, risks = whole.uq(X).tolist(), whole.risk(X).tolist()
    strange = zip(support.unseen(X), support.outside(X), strict=True)
    scores = zip(close, shares.tolist(), doubts, risks, strange, strict=True)
    for near, ood, uq, risk, (unseen, outside) in scores:
        label, reason = judge(
            ood,
            uq,
            near[0].size,
            support.tau,
            settings,
            risk=risk,
            unseen=[_called(names, j) for j in unseen],
            outside=[_called(names, j) for j in outside],
        )
        verdicts.append(Verdict(label, ood, uq, *near, reason, risk))
    return verdicts


def _called(names: Sequence[str], column: int) -> str:
    return names[column] if column < len(names) else f"column {column}"


def judge(
    ood: float,
    uq: float,
    near: int,
    tau: float,
    settings: TrustSettings,
    *,
    risk: float,
    unseen: Sequence[str] = (),
    outside: Sequence[str] = (),
) -> tuple[Label, str]:
    """The label for these scores and this many runs within tau, and the reason as a sentence.

    What is beside Algorithm 1 never makes a label better. A large expected error (`risk`) makes
    `trusted` a `caution`, and `unsupported` what has no past run near it besides. A label that no
    run learnt from has (`unseen` columns) is unsupported however near the numbers are, a number
    beyond all of them (`outside`) is at most caution.
    """
    if unseen:
        what = "has a value" if len(unseen) == 1 else "have values"
        return (
            Label.UNSUPPORTED,
            f"Unsupported: {listed(unseen)} {what} that no past run learnt from has.",
        )
    if ood > settings.unsupported:
        return (
            Label.UNSUPPORTED,
            f"Unsupported: this configuration is further from the past runs than {_most(ood)} "
            f"held out for comparison, and {_only(near)} near it.",
        )
    doubts = _lonely(ood, near, tau, settings)
    lonely = bool(doubts)
    if outside:
        doubts.append(
            f"{listed(outside)} {'is' if len(outside) == 1 else 'are'} beyond what was run"
        )
    if uq > settings.caution:
        doubts.append(f"the prediction is less certain here than for {_most(uq)}")
    erring = risk > settings.caution
    if erring:
        doubts.append(
            f"going by errors at similar runs, a larger error is expected than for {_most(risk)}"
        )
    if lonely and erring:
        return Label.UNSUPPORTED, f"Unsupported: {listed(doubts)}."
    if doubts:
        return Label.CAUTION, f"Caution: {listed(doubts)}."
    runs = f"{near:,} past runs are" if near > 1 else "1 past run is"
    return (
        Label.TRUSTED,
        f"Trusted: {runs} this close, and predictions there are as certain as usual.",
    )


def _lonely(ood: float, near: int, tau: float, settings: TrustSettings) -> list[str]:
    """What tells that hardly any past run is near."""
    told = []
    if ood > settings.caution:
        told.append(f"it is further from the past runs than {_most(ood)} held out for comparison")
    if near == 0:
        told.append(
            f"no past run is within {tau:.2g} of this configuration"
            if tau > 0
            else "no past run has exactly this configuration"
        )
    return told


def _most(share: float) -> str:
    # Rounded down: 99.97 % must not read as all of them.
    return "all past runs" if share >= 1 else f"{math.floor(share * 1000) / 10:g} % of past runs"


def _only(near: int) -> str:
    if near == 0:
        return "no past run is"
    return "only 1 past run is" if near == 1 else f"only {near:,} past runs are"
